package session

// InitializeParams opens a connection; initialize is the first request on it.
type InitializeParams struct {
	// ProtocolVersion is the client's protocol number in two or three parts, for example 0.2.0.
	ProtocolVersion string     `json:"protocolVersion" jsonschema:"pattern=^[0-9]+\\.[0-9]+(\\.[0-9]+)?$"`
	Client          ClientInfo `json:"client"`
}

// ClientInfo says which program is connecting. It is logged and nothing else.
type ClientInfo struct {
	Name    string `json:"name" jsonschema:"minLength=1,maxLength=200"`
	Version string `json:"version" jsonschema:"minLength=1,maxLength=200"`
}

// InitializeResult describes the server and what this connection is.
type InitializeResult struct {
	// ProtocolVersion is the server's number, not an echo of the client's.
	ProtocolVersion string `json:"protocolVersion"`
	// Experimental is always true while the protocol is below 1.0.
	Experimental True       `json:"experimental"`
	Server       ServerInfo `json:"server"`
	// Identity is what the transport authenticated; nothing a client sends changes it.
	Identity Identity `json:"identity"`
	// Surface is the registered name of this connection's approval surface, for example webui.
	Surface  string   `json:"surface"`
	Features Features `json:"features"`
	// AppName is the name in the host configuration at this moment, Aalis without one.
	AppName string `json:"appName"`
	// Ext is an addition of this server.
	Ext *HostExt `json:"ext,omitzero"`
}

// HostExt says what a client of our own wants to know of its host.
type HostExt struct {
	// Language is the one the host writes its sentences in, en or zh-CN: an interface that was told none follows it.
	Language string `json:"language"`
}

// ServerInfo names the implementation.
type ServerInfo struct {
	Name string `json:"name"`
}

// Identity is an authenticated person or program.
type Identity struct {
	Platform string `json:"platform"`
	UserID   string `json:"userId"`
}

// Features says which optional services are present.
type Features struct {
	// Send: the dialogue service is present.
	Send bool `json:"send"`
	// Rewind: the checkpoint service is present.
	Rewind bool `json:"rewind"`
	// Compress: the compression service is present.
	Compress bool `json:"compress"`
	// Settings: the session settings service is present.
	Settings bool `json:"settings"`
}

// FeaturesChanged is pushed to every connection when a bit changed.
type FeaturesChanged struct {
	Features Features `json:"features"`
}
