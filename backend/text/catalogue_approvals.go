package text

var approvals = area{
	"approval.not-found": {en: "There is no approval {id}.", zh: "没有审批 {id}。"},
	"approval.settled":   {en: "This approval has been settled already.", zh: "该审批已有结果。"},
	"approval.forbidden": {en: "This identity may not decide this approval.", zh: "该身份无权决定这项审批。"},
	"approval.hash":      {en: "The content has a different hash from what was shown; look at the approval again.", zh: "内容与所示不符，请重新查看该审批。"},
}
