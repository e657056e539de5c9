package tray

import (
	"reflect"
	"sync"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
)

const (
	itemName       = "org.kde.StatusNotifierItem"
	itemPath       = "/StatusNotifierItem"
	menuName       = "com.canonical.dbusmenu"
	menuPath       = dbus.ObjectPath("/StatusNotifierItem/Menu")
	propertiesName = "org.freedesktop.DBus.Properties"
)

// pixmap is a picture as panels take it: rows of alpha, red, green, blue.
type pixmap struct {
	Width, Height int32
	Pixels        []byte
}

func pixmaps(a appearance) []pixmap {
	all := make([]pixmap, 0, len(sizes))
	for _, size := range sizes {
		from := draw(a, size).Pix
		to := make([]byte, len(from))
		for i := 0; i < len(from); i += 4 {
			to[i], to[i+1], to[i+2], to[i+3] = from[i+3], from[i], from[i+1], from[i+2]
		}
		all = append(all, pixmap{int32(size), int32(size), to})
	}
	return all
}

type tooltip struct {
	IconName           string
	Icon               []pixmap
	Title, Description string
}

// notifierItem answers to clicks on the icon itself. A panel that opens the menu on its own account
// calls none of these.
type notifierItem struct{ show func() }

func (n *notifierItem) Activate(_, _ int32) *dbus.Error              { n.show(); return nil }
func (n *notifierItem) SecondaryActivate(_, _ int32) *dbus.Error     { return nil }
func (n *notifierItem) ContextMenu(_, _ int32) *dbus.Error           { return nil }
func (n *notifierItem) Scroll(_ int32, _ string) *dbus.Error         { return nil }
func (n *notifierItem) ProvideXdgActivationToken(string) *dbus.Error { return nil }

// properties is org.freedesktop.DBus.Properties. The library's own panics when the bus dies while a
// property changes.
type properties struct {
	mu  sync.Mutex // guards all
	all map[string]map[string]dbus.Variant
}

func (p *properties) Get(of, name string) (dbus.Variant, *dbus.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, known := p.all[of][name]
	if !known {
		return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", []any{"there is no property " + of + "." + name})
	}
	return value, nil
}

func (p *properties) GetAll(of string) (map[string]dbus.Variant, *dbus.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[string]dbus.Variant, len(p.all[of]))
	for name, value := range p.all[of] {
		all[name] = value
	}
	return all, nil
}

func (p *properties) Set(of, name string, _ dbus.Variant) *dbus.Error {
	return dbus.NewError("org.freedesktop.DBus.Error.PropertyReadOnly", []any{of + "." + name + " cannot be set"})
}

// change takes new values and gives those that differ.
func (p *properties) change(of string, values map[string]any) map[string]dbus.Variant {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := make(map[string]dbus.Variant)
	for name, value := range values {
		if was, known := p.all[of][name]; known && reflect.DeepEqual(was.Value(), value) {
			continue
		}
		changed[name] = dbus.MakeVariant(value)
		p.all[of][name] = changed[name]
	}
	return changed
}

// describe is what the object tells to whoever looks before calling.
func (p *properties) describe(of string, object any, signals ...introspect.Signal) *introspect.Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := introspect.Interface{Name: of, Methods: introspect.Methods(object), Signals: signals}
	for name, value := range p.all[of] {
		told.Properties = append(told.Properties, introspect.Property{Name: name, Type: value.Signature().String(), Access: "read"})
	}
	return &introspect.Node{Interfaces: []introspect.Interface{
		told, introspect.IntrospectData, {Name: propertiesName, Methods: introspect.Methods(p)},
	}}
}
