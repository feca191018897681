package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/run/plan"
)

// The exit codes of every command. Code 0 is success, and codes has what each means.
const (
	statusFailed       = 1
	statusBadInput     = 2
	statusMissed       = 3
	statusInconclusive = 4
	statusInterrupted  = 130
)

var codes = []struct {
	code    int
	meaning string
}{
	{0, "Success. All objectives are met. Without objectives, every comparison has a verdict."},
	{statusFailed, "Failure: the run failed, a sample is void, doctor found a fault, or the command failed."},
	{statusBadInput, "Invalid input: a flag or file is invalid, or this machine or cluster cannot run it. Nothing was started."},
	{statusMissed, "An objective is missed."},
	{statusInconclusive, "Inconclusive: an objective is undecided, or no measurement counts, or two runs cannot be compared. Without objectives, a comparison has no verdict."},
	{statusInterrupted, "Interrupted."},
}

func codesText() string {
	var b strings.Builder
	for _, c := range codes {
		fmt.Fprintf(&b, "    %3d  %s\n", c.code, c.meaning)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// byGravity orders the exit codes from the most severe one. Several runs exit with the most severe of theirs.
var byGravity = []int{statusInterrupted, statusFailed, statusBadInput, statusMissed, statusInconclusive, 0}

func gravest(codes []int) int {
	return slices.MinFunc(codes, func(a, b int) int { return cmp.Compare(slices.Index(byGravity, a), slices.Index(byGravity, b)) })
}

func gravityText() string {
	var texts []string
	for _, code := range byGravity {
		texts = append(texts, strconv.Itoa(code))
	}
	return strings.Join(texts, ", ")
}

type severalErrors []error

// Error implements error.
func (e severalErrors) Error() string {
	var texts []string
	for _, err := range e {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; ")
}

// Unwrap lets errors.Is and errors.As look inside.
func (e severalErrors) Unwrap() []error { return e }

type statusError struct {
	status int
	err    error
}

// Error implements error.
func (e *statusError) Error() string { return e.err.Error() }

// Unwrap lets errors.Is and errors.As look inside.
func (e *statusError) Unwrap() error { return e.err }

// badInput marks an error in what the user typed or wrote.
func badInput(err error) error { return &statusError{statusBadInput, err} }

func status(err error) int {
	if all := severalErrors(nil); errors.As(err, &all) {
		var codes []int
		for _, e := range all {
			codes = append(codes, status(e))
		}
		return gravest(codes)
	}
	if e := (*statusError)(nil); errors.As(err, &e) {
		return e.status
	}
	if e := (*runfile.Invalid)(nil); errors.As(err, &e) {
		return statusBadInput
	}
	if e := (*plan.Violation)(nil); errors.As(err, &e) {
		return statusBadInput
	}
	if isFolderError(err) {
		return statusBadInput
	}
	if e := (*kube.Invalid)(nil); errors.As(err, &e) {
		return statusBadInput
	}
	return statusFailed
}
