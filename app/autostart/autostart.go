// Package autostart owns the entry by which the desktop starts this program when its user logs in: one
// per user, in the place that the system has for it. It decides nothing, and it eats nothing: what
// somebody else wrote there, or changed by hand, is kept or told of.
//
//	Entry.Status, Entry.Set
//	  file.go                   an entry that is a file
//	    desktop_entry.go        freedesktop.org's, for Linux and the BSDs
//	    launch_agent.go         that of macOS
//	  autostart_windows.go      an entry that is a value in the registry
package autostart

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Entry is what is to be started.
type Entry struct {
	Program string   // the absolute path
	Args    []string // such as --hidden
	Name    string   // of the program, for people
	Comment string   // what it is, for people; one line
}

// State is what the system will do when the user logs in.
type State int

// The states.
const (
	Off       State = iota // nothing is there
	On                     // it starts this program
	Suspended              // the entry is there, and the desktop's own settings switched it off
	Elsewhere              // it starts another program, or cannot be read
)

// Status is what stands in the entry's place.
type Status struct {
	State State
	// Place is the file, or the key of the registry.
	Place string
	// Program is what it starts; "" for nothing, and where it cannot be read.
	Program string
	// Edited says that somebody changed the entry by hand. It is kept as it is then.
	Edited bool
}

// ErrForeign is the entry of somebody else in the place of ours. It is left alone.
var ErrForeign = errors.New("the entry starts another program and was not written by this one; remove it first")

// ErrNoPlace says that the system has no place for such entries, or does not tell where it is.
var ErrNoPlace = errors.New("this system does not say where programs that start with it are kept")

// Status tells what is there.
func (e Entry) Status() (Status, error) { return e.status() }

// Set makes the program start with the machine, or not. An entry that is as it should be is not written
// again; one that the desktop switched off is switched on by true. What was edited by hand keeps its
// edits. ErrForeign when another program's entry is in the place.
func (e Entry) Set(on bool) error { return e.set(on) }

// command is what an entry starts.
type command []string

// of says whether the command is, or contains, that program, by whatever path: people put others before
// it, such as env, and links in between.
func (c command) of(program string) bool {
	wanted, err := os.Stat(program)
	return slices.ContainsFunc(c, func(word string) bool {
		if word == program {
			return true
		}
		is, found := os.Stat(lookUp(word))
		return err == nil && found == nil && os.SameFile(wanted, is)
	})
}

// lookUp finds a bare name as a shell would.
func lookUp(word string) string {
	if word == "" || strings.ContainsRune(word, filepath.Separator) {
		return word
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(folder, word)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return word
}

func (c command) program() string {
	if len(c) == 0 {
		return ""
	}
	return c[0]
}

func (e Entry) command() command { return append(command{e.Program}, e.Args...) }
