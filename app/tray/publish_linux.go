package tray

import (
	"errors"
	"maps"
	"sync"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
)

// publisher shows what the core has on one connection.
type publisher struct {
	core *core
	conn *dbus.Conn
	menu *menu
	icon *notifierItem

	mu       sync.Mutex // guards all below, and that what is older is not published after what is newer
	exported bool
	onIcon   *properties
	shown    appearance
}

// publish brings the menu and the icon to what the core has now, what can be answered first. Errors of a
// connection that dies show where the connection is followed.
func (p *publisher) publish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	items, tip, look := p.core.look()
	layout, touched := p.menu.set(items)
	if p.exported && len(touched) > 0 {
		_ = p.conn.Emit(menuPath, menuName+".ItemsPropertiesUpdated", touched, []removed{})
	}
	if p.exported && layout != 0 {
		_ = p.conn.Emit(menuPath, menuName+".LayoutUpdated", layout, int32(0))
	}
	values := map[string]any{"ToolTip": tooltip{Title: p.core.o.Name, Description: tip, Icon: []pixmap{}}, "Status": status(look)}
	if p.onIcon == nil || look != p.shown {
		drawn := pixmaps(look)
		values["IconPixmap"], values["AttentionIconPixmap"] = drawn, drawn
		p.shown = look
	}
	if p.onIcon == nil {
		p.onIcon = &properties{all: map[string]map[string]dbus.Variant{itemName: p.constant()}}
	}
	if changed := p.onIcon.change(itemName, values); p.exported {
		p.emit(changed, look)
	}
}

func (p *publisher) emit(changed map[string]dbus.Variant, look appearance) {
	if len(changed) == 0 {
		return
	}
	if _, icon := changed["IconPixmap"]; icon {
		_ = p.conn.Emit(itemPath, itemName+".NewIcon")
		_ = p.conn.Emit(itemPath, itemName+".NewAttentionIcon")
	}
	if _, tip := changed["ToolTip"]; tip {
		_ = p.conn.Emit(itemPath, itemName+".NewToolTip")
	}
	if _, is := changed["Status"]; is {
		_ = p.conn.Emit(itemPath, itemName+".NewStatus", status(look))
	}
	told, asked := maps.Clone(changed), []string{} // a picture is read by whoever draws it
	for _, name := range []string{"IconPixmap", "AttentionIconPixmap"} {
		if _, is := told[name]; is {
			delete(told, name)
			asked = append(asked, name)
		}
	}
	_ = p.conn.Emit(itemPath, propertiesName+".PropertiesChanged", itemName, told, asked)
}

// status makes a panel that hides quiet icons bring this one out while somebody waits.
func status(look appearance) string {
	if look.waiting > 0 {
		return "NeedsAttention"
	}
	return "Active"
}

func (p *publisher) constant() map[string]dbus.Variant {
	all := map[string]dbus.Variant{}
	for name, value := range map[string]any{
		"Category": "Communications", "Id": "aalis", "Title": p.core.o.Name, "WindowId": int32(0),
		"Menu": menuPath, "ItemIsMenu": false,
		"IconName": "", "AttentionIconName": "", "OverlayIconName": "", "IconThemePath": "", "AttentionMovieName": "",
		"OverlayIconPixmap": []pixmap{},
	} {
		all[name] = dbus.MakeVariant(value)
	}
	return all
}

// export puts both objects on the connection.
func (p *publisher) export() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	onMenu := &properties{all: map[string]map[string]dbus.Variant{menuName: {
		"Version": dbus.MakeVariant(uint32(3)), "TextDirection": dbus.MakeVariant("ltr"),
		"Status": dbus.MakeVariant("normal"), "IconThemePath": dbus.MakeVariant([]string{}),
	}}}
	aboutIcon := p.onIcon.describe(itemName, p.icon, introspect.Signal{Name: "NewIcon"}, introspect.Signal{Name: "NewAttentionIcon"},
		introspect.Signal{Name: "NewToolTip"}, introspect.Signal{Name: "NewStatus", Args: []introspect.Arg{{Name: "status", Type: "s"}}})
	aboutMenu := onMenu.describe(menuName, p.menu,
		introspect.Signal{Name: "LayoutUpdated", Args: []introspect.Arg{{Name: "revision", Type: "u"}, {Name: "parent", Type: "i"}}},
		introspect.Signal{Name: "ItemsPropertiesUpdated", Args: []introspect.Arg{{Name: "updated", Type: "a(ia{sv})"}, {Name: "removed", Type: "a(ias)"}}})
	p.exported = true
	return errors.Join(
		p.conn.Export(p.icon, itemPath, itemName), p.conn.Export(p.onIcon, itemPath, propertiesName),
		p.conn.Export(introspect.NewIntrospectable(aboutIcon), itemPath, introspect.IntrospectData.Name),
		p.conn.Export(onMenu, menuPath, propertiesName),
		p.conn.Export(introspect.NewIntrospectable(aboutMenu), menuPath, introspect.IntrospectData.Name),
	)
}
