package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/tool/tools"
)

const initHelp = `Writes a BenchmarkRun file with comments that you can run as it is. Each argument names an implementation and
the command that starts it. The command is split at spaces and runs without a shell. The first implementation
is the baseline. On a cluster, each implementation needs an image: --image NAME=IMAGE. Without arguments and
images, a terminal asks three questions.`

func initCommand() *cobra.Command {
	var d runfile.Draft
	var out string
	c := &cobra.Command{
		Use:   "init [NAME=COMMAND]...",
		Short: "Write a new BenchmarkRun file with comments",
		Long:  initHelp,
		Example: "  loadstone init 'old=./server-old --port=8080' 'new=./server-new --port=8080' --out run.yaml\n" +
			"  loadstone init --image old=registry.example/server:1 --image new=registry.example/server:2 --port 80 > run.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args)+len(d.Images) == 0 && screen.IsTerminal(c.InOrStdin()) {
				if err := d.Ask(c.InOrStdin(), c.ErrOrStderr()); err != nil {
					return badInput(err)
				}
			}
			text, err := draftText(c.Context(), &d, args)
			if err != nil {
				return err
			}
			if len(d.Implementations) == 1 {
				fmt.Fprintln(c.ErrOrStderr(), "loadstone: there is only one implementation: add another one to compare, as NAME=COMMAND")
			}
			if out != "" {
				return writeNew(out, text)
			}
			_, err = io.WriteString(c.OutOrStdout(), text)
			return err
		},
	}
	bindDraft(&d, c.Flags())
	completeFlag(c, "tool", toolNames())
	c.Flags().StringVar(&out, "out", "", "write to `FILE`, which must not exist (default: standard output)")
	return c
}

func bindDraft(d *runfile.Draft, f *pflag.FlagSet) {
	f.StringVar(&d.Name, "name", "quick", "`NAME` of the run")
	f.StringToStringVar(&d.Images, "image", nil, "image of an implementation, as `NAME=IMAGE`; repeatable")
	f.Int32Var(&d.Port, "port", 8080, "`PORT` that every server listens on")
	f.StringVar(&d.Tool, "tool", "wrk", "load generator, such as wrk, ab or k6")
	f.StringVar(&d.Path, "path", "/", "`PATH` of the requests")
	f.Int32SliceVar(&d.Connections, "connections", []int32{10, 100}, "connection counts to test")
	f.Int32Var(&d.Seconds, "seconds", 5, "duration of each measurement in seconds")
	f.Int32Var(&d.Blocks, "blocks", plan.DefaultBlocks, "number of measurements of each implementation; a verdict needs 7")
}

func toolNames() []string {
	var names []string
	for name := range tools.All("") {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// draftText returns the run file of a draft. An invalid draft is reported as an error in the flags.
func draftText(ctx context.Context, d *runfile.Draft, args []string) (string, error) {
	if len(d.Implementations) == 0 {
		if err := d.Add(args); err != nil {
			return "", badInput(err)
		}
	}
	text, err := d.Text()
	if err != nil {
		return "", err
	}
	file, err := runfile.Parse(ctx, []byte(text))
	if err == nil {
		_, err = runfile.ValidateRun(file)
	}
	if wrong := (*runfile.Invalid)(nil); errors.As(err, &wrong) {
		return "", badInput(errors.New(wrong.Problems[0].Message))
	}
	return text, err
}

// writeNew never overwrites a file.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return badInput(fmt.Errorf("%s already exists: choose another file with --out", path))
	}
	if err != nil {
		return badInput(fmt.Errorf("writing the run file: %w", err))
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the run file: %w", err)
	}
	return nil
}
