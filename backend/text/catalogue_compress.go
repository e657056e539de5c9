package text

var compression = area{
	"compress.start":   {en: "Shortening what she reads of this conversation…", zh: "正在压缩她读到的对话…"},
	"compress.done":    {en: "The conversation was shortened for her: {before} tokens became {after}. You still see all of it.", zh: "已为她压缩对话：{before} 个 token 变为 {after} 个。你仍能看到全部内容。"},
	"compress.nothing": {en: "There is nothing to shorten yet.", zh: "目前没有可压缩的内容。"},
	"compress.failed":  {en: "The conversation was not shortened: {reason}", zh: "对话没有压缩：{reason}"},
	"compress.busy":    {en: "This conversation is being shortened already.", zh: "该会话正在压缩中。"},
	"compress.changed": {en: "The conversation was changed meanwhile. Try again.", zh: "期间对话发生了变化，请重试。"},
	"compress.stopped": {en: "It was stopped.", zh: "已被停止。"},
	"compress.empty":   {en: "{model} wrote no summary.", zh: "{model} 没有写出摘要。"},
	"compress.divider": {en: "Shortened for her up to here: {before} tokens became {after}.", zh: "到此为止已为她压缩：{before} 个 token 变为 {after} 个。"},

	"turn.overflow-off":   {en: "The conversation no longer fits into the context window of {model}, and shortening it by itself is switched off. Shorten it by hand (/compress) or begin a new one.", zh: "对话已超出 {model} 的上下文窗口，而自动压缩已关闭。请手动压缩（/compress）或新建会话。"},
	"turn.overflow-still": {en: "The conversation does not fit into the context window of {model}, and there is nothing left to shorten. Say it in fewer words, switch tools off, or begin a new conversation.", zh: "对话超出 {model} 的上下文窗口，已没有可压缩的内容。请缩短内容、关闭部分工具，或新建会话。"},

	"settings.foreground":       {en: "To the background after (seconds)", zh: "转入后台前等待（秒）"},
	"settings.foreground-about": {en: "How long a command may keep a turn waiting before it goes on in the background.", zh: "命令最多让一个回合等待多久，之后转入后台继续。"},

	"settings.compress":       {en: "Shorten at (% of the window)", zh: "压缩线（窗口占比 %）"},
	"settings.compress-about": {en: "How full her context may get before older messages are replaced by a summary, for her alone. 0 never does it by itself.", zh: "她的上下文用到多满时，把较早的消息换成摘要（只对她）。0 表示从不自动压缩。"},
}
