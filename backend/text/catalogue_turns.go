package text

var turns = area{
	"turn.cut-off":         {en: "The answer reached the length limit of {model} before a word was said.", zh: "{model} 还没开口就到了长度上限。"},
	"turn.filtered":        {en: "{provider} withheld the answer (content filter).", zh: "{provider} 扣下了回答（内容过滤）。"},
	"turn.answer-too-long": {en: "The answer of {model} grew beyond {max} bytes and was stopped.", zh: "{model} 的回答超过 {max} 字节，已停止。"},
	"turn.too-many-calls":  {en: "{model} asked for more than {max} tools at once and was stopped.", zh: "{model} 一次要求调用超过 {max} 个工具，已停止。"},

	"usage.system":       {en: "Instructions", zh: "系统指令"},
	"usage.conversation": {en: "Conversation", zh: "对话"},
	"usage.tools":        {en: "Tools", zh: "工具"},
	"usage.persona":      {en: "Persona", zh: "人设"},
	"usage.extra":        {en: "Further instructions", zh: "附加指令"},
	"usage.results":      {en: "Results of tools", zh: "工具结果"},
	"usage.summary":      {en: "Summary of what came before", zh: "此前内容的摘要"},

	"queue.gone":      {en: "That message waits no longer.", zh: "这条消息已不在队列中。"},
	"queue.not-yours": {en: "Only your own words can be changed. The message can be taken out of the queue.", zh: "只能修改你自己的话；可以把这条消息移出队列。"},
	"queue.not-found": {en: "There is no message {id} in the queue of this session.", zh: "该会话的队列里没有消息 {id}。"},

	"turn.mismatch":        {en: "Turn {id} is not the one that runs now.", zh: "回合 {id} 不是正在运行的回合。"},
	"turn.running":         {en: "A turn is running; stop it or wait for its end.", zh: "有回合正在运行，请先停止或等它结束。"},
	"turn.not-continuable": {en: "Only a turn that stopped at the tool-call limit can be continued.", zh: "只有达到工具调用上限而停下的回合才能继续。"},
	"turn.interrupted":     {en: "Aalis ended while this turn was running. Send the message again to go on.", zh: "这一回合进行时 Aalis 退出了。请重新发送消息继续。"},
	"turn.not-found":       {en: "There is no turn {id} in this session.", zh: "该会话没有回合 {id}。"},
	"turn.tool-limit":      {en: "She stopped after {limit} rounds of tool calls, which is the limit. She can be asked to go on.", zh: "工具调用已达 {limit} 轮上限，她停了下来。可以让她继续。"},
	"turn.storage":         {en: "What she says cannot be written to the disk; it may be full. The turn was stopped. Free some space and try again.", zh: "她说的话写不进磁盘，可能已满；这一回合已停止。请腾出空间后重试。"},
	"turn.no-engine":       {en: "This session wants the engine {harness}, which is not here.", zh: "该会话需要引擎 {harness}，但它不在。"},
}
