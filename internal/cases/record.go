package cases

import "loadstone.dev/loadstone/internal/record"

// Record fills the output into the record of its process.
func (o Output) Record(into *record.ProgramRun) {
	into.Cases, into.Context, into.UnreadMore = o.cases(), o.Context, o.UnreadMore
	for _, u := range o.Unread {
		into.Unread = append(into.Unread, record.Unread(u))
	}
}

func (o Output) cases() []record.Case {
	out := make([]record.Case, 0, len(o.Cases))
	for _, c := range o.Cases {
		own := record.Case{Name: c.Name, Iterations: c.Iterations, Failure: c.Failure}
		for _, a := range c.Axes {
			own.Axes = append(own.Axes, record.Axis(a))
		}
		for _, v := range c.Values {
			own.Values = append(own.Values, record.CaseValue(v))
		}
		out = append(out, own)
	}
	return out
}
