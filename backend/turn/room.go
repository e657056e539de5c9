package turn

import (
	"fmt"

	"aalis/backend/core"
	"aalis/backend/store"
)

// roomWords tells the model which room it is in; "" where there is none.
func roomWords(s store.Session) string {
	if s.Kind != "room" || s.Chat == nil {
		return ""
	}
	name := s.Chat.Name
	if name == "" {
		name = s.ExtKey
	}
	where := fmt.Sprintf("You are in a private chat on %s with %q.", s.Platform, name)
	if s.Chat.MultiParty {
		where = fmt.Sprintf("You are in the chat %q on %s, where several people talk. A message begins with the name of its speaker in brackets; not everything is for you.", name, s.Platform)
	}
	return where + " Only the last words of your turn are sent there, as plain text. When nothing needs to be said, answer with exactly " + core.SilentWord + "."
}
