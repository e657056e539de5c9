//go:build (desktop && production) || dev

package app

/*
#cgo webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.1
#cgo !webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.0

#include <stdint.h>
#include <gtk/gtk.h>
#include <webkit2/webkit2.h>

extern void filesDropped(uintptr_t told, char *uris);

struct task {
	void (*run)(WebKitWebView *view, struct task *task);
	double factor;
	uintptr_t told;
};

static void visit(GtkWidget *widget, gpointer task) {
	if (WEBKIT_IS_WEB_VIEW(widget))
		((struct task *)task)->run(WEBKIT_WEB_VIEW(widget), task);
	else if (GTK_IS_CONTAINER(widget))
		gtk_container_forall(GTK_CONTAINER(widget), visit, task);
}

static gboolean visit_windows(gpointer task) {
	GList *windows = gtk_window_list_toplevels();
	for (GList *at = windows; at != NULL; at = at->next) visit(GTK_WIDGET(at->data), task);
	g_list_free(windows);
	return G_SOURCE_REMOVE;
}

// The toolkit's functions are for its own thread, whose loop does the task.
static void later(struct task task) {
	struct task *kept = g_new(struct task, 1);
	*kept = task;
	g_idle_add_full(G_PRIORITY_DEFAULT, visit_windows, kept, g_free);
}

static void zoom(WebKitWebView *view, struct task *task) { webkit_web_view_set_zoom_level(view, task->factor); }

static void zoom_later(double factor) { later((struct task){.run = zoom, .factor = factor}); }

#define DRAGGED "aalis-dragged"

// The web view asks for what is dragged while it moves over it; the drop itself brings nothing. What a
// page drags has a source in this program, and is no file.
static void drag_received(GtkWidget *view, GdkDragContext *drag, gint x, gint y, GtkSelectionData *data, guint info,
                          guint time, gpointer told) {
	gchar **uris = gtk_selection_data_get_uris(data);
	if (uris != NULL && gtk_drag_get_source_widget(drag) == NULL)
		g_object_set_data_full(G_OBJECT(drag), DRAGGED, g_strjoinv("\n", uris), g_free);
	g_strfreev(uris);
}

static gboolean drag_dropped(GtkWidget *view, GdkDragContext *drag, gint x, gint y, guint time, gpointer told) {
	char *uris = g_object_get_data(G_OBJECT(drag), DRAGGED);
	if (uris != NULL) filesDropped((uintptr_t)told, uris);
	return FALSE; // the page is told of the drop, too
}

static void watch(WebKitWebView *view, struct task *task) {
	g_signal_connect(view, "drag-data-received", G_CALLBACK(drag_received), (gpointer)task->told);
	g_signal_connect(view, "drag-drop", G_CALLBACK(drag_dropped), (gpointer)task->told);
}

static void watch_later(uintptr_t told) { later((struct task){.run = watch, .told = told}); }
*/
import "C"

import (
	"runtime/cgo"
	"strings"
)

// What the window toolkit has no calls for is done at the web view itself.

// canZoom says that setZoom does something here.
const canZoom = true

// setZoom shows the page larger or smaller; 1 is its own size. The web view does it, as a browser does:
// what the page measures and where it breaks then fits, which neither of the ways in CSS gives it.
func setZoom(factor float64) { C.zoom_later(C.double(factor)) }

// watchDrops tells of files from other programs that are dropped on the page, which the web view keeps
// from it. dropped is called with their addresses on the toolkit's thread, which it must not hold up. It
// is called once, when the window is there.
func watchDrops(dropped func(uris []string)) { C.watch_later(C.uintptr_t(cgo.NewHandle(dropped))) }

//export filesDropped
func filesDropped(told C.uintptr_t, uris *C.char) {
	cgo.Handle(told).Value().(func([]string))(strings.Split(C.GoString(uris), "\n"))
}
