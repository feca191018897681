package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/cli/runfile"
	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/ui/server"
)

const rootHelp = `Loadstone compares implementations under load. It reports which one is better, at what load, by how much, and
with what confidence.

Describe the comparison in a BenchmarkRun file. "loadstone run FILE" measures it on this machine. "loadstone
run FILE --context NAME" measures it on a cluster where Loadstone is installed. Both use the same plan, checks
and report.

Install the program in PATH as kubectl-loadstone to use it as a kubectl plugin. "kubectl loadstone run FILE"
then measures on the current cluster.`

// Main runs the program and returns the exit code.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if code, ok := asHelper(ctx, args[1:]); ok {
		return code
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

func orInterrupted(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return &statusError{statusInterrupted, kube.ErrLeft}
	}
	return err
}

// said formats an error for people. The problems of a file get one line each.
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

// New returns the command line. The name of the program decides whether it is a kubectl plugin.
func New(name string) *cobra.Command {
	plugin := strings.HasPrefix(name, "kubectl-")
	k := &kube.Flags{}
	root := &cobra.Command{
		Use:           "loadstone",
		Version:       util.Version,
		Short:         "Compare implementations under load",
		Long:          rootHelp + "\n\nExit codes of every command:\n\n" + codesText(),
		Args:          noSuchCommand,
		RunE:          printHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	if plugin {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl loadstone"}
	}
	root.SetFlagErrorFunc(flagError)
	k.Note = func(text string) { fmt.Fprintln(root.ErrOrStderr(), "loadstone: "+util.Printable(text)) }
	k.Bind(root.PersistentFlags())
	completeWith(root, kube.ContextFlag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return k.Contexts(), cobra.ShellCompDirectiveNoFileComp
	})
	root.AddCommand(
		vsCommand(), compareRefsCommand(), initCommand(), validateCommand(), runCommand(k, plugin), listCommand(k), watchCommand(k), waitCommand(k), reportCommand(k),
		compareCommand(k), suiteCommand(k), analyzeCommand(), calibrateCommand(k, plugin), doctorCommand(k, plugin), versionCommand(),
		server.Command(k, exactly(0, "ui takes no arguments")),
	)
	addHelpAndCompletion(root)
	return root
}

// printHelp is for commands that only have subcommands. Like kubectl, they print help and exit with 0.
func printHelp(c *cobra.Command, _ []string) error { return c.Help() }

// addHelpAndCompletion adds cobra's own commands. Cobra would accept any word as their argument.
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
			c.Args, c.RunE = noSuchCommand, printHelp
		}
	}
}

// outputOf prints to the current output of a command. Cobra's completion would keep the output that was set first.
type outputOf struct{ c *cobra.Command }

// Write implements io.Writer.
func (o outputOf) Write(text []byte) (int, error) { return o.c.OutOrStdout().Write(text) }

// noSuchCommand refuses an unknown subcommand and suggests similar ones.
func noSuchCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	root.SuggestionsMinimumDistance = 2
	hint := fmt.Sprintf("run %s --help for a list", root.CommandPath())
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return badInput(fmt.Errorf("unknown command %q: %s", args[0], hint))
}

// flagError refuses a flag. For an unknown one it suggests the nearest.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := runfile.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			return badInput(fmt.Errorf("%w: did you mean --%s?", err, near))
		}
	}
	return badInput(fmt.Errorf("%w: see %s --help", err, c.CommandPath()))
}

// exactly refuses any other number of arguments.
func exactly(n int, sentence string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return badInput(fmt.Errorf("%s: %s", sentence, c.UseLine()))
		}
		return nil
	}
}

// atLeastOne refuses a command line without arguments.
func atLeastOne(sentence string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return badInput(fmt.Errorf("%s: %s", sentence, c.UseLine()))
		}
		return nil
	}
}

// bindFiles adds the flag --filename to a command whose arguments are files. Its files come after the arguments.
func bindFiles(c *cobra.Command, sentence string) {
	var named []string
	c.Flags().StringArrayVarP(&named, "filename", "f", nil, "`FILE` to use, like an argument; repeatable")
	c.Args = func(c *cobra.Command, args []string) error { return atLeastOne(sentence)(c, append(args, named...)) }
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error { return run(c, append(args, named...)) }
}

// completeWithin limits how long a shell waits for the names of runs or suites.
const completeWithin = 3 * time.Second

func completeRuns(k *kube.Flags) cobra.CompletionFunc {
	return completeNames(func(ctx context.Context) ([]cobra.Completion, error) {
		runs, err := listCluster(ctx, k, false)
		var names []cobra.Completion
		for _, r := range runs {
			names = append(names, cobra.CompletionWithDesc(r.Name, r.State))
		}
		return names, err
	})
}

func completeSuites(k *kube.Flags) cobra.CompletionFunc {
	return completeNames(func(ctx context.Context) ([]cobra.Completion, error) {
		suites, err := kube.Suites(ctx, k, false)
		var names []cobra.Completion
		for _, s := range suites {
			names = append(names, s.Name)
		}
		return names, err
	})
}

// completeNames lets a shell complete the first argument. Without a cluster it completes nothing.
func completeNames(list func(context.Context) ([]cobra.Completion, error)) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(c.Context(), completeWithin)
		defer cancel()
		names, err := list(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
