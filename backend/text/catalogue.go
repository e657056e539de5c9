package text

// entry is one sentence in both languages; parameters stand in braces.
type entry struct{ en, zh string }

type area map[Key]entry

// catalogue joins the areas; a key that stands twice is a mistake of the program and panics at
// start, before anything is served.
var catalogue = join(
	common,
	sessions,
	turns,
	approvals,
	tools,
	providers,
	door,
	commands,
	wire,
	settings,
	checkpoints,
	background,
	compression,
	replies,
	subtasks,
	rules,
	attachments,
	rooms,
	desktop,
	tray,
	shell,
	manual,
	protocolV1,
	doctor,
)

func join(areas ...area) map[Key]entry {
	all := make(map[Key]entry)
	for _, a := range areas {
		for key, e := range a {
			if _, twice := all[key]; twice {
				panic("text: key stands twice: " + string(key))
			}
			all[key] = e
		}
	}
	return all
}
