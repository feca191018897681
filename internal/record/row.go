package record

// WorkType is the kind of work that a trial does.
type WorkType string

const (
	// Sweep puts load on servers, level by level.
	Sweep WorkType = "Sweep"
	// Microbenchmark runs a program that measures itself, and reads what it prints.
	Microbenchmark WorkType = "Microbenchmark"
	// ProfileType runs a server under a profiler, after the blocks.
	ProfileType WorkType = "Profile"
)

// Direction is which way of a value is better.
type Direction string

const (
	// MoreIsBetter is true of a throughput.
	MoreIsBetter Direction = "More"
	// LessIsBetter is true of a time, of memory, of instructions.
	LessIsBetter Direction = "Less"
)

// Row is one value of one trial that is compared with the same of others: of a metric, in a case. It follows from the trial's results and
// is not stored.
type Row struct {
	// Server is the place of its implementation among those of its trial, from 0.
	Server int    `json:"server,omitempty"`
	Metric string `json:"metric"`
	// Case is what was measured, such as the name of a benchmark or of a level.
	Case   string    `json:"case"`
	Unit   string    `json:"unit"`
	Better Direction `json:"better"`
	// Value is at least 0. It is exact between Low and High, which are equal to it where it is known exactly.
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// Void says why the value does not count; empty if it does.
	Void string `json:"void,omitempty"`
}

// Exactly is a row whose value is known exactly.
func Exactly(metric, name, unit string, better Direction, value float64) Row {
	return Row{Metric: metric, Case: name, Unit: unit, Better: better, Value: value, Low: value, High: value}
}
