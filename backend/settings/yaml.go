package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"aalis/backend/fault"
	"aalis/backend/text"
)

// tree is what a document says, without how it is written. Values are those of JSON: nil, bool, int64,
// float64, string, []any, map[string]any; a whole number is always an int64, however it is written.
type tree = map[string]any

// mostNodes bounds a document, aliases followed.
const mostNodes = 100_000

// parsed is a document both ways.
type parsed struct {
	root *yaml.Node // the mapping on top; nil for a document that says nothing
	tree tree
}

// parse reads a document. The error is a fault with a sentence about the mistake.
func parse(doc []byte) (parsed, error) {
	d := yaml.NewDecoder(bytes.NewReader(doc))
	var top yaml.Node
	err := d.Decode(&top)
	if errors.Is(err, io.EOF) {
		return parsed{tree: tree{}}, nil
	}
	if err != nil {
		return parsed{}, fault.New(fault.Invalid, text.Plain(err.Error()))
	}
	if d.Decode(new(yaml.Node)) == nil {
		return parsed{}, fault.New(fault.Invalid, text.New("settings.several"))
	}
	root := top.Content[0]
	if root.Tag == "!!null" {
		return parsed{tree: tree{}}, nil
	}
	r := reader{left: mostNodes}
	value, err := r.value(root)
	if err != nil {
		return parsed{}, err
	}
	says, ok := value.(tree)
	if !ok {
		return parsed{}, fault.New(fault.Invalid, text.New("settings.want-mapping", "path", "."))
	}
	return parsed{root: root, tree: says}, nil
}

type reader struct{ left int }

func (r *reader) value(n *yaml.Node) (any, error) {
	if r.left--; r.left < 0 {
		return nil, fault.New(fault.Invalid, text.Plain(fmt.Sprintf("line %d: too much", n.Line)))
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, c := range n.Content {
			v, err := r.value(c)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return r.mapping(n)
	}
	return scalar(n), nil
}

func (r *reader) mapping(n *yaml.Node) (any, error) {
	m := tree{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if _, twice := m[key.Value]; twice {
			return nil, fault.New(fault.Invalid, text.New("settings.twice", "key", key.Value))
		}
		v, err := r.value(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		m[key.Value] = v
	}
	return m, nil
}

// scalar gives what JSON can say; dates, bytes and numbers that are none stay the words they are.
func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			return b
		}
	case "!!int":
		var whole int64
		if n.Decode(&whole) == nil {
			return whole
		}
		var f float64
		if n.Decode(&f) == nil {
			return f
		}
	case "!!float":
		var f float64
		if n.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return plain(f)
		}
	}
	return n.Value
}

// plain gives a JSON value the form it has in a tree.
func plain(value any) any {
	switch v := value.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case int:
		return int64(v)
	case []any:
		list := make([]any, len(v))
		for i, each := range v {
			list[i] = plain(each)
		}
		return list
	case map[string]any:
		m := make(tree, len(v))
		for k, each := range v {
			m[k] = plain(each)
		}
		return m
	}
	return value
}

// Edit sets one value of the document, or takes it out; maps above it are made, and vanish when they
// are empty.
type Edit struct {
	Path  []string
	Value any // as encoding/json gives it; nil takes it out
}

// at gives what stands at a path; nil when nothing does.
func at(t tree, path ...string) any {
	var v any = t
	for _, key := range path {
		m, ok := v.(tree)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// edited is t with an edit; t stays as it is. ok is false when something that is no map stands in the
// way.
func edited(t tree, e Edit) (_ tree, ok bool) {
	out := maps.Clone(t)
	if out == nil {
		out = tree{}
	}
	key := e.Path[0]
	if len(e.Path) == 1 {
		if e.Value == nil {
			delete(out, key)
		} else {
			out[key] = plain(e.Value)
		}
		return out, true
	}
	inner, isMap := out[key].(tree)
	if !isMap && out[key] != nil {
		return nil, false
	}
	if e.Value == nil && at(inner, e.Path[1:]...) == nil && !present(inner, e.Path[1:]) {
		return t, true
	}
	inner, ok = edited(inner, Edit{Path: e.Path[1:], Value: e.Value})
	if len(inner) == 0 && e.Value == nil {
		delete(out, key)
	} else {
		out[key] = inner
	}
	return out, ok
}

// present tells a key with nothing behind it from one that is not there.
func present(t tree, path []string) bool {
	if len(path) == 1 {
		_, there := t[path[0]]
		return there
	}
	inner, _ := t[path[0]].(tree)
	return inner != nil && present(inner, path[1:])
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }

// CheckDocument finds every mistake in the settings of a host document; none for one that is well.
func CheckDocument(doc []byte) []*fault.Fault {
	p, err := parse(withoutMark(doc))
	if err != nil {
		return []*fault.Fault{fault.Of(err)}
	}
	return p.check()
}

// layerKeys are the keys below settings, with how many maps stand between each and a value.
var layerKeys = map[string]int{"global": 2, "platforms": 3, "types": 4}

func (p parsed) check() []*fault.Fault {
	var errs []*fault.Fault
	errs = append(errs, nested(p.tree["plugins"], "plugins", 2)...)
	layers, ok := p.tree["settings"].(tree)
	if !ok && p.tree["settings"] != nil {
		errs = append(errs, wantMap("settings"))
	}
	for _, key := range slices.Sorted(maps.Keys(layers)) {
		depth, known := layerKeys[key]
		if !known {
			errs = append(errs, fault.New(fault.Invalid, text.New("settings.want-layers", "key", strconv.Quote(key))))
			continue
		}
		errs = append(errs, nested(layers[key], "settings."+key, depth)...)
	}
	return errs
}

// nested wants depth maps inside each other; nothing at all is fine, too.
func nested(v any, path string, depth int) []*fault.Fault {
	if v == nil || depth == 0 {
		return nil
	}
	m, ok := v.(tree)
	if !ok {
		return []*fault.Fault{wantMap(path)}
	}
	var errs []*fault.Fault
	for _, key := range slices.Sorted(maps.Keys(m)) {
		errs = append(errs, nested(m[key], path+"."+key, depth-1)...)
	}
	return errs
}

func wantMap(path string) *fault.Fault {
	return fault.New(fault.Invalid, text.New("settings.want-mapping", "path", path))
}

var byteOrderMark = []byte("\ufeff")

func withoutMark(doc []byte) []byte { return bytes.TrimPrefix(doc, byteOrderMark) }
