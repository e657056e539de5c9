package text

var shell = area{
	// The settings of the program as a part of the desktop.
	"shell.autostart":              {en: "Start with the machine", zh: "随系统启动"},
	"shell.autostart-about":        {en: "She starts hidden in the tray when you log in.", zh: "登录后她在托盘中静默启动。"},
	"shell.keep-in-tray":           {en: "Keep running in the tray", zh: "关闭窗口后留在托盘"},
	"shell.keep-in-tray-about":     {en: "Closing the window hides it, as long as there is a tray to bring it back from. Otherwise closing it ends the program.", zh: "关闭窗口只是隐藏它，前提是有托盘可以唤回；否则关闭窗口会结束程序。"},
	"shell.notify-approvals":       {en: "Notify of approvals", zh: "审批通知"},
	"shell.notify-approvals-about": {en: "A desktop notification, with the answers on it, when she asks for your approval.", zh: "她请求批准时发出桌面通知，可直接在通知上回答。"},
	"shell.notify-finished":        {en: "Notify of finished work", zh: "完成通知"},
	"shell.notify-finished-about":  {en: "When something that took long is done while no window of hers is in front.", zh: "耗时较长的工作完成、而她的窗口不在最前时通知。"},
	"shell.notify-failed":          {en: "Notify of failed work", zh: "失败通知"},
	"shell.notify-failed-about":    {en: "When something fails while no window of hers is in front.", zh: "工作失败、而她的窗口不在最前时通知。"},
	"shell.long-turn":              {en: "What takes long (seconds)", zh: "多久算耗时较长（秒）"},
	"shell.long-turn-about":        {en: "Finished work is told of when it took at least this long.", zh: "完成的工作至少耗时这么久才会通知。"},
}
