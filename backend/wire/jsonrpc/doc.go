// Package jsonrpc is the frame codec and the error rules of the session protocol: JSON-RPC 2.0 with
// requests from clients, notifications from the server, and neither batches nor client notifications.
// It owns what a frame is, the table of methods, the check of params against the published schema,
// and how a failure is told. It knows no method, no connection and no transport; wire/session calls it.
//
//	Parse(frame)              envelope, or the error to answer with (-32700, -32600)
//	Table[C]                  method name → Entry (-32601 when missing)
//	Entry.Call                schema (-32602) → typed params → handler; panics end here
//	Result, Failure, Notification   values → frames
//
// Decoding is strict where encoding/json is not: keys are matched by case, a key may not stand twice
// in an object, strings are whole Unicode, and null is no string. So what the schema was shown is what
// the handler gets.
package jsonrpc
