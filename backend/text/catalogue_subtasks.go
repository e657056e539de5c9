package text

var subtasks = area{
	"subtask.not-found":   {en: "This session has no sub-task {id}.", zh: "这个会话没有子任务 {id}。"},
	"subtask.archived":    {en: "The sub-task has been archived; the owner can bring it back.", zh: "这个子任务已归档，主人可以恢复它。"},
	"subtask.owner-spoke": {en: "The owner has written in this sub-task, so it is theirs to delete; stop it instead.", zh: "主人在这个子任务里写过话，只有主人能删除它；可以改为停止它。"},
	"subtask.cap-depth": {
		en: "Sub-tasks may be nested {max} deep, and that is reached here: do it yourself, or hand it back in your answer.",
		zh: "子任务最多嵌套 {max} 层，这里已经到顶：请自己完成，或在回答里交还。",
	},
	"subtask.cap-total": {
		en: "There are {max} sub-tasks below this conversation, as many as there may be: use one that has ended again, or delete those no longer needed.",
		zh: "这个对话之下已有 {max} 个子任务，达到上限：请再用已结束的，或删除不再需要的。",
	},
	"subtask.cap-running": {
		en: "{max} sub-tasks of this conversation are working, as many as may at once: wait for one of them to end.",
		zh: "这个对话已有 {max} 个子任务在同时工作，达到上限：请等其中一个结束。",
	},
	"subtask.cap-tokens": {
		en: "The sub-tasks of this conversation have used the {max} tokens that they may: do it yourself, or ask the owner to raise the limit in the settings.",
		zh: "这个对话的子任务已用完允许的 {max} 个 token：请自己完成，或请主人在设置里提高上限。",
	},
	"subtask.spent": {
		en: "The sub-tasks of this conversation have used all the tokens that they may. The limit is in the settings.",
		zh: "这个对话的子任务已用完允许的 token。上限可在设置里修改。",
	},
	"subtask.no-model":  {en: "There is no model {id}; a model is named <provider>/<model>.", zh: "没有模型 {id}；模型写作 <提供方>/<模型>。"},
	"subtask.limit":     {en: "It stopped at its limit of tool calls; a message to it lets it go on.", zh: "它在工具调用上限处停下；给它发消息可让它继续。"},
	"subtask.restarted": {en: "Aalis ended while it was working; a message to it lets it go on.", zh: "工作期间 Aalis 退出了；给它发消息可让它继续。"},

	"subtask.notice-completed":   {en: "The sub-task “{name}” is done.", zh: "子任务「{name}」已完成。"},
	"subtask.notice-failed":      {en: "The sub-task “{name}” has failed.", zh: "子任务「{name}」失败了。"},
	"subtask.notice-interrupted": {en: "The sub-task “{name}” was cut off.", zh: "子任务「{name}」被中断了。"},

	"settings.group-subtasks":        {en: "Sub-tasks", zh: "子任务"},
	"settings.group-subtasks-about":  {en: "Hand parts of the work to sub-tasks", zh: "把一部分工作交给子任务"},
	"settings.subtask-depth":         {en: "Depth of sub-tasks", zh: "子任务层数"},
	"settings.subtask-depth-about":   {en: "How deep sub-tasks may be nested; 0 allows none.", zh: "子任务最多嵌套几层；0 表示不允许。"},
	"settings.subtask-running":       {en: "Sub-tasks at once", zh: "同时工作的子任务"},
	"settings.subtask-running-about": {en: "How many sub-tasks of one conversation may work at the same time.", zh: "一个对话里最多有几个子任务同时工作。"},
	"settings.subtask-total":         {en: "Sub-tasks in all", zh: "子任务总数"},
	"settings.subtask-total-about":   {en: "How many sub-tasks one conversation may have, ended ones included.", zh: "一个对话最多有几个子任务，已结束的也算。"},
	"settings.subtask-tokens":        {en: "Tokens for sub-tasks", zh: "子任务的 token"},
	"settings.subtask-tokens-about": {
		en: "How many tokens all sub-tasks of one conversation may use, deleted ones included. Each one at work may go beyond it by one call of the model.",
		zh: "一个对话的全部子任务最多用多少 token，已删除的也算。每个在工作的子任务可能再多出一次模型调用。",
	},
}
