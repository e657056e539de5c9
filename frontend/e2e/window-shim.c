// For tests only, loaded with LD_PRELOAD: makes the one web view of the program as it is shipped
// controllable by WebKitWebDriver, which the window toolkit itself never allows.
#define _GNU_SOURCE
#include <webkit2/webkit2.h>

static WebKitWebView *view;

static WebKitWebView *create_web_view(WebKitAutomationSession *session, gpointer data) { return view; }

static void automation_started(WebKitWebContext *context, WebKitAutomationSession *session, gpointer data) {
    WebKitApplicationInfo *info = webkit_application_info_new();
    webkit_application_info_set_name(info, "aalis");
    webkit_application_info_set_version(info, 0, 1, 0);
    webkit_automation_session_set_application_info(session, info);
    webkit_application_info_unref(info);
    g_signal_connect(session, "create-web-view", G_CALLBACK(create_web_view), NULL);
}

GtkWidget *webkit_web_view_new_with_user_content_manager(WebKitUserContentManager *manager) {
    WebKitWebContext *context = webkit_web_context_get_default();
    webkit_web_context_set_automation_allowed(context, TRUE);
    g_signal_connect(context, "automation-started", G_CALLBACK(automation_started), NULL);
    view = WEBKIT_WEB_VIEW(g_object_new(WEBKIT_TYPE_WEB_VIEW, "web-context", context, "user-content-manager", manager,
                                        "is-controlled-by-automation", TRUE, NULL));
    return GTK_WIDGET(view);
}
