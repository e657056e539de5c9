package text

var tools = area{}
