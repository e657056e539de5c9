package text

var replies = area{
	"command-reply.help": {
		en: "What you can say to the program instead of to her:\n\n- `/help` – this list\n- `/clear` – empty the conversation; files stay as they are\n- `/model [NAME]` – which model is used here, or use another\n- `/compress` – shorten what she reads of this conversation\n- `/status` – model, context, tokens, what runs",
		zh: "可以对程序（而不是对她）说的话：\n\n- `/help`：显示本列表\n- `/clear`：清空对话，文件保持不变\n- `/model [名称]`：查看或更换这里使用的模型\n- `/compress`：压缩她读到的对话\n- `/status`：模型、上下文、token、正在运行的内容",
	},
	"command-reply.cleared":       {en: "The conversation is empty now. Files stay as they are.", zh: "对话已清空，文件保持不变。"},
	"command-reply.compressed":    {en: "Done: what could be shortened for her is shortened. You still see all of it.", zh: "完成：能为她压缩的已压缩，你仍能看到全部内容。"},
	"command-reply.model":         {en: "This conversation uses {model}. There are: {all}. Say `/model NAME` to use another.", zh: "该会话使用 {model}。可用：{all}。说 `/model 名称` 更换。"},
	"command-reply.model-set":     {en: "This conversation uses {model} from its next call on.", zh: "该会话从下一次调用起使用 {model}。"},
	"command-reply.model-unknown": {en: "There is no model {model}. There are: {all}.", zh: "没有模型 {model}。可用：{all}。"},
	"command-reply.not-allowed":   {en: "This connection may not change settings.", zh: "此连接无权修改设置。"},
	"command-reply.busy":          {en: "Too much is under way; try again in a moment.", zh: "正在进行的操作太多，请稍后再试。"},
	"command-reply.idle":          {en: "nothing runs", zh: "没有回合在运行"},
	"command-reply.running":       {en: "a turn runs", zh: "有回合在运行"},
	"command-reply.status": {
		en: "- Model: {model}\n- Context: {used} of {window} tokens ({percent} %)\n- Tokens so far: {in} in, {out} out, sub-tasks included\n- Now: {turn}, {waiting} waiting, {tasks} in the background\n- Folder: `{folder}`",
		zh: "- 模型：{model}\n- 上下文：{used} / {window} token（{percent}%）\n- 累计 token：输入 {in}，输出 {out}（含子任务）\n- 现在：{turn}，排队 {waiting}，后台 {tasks}\n- 文件夹：`{folder}`",
	},
}
