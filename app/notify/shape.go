package notify

import "aalis/backend/text"

// How much of a note is shown, in columns: a screen has other things to show.
const (
	titleWidth = 80
	bodyWidth  = 400
)

// readable gives what is shown of a note's words.
func readable(note Note) (title, body string) {
	return text.Brief(note.Title, titleWidth), text.BriefLines(note.Body, bodyWidth)
}

// meant gives the action that a daemon's word stands for; ok is false for one the note does not have.
func meant(note Note, word string) (id string, ok bool) {
	if word == "default" {
		word = Open
	}
	for _, a := range note.Actions {
		if a.ID == word {
			return word, true
		}
	}
	return "", false
}
