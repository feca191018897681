package analysis

import (
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

// Followed is what a trial that followed the blocks has measured in rows. Nothing is compared with it. A trial of a profile has no rows, and
// is among the Profiles instead.
type Followed struct {
	Type           record.WorkType `json:"type"`
	Item           string          `json:"item"`
	Implementation string          `json:"implementation"`
	Trial          string          `json:"trial"`
	Rows           []record.Row    `json:"rows"`
}

// followed are the trials that followed the blocks and have left rows, in the order of the plan.
func followed(data record.RunData) []Followed {
	var out []Followed
	for _, line := range data.Manifest.Plan.Following {
		i := slices.IndexFunc(data.Following, func(t record.TrialData) bool { return t.Manifest.Name == line.Name })
		if i < 0 || len(data.Following[i].Rows) == 0 || len(line.Servers) != 1 {
			continue
		}
		out = append(out, Followed{Type: line.Type, Item: line.Item, Implementation: line.Servers[0], Trial: line.Name, Rows: data.Following[i].Rows})
	}
	return out
}
