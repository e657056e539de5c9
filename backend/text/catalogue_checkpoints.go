package text

var checkpoints = area{
	"checkpoint.unreadable": {en: "The folder could not be looked at, so changes in it are not protected: {reason}", zh: "无法查看该文件夹，其中的更改不受保护：{reason}"},
	"checkpoint.many-files": {en: "The folder has more than {max} files; what commands changed there is not protected.", zh: "文件夹中超过 {max} 个文件；命令所做的更改不受保护。"},
	"checkpoint.background": {en: "A command of this turn went on in the background; what it did there is not protected.", zh: "该回合的一条命令转到后台继续运行，它在后台所做的更改不受保护。"},
	"rewind.no-turn":        {en: "There is no finished turn {id} to rewind.", zh: "没有可回退的已结束回合 {id}。"},
	"rewind.no-undo":        {en: "There is no rewind {id} to take back.", zh: "没有可撤销的回退 {id}。"},
	"rewind.changed":        {en: "It was changed since; it is left as it is now.", zh: "此后又有更改，保持现状。"},
	"rewind.already":        {en: "It is already as it was before.", zh: "已经是之前的样子。"},
	"rewind.not-kept":       {en: "What stood there could not be kept (files over {max} MiB are not).", zh: "之前的内容没有保留（不保留超过 {max} MiB 的文件）。"},
	"rewind.forgotten":      {en: "What this turn changed is kept no longer, to save space.", zh: "为节省空间，该回合的更改已不再保留。"},
	"rewind.not-empty":      {en: "The folder holds something else by now; it stays.", zh: "文件夹里已有其他内容，予以保留。"},
	"rewind.failed":         {en: "It could not be put back: {reason}", zh: "无法恢复：{reason}"},
}
