// Command loadstone-agent runs in a trial's pods as generator, observer of the server, and parent and collector of a program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"loadstone.dev/loadstone/internal/agent"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/agent/role"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

const usage = `usage: loadstone-agent generate [--dir DIR]
       loadstone-agent observe --port PORT [--dependency NAME]... [--symbol NAME]... [--dir DIR]
       loadstone-agent collect --format FORMAT --exchange DIR [--symbol NAME]... [--dir DIR]
       loadstone-agent profile --tool TOOL --path PATH --status STATUS --requests N --exchange DIR [--dir DIR]
       loadstone-agent launch --exchange DIR -- COMMAND...
       loadstone-agent bring PATH [TOOLBOX]
       loadstone-agent version`

// stopLimit bounds an agent's wait for its tool after SIGTERM.
const stopLimit = 80 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:], os.Getenv); err != nil {
		if code := exitCode(0); errors.As(err, &code) {
			os.Exit(int(code)) // The program has printed the reason.
		}
		fmt.Fprintln(os.Stderr, "loadstone-agent:", err)
		os.Exit(1)
	}
}

type exitCode int

// Error names the code.
func (c exitCode) Error() string { return "exit code " + strconv.Itoa(int(c)) }

func pod() agent.Sandbox {
	return agent.Sandbox{
		Address:    ":" + strconv.Itoa(protocol.Port),
		FindServer: observe.OldestParentless,
		Cgroup:     "/sys/fs/cgroup",
		Network:    "/proc/self/net",
	}
}

func run(ctx context.Context, stdout io.Writer, args []string, getenv func(string) string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	switch args[0] {
	case "launch":
		return launchProgram(ctx, args[1:])
	case "bring":
		if len(args) < 2 {
			return errors.New(usage)
		}
		return bring(args[1:])
	case "version":
		_, err := fmt.Fprintln(stdout, util.Version)
		return err
	}
	own, err := role.Parse(args)
	if unknown := role.UnknownError(""); errors.As(err, &unknown) {
		return errors.New(usage)
	}
	if err != nil {
		return err
	}
	return serve(ctx, getenv, own)
}

func bring(args []string) error {
	if err := launch.Bring(args[0]); err != nil || len(args) == 1 {
		return err
	}
	return launch.BringToolbox("/"+profiler.ToolboxFolder, args[1])
}

func launchProgram(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("loadstone-agent launch", flag.ContinueOnError)
	exchange := flags.String("exchange", "", "the folder shared by a collector and the parent of a program")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	runtime.GOMAXPROCS(1)
	code, err := launch.Run(ctx, launch.Exchange(*exchange), flags.Args(), os.Stderr)
	if err == nil && code != 0 {
		err = exitCode(code)
	}
	return err
}

func serve(ctx context.Context, getenv func(string) string, own role.Role) error {
	if own.Watches() {
		// The server runs as the same user and can see this process.
		if err := kernel.Hide(); err != nil {
			return err
		}
	}
	config, err := agent.ConfigFromEnv(getenv, own.Dir, pod())
	if err != nil {
		return err
	}
	worker, err := own.Worker(config)
	if err != nil {
		return err
	}
	a := agent.New(ctx, config, worker)
	server := agent.NewServer(a)
	go func() {
		<-ctx.Done()
		_ = server.Close() // A client that is still connected gets no answer.
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	a.Wait(stopLimit)
	return nil
}
