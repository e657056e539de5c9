package tray

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/godbus/dbus/v5"
)

// menu is com.canonical.dbusmenu: the items as panels read and click them. Its exported methods are those
// of that interface.
type menu struct {
	click   func(id int32)
	opening func() // brings the items up to date

	mu       sync.Mutex // guards all below
	revision uint32
	root     *node
	byID     map[int32]*node
}

type node struct {
	id         int32
	properties map[string]dbus.Variant
	below      []*node
}

// The shapes of the interface.
type (
	layout struct {
		ID         int32
		Properties map[string]dbus.Variant
		Children   []dbus.Variant
	}
	propertiesOf struct {
		ID         int32
		Properties map[string]dbus.Variant
	}
	removed struct {
		ID    int32
		Names []string
	}
	event struct {
		ID        int32
		Name      string
		Data      dbus.Variant
		Timestamp uint32
	}
)

func newMenu(click func(id int32)) *menu {
	m := &menu{click: click, revision: 1}
	m.root, m.byID = index(nil)
	return m
}

// set takes new items. It gives the new revision when items came, went or moved, else 0; and those that
// stay in their place but look different.
func (m *menu) set(items []item) (revision uint32, touched []propertiesOf) {
	root, byID := index(items)
	m.mu.Lock()
	defer m.mu.Unlock()
	moved := shape(root) != shape(m.root)
	for id, n := range byID {
		if was := m.byID[id]; was != nil && !maps.EqualFunc(was.properties, n.properties, func(a, b dbus.Variant) bool { return a.Value() == b.Value() }) {
			touched = append(touched, propertiesOf{id, n.properties})
		}
	}
	m.root, m.byID = root, byID
	if moved {
		m.revision++
		revision = m.revision
	}
	return revision, touched
}

func index(items []item) (root *node, byID map[int32]*node) {
	root = &node{properties: map[string]dbus.Variant{"children-display": dbus.MakeVariant("submenu")}}
	byID = map[int32]*node{0: root}
	var add func(to *node, items []item)
	add = func(to *node, items []item) {
		for _, it := range items {
			n := &node{id: it.id, properties: look(it)}
			byID[it.id] = n
			to.below = append(to.below, n)
			add(n, it.below)
		}
	}
	add(root, items)
	return root, byID
}

func look(it item) map[string]dbus.Variant {
	if it.label == "" {
		return map[string]dbus.Variant{"type": dbus.MakeVariant("separator")}
	}
	all := map[string]dbus.Variant{
		// One underscore would underline the next letter and vanish.
		"label":   dbus.MakeVariant(strings.ReplaceAll(it.label, "_", "__")),
		"enabled": dbus.MakeVariant(!it.off),
	}
	if len(it.below) > 0 {
		all["children-display"] = dbus.MakeVariant("submenu")
	}
	return all
}

// shape names the items and their order.
func shape(n *node) string {
	var b strings.Builder
	for _, child := range n.below {
		fmt.Fprintf(&b, "%d(%s)", child.id, shape(child))
	}
	return b.String()
}

func (n *node) layout(depth int32) layout {
	l := layout{ID: n.id, Properties: n.properties, Children: []dbus.Variant{}}
	if depth != 0 {
		for _, child := range n.below {
			l.Children = append(l.Children, dbus.MakeVariant(child.layout(depth-1)))
		}
	}
	return l
}

// call calls a method by its name.
func (m *menu) call(method string, args []any) ([]any, *dbus.Error) {
	var (
		id, depth int32
		ids       []int32
		name      string
		names     []string
		data      dbus.Variant
		timestamp uint32
		events    []event
	)
	into := map[string][]any{
		"GetLayout": {&id, &depth, &names}, "GetGroupProperties": {&ids, &names}, "GetProperty": {&id, &name},
		"Event": {&id, &name, &data, &timestamp}, "EventGroup": {&events}, "AboutToShow": {&id}, "AboutToShowGroup": {&ids},
	}[method]
	if into == nil {
		return nil, dbus.NewError("org.freedesktop.DBus.Error.UnknownMethod", []any{"the menu has no method " + method})
	}
	if err := dbus.Store(args, into...); err != nil {
		return nil, dbus.NewError("org.freedesktop.DBus.Error.InvalidArgs", []any{method + ": " + err.Error()})
	}
	switch method {
	case "GetLayout":
		revision, all, err := m.GetLayout(id, depth, names)
		return []any{revision, all}, err
	case "GetGroupProperties":
		all, err := m.GetGroupProperties(ids, names)
		return []any{all}, err
	case "GetProperty":
		value, err := m.GetProperty(id, name)
		return []any{value}, err
	case "Event":
		return nil, m.Event(id, name, data, timestamp)
	case "EventGroup":
		missing, err := m.EventGroup(events)
		return []any{missing}, err
	case "AboutToShow":
		update, err := m.AboutToShow(id)
		return []any{update}, err
	default:
		updated, missing, err := m.AboutToShowGroup(ids)
		return []any{updated, missing}, err
	}
}

func unknown(id int32) *dbus.Error {
	return dbus.NewError("org.freedesktop.DBus.Error.InvalidArgs", []any{fmt.Sprintf("there is no item %d", id)})
}

func (m *menu) GetLayout(parent, depth int32, _ []string) (uint32, layout, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.byID[parent]
	if n == nil {
		return 0, layout{}, unknown(parent)
	}
	return m.revision, n.layout(depth), nil
}

func (m *menu) GetGroupProperties(ids []int32, _ []string) ([]propertiesOf, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(ids) == 0 {
		ids = slices.Sorted(maps.Keys(m.byID))
	}
	all := []propertiesOf{}
	for _, id := range ids {
		if n := m.byID[id]; n != nil {
			all = append(all, propertiesOf{id, n.properties})
		}
	}
	return all, nil
}

func (m *menu) GetProperty(id int32, name string) (dbus.Variant, *dbus.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.byID[id]
	if n == nil {
		return dbus.Variant{}, unknown(id)
	}
	value, known := n.properties[name]
	if !known {
		return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.InvalidArgs", []any{fmt.Sprintf("item %d has no %s", id, name)})
	}
	return value, nil
}

// Event is told of clicks. One on an item that is gone does nothing, and is no error of the panel's.
func (m *menu) Event(id int32, name string, _ dbus.Variant, _ uint32) *dbus.Error {
	if name == "clicked" {
		m.click(id)
	}
	return nil
}

func (m *menu) EventGroup(events []event) ([]int32, *dbus.Error) {
	for _, e := range events {
		if e.Name == "clicked" {
			m.click(e.ID)
		}
	}
	return []int32{}, nil
}

// AboutToShow tells before the menu opens; it is the moment for what changed without being told, such
// as the language.
func (m *menu) AboutToShow(int32) (bool, *dbus.Error) {
	m.opening()
	return false, nil
}

func (m *menu) AboutToShowGroup([]int32) (updated, missing []int32, _ *dbus.Error) {
	m.opening()
	return []int32{}, []int32{}, nil
}
