package native

import (
	"context"
	"encoding/json"

	"aalis/backend/engine"
	"aalis/backend/rule"
	"aalis/backend/tool"
)

// judgement is what the owner's rules say of a call, by the settings of the moment.
type judgement struct {
	rule.Decision
	now     set
	command string // that was judged
}

// judge asks the rules about a call before it is recorded, so that its card names the one that decided.
func (r *run) judge(ctx context.Context, name string, args json.RawMessage) (judgement, error) {
	now, err := current(ctx, r.turn)
	if err != nil {
		return judgement{}, err
	}
	if r.turn.Guests { // what the owner lets run is for the owner's own words
		now.rules.Allow, now.rules.Free = nil, false
	}
	j := judgement{now: now}
	if def, known := r.engine.tools.Get(name); known && def.Display != nil && def.Display.Command != "" {
		var all map[string]json.RawMessage
		if json.Unmarshal(args, &all) == nil {
			_ = json.Unmarshal(all[def.Display.Command], &j.command) // anything else is refused by the tool
		}
	}
	j.Decision = now.rules.Decide(rule.Call{Tool: name, Command: j.command})
	return j, nil
}

// asks reports whether the owner is asked about a call that is not denied. A command that would run as
// something else than what was judged always is.
func (j judgement) asks(p tool.Prepared) bool {
	switch {
	case j.Verdict == rule.Ask, p.Facts.Command != j.command && p.NeedsApproval:
		return true
	case j.Verdict == rule.Allow:
		return false
	}
	return p.NeedsApproval
}

// shown is the rule for the card; nil where none decided.
func (j judgement) shown() *engine.Rule {
	if j.Verdict == rule.None {
		return nil
	}
	return &engine.Rule{Verdict: string(j.Verdict), Text: j.Rule}
}
