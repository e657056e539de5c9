package contract

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"aalis/backend/wire/v1"
)

// object is a JSON object of the OpenAPI document.
type object = map[string]any

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// openAPI gives the OpenAPI 3.1 document of a table of endpoints.
func openAPI(endpoints []v1.Endpoint, defs definitions) object {
	paths := object{}
	for _, e := range endpoints {
		path, ok := paths[e.Path].(object)
		if !ok {
			path = object{}
			paths[e.Path] = path
		}
		path[strings.ToLower(e.Method)] = operation(e, defs)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Aalis /v1", "version": v1.ContractVersion, "license": object{"name": "MIT", "identifier": "MIT"},
			"description": "Requests over HTTP, and one stream of events a session that replays and goes on live. Fields are only ever added: readers pass over fields and types of events that they do not know.",
		},
		"servers":  []object{{"url": "/"}},
		"security": []object{{"cookie": []string{}}, {"bearer": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas": componentSchemas(defs),
			"securitySchemes": object{
				"cookie": object{"type": "apiKey", "in": "cookie", "name": "ap_session"},
				"bearer": object{"type": "http", "scheme": "bearer"},
			},
			"responses": object{"Error": object{
				"description": "The request failed.", "content": content("application/json", "ErrorEnvelope"),
			}},
		},
	}
}

func operation(e v1.Endpoint, defs definitions) object {
	kind, say := "application/json", defs[e.Response].Description
	if e.SSE {
		kind, say = "text/event-stream", "Frames of server-sent events: event is the type, id the number, data one V1Event as JSON."
	}
	refused := object{"$ref": "#/components/responses/Error"}
	failures := []string{"400", "4XX", "5XX"}
	answers := object{strconv.Itoa(e.Success()): object{"description": say, "content": content(kind, e.Response)}}
	for _, status := range failures {
		answers[status] = refused
	}
	op := object{
		"operationId": operationID(e), "summary": e.Method + " " + strings.TrimPrefix(e.Path, v1.Prefix), "description": say, "responses": answers,
	}
	if e.Public {
		op["security"] = []object{}
	}
	if e.Path == v1.Prefix+"/health" { // it answers in its own shape when it is not well. Spec V1-044
		answers["503"] = object{"description": "The log cannot be read.", "content": content(kind, e.Response)}
	}
	if e.Request != "" {
		op["requestBody"] = object{"required": true, "content": content("application/json", e.Request)}
	}
	if list := parameters(e); len(list) > 0 {
		op["parameters"] = list
	}
	return op
}

func parameters(e v1.Endpoint) []object {
	var list []object
	for _, found := range pathParameter.FindAllStringSubmatch(e.Path, -1) {
		list = append(list, object{"name": found[1], "in": "path", "required": true, "schema": object{"type": "string"}})
	}
	for _, name := range e.Query {
		schema := object{"type": "string"}
		switch name {
		case "limit":
			schema = object{"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
		case "since":
			schema = object{"type": "integer", "minimum": 0}
		}
		list = append(list, object{"name": name, "in": "query", "schema": schema})
	}
	if e.SSE {
		list = append(list, object{
			"name": "Last-Event-ID", "in": "header", "schema": object{"type": "integer", "minimum": 0},
			"description": "The number behind which to go on; it goes before since.",
		})
	}
	return list
}

// operationID is getSessionsIdEvents for GET /v1/sessions/{id}/events.
func operationID(e v1.Endpoint) string {
	var id strings.Builder
	id.WriteString(strings.ToLower(e.Method))
	for part := range strings.FieldsFuncSeq(strings.TrimPrefix(e.Path, v1.Prefix), func(c rune) bool { return strings.ContainsRune("/{}", c) }) {
		id.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return id.String()
}

func content(kind, name string) object {
	return object{kind: object{"schema": object{"$ref": "#/components/schemas/" + name}}}
}

// componentSchemas are the definitions with their references as OpenAPI writes them.
func componentSchemas(defs definitions) object {
	all := object{}
	for name, def := range defs {
		raw, err := json.Marshal(def)
		if err != nil {
			panic(err) // a schema that cannot be written has been refused before
		}
		all[name] = json.RawMessage(strings.ReplaceAll(string(raw), `"#/$defs/`, `"#/components/schemas/`))
	}
	return all
}
