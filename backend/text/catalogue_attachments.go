package text

var attachments = area{
	"attachment.many":     {en: "A message takes at most {max} files; this one has {n}.", zh: "一条消息最多带 {max} 个文件，现有 {n} 个。"},
	"attachment.empty":    {en: "The file {name} is empty.", zh: "文件 {name} 是空的。"},
	"attachment.large":    {en: "The file {name} has {n} MiB; at most {max} MiB are taken.", zh: "文件 {name} 有 {n} MiB，最多接受 {max} MiB。"},
	"attachment.together": {en: "The files of a message have {n} MiB together; at most {max} MiB are taken.", zh: "一条消息的文件共 {n} MiB，最多接受 {max} MiB。"},
	"attachment.unkept":   {en: "The file {name} could not be written to the disk; it may be full. Nothing was sent.", zh: "文件 {name} 写不进磁盘，可能已满。消息没有发出。"},
	"attachment.refused":  {en: "{model} did not take the images. She was told their names only.", zh: "{model} 不接受图片，她只看到了图片的名称。"},

	"door.file-parameters": {en: "The address needs the parameters {names}.", zh: "地址缺少参数 {names}。"},
	"door.file-gone":       {en: "There is no such file, or the address is of an earlier start. Reload the conversation.", zh: "没有这个文件，或该地址属于上一次启动。请重新加载对话。"},
	"door.file-absent":     {en: "There is no session service.", zh: "会话服务不在。"},
}
