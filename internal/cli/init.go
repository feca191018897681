package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/cli/screen"
	"loadstone.dev/loadstone/internal/run/plan"
)

const initHelp = `Writes a BenchmarkRun with comments, ready to be run. Each argument names an implementation and the command that starts it, word by word and
without a shell; the first one is the baseline. On a cluster an implementation needs its image: --image NAME=IMAGE. At a terminal, without any of
them, three questions are asked.`

// initCommand writes the file of a new run.
func initCommand() *cobra.Command {
	var d runfile.Draft
	var out string
	c := &cobra.Command{
		Use:   "init [NAME=COMMAND]...",
		Short: "Write the file of a new BenchmarkRun, with comments",
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
				fmt.Fprintln(c.ErrOrStderr(), "loadstone: one implementation has nothing to be compared with: name another one, as NAME=COMMAND")
			}
			if out != "" {
				return writeNew(out, text)
			}
			_, err = io.WriteString(c.OutOrStdout(), text)
			return err
		},
	}
	bindDraft(&d, c.Flags())
	c.Flags().StringVar(&out, "out", "", "the `FILE` to write, which must not exist; standard output if empty")
	return c
}

func bindDraft(d *runfile.Draft, f *pflag.FlagSet) {
	f.StringVar(&d.Name, "name", "quick", "the `NAME` of the run")
	f.StringToStringVar(&d.Images, "image", nil, "the image of an implementation, as `NAME=IMAGE`; may be given for each")
	f.Int32Var(&d.Port, "port", 8080, "the `PORT` on which every server listens")
	f.StringVar(&d.Tool, "tool", "wrk", "the load generator, such as wrk, ab or k6")
	f.StringVar(&d.Path, "path", "/", "the `PATH` of the requests")
	f.Int32SliceVar(&d.Connections, "connections", []int32{10, 100}, "the levels, by their numbers of open connections")
	f.Int32Var(&d.Seconds, "seconds", 5, "how long each cell is measured")
	f.Int32Var(&d.Blocks, "blocks", plan.DefaultBlocks, "how often every implementation is measured: a verdict needs 7")
}

// draftText is the file of a draft. One that no machine and no cluster would take is an error of the flags.
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

// writeNew writes a file that does not exist.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return badInput(fmt.Errorf("%s exists already: name another file with --out", path))
	}
	if err != nil {
		return badInput(fmt.Errorf("writing the file of the run: %w", err))
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the file of the run: %w", err)
	}
	return nil
}
