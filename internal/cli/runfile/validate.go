package runfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/suite"
)

// Result is the result of one file.
type Result struct {
	File  string `json:"file"`
	Valid bool   `json:"valid"`
	// Here and OnCluster say where the run could be measured.
	Here      bool `json:"here"`
	OnCluster bool `json:"onCluster"`
	// Size and Estimate say how much is measured, and about how long.
	Size     string    `json:"size,omitempty"`
	Estimate string    `json:"estimate,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
	// Text is the same for people.
	Text string `json:"-"`
}

// File checks a file's text; messages use its name. The error is not about the text.
func Validate(ctx context.Context, name string, text []byte, now time.Time) (Result, error) {
	check := validateRun
	if IsSuite(text) {
		check = rounds
	}
	out, err := check(ctx, name, text, now)
	if err != nil {
		return RefusedFile(name, err)
	}
	out.File, out.Valid, out.Text = name, true, name+": valid: "+out.Text
	return out, nil
}

// Refused converts an error about a file to its result. It returns other errors unchanged.
func RefusedFile(name string, err error) (Result, error) {
	if wrong := (*Invalid)(nil); errors.As(err, &wrong) {
		return Result{File: name, Problems: wrong.Problems, Text: wrong.Lines()}, nil
	}
	return Result{File: name}, err
}

func validateRun(ctx context.Context, name string, text []byte, _ time.Time) (Result, error) {
	file, err := Named(ctx, name, text)
	if err != nil {
		return Result{}, err
	}
	return ValidateRun(file)
}

// Run plans a run for this machine and for a cluster. One of both suffices, unless the file names cluster images.
func ValidateRun(file *File) (out Result, err error) {
	compile := func(local bool) (plan.Plan, error) {
		return plan.Compile(file.Run.Spec, plan.Options{Name: file.Run.Name, Local: local})
	}
	p, errCluster := compile(false)
	here, errHere := compile(true)
	out.Here, out.OnCluster = errHere == nil, errCluster == nil
	where := "on a cluster or on this machine"
	switch {
	case !out.Here && !out.OnCluster && file.Run.Spec.Implementations[0].Image == "":
		return out, file.Explain(errHere)
	case !out.OnCluster && (!out.Here || pullable(file.Run.Spec)):
		return out, file.Explain(errCluster)
	case !out.OnCluster:
		p, where = here, "on this machine; a cluster needs images"
	case !out.Here:
		where = "on a cluster, but not on this machine: " + errHere.Error()
	}
	size, takes := p.Whole()
	out.Size, out.Estimate = size, takes.String()
	out.Text = fmt.Sprintf("%s, %s, %s", out.Size, p.Takes(), where)
	if why := p.NoVerdict(); why != "" {
		out.Text += "; " + why
	}
	return out, nil
}

// rounds checks and plans a suite's runs like the operator. Suites need a cluster.
func rounds(ctx context.Context, name string, text []byte, now time.Time) (out Result, err error) {
	file, err := NamedSuite(ctx, name, text)
	if err != nil {
		return out, err
	}
	explained := func(faults []suite.Fault) []Problem {
		var problems []Problem
		for _, f := range faults {
			problems = append(problems, file.Explain(f.Run, f.Message))
		}
		return problems
	}
	specs, faults := suite.Filled(file.Suite.Spec)
	if err := file.Unfinished(explained(faults)); err != nil {
		return out, err
	}
	if err := file.Admit(ctx, specs); err != nil {
		return out, err
	}
	plans, faults := suite.Check(file.Suite, nil, now)
	if err := file.Wrong(explained(faults)); err != nil {
		return out, err
	}
	var sizes []string
	var long time.Duration
	for i, p := range plans {
		size, takes := p.Whole()
		sizes = append(sizes, fmt.Sprintf("%s (%s)", size, file.Suite.Spec.Runs[i].Name))
		long += takes
	}
	out.OnCluster, out.Size, out.Estimate = true, strings.Join(sizes, ", "), long.Round(time.Second).String()
	out.Text = fmt.Sprintf("%s, about %s per round, on a cluster", out.Size, out.Estimate)
	return out, nil
}

func pullable(spec v1alpha1.BenchmarkRunSpec) bool {
	return !slices.ContainsFunc(spec.Implementations, func(i v1alpha1.Implementation) bool { return i.Image == "" || plan.IsPath(i.Image) })
}
