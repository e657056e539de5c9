package text

// What the manual page says beside what the commands say of themselves.
var manual = area{
	"manual.head":           {en: "User commands", zh: "用户命令"},
	"manual.name":           {en: "NAME", zh: "名称"},
	"manual.synopsis":       {en: "SYNOPSIS", zh: "概要"},
	"manual.description":    {en: "DESCRIPTION", zh: "描述"},
	"manual.options":        {en: "OPTIONS OF THE WINDOW", zh: "窗口的选项"},
	"manual.options-all":    {en: "OPTIONS OF EVERY COMMAND", zh: "所有命令通用的选项"},
	"manual.commands":       {en: "COMMANDS", zh: "命令"},
	"manual.exit":           {en: "EXIT STATUS", zh: "退出状态"},
	"manual.environment":    {en: "ENVIRONMENT", zh: "环境变量"},
	"manual.files":          {en: "FILES", zh: "文件"},
	"manual.links":          {en: "The desktop hands links to the program: `aalis://session/ID` shows a session, `aalis://new` begins a new one.", zh: "桌面会把链接交给本程序：`aalis://session/ID` 显示一个会话，`aalis://new` 新建会话。"},
	"manual.exit-fine":      {en: "What was asked for is done.", zh: "已完成所要求的操作。"},
	"manual.exit-failed":    {en: "It failed; standard error says why.", zh: "操作失败，原因见标准错误输出。"},
	"manual.exit-usage":     {en: "The command line or the configuration is wrong; standard error says what would be right.", zh: "命令行或配置有误，正确写法见标准错误输出。"},
	"manual.env-key":        {en: "Stands before the key {key} of `config.yaml`.", zh: "优先于 `config.yaml` 中的 {key}。"},
	"manual.env-xdg":        {en: "Where the data folder lies when nothing else says so; `~/.local/share` without it.", zh: "未另行指定时数据目录所在的位置；未设置时为 `~/.local/share`。"},
	"manual.folder":         {en: "Everything lies in one folder, `$XDG_DATA_HOME/aalis`, which removing the program leaves alone:", zh: "全部数据都在一个目录 `$XDG_DATA_HOME/aalis` 中，卸载程序不会动它："},
	"manual.file-config":    {en: "The configuration: models, language, settings. Written by the program and by hand.", zh: "配置：模型、语言、设置。程序和人都可以修改。"},
	"manual.file-database":  {en: "Every conversation.", zh: "所有会话。"},
	"manual.file-workspace": {en: "Where conversations work that were given no folder of their own.", zh: "未指定文件夹的会话在此工作。"},
	"manual.file-running":   {en: "While the program runs: where it is reached.", zh: "程序运行期间：它的访问地址。"},
	"manual.file-log":       {en: "What went wrong; no messages and no secrets.", zh: "运行日志，不含消息内容和密钥。"},
}
