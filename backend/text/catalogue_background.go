package text

var background = area{
	"task.not-found":        {en: "There is no background task {id}.", zh: "没有后台任务 {id}。"},
	"task.exit":             {en: "It ended with exit code {code}.", zh: "以退出码 {code} 结束。"},
	"task.timeout":          {en: "It took longer than it may and was ended.", zh: "超出时限，已被结束。"},
	"task.failed":           {en: "The tool reported an error.", zh: "工具报告了错误。"},
	"task.restarted":        {en: "Aalis ended while it was running.", zh: "运行期间 Aalis 退出了。"},
	"task.notice-completed": {en: "The background task {tool} is done.", zh: "后台任务 {tool} 已完成。"},
	"task.notice-failed":    {en: "The background task {tool} has failed.", zh: "后台任务 {tool} 失败了。"},
	"task.notice-aborted":   {en: "The background task {tool} was cut off.", zh: "后台任务 {tool} 被中断了。"},

	"demo.told": {en: "I was told:\n\n{words}", zh: "我得到了通知：\n\n{words}"},
}
