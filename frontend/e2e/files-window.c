// For tests only: a window of another program, from which the files named on its command line can be dragged.
#include <gtk/gtk.h>

static char **uris;

static void give(GtkWidget *box, GdkDragContext *drag, GtkSelectionData *data, guint info, guint time, gpointer unused) {
    gtk_selection_data_set_uris(data, uris);
}

int main(int argc, char **argv) {
    gtk_init(&argc, &argv);
    uris = g_new0(char *, argc);
    for (int n = 1; n < argc; n++) uris[n - 1] = g_filename_to_uri(argv[n], NULL, NULL);
    GtkWidget *window = gtk_window_new(GTK_WINDOW_TOPLEVEL), *box = gtk_event_box_new();
    gtk_window_set_title(GTK_WINDOW(window), "Some files");
    gtk_window_set_default_size(GTK_WINDOW(window), 120, 80);
    gtk_container_add(GTK_CONTAINER(window), box);
    gtk_drag_source_set(box, GDK_BUTTON1_MASK, NULL, 0, GDK_ACTION_COPY);
    gtk_drag_source_add_uri_targets(box);
    g_signal_connect(box, "drag-data-get", G_CALLBACK(give), NULL);
    g_signal_connect(window, "destroy", gtk_main_quit, NULL);
    gtk_widget_show_all(window);
    gtk_window_set_keep_above(GTK_WINDOW(window), TRUE);
    gtk_window_move(GTK_WINDOW(window), 5, 5);
    gtk_main();
}
