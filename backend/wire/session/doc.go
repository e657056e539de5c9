// Package session is the session protocol 0.2.0: JSON-RPC 2.0 between the owner's clients and the
// program, over whatever hands whole text frames back and forth. It owns the protocol's shapes, its
// table of methods, connections with their handshake, and the reading of the log into items. It never
// listens, opens no socket, runs no turn and decides no rule of the domain: it writes by commands to
// core and reads through store. Transports (package server, the desktop's bindings, tests) connect.
//
//	Server.Connect(peer, send)     → *Conn
//	Conn.Receive(frame)
//	  jsonrpc.Parse                envelope, or a ready error
//	  Conn.admit                   size, handshake, method, right
//	  Entry.Call                   params against the published schema, then the handler
//	  Conn.serve                   exactly one answer; then what the handler left for after it
//	Server.Update                  services come and go → features/changed
//	Conn.pump                      entries of the log, in their order → pushes
//	  drawing.event                  an event → its items, the same live, in flight and in history
//	Conn.sessionSubscribe          one read of the rows → snapshot; what they lack yet → pushes behind it
//	drawing.page                   stored events → a page of history
//
// Adding a method: its params and result in types_<area>.go, a handler, a line in methods.go, then
// build/gen.sh. Adding an item kind: item_<kind>.go, a line in items.go, its events in drawing.event
// and, if they are stored, in pageKinds and storedMessage. A field is optional by omitzero and then
// absent, never null; comments on shapes are published as their descriptions.
package session
