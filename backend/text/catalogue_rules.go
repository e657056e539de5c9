package text

var rules = area{
	"rule.form": {
		en: "a rule is written as exact: <command>, prefix: <words>, or tool: <name>",
		zh: "规则写作 exact: <命令>、prefix: <词> 或 tool: <名称>",
	},
	"rule.words": {
		en: "a prefix is plain words: letters, digits and -_./:+@=, without quotes, variables or operators",
		zh: "前缀只能是普通的词：字母、数字和 -_./:+@=,，不含引号、变量或运算符",
	},
	"rule.assigns": {en: "a prefix begins with a program, not with a variable", zh: "前缀以程序名开头，而不是变量"},
	"rule.runs": {
		en: "{program} can run whatever is written behind it, so this prefix would allow everything: name more words, or use exact",
		zh: "{program} 会运行写在它后面的内容，这个前缀等于允许一切：请多写几个词，或使用 exact",
	},
}
