package text

var desktop = area{
	// Notifications.
	"notify.asks":           {en: "{who} asks for your approval", zh: "{who} 请求你的批准"},
	"notify.where":          {en: "in {folder}", zh: "位于 {folder}"},
	"notify.approve":        {en: "Approve", zh: "批准"},
	"notify.deny":           {en: "Deny", zh: "拒绝"},
	"notify.open":           {en: "Open", zh: "打开"},
	"notify.finished":       {en: "{title}: done", zh: "{title}：已完成"},
	"notify.took":           {en: "She took {time}.", zh: "用时 {time}。"},
	"notify.failed":         {en: "{title}: something went wrong", zh: "{title}：出错了"},
	"notify.failed-somehow": {en: "The turn ended with an error; open the conversation to see it.", zh: "这一轮以错误结束；打开会话查看详情。"},
	"notify.hidden":         {en: "{name} goes on in the tray", zh: "{name} 在托盘中继续运行"},
	"notify.hidden-about":   {en: "Its icon brings the window back; Quit in its menu ends it. Settings can make closing end it.", zh: "点击托盘图标可恢复窗口，用菜单中的“退出”可结束程序。也可在设置中改为关闭即退出。"},
	"notify.not-taken":      {en: "Your answer was not taken: {reason}", zh: "你的答复没有被接受：{reason}"},
	"notify.no-tab":         {en: "No browser tab could be opened: {reason}", zh: "无法打开浏览器标签页：{reason}"},

	// The window.
	"window.blank":     {en: "The window seems to stay blank, as happens with some graphics drivers. Start again with the safe renderer, as soon as nothing runs?", zh: "窗口似乎一直是空白的，某些显卡驱动会这样。要在没有任务运行时用安全渲染方式重新启动吗？"},
	"window.blank-tab": {en: "The window seems to stay blank, with the safe renderer too. Open a browser tab instead?", zh: "即使用了安全渲染方式，窗口似乎仍是空白。要改为打开浏览器标签页吗？"},

	// The native menu.
	"menu.file":       {en: "File", zh: "文件"},
	"menu.new":        {en: "New conversation", zh: "新会话"},
	"menu.tab":        {en: "Open in browser", zh: "在浏览器中打开"},
	"menu.settings":   {en: "Settings", zh: "设置"},
	"menu.quit":       {en: "Quit", zh: "退出"},
	"menu.view":       {en: "View", zh: "视图"},
	"menu.sidebar":    {en: "Show or hide the sidebar", zh: "显示或隐藏侧栏"},
	"menu.palette":    {en: "Search and commands", zh: "搜索与命令"},
	"menu.inbox":      {en: "Waiting approvals", zh: "等待处理的审批"},
	"menu.zoom-in":    {en: "Larger", zh: "放大"},
	"menu.zoom-out":   {en: "Smaller", zh: "缩小"},
	"menu.zoom-reset": {en: "Usual size", zh: "默认大小"},
}
