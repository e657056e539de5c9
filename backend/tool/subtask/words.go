package subtask

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"aalis/backend/core"
	"aalis/backend/text"
	"aalis/backend/tool"
)

// seen is a sub-task as the model reads it. subtaskId and status are what a card shows it by.
type seen struct {
	ID       string            `json:"subtaskId"`
	Name     string            `json:"name"`
	Status   core.SubtaskState `json:"status"`
	Note     string            `json:"note,omitempty"`
	Seconds  int64             `json:"seconds,omitempty"` // that its newest work took
	Tokens   int64             `json:"tokens,omitempty"`
	Subtasks int64             `json:"subtasks,omitempty"` // of its own
	Reply    *string           `json:"reply,omitempty"`
}

type shown struct {
	seen
	Message string `json:"message"`
}

type listed struct {
	Message  string `json:"message,omitempty"`
	Subtasks []seen `json:"subtasks"`
}

type gone struct {
	ID     string `json:"subtaskId"`
	Status string `json:"status"`
}

func seeing(t core.Subtask) seen {
	s := seen{ID: t.ID, Name: t.Name, Status: t.State, Note: t.Reason.In(text.English), Tokens: t.Tokens, Subtasks: t.Children}
	if t.State == core.SubtaskAsking {
		s.Note = "It, or a sub-task of its own, waits for the owner's approval."
	}
	if t.EndedAt > t.StartedAt {
		s.Seconds = (t.EndedAt - t.StartedAt) / 1000
	}
	if t.State == core.SubtaskCompleted {
		s.Reply = &t.Reply
	}
	return s
}

// list shows several. Replies are cut alike where all together are more than a model is given.
func list(all []core.Subtask, unless string) listed {
	l := listed{Subtasks: []seen{}}
	for _, t := range all {
		l.Subtasks = append(l.Subtasks, seeing(t))
		if !t.State.Over() {
			l.Message = unless
		}
	}
	return l
}

// result writes an answer as JSON that is whole: its replies are cut until all of it is what a model is
// given of one call.
func result(answer any) (tool.Result, error) {
	raw, err := encode(answer)
	if err != nil {
		return tool.Result{}, err
	}
	cut := false
	for keep := tool.MaxResultBytes / 2; len(raw) > tool.MaxResultBytes && keep > 0; keep /= 2 {
		cut = true
		if raw, err = encode(shorter(answer, keep)); err != nil {
			return tool.Result{}, err
		}
	}
	words, more := tool.Truncate(string(raw))
	return tool.Result{Text: words, Truncated: cut || more}, nil
}

// shorter keeps so many bytes of each reply.
func shorter(answer any, keep int) any {
	l, several := answer.(listed)
	if !several {
		return answer
	}
	l.Subtasks = slices.Clone(l.Subtasks)
	for i, s := range l.Subtasks {
		if s.Reply != nil && len(*s.Reply) > keep {
			reply := strings.ToValidUTF8((*s.Reply)[:keep], "") + "\n[cut here: ask for less at once, or for a shorter reply]"
			l.Subtasks[i].Reply = &reply
		}
	}
	return l
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}
