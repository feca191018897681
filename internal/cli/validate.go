package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/runfile"
	"loadstone.dev/loadstone/internal/suite"
)

const validateHelp = `Holds each file, of a BenchmarkRun or a BenchmarkSuite, against the schema and the rules of its kind, and then plans it, as a cluster would, without
one. Of a suite the parameters are filled in, each run is checked and planned, and no registry is asked. Everything that is wrong with a file is
printed at once, as FILE:LINE: what is wrong, and the way out. The file - is standard input.`

// checked is what validate has found of one file.
type checked struct {
	File  string `json:"file"`
	Valid bool   `json:"valid"`
	// Here and OnCluster are true of what this machine, or a cluster, could be asked to measure.
	Here      bool `json:"here"`
	OnCluster bool `json:"onCluster"`
	// Size and Estimate say how much is measured, and about how long that takes.
	Size     string            `json:"size,omitempty"`
	Estimate string            `json:"estimate,omitempty"`
	Problems []runfile.Problem `json:"problems,omitempty"`
	text     string
}

// validateCommand checks files without a cluster.
func validateCommand() *cobra.Command {
	output := textOutput
	c := &cobra.Command{
		Use:     "validate FILE...",
		Short:   "Check the files of runs and suites, without a cluster",
		Long:    validateHelp,
		Example: "  loadstone validate run.yaml\n  loadstone validate config/suites/*.yaml --output json\n  loadstone init | loadstone validate -",
		Args:    atLeastOne("name the files to validate"),
		RunE: func(c *cobra.Command, files []string) error {
			return validate(c.Context(), c.OutOrStdout(), c.InOrStdin(), files, output)
		},
	}
	bindOutput(c, &output)
	return c
}

func validate(ctx context.Context, out io.Writer, in io.Reader, files []string, output outputFormat) error {
	var all []checked
	bad := 0
	for _, file := range files {
		one, err := validateFile(ctx, in, file)
		if err != nil {
			return err
		}
		if !one.Valid {
			bad++
		}
		all = append(all, one)
	}
	if output == jsonOutput {
		if err := printJSON(out, all); err != nil {
			return err
		}
	} else {
		for _, one := range all {
			fmt.Fprintln(out, one.text)
		}
	}
	if bad > 0 {
		return badInput(fmt.Errorf("%d of %d files are not valid", bad, len(files)))
	}
	return nil
}

// validateFile checks one file, or in if it is called "-". An error that is not the file's ends everything.
func validateFile(ctx context.Context, in io.Reader, path string) (checked, error) {
	out := checked{File: path}
	name, text, err := readFile(in, path)
	if err != nil {
		return out, badInput(err)
	}
	if runfile.IsSuite(text) {
		out, err = planSuite(ctx, name, text, out, time.Now())
	} else {
		var file *runfile.File
		if file, err = runfile.Named(ctx, name, text); err == nil {
			out, err = planFile(file, out)
		}
	}
	var wrong *runfile.Invalid
	switch {
	case err == nil:
		out.Valid = true
	case errors.As(err, &wrong):
		out.Problems, out.text = wrong.Problems, wrong.Lines()
	default:
		return out, badInput(err)
	}
	return out, nil
}

// readFile reads a file, or in if it is called "-", and says by which name people know it.
func readFile(in io.Reader, path string) (name string, text []byte, err error) {
	if path != "-" {
		text, err = runfile.Read(path)
		return path, text, err
	}
	if text, err = io.ReadAll(in); err != nil {
		return "", nil, fmt.Errorf("reading standard input: %w", err)
	}
	return "stdin", text, nil
}

// planFile plans a run for this machine and for a cluster. One of both is enough, unless the file names the images that a cluster asks for.
func planFile(file *runfile.File, out checked) (checked, error) {
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
		p, where = here, "on this machine; a cluster asks for images"
	case !out.Here:
		where = "on a cluster, and not on this machine: " + errHere.Error()
	}
	out.Size, out.Estimate = size(p), estimate(p).Round(time.Second).String()
	out.text = fmt.Sprintf("%s: valid: %s, about %s, %s", out.File, out.Size, out.Estimate, where)
	return out, nil
}

// planSuite checks the runs of a suite as the operator does, and plans them. Suites are for clusters alone.
func planSuite(ctx context.Context, name string, text []byte, out checked, now time.Time) (checked, error) {
	file, err := runfile.NamedSuite(ctx, name, text)
	if err != nil {
		return out, err
	}
	explained := func(faults []suite.Fault) error {
		var problems []runfile.Problem
		for _, f := range faults {
			problems = append(problems, file.Explain(f.Run, f.Message))
		}
		return file.Wrong(problems)
	}
	specs, faults := suite.Filled(file.Suite.Spec)
	if err := explained(faults); err != nil {
		return out, err
	}
	if err := file.Admit(ctx, specs); err != nil {
		return out, err
	}
	plans, faults := suite.Check(file.Suite, nil, now)
	if err := explained(faults); err != nil {
		return out, err
	}
	var sizes []string
	var long time.Duration
	for i, p := range plans {
		sizes = append(sizes, fmt.Sprintf("%s (%s)", size(p), file.Suite.Spec.Runs[i].Name))
		long += estimate(p)
	}
	out.OnCluster, out.Size, out.Estimate = true, strings.Join(sizes, ", "), long.Round(time.Second).String()
	out.text = fmt.Sprintf("%s: valid: %s, about %s a round, on a cluster", out.File, out.Size, out.Estimate)
	return out, nil
}

// pullable reports whether every implementation has an image that a cluster can pull.
func pullable(spec v1alpha1.BenchmarkRunSpec) bool {
	return !slices.ContainsFunc(spec.Implementations, func(i v1alpha1.Implementation) bool { return i.Image == "" || plan.IsPath(i.Image) })
}

// size is how much a plan measures, what follows its blocks included.
func size(p plan.Plan) string {
	if len(p.Following) == 0 {
		return p.Size()
	}
	return fmt.Sprintf("%s, and %d that follow the blocks", p.Size(), len(p.Following))
}

// estimate is how long a plan will about take, what follows its blocks included.
func estimate(p plan.Plan) time.Duration {
	return p.Estimate(len(p.Trials)) + time.Duration(len(p.Following))*plan.FollowingEstimate
}
