package openai

import (
	"encoding/json"

	"aalis/backend/provider"
)

// callState is one tool call of the answer while its pieces arrive.
type callState struct {
	index int // the server's index, -1 when it gives none
	id    string
	name  string
	said  bool   // the piece with the name has been given out
	args  []byte // all so far, to tell where one call ends in streams without index and id
	wait  []byte // arguments that came before the name, or half a character
	utf8  joiner
}

// nameless stands for the name of a call that never got one; no tool has it, so the model is told.
const nameless = "unnamed"

// call sorts one piece into its call. Servers differ: the index may be missing or always 0, the id
// missing or repeated, the name repeated with every piece.
func (d *decoder) call(w wireCallDelta) {
	at := d.find(w)
	if at < 0 {
		c := &callState{index: -1, id: w.ID}
		if w.Index != nil {
			c.index = *w.Index
		}
		d.calls = append(d.calls, c)
		at = len(d.calls) - 1
	}
	c := d.calls[at]
	if c.id == "" {
		c.id = w.ID
	}
	if c.name == "" {
		c.name = w.Function.Name
	}
	c.args = append(c.args, w.Function.Arguments...)
	c.wait = append(c.wait, w.Function.Arguments...)
	if c.name == "" {
		return
	}
	piece := provider.CallDelta{Index: at, Args: c.utf8.add(c.wait)}
	c.wait = nil
	if !c.said {
		piece.Name, c.said = c.name, true
	} else if piece.Args == "" {
		return
	}
	d.emit(provider.Chunk{Call: &piece})
}

// find gives the place of the call that w continues, -1 if w begins one.
func (d *decoder) find(w wireCallDelta) int {
	if w.Index != nil {
		for i := len(d.calls) - 1; i >= 0; i-- {
			c := d.calls[i]
			if c.index != *w.Index {
				continue
			}
			// Gemini's endpoint gives every parallel call the index 0 and an id of its own.
			if w.ID != "" && c.id != "" && w.ID != c.id && w.Function.Name != "" {
				return -1
			}
			return i
		}
		return -1
	}
	if w.ID != "" {
		for i, c := range d.calls {
			if c.id == w.ID {
				return i
			}
		}
		if w.Function.Name != "" {
			return -1
		}
	}
	last := len(d.calls) - 1
	if last < 0 {
		return -1
	}
	// Without index and id a name begins a new call only when the last one is whole.
	if c := d.calls[last]; w.Function.Name != "" && c.name != "" && json.Valid(c.args) {
		return -1
	}
	return last
}

// flush gives out what still waits when the answer is over.
func (c *callState) flush(d *decoder, at int) {
	piece := provider.CallDelta{Index: at, Args: c.utf8.add(c.wait) + c.utf8.flush()}
	if !c.said {
		piece.Name = c.name
		if piece.Name == "" {
			piece.Name = nameless
		}
	}
	if piece.Name != "" || piece.Args != "" {
		c.said, c.wait = true, nil
		d.emit(provider.Chunk{Call: &piece})
	}
}
