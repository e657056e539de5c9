package bustest

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = "/StatusNotifierWatcher"
	itemName    = "org.kde.StatusNotifierItem"
	menuName    = "com.canonical.dbusmenu"
)

// Panel is a StatusNotifierWatcher with a host: it reads an item's menu once, follows the signals that
// say what has changed, and clicks, as a real panel does.
type Panel struct {
	t          testing.TB
	conn       *dbus.Conn
	properties *prop.Properties

	mu       sync.Mutex // guards all below
	sender   string     // of the item that registered last
	path     dbus.ObjectPath
	times    int // of registrations
	menu     dbus.BusObject
	root     Node
	read     int // times the layout was read
	newIcons int
}

// Panel starts one. hosting says whether it shows icons, or only knows of them.
func (b *Bus) Panel(hosting bool) *Panel {
	b.t.Helper()
	p := &Panel{t: b.t, conn: b.Connect()}
	signals := make(chan *dbus.Signal, 16)
	p.conn.Signal(signals)
	go func() {
		for s := range signals { // closed with the connection
			p.follow(s)
		}
	}()
	if err := p.conn.AddMatchSignal(dbus.WithMatchInterface(menuName)); err != nil {
		b.t.Fatal(err)
	}
	if err := p.conn.AddMatchSignal(dbus.WithMatchInterface(itemName)); err != nil {
		b.t.Fatal(err)
	}
	if err := p.conn.Export(watcher{p}, watcherPath, watcherName); err != nil {
		b.t.Fatal(err)
	}
	var err error
	p.properties, err = prop.Export(p.conn, watcherPath, prop.Map{watcherName: {
		"IsStatusNotifierHostRegistered": {Value: hosting}, "ProtocolVersion": {Value: int32(0)},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	own(b.t, p.conn, watcherName)
	return p
}

// Stop takes the panel off the bus.
func (p *Panel) Stop() { _ = p.conn.Close() }

// Hosting begins or ends to show icons.
func (p *Panel) Hosting(yes bool) {
	p.properties.SetMust(watcherName, "IsStatusNotifierHostRegistered", yes)
	member := "StatusNotifierHostUnregistered"
	if yes {
		member = "StatusNotifierHostRegistered"
	}
	if err := p.conn.Emit(watcherPath, watcherName+"."+member); err != nil {
		p.t.Error(err)
	}
}

// watcher has only the methods that are called over the bus.
type watcher struct{ p *Panel }

func (w watcher) RegisterStatusNotifierItem(service string, sender dbus.Sender) *dbus.Error {
	path := dbus.ObjectPath("/StatusNotifierItem")
	from := service
	if strings.HasPrefix(service, "/") {
		path, from = dbus.ObjectPath(service), string(sender)
	}
	p := w.p
	var where dbus.Variant
	item := p.conn.Object(from, path)
	if err := item.Call("org.freedesktop.DBus.Properties.Get", 0, itemName, "Menu").Store(&where); err != nil {
		p.t.Errorf("reading where the menu is: %v", err)
		return nil
	}
	p.mu.Lock()
	p.sender, p.path, p.menu = from, path, p.conn.Object(from, where.Value().(dbus.ObjectPath))
	p.times++
	p.mu.Unlock()
	p.reload()
	return nil
}

func (p *Panel) reload() {
	p.mu.Lock()
	menu := p.menu
	p.mu.Unlock()
	var revision uint32
	var layout []any
	if err := menu.Call(menuName+".GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &layout); err != nil {
		return // it has gone
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.root = parse(layout)
	p.read++
}

func (p *Panel) follow(s *dbus.Signal) {
	p.mu.Lock()
	ours := s.Sender == p.sender
	p.mu.Unlock()
	if !ours {
		return
	}
	switch s.Name {
	case itemName + ".NewIcon":
		p.mu.Lock()
		p.newIcons++
		p.mu.Unlock()
	case menuName + ".LayoutUpdated":
		p.reload()
	case menuName + ".ItemsPropertiesUpdated":
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, one := range s.Body[0].([][]any) {
			if n := p.root.byID(one[0].(int32)); n != nil {
				n.take(one[1].(map[string]dbus.Variant))
			}
		}
	}
}

// Registrations counts how often an item asked to be shown.
func (p *Panel) Registrations() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.times
}

// NewIcons counts how often the icon was told to have changed.
func (p *Panel) NewIcons() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.newIcons
}

// Menu is what a person would see now.
func (p *Panel) Menu() Node {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.root.copy()
}

// Property reads one of the icon.
func (p *Panel) Property(name string) any {
	p.t.Helper()
	p.mu.Lock()
	item := p.conn.Object(p.sender, p.path)
	p.mu.Unlock()
	var value dbus.Variant
	if err := item.Call("org.freedesktop.DBus.Properties.Get", 0, itemName, name).Store(&value); err != nil {
		p.t.Fatal(err)
	}
	return value.Value()
}

// Properties reads all of the icon; its pictures make that slow.
func (p *Panel) Properties() map[string]any {
	p.t.Helper()
	p.mu.Lock()
	item := p.conn.Object(p.sender, p.path)
	p.mu.Unlock()
	var all map[string]dbus.Variant
	if err := item.Call("org.freedesktop.DBus.Properties.GetAll", 0, itemName).Store(&all); err != nil {
		p.t.Fatal(err)
	}
	values := make(map[string]any, len(all))
	for name, v := range all {
		values[name] = v.Value()
	}
	return values
}

// Click clicks an item of the menu, and waits until the program has taken that.
func (p *Panel) Click(id int32) {
	p.t.Helper()
	p.mu.Lock()
	menu := p.menu
	p.mu.Unlock()
	if err := menu.Call(menuName+".Event", 0, id, "clicked", dbus.MakeVariant(""), uint32(0)).Err; err != nil {
		p.t.Errorf("clicking: %v", err)
	}
}

// ClickBlind clicks without waiting, as panels do.
func (p *Panel) ClickBlind(id int32) {
	p.mu.Lock()
	menu := p.menu
	p.mu.Unlock()
	menu.Go(menuName+".Event", dbus.FlagNoReplyExpected, nil, id, "clicked", dbus.MakeVariant(""), uint32(0))
}

// InOrder asks for a long answer and a short one, again and again without waiting, and reports whether the
// answers came in the order of the questions: real panels rely on that.
func (p *Panel) InOrder() bool {
	p.t.Helper()
	p.mu.Lock()
	menu := p.menu
	p.mu.Unlock()
	var asked []*dbus.Call
	for range 50 { // a bus has a limit for what is not answered yet
		asked = append(asked, menu.Go(menuName+".GetLayout", 0, nil, int32(0), int32(-1), []string{}),
			menu.Go(menuName+".GetGroupProperties", 0, nil, []int32{1}, []string{}))
	}
	var last dbus.Sequence
	for _, call := range asked {
		<-call.Done
		if call.Err != nil {
			p.t.Fatal(call.Err)
		}
		if call.ResponseSequence < last {
			return false
		}
		last = call.ResponseSequence
	}
	return true
}

// Call calls a method of the menu.
func (p *Panel) Call(method string, args ...any) error {
	p.mu.Lock()
	menu := p.menu
	p.mu.Unlock()
	return menu.Call(menuName+"."+method, 0, args...).Err
}

// Open tells that the menu is about to show.
func (p *Panel) Open() {
	p.t.Helper()
	p.mu.Lock()
	menu := p.menu
	p.mu.Unlock()
	if err := menu.Call(menuName+".AboutToShow", 0, int32(0)).Err; err != nil {
		p.t.Error(err)
	}
}

// Activate clicks the icon itself.
func (p *Panel) Activate() {
	p.t.Helper()
	p.mu.Lock()
	item := p.conn.Object(p.sender, p.path)
	p.mu.Unlock()
	if err := item.Call(itemName+".Activate", 0, int32(0), int32(0)).Err; err != nil {
		p.t.Error(err)
	}
}

// Node is one item of a menu.
type Node struct {
	ID       int32
	Label    string // as it is drawn
	Kind     string
	Enabled  bool
	Children []Node
}

func parse(v []any) Node {
	n := Node{ID: v[0].(int32), Enabled: true}
	n.take(v[1].(map[string]dbus.Variant))
	for _, child := range v[2].([]dbus.Variant) {
		n.Children = append(n.Children, parse(child.Value().([]any)))
	}
	return n
}

func (n *Node) take(properties map[string]dbus.Variant) {
	for name, value := range maps.All(properties) {
		switch name {
		case "label": // an underscore marks the key of the next letter; two are one
			label := strings.ReplaceAll(value.Value().(string), "__", "\x00")
			n.Label = strings.ReplaceAll(strings.ReplaceAll(label, "_", ""), "\x00", "_")
		case "type":
			n.Kind = value.Value().(string)
		case "enabled":
			n.Enabled = value.Value().(bool)
		}
	}
}

func (n *Node) byID(id int32) *Node {
	if n.ID == id {
		return n
	}
	for i := range n.Children {
		if found := n.Children[i].byID(id); found != nil {
			return found
		}
	}
	return nil
}

func (n Node) copy() Node {
	children := n.Children
	n.Children = nil
	for _, child := range children {
		n.Children = append(n.Children, child.copy())
	}
	return n
}

// Find gives the item under the labels, nil for none.
func (n Node) Find(labels ...string) *Node {
	if len(labels) == 0 {
		return &n
	}
	for _, child := range n.Children {
		if child.Label == labels[0] {
			return child.Find(labels[1:]...)
		}
	}
	return nil
}

// String draws the menu, an item a line.
func (n Node) String() string {
	var b strings.Builder
	for _, child := range n.Children {
		label := child.Label
		if child.Kind == "separator" {
			label = "--"
		}
		if !child.Enabled {
			label = "(" + label + ")"
		}
		fmt.Fprintf(&b, "%s\n", label)
		for line := range strings.Lines(child.String()) {
			fmt.Fprintf(&b, "  %s", line)
		}
	}
	return b.String()
}
