package demo

import (
	"encoding/json"
	"strconv"
	"strings"
)

// directive is one line the owner wants obeyed, with its body if it is write.
type directive struct {
	verb  string
	words string // what follows the colon; for write the path
	body  string // write: the following lines
}

// verbs are the words that begin a directive. Those without a case in answer come with their tools.
var verbs = []string{"run", "background", "write", "read", "plan", "think", "subtask", "wait", "send", "slow", "fail"}

// directives reads them in order. A body ends at the next directive or the end of the message.
func directives(words string) []directive {
	var (
		out  []directive
		body []string
	)
	closeBody := func() {
		if len(out) > 0 && out[len(out)-1].verb == "write" && len(body) > 0 {
			out[len(out)-1].body = strings.TrimRight(strings.Join(body, "\n"), "\n") + "\n"
		}
		body = nil
	}
	for line := range strings.Lines(words) {
		line = strings.TrimRight(line, "\r\n")
		if verb, rest, ok := parse(line); ok {
			closeBody()
			out = append(out, directive{verb: verb, words: rest})
			continue
		}
		body = append(body, line)
	}
	closeBody()
	return out
}

func parse(line string) (verb, rest string, ok bool) {
	if mention, rest, found := strings.Cut(line, " "); found && strings.HasPrefix(mention, "@") {
		line = rest // in a room a line may begin with her name
	}
	before, after, found := strings.Cut(line, ":")
	if !found {
		return "", "", false
	}
	for _, v := range verbs {
		if before == v {
			return v, strings.TrimSpace(after), true
		}
	}
	return "", "", false
}

func (d directive) line() string { return strings.TrimSpace(d.verb + ": " + d.words) }

// named takes a file as it is named in messages, with an @ and in quotes where it has spaces.
func named(words string) string {
	path, mention := strings.CutPrefix(words, "@")
	if !mention {
		return words
	}
	return strings.Trim(path, `"`)
}

// call gives the tool a directive needs and its arguments, "" for those that need none. The names
// are those of the packages below tool.
func (d directive) call() (name string, args any) {
	if d.words == "" {
		return "", nil
	}
	switch d.verb {
	case "run":
		return "run_command", map[string]string{"command": d.words}
	case "background":
		return "run_command", map[string]any{"command": d.words, "background": true}
	case "read":
		return "read_file", map[string]string{"path": named(d.words)}
	case "write":
		return "write_file", map[string]string{"path": d.words, "content": d.body}
	case "plan":
		return "update_plan", d.plan()
	case "subtask":
		return "create_subtask", map[string]string{"task": d.subtask()}
	case "wait":
		seconds, _ := strconv.Atoi(d.words) // the tool refuses what is no number of seconds
		return "wait_subtasks", wait{Seconds: seconds}
	case "send":
		room, words, _ := strings.Cut(d.words, " ")
		return "send_message", map[string]string{"room": room, "text": strings.TrimSpace(words)}
	}
	return "", nil
}

// wait waits for the sub-tasks that earlier results name.
type wait struct {
	IDs     []string `json:"subtask_ids"`
	Seconds int      `json:"timeout_seconds"`
}

func (w wait) made(results []string) wait {
	w.IDs = []string{}
	for _, r := range results {
		var made struct {
			ID string `json:"subtaskId"`
		}
		if json.Unmarshal([]byte(r), &made) == nil && made.ID != "" {
			w.IDs = append(w.IDs, made.ID)
		}
	}
	return w
}

// subtask is what a sub-task is told: what stands between semicolons, each on a line of its own, so that
// it can hold directives, too.
func (d directive) subtask() string {
	var lines []string
	for line := range strings.SplitSeq(d.words, ";") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// plan makes a list of what stands between semicolons: the first entry is under way.
func (d directive) plan() any {
	type entry struct {
		Title  string `json:"title"`
		Status string `json:"status"`
	}
	entries := []entry{}
	for title := range strings.SplitSeq(d.words, ";") {
		if title = strings.TrimSpace(title); title == "" {
			continue
		}
		status := "not-started"
		if len(entries) == 0 {
			status = "in-progress"
		}
		entries = append(entries, entry{title, status})
	}
	return map[string]any{"entries": entries}
}
