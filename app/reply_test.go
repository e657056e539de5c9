package app

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func mine(turn string) item {
	it := item{Kind: "user-message", ItemID: "u", TurnID: turn}
	it.Ext.ClientID = "me"
	return it
}

func agent(id, turn, text string) item {
	return item{Kind: "agent-message", ItemID: id, TurnID: turn, Text: text}
}

func ended(turn, outcome string) item {
	return item{Kind: "turn", ItemID: "t-" + turn, TurnID: turn, Outcome: outcome}
}

func TestReply(t *testing.T) {
	t.Run("streams and ends with its turn", func(t *testing.T) {
		r := newReply("me")
		out := r.see(agent("old", "t0", "before")) + r.see(ended("t0", "replied"))
		out += r.see(mine("t1")) + r.see(agent("a", "t1", "")) + r.more("a", "Hel") + r.more("a", "lo")
		out += r.more("unknown", "x") + r.see(agent("a", "t1", "Hello.")) + r.see(agent("b", "t1", "More"))
		if out != "Hello.\n\nMore" || r.over() {
			t.Errorf("%q over=%v", out, r.over())
		}
		if r.see(ended("t1", "replied")); !r.over() {
			t.Error("not over")
		}
	})
	t.Run("a message that joins a running turn hears only what comes after it", func(t *testing.T) {
		r := newReply("me")
		out := r.see(agent("a", "t1", "to the first")) + r.see(item{Kind: "queue"}) + r.see(mine("")) + r.see(mine("t1"))
		out += r.more("a", " question") + r.see(agent("a", "t1", "to the first question")) + r.see(agent("b", "t1", "to mine"))
		if out != "to mine" {
			t.Errorf("%q", out)
		}
	})
	t.Run("a command is over with its own answer", func(t *testing.T) {
		r := newReply("me")
		answer := func(input, words string) item {
			it := item{Kind: "notice", ItemID: "n-" + input, Topic: "command-reply", Text: words}
			it.Facts.InputID = input
			return it
		}
		out := r.see(answer("u", "too early")) + r.see(mine("")) + r.see(answer("other", "to somebody else"))
		if out != "" || r.over() {
			t.Fatalf("%q over=%v", out, r.over())
		}
		if out := r.see(answer("u", "Model: m")); out != "Model: m" || !r.over() {
			t.Errorf("%q over=%v", out, r.over())
		}
	})
	t.Run("another turn's end is not ours", func(t *testing.T) {
		r := newReply("me")
		r.see(mine("t2"))
		r.see(ended("t1", "error"))
		if r.over() {
			t.Error("over")
		}
	})
	t.Run("text that turns out otherwise is said again, whole", func(t *testing.T) {
		r := newReply("me")
		r.see(mine("t1"))
		if out := r.see(agent("a", "t1", "Hullo")) + r.see(agent("a", "t1", "Hello")); out != "Hullo\n\nHello" {
			t.Errorf("%q", out)
		}
	})
	t.Run("an approval is told once", func(t *testing.T) {
		r := newReply("me")
		call := item{Kind: "tool-call", ItemID: "c", ApprovalID: "p"}
		settled := call
		settled.Settlement = &struct{}{}
		if !r.waiting(call) || r.waiting(call) || newReply("me").waiting(settled) || r.waiting(agent("a", "t", "")) {
			t.Error("told wrongly")
		}
	})
}

// TestReplySplits: however the text is cut and wherever a resync falls, the same is printed.
func TestReplySplits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.StringMatching(`[a-z你 \n]{0,40}`).Draw(t, "whole")
		r := newReply("me")
		var out strings.Builder
		out.WriteString(r.see(mine("t1")))
		out.WriteString(r.see(agent("a", "t1", "")))
		for at := 0; at < len(whole); {
			next := min(len(whole), at+rapid.IntRange(1, 8).Draw(t, "n"))
			for next < len(whole) && !utf8.RuneStart(whole[next]) {
				next++
			}
			out.WriteString(r.more("a", whole[at:next]))
			at = next
			if rapid.Bool().Draw(t, "resync") {
				out.WriteString(r.see(mine("t1")))
				out.WriteString(r.see(agent("a", "t1", whole[:at])))
			}
		}
		out.WriteString(r.see(agent("a", "t1", whole)))
		if out.String() != whole {
			t.Fatalf("%q", out.String())
		}
	})
}
