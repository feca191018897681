package record

import "time"

// Axis is a parameter in a case's name, such as size=4096.
type Axis struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CaseValue is one printed metric of a case.
type CaseValue struct {
	Metric string    `json:"metric"`
	Unit   string    `json:"unit"`
	Better Direction `json:"better"`
	// Samples hold one number per repetition within the process, in output order.
	Samples []float64 `json:"samples"`
}

// Case holds a program's measurements under one name.
type Case struct {
	Name string `json:"name"`
	// Printed is the printed name if the run renames the case; not stored.
	Printed string `json:"-"`
	// Others are further printed names that matched this case, which costs it its values; not stored.
	Others []string `json:"-"`
	Axes   []Axis   `json:"axes,omitempty"`
	// Values are its metrics, times first.
	Values []CaseValue `json:"values,omitempty"`
	// Iterations is the total over all repetitions; 0 if not printed.
	Iterations int64 `json:"iterations,omitempty"`
	// Failure is why the case has no values, in the program's words (untrusted).
	Failure string `json:"failure,omitempty"`
}

// ProgramRun is one process of a program that measures itself.
type ProgramRun struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// UserNanos and SystemNanos are CPU time of the process and its ended children.
	UserNanos   int64 `json:"userNanos"`
	SystemNanos int64 `json:"systemNanos"`
	// PeakMemoryBytes is the largest resident memory of one of these processes; 0 if not above the agent's own, and
	// so unknown.
	PeakMemoryBytes     int64             `json:"peakMemoryBytes"`
	VoluntarySwitches   int64             `json:"voluntarySwitches"`
	InvoluntarySwitches int64             `json:"involuntarySwitches"`
	Output              string            `json:"output"`
	Cases               []Case            `json:"cases"`
	Context             map[string]string `json:"context,omitempty"`
	// Unread holds at most 20 unreadable parts that belong to no case; UnreadMore counts the others.
	Unread     []Unread `json:"unread,omitempty"`
	UnreadMore int      `json:"unreadMore,omitempty"`
}

// Unread is an unreadable part of a program's output.
type Unread struct {
	// Line is its first line; 0 for the whole output.
	Line int `json:"line,omitempty"`
	// Text is its beginning (untrusted); Why names the fault.
	Text string `json:"text,omitempty"`
	Why  string `json:"why"`
}
