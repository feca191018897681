package reexec

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/local/image"
)

const (
	AgentCommand   = "local-agent"
	KeeperCommand  = "local-keeper"
	LaunchCommand  = "local-launch"
	ContainCommand = image.ContainCommand
	ServerCommand  = "local-server"
	NetworkCommand = "local-network"
)

// Is reports whether the arguments make this program a part of a run, for Help. Every program that leads runs must call it first.
func Is(args []string) bool {
	return len(args) > 0 && slices.Contains([]string{AgentCommand, KeeperCommand, LaunchCommand, ContainCommand, ServerCommand, NetworkCommand}, args[0])
}

// Help acts as a part of a run until in ends, and returns the exit code.
func Help(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) (status int, err error) {
	if args[0] == AgentCommand || args[0] == KeeperCommand {
		syscall.CloseOnExec(heldDescriptor) // This process holds it, not its children.
	}
	switch args[0] {
	case KeeperCommand:
		err = keep(args[1:], in, out)
	case LaunchCommand:
		return launchProgram(ctx, args[1:], errs)
	case ContainCommand:
		return contain(ctx, args[1:], in, errs)
	case NetworkCommand:
		err = holdNetwork(args[1:], in, out)
	case ServerCommand:
		err = serveEqual(ctx, args[1:])
	default:
		err = serveAgent(ctx, args[1:], in, out)
	}
	return statusOf(err), err
}

// launchProgram is the parent of a program that measures itself, and returns its exit code.
func launchProgram(ctx context.Context, args []string, errs io.Writer) (int, error) {
	f := flag.NewFlagSet(LaunchCommand, flag.ContinueOnError)
	exchange := f.String("exchange", "", "the folder that the program's parent shares with its collector")
	if err := f.Parse(args); err != nil || f.NArg() == 0 {
		return 1, usageError(LaunchCommand)
	}
	runtime.GOMAXPROCS(1)
	code, err := launch.Run(ctx, launch.Exchange(*exchange), f.Args(), errs)
	if err != nil {
		return 1, err
	}
	return code, nil
}

// CPUList formats CPUs for cpusets.
func CPUList(cpus []int) string {
	texts := make([]string, len(cpus))
	for i, cpu := range cpus {
		texts[i] = strconv.Itoa(cpu)
	}
	return strings.Join(texts, ",")
}

func usageError(command string) error {
	return fmt.Errorf("%s is a part of loadstone run, and no command of its own", command)
}
