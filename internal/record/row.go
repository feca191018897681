package record

// WorkType is the kind of work of a trial.
type WorkType string

const (
	// Sweep puts load on servers, level by level.
	Sweep WorkType = "Sweep"
	// Microbenchmark runs a program that measures itself and reads its output.
	Microbenchmark WorkType = "Microbenchmark"
	// ProfileType runs a server under a profiler, after the blocks.
	ProfileType WorkType = "Profile"
)

// Direction is which values are better.
type Direction string

const (
	// MoreIsBetter is for a throughput.
	MoreIsBetter Direction = "More"
	// LessIsBetter is for a time, memory or instructions.
	LessIsBetter Direction = "Less"
	// UnknownDirection is for a user counter: neither its program nor its tool says which values are better.
	UnknownDirection Direction = "Unknown"
)

// Row is one value of a trial that is compared with the same of others: a metric in a case. It is derived from the
// trial's results, not stored.
type Row struct {
	Server int    `json:"server,omitempty"`
	Metric string `json:"metric"`
	// Case is such as a benchmark or a level.
	Case   string    `json:"case"`
	Unit   string    `json:"unit"`
	Better Direction `json:"better"`
	// Value is at least 0 and lies between Low and High, which equal it if it is exact.
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Void says why the value does not count; empty if it does.
	Void string `json:"void,omitempty"`
}

// Exactly returns a row with an exact value.
func Exactly(metric, name, unit string, better Direction, value float64) Row {
	return Row{Metric: metric, Case: name, Unit: unit, Better: better, Value: value, Low: value, High: value}
}
