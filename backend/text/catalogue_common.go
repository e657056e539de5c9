package text

var common = area{
	"internal":      {en: "Something went wrong inside Aalis. The log has the details.", zh: "Aalis 内部出错，详情见日志。"},
	"unsupported":   {en: "This needs a service that is not running: {service}.", zh: "所需的服务不在：{service}。"},
	"precondition":  {en: "This no longer fits what has happened in the meantime.", zh: "情况已经变化，该操作不再适用。"},
	"invalid-event": {en: "This does not fit the session.", zh: "该内容与会话不符。"},
	"storage.full":  {en: "There is no room left on the disk; nothing was changed. Free some space and try again.", zh: "磁盘已满，未作任何更改。请腾出空间后重试。"},
	"output.cut":    {en: "[output beyond {kib} KiB is not shown here]", zh: "[超过 {kib} KiB 的输出不在此显示]"},
}
