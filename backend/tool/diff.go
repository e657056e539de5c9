package tool

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// diffContext is how many unchanged lines surround a change.
const diffContext = 3

// NewDiff is the unified diff from before to after, nil when there is none to show: a side that is
// binary or larger than MaxDiffBytes, or a patch that is (decisions H9). A nil before is a file
// that does not exist yet. path is relative to the place, with forward slashes.
func NewDiff(path string, before, after []byte) *Diff {
	if len(before) > MaxDiffBytes || len(after) > MaxDiffBytes || IsBinary(before) || IsBinary(after) ||
		!utf8.Valid(before) || !utf8.Valid(after) {
		return nil
	}
	patch := unified(path, before, after)
	if len(patch) > MaxDiffBytes {
		return nil
	}
	return &Diff{Path: path, Patch: patch}
}

// IsBinary reports whether the beginning of a file looks like something that is not text.
func IsBinary(head []byte) bool {
	return bytes.IndexByte(head[:min(len(head), 8<<10)], 0) >= 0
}

// unified writes what `diff -u` would, with the same marks for a missing last newline. Lines are
// taken byte for byte; a carriage return belongs to its line.
func unified(path string, before, after []byte) string {
	x, y := lines(before), lines(after)
	var out strings.Builder
	hunks := hunksOf(x, y)
	if len(hunks) == 0 && before != nil {
		return ""
	}
	from := "a/" + path
	if before == nil {
		from = "/dev/null"
	}
	fmt.Fprintf(&out, "--- %s\n+++ b/%s\n", from, path)
	for _, h := range hunks {
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(h.x0, h.x1), span(h.y0, h.y1))
		i := h.x0
		for _, m := range h.changes {
			writeLines(&out, " ", x[i:m.x0])
			writeLines(&out, "-", x[m.x0:m.x1])
			writeLines(&out, "+", y[m.y0:m.y1])
			i = m.x1
		}
		writeLines(&out, " ", x[i:h.x1])
	}
	return out.String()
}

// lines splits after every newline; the last one may have none.
func lines(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	all := strings.SplitAfter(string(b), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

func writeLines(out *strings.Builder, mark string, some []string) {
	for _, line := range some {
		out.WriteString(mark)
		out.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// span is a range of lines as a hunk header writes it: an empty one names the line before it.
func span(from, to int) string {
	if to == from {
		return fmt.Sprintf("%d,0", from)
	}
	if to == from+1 {
		return fmt.Sprintf("%d", to)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

// change says that x[x0:x1] became y[y0:y1].
type change struct{ x0, x1, y0, y1 int }

// hunk is a run of changes with the context around and between them.
type hunk struct {
	change
	changes []change
}

func hunksOf(x, y []string) []hunk {
	var hunks []hunk
	for _, c := range changesOf(x, y) {
		if n := len(hunks); n > 0 && c.x0-hunks[n-1].changes[len(hunks[n-1].changes)-1].x1 <= 2*diffContext {
			hunks[n-1].changes = append(hunks[n-1].changes, c)
			continue
		}
		hunks = append(hunks, hunk{changes: []change{c}})
	}
	for i := range hunks {
		first, last := hunks[i].changes[0], hunks[i].changes[len(hunks[i].changes)-1]
		before := min(diffContext, first.x0)
		after := min(diffContext, len(x)-last.x1)
		hunks[i].change = change{x0: first.x0 - before, y0: first.y0 - before, x1: last.x1 + after, y1: last.y1 + after}
	}
	return hunks
}

// changesOf finds the changes by anchors: the lines that stand once on both sides and keep their
// order, grown over the equal lines around them (a patience diff). It takes n log n time whatever
// the input, where the shortest edit script can take n². What lies between two anchors counts as
// replaced.
func changesOf(x, y []string) []change {
	var changes []change
	doneX, doneY := 0, 0
	for _, anchor := range append(anchors(x, y), [2]int{len(x), len(y)}) {
		startX, startY := anchor[0], anchor[1]
		if startX < doneX || startY < doneY {
			continue // an earlier anchor has grown over it
		}
		for startX > doneX && startY > doneY && x[startX-1] == y[startY-1] {
			startX, startY = startX-1, startY-1
		}
		if startX > doneX || startY > doneY {
			lead := 0 // lines equal right after the last anchor are no change
			for doneX+lead < startX && doneY+lead < startY && x[doneX+lead] == y[doneY+lead] {
				lead++
			}
			changes = append(changes, change{x0: doneX + lead, x1: startX, y0: doneY + lead, y1: startY})
		}
		doneX, doneY = anchor[0], anchor[1]
		for doneX < len(x) && doneY < len(y) && x[doneX] == y[doneY] {
			doneX, doneY = doneX+1, doneY+1
		}
	}
	return changes
}

// anchors gives the pairs of lines that occur once in x and once in y, the longest sequence of them
// that rises on both sides (Szymanski's way to a longest common subsequence of unique elements).
func anchors(x, y []string) [][2]int {
	type seen struct{ inX, inY, atX, atY int }
	byLine := make(map[string]*seen, len(x))
	note := func(line string) *seen {
		if byLine[line] == nil {
			byLine[line] = &seen{}
		}
		return byLine[line]
	}
	for i, line := range x {
		s := note(line)
		s.inX, s.atX = s.inX+1, i
	}
	for i, line := range y {
		s := note(line)
		s.inY, s.atY = s.inY+1, i
	}
	var pairs [][2]int // rising in x
	for i, line := range x {
		if s := byLine[line]; s.inX == 1 && s.inY == 1 {
			pairs = append(pairs, [2]int{i, s.atY})
		}
	}
	// ends[k] is the pair that ends the best rising run of length k+1; before chains the runs.
	var ends []int
	before := make([]int, len(pairs))
	for i, pair := range pairs {
		k, _ := slices.BinarySearchFunc(ends, pair[1], func(end, atY int) int { return pairs[end][1] - atY })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	run := make([][2]int, len(ends))
	if len(ends) > 0 {
		for i, at := ends[len(ends)-1], len(ends)-1; i >= 0; i, at = before[i], at-1 {
			run[at] = pairs[i]
		}
	}
	return run
}
