package kernel

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/kernel/kerneltest"
	"loadstone.dev/loadstone/internal/record"
)

// rest are fields 4 to 24 of a stat file, after the state.
const rest = " 3 7 7 0 -1 4194560 1 0 0 0 30 12 0 0 20 0 5 0 500 1000 25"

func TestParseProcess(t *testing.T) {
	want := Process{PID: 7, Parent: 3, Started: 500, CPUNanos: 42 * nanosPerTick, Threads: 5}
	for name, tc := range map[string]struct {
		text string
		ok   bool
	}{
		"a plain name":                  {"7 (server) S" + rest, true},
		"a name with blanks":            {"7 (my server) S" + rest, true},
		"a name with parentheses":       {"7 (a) S 9 (b)) R" + rest, true},
		"a name that ends like a field": {"7 (x) 1 2 3) S" + rest, true},
		"too few fields":                {"7 (server) S 3 7 7 0", false},
		"no field at all":               {"7 (server)", false},
		"nothing":                       {"", false},
		"a word for a number":           {"7 (server) S x 7 7 0 -1 4194560 1 0 0 0 30 12 0 0 20 0 5 0 500 1000 25", false},
		"more than a number holds":      {"7 (server) S 3 7 7 0 -1 4194560 1 0 0 0 99999999999999999999 12 0 0 20 0 5 0 500 1000 25", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseProcess(7, []byte(tc.text))
			if (err == nil) != tc.ok {
				t.Fatalf("error %v, want none: %v", err, tc.ok)
			}
			if tc.ok && got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestProcessesAreThoseThatCanBeRead(t *testing.T) {
	proc := Proc(kerneltest.Proc(t, map[string]string{"9/status": "a process that ends meanwhile has no stat\n", "10/stat": "cut", "self/stat": "no number"}))
	all, err := proc.Processes()
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b Process) int { return a.PID - b.PID })
	want := []Process{
		{PID: 7, Parent: 0, Started: 500, CPUNanos: 42 * nanosPerTick, Threads: 3},
		{PID: 8, Parent: 7, Started: 600, CPUNanos: 2 * nanosPerTick, Threads: 2},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := Proc(proc.file("nothing")).Processes(); err == nil {
		t.Error("a folder that is not there has processes")
	}
	if _, err := proc.Process(9); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a process that has ended: %v", err)
	}
}

func TestAFamilyIsAProcessAndItsDescendants(t *testing.T) {
	of := func(pairs ...int) []Process {
		var all []Process
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, Process{PID: pairs[i], Parent: pairs[i+1]})
		}
		return all
	}
	for name, tc := range map[string]struct {
		all  []Process
		root int
		want []int
	}{
		"a process alone":                {of(1, 0, 2, 0), 1, []int{1}},
		"children":                       {of(1, 0, 2, 1, 3, 1, 4, 0), 1, []int{1, 2, 3}},
		"grandchildren listed first":     {of(3, 2, 2, 1, 1, 0), 1, []int{1, 2, 3}},
		"not its parent":                 {of(1, 0, 2, 1, 3, 2), 2, []int{2, 3}},
		"the root of a namespace":        {of(1, 1, 2, 1), 1, []int{1, 2}},
		"a process that is not listed":   {of(1, 0), 5, []int{5}},
		"children of one not listed":     {of(6, 5), 5, []int{5, 6}},
		"one that took a parent's place": {of(1, 2, 2, 1), 1, []int{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Family(tc.all, tc.root); !slices.Equal(got, tc.want) {
				t.Errorf("the family of %d is %d, want %d", tc.root, got, tc.want)
			}
		})
	}
}

func TestDescriptorsCountsOpenFiles(t *testing.T) {
	proc := Proc(kerneltest.Proc(t, nil))
	for pid, want := range map[int]int64{7: 1, 8: 2} {
		if got, err := proc.Descriptors(pid); err != nil || got != want {
			t.Errorf("process %d has %d, %v; want %d", pid, got, err, want)
		}
	}
	if got, err := proc.Descriptors(9); err == nil {
		t.Errorf("a process that has ended has %d", got)
	}
}

func TestResidentBytes(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want int64
		err  error
	}{
		"pages":                 {"1000 25 3 1 0 90 0\n", int64(25 * os.Getpagesize()), nil},
		"nothing resident yet":  {"1000 0 0 1 0 90 0\n", 0, nil},
		"a process that ended":  {"0 0 0 0 0 0 0\n", 0, ErrEnded},
		"an empty file":         {"", 0, ErrEnded},
		"one number only":       {"1000", 0, ErrNoNumber},
		"a word for the second": {"1000 x\n", 0, ErrNoNumber},
	} {
		t.Run(name, func(t *testing.T) {
			proc := Proc(kerneltest.Proc(t, map[string]string{"7/statm": tc.text}))
			f, err := Open(proc.Path(7, "statm"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if got, err := ResidentBytes(f); got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("got %d, %v; want %d, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

func TestCPUsAllowed(t *testing.T) {
	proc := Proc(kerneltest.Proc(t, nil))
	for name, tc := range map[string]struct {
		pid  int
		want string
		ok   bool
	}{
		"a process":                       {7, "1,3", true},
		"a process that has ended":        {9, record.Unknown, false},
		"a process that does not show it": {8, record.Unknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.pid == 8 {
				kerneltest.Rewrite(t, string(proc), map[string]string{"8/status": "Name:\tx\n"})
			}
			if got, err := proc.CPUsAllowed(tc.pid); got != tc.want || (err == nil) != tc.ok {
				t.Errorf("got %q, %v; want %q", got, err, tc.want)
			}
		})
	}
	if own := OwnCPUsAllowed(); own == "" {
		t.Error("this process may run nowhere")
	}
}

func TestThreadsHoldTheCountersOfEach(t *testing.T) {
	proc := Proc(kerneltest.Proc(t, map[string]string{
		"7/task/70/status":    "voluntary_ctxt_switches:\t4\nnonvoluntary_ctxt_switches:\t5\n",
		"7/task/71/status":    "Name:\ta thread of a kernel that counts nothing\n",
		"7/task/72/schedstat": "a thread that ends meanwhile has no status\n",
	}))
	got, err := proc.Threads(7)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]Thread{7: {Voluntary: 10, Involuntary: 3, Ran: 100, Waited: 10}, 70: {Voluntary: 4, Involuntary: 5}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := proc.Threads(9); err == nil || len(got) != 0 {
		t.Errorf("a process that has ended has the threads %v, %v", got, err)
	}
}

func TestParseSchedstat(t *testing.T) {
	for text, want := range map[string][2]int64{"100 10 3\n": {100, 10}, "0 5 3": {0, 5}, "": {}, "100": {}, "x 10 3": {}, "100 x 3": {}} {
		if ran, waited := parseSchedstat([]byte(text)); ran != want[0] || waited != want[1] {
			t.Errorf("%q ran %d and waited %d, want %d", text, ran, waited, want)
		}
	}
}

func TestPressureIsUnknownWhereTheKernelHasNone(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want int64
		ok   bool
	}{
		"some and full":        {"some avg10=1.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", 1000, true},
		"no pressure at all":   {"some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", 0, true},
		"full only":            {"full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", 0, false},
		"an empty file":        {"", 0, false},
		"a total that is none": {"some avg10=0.00 avg60=0.00 avg300=0.00 total=x\n", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			file := Proc(kerneltest.Proc(t, map[string]string{"pressure/cpu": tc.text})).OpenPressure()
			defer file.Close()
			got := PressureMicros(file)
			if (got != nil) != tc.ok || got != nil && *got != tc.want {
				t.Errorf("got %v, want %d, known %v", got, tc.want, tc.ok)
			}
		})
	}
	if file := Proc(t.TempDir()).OpenPressure(); file != nil || PressureMicros(file) != nil {
		t.Error("a kernel without pressure has some")
	}
	folder, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if got := PressureMicros(folder); got != nil {
		t.Errorf("a file that refuses to be read has the pressure %d", *got)
	}
}

func TestLocalPortsOfANetworkNamespace(t *testing.T) {
	proc := Proc(kerneltest.Proc(t, map[string]string{"sys/net/ipv4/ip_local_port_range": "1024\t2023\n"}))
	if got, err := proc.LocalPorts(); err != nil || got != 1000 {
		t.Errorf("it has %d, %v; want 1000", got, err)
	}
	if got, err := Proc(t.TempDir()).LocalPorts(); err == nil {
		t.Errorf("a folder that is no /proc has %d", got)
	}
}

func TestSetCPUsSaysThatAProcessHasEnded(t *testing.T) {
	if err := Proc(t.TempDir()).SetCPUs(7, []int{0}); !errors.Is(err, ErrEnded) {
		t.Errorf("got %v, want %v", err, ErrEnded)
	}
}
