package tray

import (
	"context"
	"sync"

	"github.com/godbus/dbus/v5"
)

// calls takes the calls on the menu from the D-Bus library, which would answer each in a goroutine of its
// own, and answers them one after another as they came. Xfce and others ask for items and for those below
// them in two calls at once, and show an empty submenu when the second is answered first.
type calls struct {
	waiting chan dbus.Message
	over    chan struct{} // closed when nobody answers any more
	once    sync.Once
}

func newCalls() *calls {
	return &calls{waiting: make(chan dbus.Message, 256), over: make(chan struct{})}
}

// intercept sees every message that comes in, in order.
func (c *calls) intercept(msg *dbus.Message) {
	if msg.Type != dbus.TypeMethodCall || msg.Headers[dbus.FieldPath].Value() != menuPath || msg.Headers[dbus.FieldInterface].Value() != menuName {
		return
	}
	taken := *msg
	msg.Type = 0 // of no type that the library handles
	select {
	case c.waiting <- taken:
	case <-c.over:
	}
}

func (c *calls) close() { c.once.Do(func() { close(c.over) }) }

// forget drops calls of a connection that is gone.
func (c *calls) forget() {
	for {
		select {
		case <-c.waiting:
		default:
			return
		}
	}
}

// answer answers until ctx ends.
func (c *calls) answer(ctx context.Context, conn *dbus.Conn, m *menu) {
	for {
		select {
		case <-ctx.Done():
			return
		case msg := <-c.waiting:
			member, _ := msg.Headers[dbus.FieldMember].Value().(string)
			values, refused := m.call(member, msg.Body)
			if msg.Flags&dbus.FlagNoReplyExpected == 0 {
				conn.Send(reply(msg, values, refused), nil) // an error of a connection that dies shows elsewhere
			}
		}
	}
}

func reply(to dbus.Message, values []any, refused *dbus.Error) *dbus.Message {
	msg := &dbus.Message{Type: dbus.TypeMethodReply, Body: values, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldDestination: to.Headers[dbus.FieldSender], dbus.FieldReplySerial: dbus.MakeVariant(to.Serial()),
	}}
	if refused != nil {
		msg.Type, msg.Body = dbus.TypeError, refused.Body
		msg.Headers[dbus.FieldErrorName] = dbus.MakeVariant(refused.Name)
	}
	if len(msg.Body) > 0 {
		msg.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(msg.Body...))
	}
	return msg
}
