//go:build (desktop && production) || dev

package app

/*
#cgo webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.1
#cgo !webkit2_41 pkg-config: gtk+-3.0 webkit2gtk-4.0

#include <gtk/gtk.h>
#include <webkit2/webkit2.h>

static void zoom_views(GtkWidget *widget, gpointer factor) {
	if (WEBKIT_IS_WEB_VIEW(widget))
		webkit_web_view_set_zoom_level(WEBKIT_WEB_VIEW(widget), *(double *)factor);
	else if (GTK_IS_CONTAINER(widget))
		gtk_container_forall(GTK_CONTAINER(widget), zoom_views, factor);
}

static gboolean zoom_windows(gpointer factor) {
	GList *windows = gtk_window_list_toplevels();
	for (GList *at = windows; at != NULL; at = at->next) zoom_views(GTK_WIDGET(at->data), factor);
	g_list_free(windows);
	return G_SOURCE_REMOVE;
}

// The toolkit's functions are for its own thread, whose loop calls this.
static void zoom_later(double factor) {
	double *kept = g_new(double, 1);
	*kept = factor;
	g_idle_add_full(G_PRIORITY_DEFAULT, zoom_windows, kept, g_free);
}
*/
import "C"

// canZoom says that setZoom does something here.
const canZoom = true

// setZoom shows the page larger or smaller; 1 is its own size. The web view does it, as a browser does:
// what the page measures and where it breaks then fits, which neither of the ways in CSS gives it. The
// window toolkit has no call for it.
func setZoom(factor float64) { C.zoom_later(C.double(factor)) }
