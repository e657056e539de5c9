// Package wire holds what every protocol says about itself: its name, where a server mounts it, and
// its contract, the reflected shapes out of which the published schemas, the OpenAPI documents and
// the TypeScript are generated. It owns no shape and no behaviour of its own; the protocols below it
// fill the values, backend lists them, server and contract read them.
package wire

import "reflect"

// Protocol is one way to speak to the program.
type Protocol struct {
	// Name is the protocol's short name; it names the generated files, for example session.json.
	Name string
	// Mount is the path under which a server offers it, for example "/session".
	Mount string
	// Contract is everything that is published about it.
	Contract Contract
}

// Contract lists the shapes of a protocol. Order is the order in which they are published.
type Contract struct {
	// Title names the protocol for people.
	Title string
	// Version is the protocol's own number, never that of the program.
	Version string
	// Methods are what a client may call.
	Methods []Method
	// Notifications are what the server pushes.
	Notifications []Notification
	// Types are shapes published beside those that methods and notifications reach.
	Types []reflect.Type
	// Unions gives, for a type that is one of several shapes on the wire, a zero value of each. The
	// shapes tell themselves apart by one property that is another constant in each (a kind, a
	// scope), or, where they share none, by which keys they have.
	Unions map[reflect.Type][]any
	// Constants are published by name beside the shapes.
	Constants []Constant
}

// Constant is a published value; Value is anything that encodes as JSON.
type Constant struct {
	Name, Doc string
	Value     any
}

// Method is one call: the shape of what goes in and of what comes back.
type Method struct {
	Name           string
	Params, Result reflect.Type
}

// Notification is one push and the shape of its params.
type Notification struct {
	Name   string
	Params reflect.Type
}

// Enum is implemented by a string type with a closed set of words.
type Enum interface{ Words() []string }

// Literal is implemented by a type that has one value on the wire.
type Literal interface{ Word() any }
