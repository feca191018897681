package record

import "time"

// Axis is a parameter in the name of a case, such as size=4096.
type Axis struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// CaseValue is one metric of a case, as a program has printed it.
type CaseValue struct {
	Metric string    `json:"metric"`
	Unit   string    `json:"unit"`
	Better Direction `json:"better"`
	// Samples has one number a repetition that the process made by itself, in the order of its output.
	Samples []float64 `json:"samples"`
}

// Case is what a program that measures itself has measured under one name.
type Case struct {
	Name string `json:"name"`
	// Printed is the name that the program printed, where the run gives the case another; it is not stored.
	Printed string `json:"-"`
	// Others are names that the program printed and that were taken for this case, too, which costs it its values; they are not stored.
	Others []string `json:"-"`
	Axes   []Axis   `json:"axes,omitempty"`
	// Values are its metrics, times first.
	Values []CaseValue `json:"values,omitempty"`
	// Iterations is their number over all repetitions; 0 if the program prints none.
	Iterations int64 `json:"iterations,omitempty"`
	// Failure is why the case has no values, in the program's words: untrusted.
	Failure string `json:"failure,omitempty"`
}

// ProgramRun is one process of a program that measures itself.
type ProgramRun struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// UserNanos and SystemNanos are the CPU time of the process and of its children that have ended, as the kernel accounted for it.
	UserNanos   int64 `json:"userNanos"`
	SystemNanos int64 `json:"systemNanos"`
	// PeakMemoryBytes is the largest resident memory of one of these processes; 0 where it is no larger than that of the agent which started
	// them, and so unknown.
	PeakMemoryBytes int64 `json:"peakMemoryBytes"`
	// VoluntarySwitches and InvoluntarySwitches are their context switches.
	VoluntarySwitches   int64 `json:"voluntarySwitches"`
	InvoluntarySwitches int64 `json:"involuntarySwitches"`
	// Output is the name of the file with the standard output, from which Cases were read.
	Output string `json:"output"`
	Cases  []Case `json:"cases"`
	// Context is what the program printed of its build and machine, by name.
	Context map[string]string `json:"context,omitempty"`
	// Unread is what of the output could not be read and belongs to no case: at most 20 parts. UnreadMore counts those beyond.
	Unread     []Unread `json:"unread,omitempty"`
	UnreadMore int      `json:"unreadMore,omitempty"`
}

// Unread is a part of a program's output that could not be read.
type Unread struct {
	// Line is the number of its first line; 0 if the part is the output as a whole.
	Line int `json:"line,omitempty"`
	// Text is how it begins: untrusted. Why says what is wrong with it.
	Text string `json:"text,omitempty"`
	Why  string `json:"why"`
}
