//go:build linux

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// measure is one line of the table: what a round gave for the server and for the floor.
type measure struct {
	name          string
	unit          string
	aim           float64 // at most; 0: none
	server, floor []float64
}

// sheet is the table while it is filled, in the order of first mention.
type sheet struct{ measures []*measure }

// of finds or begins a line.
func (s *sheet) of(name, unit string, aim float64) *measure {
	for _, m := range s.measures {
		if m.name == name {
			return m
		}
	}
	m := &measure{name: name, unit: unit, aim: aim}
	s.measures = append(s.measures, m)
	return m
}

// add notes a round's value for a subject.
func (m *measure) add(subject string, value float64) {
	if subject == floorName {
		m.floor = append(m.floor, value)
		return
	}
	m.server = append(m.server, value)
}

// percentile is the nearest-rank one: the smallest value that p of 100 do not exceed. It is NaN of nothing.
func percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// median is the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

var heading = []string{"", "measured", "aim", "floor", "ratio", "lowest to highest"}

// cells are a line's texts under heading; what does not exist is a dash.
func (m *measure) cells() []string {
	line := []string{m.name, m.shown(median(m.server)), "-", "-", "-", "-"}
	if m.aim > 0 {
		line[2] = "<= " + m.shown(m.aim)
	}
	if len(m.floor) > 0 {
		line[3] = m.shown(median(m.floor))
		if base := median(m.floor); base > 0 && len(m.server) > 0 {
			line[4] = digits(median(m.server)/base) + "x"
		}
	}
	if len(m.server) > 1 {
		line[5] = digits(slices.Min(m.server)) + " to " + m.shown(slices.Max(m.server))
	}
	return line
}

func (m *measure) shown(value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return digits(value) + " " + m.unit
}

// digits shows three digits that count.
func digits(value float64) string {
	switch size := math.Abs(value); {
	case size >= 99.95:
		return fmt.Sprintf("%.0f", value)
	case size >= 9.995:
		return fmt.Sprintf("%.1f", value)
	case size >= 0.9995:
		return fmt.Sprintf("%.2f", value)
	}
	return fmt.Sprintf("%.3f", value)
}

// print writes the table: names to the left, values to the right.
func (s *sheet) print(w io.Writer) error {
	lines := [][]string{heading}
	for _, m := range s.measures {
		lines = append(lines, m.cells())
	}
	widths := make([]int, len(heading))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		var b strings.Builder
		for i, cell := range line {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				b.WriteString(cell + gap)
				continue
			}
			b.WriteString("  " + gap + cell)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
