package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/local/reexec"
	"loadstone.dev/loadstone/internal/ui/server"
)

const rootHelp = `Loadstone compares implementations under load and says which is better, at what load, by how much, and how sure it is.

A BenchmarkRun in a file is measured on this machine (run FILE) or on a cluster where Loadstone is installed (run FILE --context NAME), by the
same plan, with the same checks and the same report. Installed in PATH as kubectl-loadstone, the program is a plugin: kubectl loadstone run FILE
measures on the cluster of kubectl's current context.`

// Main is the whole program. It returns the exit code.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if reexec.Is(args[1:]) {
		status, err := reexec.Help(ctx, args[1:], os.Stdin, os.Stdout, os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, "loadstone:", err)
		}
		return status
	}
	root := New(filepath.Base(args[0]))
	root.SetArgs(args[1:])
	err := root.ExecuteContext(ctx)
	if err = orInterrupted(ctx, err); err != nil {
		fmt.Fprintln(os.Stderr, util.Printable(said(err)))
		return status(err)
	}
	return 0
}

// orInterrupted is the error of a command, or that of an interruption if it is one.
func orInterrupted(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return &statusError{statusInterrupted, kube.ErrLeft}
	}
	return err
}

// said is an error as people read it: of a file everything that is wrong with it, a line each.
func said(err error) string {
	if all := severalErrors(nil); errors.As(err, &all) {
		var lines []string
		for _, e := range all {
			lines = append(lines, said(e))
		}
		return strings.Join(lines, "\n")
	}
	if e := (*runfile.Invalid)(nil); errors.As(err, &e) {
		return e.Lines()
	}
	return "loadstone: " + err.Error()
}

// New is the command line with all its commands, under the name by which the program was called.
func New(name string) *cobra.Command {
	plugin := strings.HasPrefix(name, "kubectl-")
	k := &kube.Flags{}
	root := &cobra.Command{
		Use:     "loadstone",
		Version: util.Version,
		Short:   "Compare implementations under load",
		Long:    rootHelp + "\n\nExit codes of every command:\n\n" + codesText(),
		Args:    noSuchCommand,
		RunE: func(*cobra.Command, []string) error {
			return badInput(errors.New("name a command: loadstone --help lists them"))
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	if plugin {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl loadstone"}
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return badInput(fmt.Errorf("%w: see %s --help", err, c.CommandPath()))
	})
	k.Note = func(text string) { fmt.Fprintln(root.ErrOrStderr(), "loadstone: "+util.Printable(text)) }
	k.Bind(root.PersistentFlags())
	root.AddCommand(
		initCommand(), validateCommand(), runCommand(k, plugin), listCommand(k), watchCommand(k), waitCommand(k), reportCommand(k),
		compareCommand(k), suiteCommand(k), analyzeCommand(), calibrateCommand(k, plugin), doctorCommand(k, plugin), versionCommand(),
		server.Command(k, exactly(0, "ui takes no argument")),
	)
	addHelpAndCompletion(root)
	return root
}

// addHelpAndCompletion adds the commands that cobra would add by itself, and which would take any word for a command or a shell.
func addHelpAndCompletion(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.SetOut(outputOf{root})
	root.InitDefaultCompletionCmd()
	root.SetOut(os.Stdout)
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				named, rest, err := root.Find(args)
				if err == nil && named.HasSubCommands() {
					return noSuchCommand(named, rest)
				}
				return err
			}
		case "completion":
			c.Use, c.DisableFlagsInUseLine = "completion SHELL", true
			c.Args, c.RunE = noSuchCommand, func(c *cobra.Command, _ []string) error {
				return badInput(fmt.Errorf("name a shell: %s --help lists them", c.CommandPath()))
			}
		}
	}
}

// outputOf is the output that a command has when something is printed, for those that would keep the one that it has now.
type outputOf struct{ c *cobra.Command }

// Write implements io.Writer.
func (o outputOf) Write(text []byte) (int, error) { return o.c.OutOrStdout().Write(text) }

// noSuchCommand refuses a word in the place of a command, and names those that it may be meant to be.
func noSuchCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	root.SuggestionsMinimumDistance = 2
	hint := root.CommandPath() + " --help lists all"
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return badInput(fmt.Errorf("%q is no command: %s", args[0], hint))
}

// exactly refuses any other number of arguments, with a sentence that says what to type.
func exactly(n int, sentence string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return badInput(fmt.Errorf("%s: %s", sentence, c.UseLine()))
		}
		return nil
	}
}

// atLeastOne is exactly for commands that take one argument or more.
func atLeastOne(sentence string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return badInput(fmt.Errorf("%s: %s", sentence, c.UseLine()))
		}
		return nil
	}
}

// versionCommand prints which version this is.
func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  exactly(0, "version takes no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(c.OutOrStdout(), "loadstone %s %s %s/%s\n", util.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// outputFormat is the form in which a command prints what it has found.
type outputFormat string

const (
	textOutput outputFormat = "text"
	jsonOutput outputFormat = "json"
)

// String implements pflag.Value.
func (f *outputFormat) String() string { return string(*f) }

// Type implements pflag.Value: it is how help names the value.
func (f *outputFormat) Type() string { return "FORMAT" }

// Set implements pflag.Value.
func (f *outputFormat) Set(text string) error {
	if text != string(textOutput) && text != string(jsonOutput) {
		return fmt.Errorf("choose %s or %s", textOutput, jsonOutput)
	}
	*f = outputFormat(text)
	return nil
}

// bindOutput gives a command the flag --output.
func bindOutput(c *cobra.Command, into *outputFormat) {
	c.Flags().VarP(into, "output", "o", "text for people, or json for programs")
}

// printJSON prints a value for programs.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}

// completeWithin bounds how long a shell waits for the names of runs.
const completeWithin = 3 * time.Second

// completeRuns lets a shell complete the names of the runs on the cluster. Where there is none it completes nothing.
func completeRuns(k *kube.Flags) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
		defer cancel()
		runs, err := listCluster(ctx, k, false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var names []cobra.Completion
		for _, r := range runs {
			names = append(names, cobra.CompletionWithDesc(r.Name, r.State))
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
