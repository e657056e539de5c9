package text

var tray = area{
	"tray.show":    {en: "Show", zh: "显示"},
	"tray.open":    {en: "Open in browser", zh: "在浏览器中打开"},
	"tray.new":     {en: "New session", zh: "新会话"},
	"tray.restart": {en: "Restart to use version {version}", zh: "重启以使用版本 {version}"},
	"tray.quit":    {en: "Quit", zh: "退出"},
	"tray.request": {en: "{who}: {what}", zh: "{who}：{what}"},
	"tray.approve": {en: "Approve", zh: "批准"},
	"tray.deny":    {en: "Deny", zh: "拒绝"},
	"tray.more":    {en: "{n} more in the window", zh: "窗口中还有 {n} 项"},

	"tray.idle":    {en: "Idle", zh: "空闲"},
	"tray.waiting": {en: "{n} waiting", zh: "{n} 项待审批"},
	"tray.working": {en: "{n} working", zh: "{n} 个进行中"},
	"tray.failed":  {en: "something failed", zh: "有内容出错"},
	"tray.and":     {en: "{one}, {other}", zh: "{one}，{other}"},

	"notify.elsewhere": {en: "Answer in the tray or in the window.", zh: "请在托盘或窗口中答复。"},
}
