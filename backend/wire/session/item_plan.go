package session

// PlanStatus is the state of a to-do entry.
type PlanStatus string

// The states of an entry.
const (
	PlanNotStarted PlanStatus = "not-started"
	PlanInProgress PlanStatus = "in-progress"
	PlanCompleted  PlanStatus = "completed"
)

// Words lists the closed set.
func (PlanStatus) Words() []string {
	return []string{string(PlanNotStarted), string(PlanInProgress), string(PlanCompleted)}
}

// PlanItem is her to-do list; each push replaces the whole of it.
type PlanItem struct {
	Kind string `json:"kind" jsonschema:"enum=plan"`
	ItemBase
	Items []PlanEntry `json:"items" jsonschema:"maxItems=50"`
}

// PlanEntry is one line of the plan.
type PlanEntry struct {
	ID     int        `json:"id"`
	Title  string     `json:"title" jsonschema:"maxLength=120"`
	Status PlanStatus `json:"status"`
}
