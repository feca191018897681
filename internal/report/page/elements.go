package page

import "loadstone.dev/loadstone/internal/report/table"

// Entry is one sentence of the headline, with what stands below it.
type Entry struct {
	// Tone is faster, slower, same or unknown.
	Title, Tone string
	Lines       []string
}

// Badge is one thing to know at a glance.
type Badge struct {
	Text string
	// Tone is good, care, bad or plain.
	Tone string
}

// Fact is a named value; Differs marks one that should not.
type Fact struct {
	Name    string
	Values  []string
	Differs string
}

// Extra is the data of a section of leads and one table, and one more that is folded.
type Extra struct {
	Leads       []string
	Table       table.Table
	FoldedTitle string
	Folded      table.Table
}

// Detail is a table that is folded among all the data.
type Detail struct {
	Title, Lead string
	Table       table.Table
}
