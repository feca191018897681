package cases

import "loadstone.dev/loadstone/internal/record"

// Record is the output as a trial's result stores it.
func (o Output) Record() []record.Case {
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
