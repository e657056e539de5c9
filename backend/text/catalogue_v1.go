package text

var protocolV1 = area{
	"v1.impact-read":   {en: "She wants to use {capability}, which changes nothing", zh: "她想使用 {capability}，不会更改任何内容"},
	"v1.impact-write":  {en: "She wants to use {capability}, which can change things on this machine", zh: "她想使用 {capability}，可能会更改这台机器上的内容"},
	"v1.engine-failed": {en: "The model could not answer.", zh: "模型未能回答。"},
	"v1.number":        {en: "{name} is a whole number from 0", zh: "{name} 须为从 0 开始的整数"},
	"v1.limit":         {en: "limit is a whole number from 1 to {most}", zh: "limit 须为 1 到 {most} 的整数"},
	"v1.cursor":        {en: "cursor is the nextCursor of the page before, unchanged", zh: "cursor 须为上一页的 nextCursor，不得改动"},
	"v1.project":       {en: "there is no project {id}", zh: "没有项目 {id}"},
	"v1.method":        {en: "this address takes {methods}", zh: "此地址只接受 {methods}"},
	"v1.path":          {en: "there is no {path} in this protocol", zh: "此协议中没有 {path}"},
	"v1.scope":         {en: "this credential has no right to {scope}", zh: "此凭据没有 {scope} 权限"},
	"v1.body":          {en: "the body is no JSON object of the right shape", zh: "请求体不是正确形式的 JSON 对象"},
	"v1.key":           {en: "idempotencyKey has 1 to {most} characters", zh: "idempotencyKey 须为 1 到 {most} 个字符"},
	"v1.text":          {en: "text has 1 to {most} characters, not only blanks", zh: "text 须为 1 到 {most} 个字符，且不能全为空白"},
	"v1.decision":      {en: "decision is approve or reject", zh: "decision 只能是 approve 或 reject"},
	"v1.revision":      {en: "revision is the number that the approval was shown with", zh: "revision 须为审批显示时的编号"},
	"v1.note":          {en: "note has at most {most} characters", zh: "note 最多 {most} 个字符"},
	"v1.execution":     {en: "there is no execution {id}", zh: "没有执行记录 {id}"},
}
