package text

var providers = area{
	// Failed calls of a model.
	"provider.unreachable":     {en: "{provider} cannot be reached at {address}. Is it running, and is the address right?", zh: "连不上 {provider}（{address}）。它在运行吗？地址对吗？"},
	"provider.dropped":         {en: "The connection to {provider} broke in the middle of the answer.", zh: "与 {provider} 的连接在回答途中断开。"},
	"provider.timeout":         {en: "{provider} has said nothing for {seconds} seconds.", zh: "{provider} 已有 {seconds} 秒没有回应。"},
	"provider.auth":            {en: "{provider} refuses the API key. Check the key and what it may use.", zh: "{provider} 不接受这个 API 密钥，请检查密钥及其权限。"},
	"provider.auth-no-key":     {en: "{provider} wants an API key and none is set.", zh: "{provider} 需要 API 密钥，但没有设置。"},
	"provider.auth-env":        {en: "{provider} wants an API key; the environment variable {env} is empty.", zh: "{provider} 需要 API 密钥，而环境变量 {env} 为空。"},
	"provider.not-found":       {en: "{provider} does not know the model {model}, or base_url is not its API address.", zh: "{provider} 没有模型 {model}，或者 base_url 不是它的接口地址。"},
	"provider.rate-limit":      {en: "{provider} takes no more requests for the moment.", zh: "{provider} 暂时不再接受请求。"},
	"provider.rate-limit-wait": {en: "{provider} takes no more requests for another {seconds} seconds.", zh: "{provider} 在 {seconds} 秒内不再接受请求。"},
	"provider.quota":           {en: "The account at {provider} has no credit left.", zh: "{provider} 账户的额度已用完。"},
	"provider.overflow":        {en: "The conversation no longer fits into the context window of {model}.", zh: "对话已超出 {model} 的上下文窗口。"},
	"provider.refused":         {en: "{provider} refuses the request: {words}", zh: "{provider} 拒绝了请求：{words}"},
	"provider.redirect":        {en: "{provider} sends requests on to {address}; put that address into base_url if it is right.", zh: "{provider} 把请求转到 {address}；若地址正确，请写进 base_url。"},
	"provider.server":          {en: "{provider} has an error of its own: {words}", zh: "{provider} 自身出错：{words}"},
	"provider.garbage":         {en: "{provider} answers with something that is not the Chat Completions protocol.", zh: "{provider} 的回答不符合 Chat Completions 协议。"},
	"provider.web-page":        {en: "{address} answers with a web page, not a model API. Check base_url; it often ends in /v1.", zh: "{address} 返回的是网页而不是模型接口。请检查 base_url，它通常以 /v1 结尾。"},
	"provider.too-long":        {en: "{provider} sent a single piece larger than {max} bytes.", zh: "{provider} 发来的单个片段超过 {max} 字节。"},

	// Choosing a model.
	"provider.no-entry":  {en: "There is no model {id}. There are: {known}.", zh: "没有模型 {id}。现有：{known}。"},
	"provider.no-models": {en: "{provider} offers no model. Name one under models in config.yaml.", zh: "{provider} 没有提供模型，请在 config.yaml 的 models 中写一个。"},

	// Mistakes in config.yaml.
	"provider.config.id-missing": {en: "an id is missing; give each provider a short name such as \"local\"", zh: "缺少 id；请给每个提供方一个短名，如 \"local\""},
	"provider.config.id-form":    {en: "\"{value}\" is not an id; use letters, digits, - and _ (no slash), at most 64", zh: "\"{value}\" 不是合法的 id；请用字母、数字、- 和 _（不含斜杠），最多 64 个"},
	"provider.config.id-twice":   {en: "the id \"{value}\" stands twice; ids must differ", zh: "id \"{value}\" 重复；id 必须各不相同"},
	"provider.config.type":       {en: "the type \"{value}\" is not known; valid are: {known}", zh: "未知的类型 \"{value}\"；可用：{known}"},
	"provider.config.url-absent": {en: "the address is missing; an example is http://127.0.0.1:11434/v1", zh: "缺少地址；例如 http://127.0.0.1:11434/v1"},
	"provider.config.url-none":   {en: "the type {type} has no address; leave base_url out", zh: "类型 {type} 没有地址；请去掉 base_url"},
	"provider.config.url-form":   {en: "\"{value}\" is not an http or https address; an example is http://127.0.0.1:11434/v1", zh: "\"{value}\" 不是 http 或 https 地址；例如 http://127.0.0.1:11434/v1"},
	"provider.config.url-secret": {en: "an address must not hold a user, password, query or fragment; name the key's variable in api_key_env", zh: "地址中不能有用户名、密码、查询或片段；请在 api_key_env 写密钥所在的环境变量"},
	"provider.config.env-form":   {en: "\"{value}\" is not the name of an environment variable; an example is LOCAL_KEY. The key itself does not belong here", zh: "这不是环境变量名（{value}）；例如 LOCAL_KEY。密钥本身不要写在这里"},
	"provider.config.model":      {en: "a model has no name", zh: "有一个模型没有名字"},
	"provider.config.model-2":    {en: "the model \"{value}\" stands twice", zh: "模型 \"{value}\" 重复"},
	"provider.config.window":     {en: "a context_window of {value} tokens is too small; at least {min}, or leave it out for {default}", zh: "context_window 为 {value} 太小；至少 {min}，或省略以取 {default}"},
	"provider.config.idle":       {en: "an idle_timeout of {value} is not positive; an example is 120s", zh: "idle_timeout 为 {value}，必须大于零；例如 120s"},
	"provider.config.default":    {en: "\"{value}\" is not a model; write <provider id>/<model>. Providers are: {known}", zh: "\"{value}\" 不是模型；请写 <提供方 id>/<模型>。现有提供方：{known}"},

	// The demo engine speaks as itself.
	"demo.hello":       {en: "I am the demo engine: no model, only a program that shows how Aalis works. You said:\n\n{words}\n\n", zh: "我是演示引擎：不是模型，只是一个展示 Aalis 如何工作的程序。你说：\n\n{words}\n\n"},
	"demo.empty":       {en: "I am the demo engine and was told nothing.", zh: "我是演示引擎，没有收到任何话。"},
	"demo.how":         {en: "Lines I obey, each on a line of its own: run: <command>, background: <command>, write: <path> (its body on the next lines), read: <path>, plan: <a; b; c>, subtask: <what; more lines>, wait: <seconds> for sub-tasks, send: <room> <words>, think: <words>, slow: <n>, fail: <reason>. For real answers, name a provider in config.yaml.", zh: "我能执行这些指令，每条单独一行：run: <命令>、background: <命令>、write: <路径>（内容写在后面几行）、read: <路径>、plan: <a; b; c>、subtask: <做什么; 更多行>、wait: <秒数>（等子任务）、send: <房间> <文字>、think: <文字>、slow: <n>、fail: <原因>。想要真正的回答，请在 config.yaml 里配置提供方。"},
	"demo.done":        {en: "Done: that was everything I was told to do.", zh: "完成：要我做的都做了。"},
	"demo.result":      {en: "`{what}` came back with:\n\n{words}\n\n", zh: "`{what}` 的返回：\n\n{words}\n\n"},
	"demo.result-none": {en: "`{what}` came back with nothing.\n\n", zh: "`{what}` 没有返回内容。\n\n"},
	"demo.later":       {en: "`{what}`: this directive is not available yet.\n\n", zh: "`{what}`：这条指令目前还不可用。\n\n"},
	"demo.no-tool":     {en: "`{what}` needs the tool {tool}, which I am not offered in this turn.\n\n", zh: "`{what}` 需要工具 {tool}，这一轮没有提供给我。\n\n"},
	"demo.bad-number":  {en: "`{what}`: write a whole number from 1 to {max}.\n\n", zh: "`{what}`：请写 1 到 {max} 的整数。\n\n"},
	"demo.bad-empty":   {en: "`{what}` needs something after the colon.\n\n", zh: "`{what}` 的冒号后面缺少内容。\n\n"},
	"demo.fail":        {en: "The demo engine was told to fail: {words}", zh: "演示引擎按指令失败：{words}"},
}
