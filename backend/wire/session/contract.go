package session

import (
	"reflect"

	"aalis/backend/wire"
	"aalis/backend/wire/jsonrpc"
)

// Version is the protocol's number. It moves only with the protocol itself: below 1.0 an
// incompatible change raises the second part, an additive one the third (Spec SP-VER-01, -02).
const Version = "0.2.0"

// ServiceName is the name under which the service is known to transports.
const ServiceName = "session-protocol"

// notifications are the ten pushes of the protocol, in the order in which they are published.
var notifications = []wire.Notification{
	{Name: "features/changed", Params: reflect.TypeFor[FeaturesChanged]()},
	{Name: "sessions/changed", Params: reflect.TypeFor[SessionsChanged]()},
	{Name: "session/config/changed", Params: reflect.TypeFor[ConfigChanged]()},
	{Name: "item/started", Params: reflect.TypeFor[ItemStarted]()},
	{Name: "item/delta", Params: reflect.TypeFor[ItemDelta]()},
	{Name: "item/completed", Params: reflect.TypeFor[ItemCompleted]()},
	{Name: "session/resync", Params: reflect.TypeFor[SessionResync]()},
	{Name: "background/changed", Params: reflect.TypeFor[BackgroundChanged]()},
	{Name: "approval/requested", Params: reflect.TypeFor[ApprovalRequested]()},
	{Name: "approval/settled", Params: reflect.TypeFor[ApprovalSettled]()},
}

// Protocol is the session protocol as transports and the contract generator see it.
var Protocol = wire.Protocol{
	Name:  "session",
	Mount: "/session",
	Contract: wire.Contract{
		Title:         "Aalis session protocol",
		Version:       Version,
		Methods:       methods.Shapes(),
		Notifications: notifications,
		Types: []reflect.Type{
			reflect.TypeFor[jsonrpc.RequestFrame](), reflect.TypeFor[jsonrpc.ResultFrame](),
			reflect.TypeFor[jsonrpc.ErrorFrame](), reflect.TypeFor[jsonrpc.NotificationFrame](),
		},
		Unions: map[reflect.Type][]any{
			reflect.TypeFor[SessionItem]():    itemVariants,
			reflect.TypeFor[ToolDisplay]():    displayVariants,
			reflect.TypeFor[SettingLayer]():   layerVariants,
			reflect.TypeFor[OverrideTarget](): targetVariants,
			reflect.TypeFor[jsonrpc.ID]():     {"", 0.0},
		},
		Constants: []wire.Constant{
			{Name: "SESSION_PROTOCOL_VERSION", Doc: "The protocol's number. The protocol is experimental.", Value: Version},
			{Name: "RPC_ERROR_CODES", Doc: "The numbers of error.code.", Value: errorCodes},
			{Name: "COMMAND_REPLY_TOPIC", Doc: "The topic of the notice that answers a command.", Value: TopicCommandReply},
			{Name: "sessionProtocol", Doc: "The service descriptor.", Value: descriptor},
		},
	},
}

var errorCodes = struct {
	ParseError       int `json:"parseError"`
	InvalidRequest   int `json:"invalidRequest"`
	MethodNotFound   int `json:"methodNotFound"`
	InvalidParams    int `json:"invalidParams"`
	InternalError    int `json:"internalError"`
	ApplicationError int `json:"applicationError"`
}{
	jsonrpc.ParseError, jsonrpc.InvalidRequest, jsonrpc.MethodNotFound,
	jsonrpc.InvalidParams, jsonrpc.InternalError, jsonrpc.ApplicationError,
}

var descriptor = struct {
	Name         string `json:"name"`
	Version      string `json:"version"`
	Experimental bool   `json:"experimental"`
}{ServiceName, Version, true}
