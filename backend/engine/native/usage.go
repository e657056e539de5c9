package native

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"aalis/backend/engine"
	"aalis/backend/provider"
	"aalis/backend/text"
)

// plugin is the instance whose settings bring text into the context: the engine's own.
const plugin = "aalis"

// weight is one part of a context, before it is known what the server counts for it.
type weight struct {
	label  text.Key
	tokens int // estimated
	// by has the characters of whatever put text into the part, by plugin instance/local id; nil where
	// nothing is told apart.
	by map[string]int
}

// weigh takes a call apart: what the program says, what is set says, what was said, what tools
// returned, and the tools. Parts beyond the first three kinds are left out where there is nothing of
// them. Spec SP-USAGE-02, SP-USAGE-03.
func (e *Engine) weigh(s set, req provider.Request) []weight {
	persona, extra := utf8.RuneCountInString(s.persona), utf8.RuneCountInString(s.extra)
	said, summary, returned := 0, 0, map[string]int{}
	called := map[string]string{} // call id → its injector
	for _, m := range req.Messages {
		if m.Role == provider.RoleTool {
			returned[called[m.CallID]] += utf8.RuneCountInString(m.Text)
			continue
		}
		if m.Notice && strings.HasPrefix(m.Text, "⟦"+summaryOpening) {
			summary += utf8.RuneCountInString(m.Text)
			continue
		}
		said += utf8.RuneCountInString(m.Text) + 4*imageTokens*len(m.Images)
		for _, c := range m.ToolCalls {
			called[c.ID] = e.injector(c.Name)
			said += utf8.RuneCountInString(c.Name) + utf8.RuneCount(c.Args)
		}
	}
	offered := map[string]int{}
	for _, t := range req.Tools {
		offered[e.injector(t.Name)] += utf8.RuneCountInString(t.Name) + utf8.RuneCountInString(t.Description) + utf8.RuneCount(t.Params)
	}
	own := func(key string, n int) map[string]int { return map[string]int{plugin + "/" + key: n} }
	all := []weight{{label: "usage.system", tokens: tokens(max(0, utf8.RuneCountInString(req.System)-persona-extra))}}
	for _, w := range []weight{
		{label: "usage.persona", tokens: tokens(persona), by: own(keyPersona, persona)},
		{label: "usage.extra", tokens: tokens(extra), by: own(keyExtra, extra)},
		{label: "usage.summary", tokens: tokens(summary)},
	} {
		if w.tokens > 0 {
			all = append(all, w)
		}
	}
	all = append(all, weight{label: "usage.conversation", tokens: tokens(said)})
	if n := sum(returned); n > 0 {
		all = append(all, weight{label: "usage.results", tokens: tokens(n), by: returned})
	}
	return append(all, weight{label: "usage.tools", tokens: tokens(sum(offered)), by: offered})
}

// injector names a tool by its group, which stands for whoever brought it.
func (e *Engine) injector(tool string) string {
	if group, grouped := e.groups[tool]; grouped {
		return group + "/" + tool
	}
	return plugin + "/" + tool
}

func sum(of map[string]int) (all int) {
	for _, n := range of {
		all += n
	}
	return all
}

func tokens(characters int) int { return (characters + 3) / 4 }

// estimated is the whole of a context.
func estimated(all []weight) (prompt int) {
	for _, w := range all {
		prompt += w.tokens
	}
	return prompt
}

// share spreads the prompt's tokens over the parts in the proportion of their estimates, and a part's
// over its injectors, so that the breakdown adds up to what the server counted. Spec SP-USAGE-02.
func share(all []weight, prompt int) []engine.UsagePart {
	estimates := make([]int, len(all))
	for i, w := range all {
		estimates[i] = w.tokens
	}
	parts := make([]engine.UsagePart, len(all))
	for i, n := range spread(prompt, estimates) {
		parts[i] = engine.UsagePart{Label: text.New(all[i].label), Tokens: n}
		keys := slices.Sorted(maps.Keys(all[i].by))
		characters := make([]int, len(keys))
		for k, key := range keys {
			characters[k] = all[i].by[key]
		}
		for k, n := range spread(n, characters) {
			if n == 0 {
				continue
			}
			if parts[i].Injectors == nil {
				parts[i].Injectors = map[string]int{}
			}
			parts[i].Injectors[keys[k]] = n
		}
	}
	return parts
}

// spread divides a number in the proportion of weights; the shares add up to it. Without any weight the
// last has all.
func spread(total int, weights []int) []int {
	shares := make([]int, len(weights))
	var all, before int64
	for _, w := range weights {
		all += int64(w)
	}
	given := 0
	for i, w := range weights {
		before += int64(w)
		upTo := total
		if all > 0 {
			upTo = int(int64(total) * before / all)
		} else if i < len(weights)-1 {
			upTo = 0
		}
		shares[i], given = upTo-given, upTo
	}
	return shares
}
