package text

var sessions = area{
	"place.bad-name":   {en: "A place needs a name of one line and at most {max} characters.", zh: "位置需要一个单行、不超过 {max} 个字符的名称。"},
	"place.there":      {en: "{folder} is a place already: {name}.", zh: "{folder} 已经是位置：{name}。"},
	"place.name-taken": {en: "There is a place named {name} already; give this one another name.", zh: "已有名为 {name} 的位置，请另取一个名称。"},
	"place.not-found":  {en: "There is no place {key}.", zh: "没有位置 {key}。"},
	"place.relative":   {en: "{folder} is no absolute path.", zh: "{folder} 不是绝对路径。"},
	"place.no-folder":  {en: "{folder} is not a folder that is there.", zh: "{folder} 不是存在的文件夹。"},

	"session.not-found":       {en: "There is no session {id}.", zh: "没有会话 {id}。"},
	"session.deleted":         {en: "Session {id} has been deleted.", zh: "会话 {id} 已被删除。"},
	"session.closed":          {en: "This session is closed to new messages.", zh: "该会话已关闭，不能再发消息。"},
	"session.locked":          {en: "This session is locked; unlock it to write.", zh: "该会话已锁定，解锁后才能发消息。"},
	"session.archived-parent": {en: "The parent session is archived; restore it first.", zh: "父会话已归档，请先恢复。"},
	"session.title-empty":     {en: "A title needs at least one visible character.", zh: "标题不能为空。"},
	"session.title-long":      {en: "A title may have at most {max} characters; this one has {n}.", zh: "标题最多 {max} 个字符，现有 {n} 个。"},
	"session.default-name":    {en: "Session {time}", zh: "会话 {time}"},
	"place.default":           {en: "Default workspace", zh: "默认工作区"},
	"session.gone":            {en: "The session no longer exists.", zh: "该会话已不存在。"},
}
