package cases

import "loadstone.dev/loadstone/internal/record"

// Record fills the output into the record of its process.
func (o Output) Record(into *record.ProgramRun) {
	into.Cases, into.Context, into.UnreadMore = o.Cases, o.Context, o.UnreadMore
	into.Unread = append(into.Unread, o.Unread...)
}
