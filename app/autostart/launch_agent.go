package autostart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
)

// launchAgent is the format of macOS's agents, a property list. Written by the documentation: nobody has
// run it on a Mac yet.
type launchAgent struct{}

// agentLabel is the agent's name, and its file's.
const agentLabel = "app.aalis.desktop"

func (launchAgent) render(e Entry) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + agentLabel + `</string>
	<key>ProgramArguments</key>
	<array>
`)
	for _, arg := range e.command() {
		b.WriteString("\t\t<string>")
		if err := xml.EscapeText(&b, []byte(arg)); err != nil {
			return nil, err
		}
		b.WriteString("</string>\n")
	}
	b.WriteString("\t</array>\n\t<key>RunAtLoad</key>\n\t<true/>\n\t<key>ProcessType</key>\n\t<string>Interactive</string>\n</dict>\n</plist>\n")
	return b.Bytes(), nil
}

// read walks over the keys of the top dictionary.
func (launchAgent) read(content []byte) (c command, off bool, err error) {
	d := xml.NewDecoder(bytes.NewReader(content))
	key, text := "", ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, false, fmt.Errorf("it is no property list: %w", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			text = ""
			off = off || key == "Disabled" && token.Name.Local == "true"
		case xml.CharData:
			text += string(token)
		case xml.EndElement:
			switch {
			case token.Name.Local == "key":
				key = text
			case token.Name.Local == "string" && (key == "ProgramArguments" || key == "Program" && c == nil):
				c = append(c, text)
			}
		}
	}
	if c == nil {
		return nil, off, fmt.Errorf("it names no program")
	}
	return c, off, nil
}

// name is nothing: agents have no names for people.
func (launchAgent) name([]byte) (name, comment string) { return "", "" }

var disabled = regexp.MustCompile(`[ \t]*<key>Disabled</key>\s*<(true|false)/>[ \t]*\n?`)

func (launchAgent) turn(content []byte, on bool) []byte {
	content = disabled.ReplaceAll(content, nil)
	if !on {
		content = bytes.Replace(content, []byte("<dict>\n"), []byte("<dict>\n\t<key>Disabled</key>\n\t<true/>\n"), 1)
	}
	return content
}
