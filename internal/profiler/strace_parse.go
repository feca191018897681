package profiler

import (
	"fmt"
	"io"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/profiler/lines"
)

// SystemCalls are the system calls of a process and its children.
type SystemCalls struct {
	// Calls are in strace's order: the most time first.
	Calls []Call `json:"calls"`
	// Total adds them up.
	Total Call `json:"total"`
}

// Call is one system call.
type Call struct {
	Name   string `json:"name"`
	Count  int64  `json:"count"`
	Errors int64  `json:"errors"`
	// Seconds is the kernel's CPU time in it, in microsecond steps.
	Seconds float64 `json:"seconds"`
}

const (
	// MaxCalls bounds the system calls: Linux has some 400.
	MaxCalls = 2000
	maxName  = 64
)

// ParseSystemCalls parses strace's table. If it ends early, the calls until then are returned with the error.
func ParseSystemCalls(r io.Reader) (SystemCalls, error) {
	var result SystemCalls
	if err := readCalls(lines.NewReader(r), &result); err != nil {
		return result, fmt.Errorf("reading strace's table: %w", err)
	}
	return result, nil
}

func readCalls(r *lines.Reader, result *SystemCalls) error {
	if !r.Next() {
		if r.Err() != nil {
			return r.Err()
		}
		return lines.ErrEmpty
	}
	if got := strings.Join(strings.Fields(r.Line()), " "); got != "% time seconds usecs/call calls errors syscall" {
		return r.Wrong("the head of a table of system calls")
	}
	for r.Next() {
		if strings.HasPrefix(r.Line(), "---") {
			continue
		}
		call, err := readCall(r)
		if err != nil {
			return err
		}
		if call.Name == "total" {
			result.Total = call
			return check(*result)
		}
		if len(result.Calls) == MaxCalls {
			return fmt.Errorf("%w: more than %d system calls", lines.ErrLarge, MaxCalls)
		}
		result.Calls = append(result.Calls, call)
	}
	if r.Err() != nil {
		return r.Err()
	}
	return fmt.Errorf("%w: the line of totals is missing", lines.ErrCut)
}

// readCall reads "PERCENT SECONDS MICROSECONDS COUNT [ERRORS] NAME".
func readCall(r *lines.Reader) (Call, error) {
	fields := strings.Fields(r.Line())
	const name, fewest = "a share, seconds, microseconds, a count, perhaps errors, and a name", 5
	if len(fields) < fewest || len(fields) > fewest+1 {
		return Call{}, r.Wrong(name)
	}
	c := Call{Name: printed.Clip(fields[len(fields)-1], maxName)}
	seconds, err := printed.Number(fields[1])
	if err != nil {
		return Call{}, r.Wrong(name)
	}
	c.Seconds = seconds
	counts := fields[3 : len(fields)-1]
	if err := printed.Counts(counts, []*int64{&c.Count, &c.Errors}[:len(counts)]...); err != nil {
		return Call{}, r.Wrong(name)
	}
	return c, nil
}

func check(r SystemCalls) error {
	var count, errors int64
	for _, c := range r.Calls {
		count, errors = count+c.Count, errors+c.Errors
	}
	if count != r.Total.Count || errors != r.Total.Errors {
		return fmt.Errorf("%w: %d calls and %d errors, and their totals are %d and %d", lines.ErrForeign, count, errors, r.Total.Count, r.Total.Errors)
	}
	return nil
}
