package settings

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"aalis/backend/fault"
	"aalis/backend/text"
)

// rewrite makes an edit in a document's text. Everything but the lines of the value itself stays byte
// for byte: comments, order, blank lines, quotes, the case of keys. Where the value's place cannot be
// told by lines alone, the smallest entry around it is written anew, and as the last resort the whole
// document, which keeps comments and order. Whatever way was gone, what the new text says is compared
// with what it should say before it is given out; fault.Conflict when no way leads there.
func rewrite(doc []byte, e Edit) ([]byte, error) {
	mark, body := []byte(nil), doc
	if bytes.HasPrefix(doc, byteOrderMark) {
		mark, body = byteOrderMark, doc[len(byteOrderMark):]
	}
	old, err := parse(body)
	if err != nil {
		return nil, err
	}
	want, ok := edited(old.tree, e)
	if !ok {
		return nil, errForm
	}
	if same(old.tree, want) {
		return doc, nil
	}
	for _, way := range []func() []byte{
		func() []byte { return newPage(body).edit(old.root, e) },
		func() []byte { return wholly(body, e) },
	} {
		if out := way(); out != nil {
			if p, err := parse(out); err == nil && same(p.tree, want) {
				return append(bytes.Clone(mark), out...), nil
			}
		}
	}
	return nil, errForm
}

var errForm = fault.New(fault.Conflict, text.New("settings.reason-form"))

// page is a text by lines.
type page struct {
	lines []string // each with its end, but perhaps the last
	eol   string
}

func newPage(body []byte) *page {
	p := &page{lines: strings.SplitAfter(string(body), "\n"), eol: "\n"}
	if last := len(p.lines) - 1; p.lines[last] == "" {
		p.lines = p.lines[:last]
	}
	if len(p.lines) > 0 && strings.HasSuffix(p.lines[0], "\r\n") {
		p.eol = "\r\n"
	}
	return p
}

// entry is a key and its value in a mapping.
type entry struct{ in, key, value *yaml.Node }

// find follows a path as far as the document goes.
func find(root *yaml.Node, path []string) []entry {
	var found []entry
	for in := root; len(found) < len(path) && in != nil && in.Kind == yaml.MappingNode; {
		i := 0
		for i < len(in.Content) && in.Content[i].Value != path[len(found)] {
			i += 2
		}
		if i >= len(in.Content) {
			break
		}
		found = append(found, entry{in, in.Content[i], in.Content[i+1]})
		in = in.Content[i+1]
	}
	return found
}

func flow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// edit gives the new text, or nil when lines do not tell. Nodes of root may be changed.
func (p *page) edit(root *yaml.Node, e Edit) []byte {
	found := find(root, e.Path)
	if e.Value == nil {
		return p.clear(found)
	}
	rest := e.Path[len(found):]
	if len(rest) == 0 {
		return p.set(found, valueNode(e.Value))
	}
	if len(found) == 0 {
		if root != nil && flow(root) {
			return nil
		}
		return p.insert(len(p.lines), "", nest(rest, e.Value))
	}
	last := found[len(found)-1]
	switch {
	case last.value.Kind == yaml.MappingNode && !flow(last.value) && len(last.value.Content) > 0:
		m := last.value
		n := len(m.Content)
		return p.insert(p.end(entry{m, m.Content[n-2], m.Content[n-1]}), p.indent(m.Content[0]), nest(rest, e.Value))
	case last.value.Kind == yaml.MappingNode:
		m := *last.value
		m.Content = append(m.Content[:len(m.Content):len(m.Content)], nest(rest, e.Value).Content...)
		if len(last.value.Content) == 0 {
			m.Style = 0
		}
		return p.set(found, &m)
	}
	return p.set(found, nest(rest, e.Value)) // a key with nothing behind it
}

// nest makes the maps on the way to a value.
func nest(path []string, value any) *yaml.Node {
	inner := valueNode(value)
	for i := len(path) - 1; i >= 0; i-- {
		inner = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{valueNode(path[i]), inner}}
	}
	return inner
}

func valueNode(value any) *yaml.Node {
	n := &yaml.Node{}
	_ = n.Encode(plain(value)) // JSON's values all have a form
	return n
}

// set gives the last entry found another value.
func (p *page) set(found []entry, value *yaml.Node) []byte {
	for len(found) > 0 {
		e := found[len(found)-1]
		if !flow(e.in) {
			return p.replace(e, value)
		}
		// Inside braces: the entry that holds the braces is written anew.
		braces := *e.in
		braces.Content = append([]*yaml.Node(nil), e.in.Content...)
		for i := range braces.Content {
			if braces.Content[i] == e.value {
				braces.Content[i] = value
			}
		}
		value, found = &braces, found[:len(found)-1]
	}
	return nil
}

// replace writes one entry of a block mapping anew. A comment behind a value of one line stays.
func (p *page) replace(e entry, value *yaml.Node) []byte {
	first, end := e.key.Line-1, p.end(e)
	line := strings.TrimRight(p.lines[first], "\r\n")
	fresh := encode(value)
	simple := e.value.Kind == yaml.ScalarNode && e.value.Line == e.key.Line && end == first+1 && e.value.Tag != "!!null"
	if simple && value.Kind != yaml.MappingNode && strings.Count(fresh, "\n") == 1 {
		from, tail := offset(line, e.value.Column), ""
		if comment := e.value.LineComment; comment != "" {
			cut := strings.LastIndex(line, comment)
			if cut < from {
				return nil
			}
			tail = line[len(strings.TrimRight(line[:cut], " \t")):]
		}
		return p.splice(first, end, line[:from]+strings.TrimSuffix(fresh, "\n")+tail+p.eol)
	}
	key := *e.key
	key.HeadComment, key.FootComment = "", ""
	if value.LineComment == "" && value.Kind == yaml.ScalarNode {
		value.LineComment = e.value.LineComment
	}
	fresh = encode(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{&key, value}})
	return p.splice(first, end, p.indented(p.indent(e.key), fresh))
}

// insert puts entries before a line.
func (p *page) insert(before int, indent string, m *yaml.Node) []byte {
	if before > 0 && !strings.HasSuffix(p.lines[before-1], "\n") {
		p.lines[before-1] += p.eol
	}
	return p.splice(before, before, p.indented(indent, encode(m)))
}

// clear takes out the last entry found, and with it the maps that hold nothing else. Comments on lines
// of their own stay where they are.
func (p *page) clear(found []entry) []byte {
	n := len(found) - 1
	if flow(found[n].in) {
		return p.clearFlow(found)
	}
	gone := map[int]bool{}
	for i := found[n].key.Line - 1; i < p.end(found[n]); i++ {
		gone[i] = true
	}
	for ; n > 0 && len(found[n].in.Content) == 2; n-- {
		if flow(found[n-1].in) {
			return nil
		}
		gone[found[n-1].key.Line-1] = true
	}
	var out strings.Builder
	for i, line := range p.lines {
		if !gone[i] {
			out.WriteString(line)
		}
	}
	return []byte(out.String())
}

func (p *page) clearFlow(found []entry) []byte {
	n := len(found) - 1
	braces := *found[n].in
	braces.Content = nil
	for i, c := range found[n].in.Content {
		if c != found[n].key && c != found[n].value {
			braces.Content = append(braces.Content, found[n].in.Content[i])
		}
	}
	if n == 0 || len(braces.Content) == 0 {
		if n == 0 {
			return nil
		}
		return p.clear(found[:n])
	}
	return p.set(found[:n], &braces)
}

// splice puts text in the place of lines from first up to end.
func (p *page) splice(first, end int, with string) []byte {
	return []byte(strings.Join(p.lines[:first], "") + with + strings.Join(p.lines[end:], ""))
}

// end is the line behind an entry of a block mapping. Comments behind it are not its own, unless a text
// of several lines stands there, in which everything is text.
func (p *page) end(e entry) int {
	end, inText := e.key.Line, verbatim(e.value)
	list := e.value.Kind == yaml.SequenceNode
	for i := e.key.Line; i < len(p.lines); i++ {
		line := strings.TrimRight(p.lines[i], "\r\n")
		words := strings.TrimLeft(line, " ")
		column := len(line) - len(words) + 1
		switch {
		case words == "" || words[0] == '#' && (!inText || column <= e.key.Column):
		case column > e.key.Column || list && column == e.key.Column && strings.HasPrefix(words, "-"):
			end = i + 1
		default:
			return end
		}
	}
	return end
}

func verbatim(n *yaml.Node) bool {
	if n.Kind == yaml.ScalarNode {
		return n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	}
	for _, c := range n.Content {
		if n.Kind != yaml.AliasNode && verbatim(c) {
			return true
		}
	}
	return false
}

func (p *page) indent(key *yaml.Node) string { return strings.Repeat(" ", key.Column-1) }

func (p *page) indented(indent, entries string) string {
	var out strings.Builder
	for line := range strings.Lines(entries) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" {
			out.WriteString(indent + line)
		}
		out.WriteString(p.eol)
	}
	return out.String()
}

// offset turns a column, which counts characters from 1, into bytes.
func offset(line string, column int) int {
	n := 0
	for range column - 1 {
		_, size := utf8.DecodeRuneInString(line[n:])
		n += size
	}
	return n
}

func encode(n *yaml.Node) string {
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if e.Encode(n) != nil || e.Close() != nil {
		return ""
	}
	return out.String()
}

// wholly writes the whole document anew.
func wholly(body []byte, e Edit) []byte {
	var top yaml.Node
	if yaml.Unmarshal(body, &top) != nil || len(top.Content) == 0 || top.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	change(top.Content[0], e.Path, e.Value)
	return []byte(encode(&top))
}

// change makes the edit in the nodes; it reports whether m is empty now.
func change(m *yaml.Node, path []string, value any) (empty bool) {
	for i := 0; i < len(m.Content); i += 2 {
		if m.Content[i].Value != path[0] {
			continue
		}
		inner := m.Content[i+1]
		switch {
		case len(path) > 1 && inner.Kind == yaml.MappingNode:
			if !change(inner, path[1:], value) || value != nil {
				return false
			}
			m.Content = append(m.Content[:i:i], m.Content[i+2:]...)
		case value == nil:
			m.Content = append(m.Content[:i:i], m.Content[i+2:]...)
		case len(path) > 1:
			m.Content[i+1] = nest(path[1:], value)
		default:
			m.Content[i+1] = valueNode(value)
			m.Content[i+1].LineComment = inner.LineComment
		}
		return len(m.Content) == 0
	}
	if value != nil {
		m.Content = append(m.Content, nest(path, value).Content...)
	}
	return false
}
