package session

import (
	"aalis/backend/principal"
	"aalis/backend/wire/jsonrpc"
)

// The rights a caller's credential must include.
var (
	read   = jsonrpc.Needs(string(principal.Read))
	chat   = jsonrpc.Needs(string(principal.Chat))
	manage = jsonrpc.Needs(string(principal.Admin))
)

// methods is the protocol's table. Requests are served in order of arrival unless their method is
// concurrent: those only read, or take long and change nothing another request of the connection
// could be waiting for.
var methods = jsonrpc.Table[*Conn]{
	"initialize": jsonrpc.Method((*Conn).initialize, jsonrpc.BeforeHandshake),

	"sessions/list":     jsonrpc.Method((*Conn).sessionsList, jsonrpc.Concurrent, read),
	"sessions/watch":    jsonrpc.Method((*Conn).sessionsWatch, read),
	"session/create":    jsonrpc.Method((*Conn).sessionCreate, chat),
	"session/rename":    jsonrpc.Method((*Conn).sessionRename, chat),
	"session/archive":   jsonrpc.Method((*Conn).sessionArchive, chat),
	"session/unarchive": jsonrpc.Method((*Conn).sessionUnarchive, chat),
	"session/delete":    jsonrpc.Method((*Conn).sessionDelete, chat),
	"session/batch":     jsonrpc.Method((*Conn).sessionBatch, chat),
	"session/markSeen":  jsonrpc.Method((*Conn).sessionMarkSeen, chat),

	"session/subscribe":   jsonrpc.Method((*Conn).sessionSubscribe, read),
	"session/unsubscribe": jsonrpc.Method((*Conn).sessionUnsubscribe, read),
	"session/history":     jsonrpc.Method((*Conn).sessionHistory, jsonrpc.Concurrent, read),

	"session/config/get":          jsonrpc.Method((*Conn).configGet, jsonrpc.Concurrent, read),
	"session/config/update":       jsonrpc.Method((*Conn).configUpdate, manage),
	"session/config/layers":       jsonrpc.Method((*Conn).configLayers, jsonrpc.Concurrent, read),
	"session/config/layer/get":    jsonrpc.Method((*Conn).configLayerGet, jsonrpc.Concurrent, read),
	"session/config/layer/update": jsonrpc.Method((*Conn).configLayerUpdate, manage),
	"session/config/overrides":    jsonrpc.Method((*Conn).configOverrides, jsonrpc.Concurrent, read),

	"turn/send":        jsonrpc.Method((*Conn).turnSend, jsonrpc.Large, chat),
	"turn/continue":    jsonrpc.Method((*Conn).turnContinue, chat),
	"turn/abort":       jsonrpc.Method((*Conn).turnAbort, chat),
	"turn/rewind":      jsonrpc.Method((*Conn).turnRewind, jsonrpc.Concurrent, chat),
	"session/compress": jsonrpc.Method((*Conn).sessionCompress, jsonrpc.Concurrent, chat),
	"plan/clear":       jsonrpc.Method((*Conn).planClear, chat),

	"background/list":    jsonrpc.Method((*Conn).backgroundList, jsonrpc.Concurrent, read),
	"background/watch":   jsonrpc.Method((*Conn).backgroundWatch, read),
	"background/output":  jsonrpc.Method((*Conn).backgroundOutput, jsonrpc.Concurrent, read),
	"background/stop":    jsonrpc.Method((*Conn).backgroundStop, jsonrpc.Concurrent, chat),
	"background/stopAll": jsonrpc.Method((*Conn).backgroundStopAll, jsonrpc.Concurrent, chat),

	// Additions of this server (Spec README 12).
	"ext/queue/edit":         jsonrpc.Method((*Conn).queueEdit, jsonrpc.Large, chat),
	"ext/queue/remove":       jsonrpc.Method((*Conn).queueRemove, chat),
	"ext/places/list":        jsonrpc.Method((*Conn).placesList, jsonrpc.Concurrent, read),
	"ext/places/files":       jsonrpc.Method((*Conn).placesFiles, jsonrpc.Concurrent, chat),
	"ext/places/add":         jsonrpc.Method((*Conn).placeAdd, manage),
	"ext/places/remove":      jsonrpc.Method((*Conn).placeRemove, manage),
	"ext/rooms/local/list":   jsonrpc.Method((*Conn).localList, jsonrpc.Concurrent, read),
	"ext/rooms/local/say":    jsonrpc.Method((*Conn).localSay, manage),
	"ext/rooms/local/crowd":  jsonrpc.Method((*Conn).localCrowd, jsonrpc.Concurrent, manage),
	"ext/rooms/local/answer": jsonrpc.Method((*Conn).localAnswer, manage),
	"ext/rewind/undo":        jsonrpc.Method((*Conn).rewindUndo, jsonrpc.Concurrent, chat),

	"presence/update":  jsonrpc.Method((*Conn).presenceUpdate, read),
	"approval/respond": jsonrpc.Method((*Conn).approvalRespond),
}
