// Command loadstone-agent is the generator's main process, the server's observer and a program's parent and collector in the pods of a trial.
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
	"loadstone.dev/loadstone/internal/generate"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/launch"
	"loadstone.dev/loadstone/internal/observe"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/protocol"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/search"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/version"
)

const usage = `usage: loadstone-agent generate [--dir DIR]
       loadstone-agent observe --port PORT [--symbol NAME]... [--dir DIR]
       loadstone-agent collect --format FORMAT --exchange DIR [--symbol NAME]... [--dir DIR]
       loadstone-agent profile --tool TOOL --path PATH --status STATUS --requests N --exchange DIR [--dir DIR]
       loadstone-agent launch --exchange DIR -- COMMAND...
       loadstone-agent bring PATH [TOOLBOX]
       loadstone-agent version`

// stopLimit is how long an agent waits for its tool's end after SIGTERM.
const stopLimit = 80 * time.Millisecond

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:], os.Getenv); err != nil {
		if code := exitCode(0); errors.As(err, &code) {
			os.Exit(int(code)) // The program has said why itself.
		}
		fmt.Fprintln(os.Stderr, "loadstone-agent:", err)
		os.Exit(1)
	}
}

// exitCode is that of a program that was launched, which becomes the agent's own.
type exitCode int

// Error names the code.
func (c exitCode) Error() string { return "exit code " + strconv.Itoa(int(c)) }

// pod is what an agent takes for granted in a pod: a network namespace of its own, in which its port is free; a cgroup of its own, which it
// sees at the root; and, if it observes, a server in another container, whose process namespace it shares.
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
	flags := flag.NewFlagSet("loadstone-agent "+args[0], flag.ContinueOnError)
	dir := flags.String("dir", "/var/lib/loadstone", "the folder for the agent's files")
	port := flags.Int("port", 0, "the port of the server that is observed")
	format := flags.String("format", "", "what the program prints: GoogleBenchmark, GoTest or JSONLines")
	exchange := flags.String("exchange", "", "the folder in which a collector and the parent of a program meet")
	symbols := observe.SymbolFlag(flags)
	task := profileFlags(flags)
	if err := flags.Parse(args[1:]); err != nil {
		return fmt.Errorf("reading the flags: %w", err)
	}
	switch args[0] {
	case "generate":
		return generator(ctx, getenv, *dir)
	case "observe":
		if *port < 1 || *port > 65535 {
			return errors.New("--port must be the port of the server, 1 to 65535")
		}
		return beside(ctx, getenv, *dir, *port, func(own observe.Config) agent.Worker {
			own.Symbols = *symbols
			return observe.New(own)
		})
	case "collect":
		return beside(ctx, getenv, *dir, 0, func(own observe.Config) agent.Worker {
			own.Symbols = *symbols
			return observe.NewCollector(own, record.CaseFormat(*format), launch.Exchange(*exchange))
		})
	case "profile":
		return beside(ctx, getenv, *dir, 0, func(own observe.Config) agent.Worker {
			return observe.NewMonitor(own, task(), launch.Exchange(*exchange))
		})
	case "launch":
		runtime.GOMAXPROCS(1)
		code, err := launch.Run(ctx, launch.Exchange(*exchange), flags.Args(), os.Stderr)
		if err == nil && code != 0 {
			err = exitCode(code)
		}
		return err
	case "bring":
		return bring(flags.Arg(0), flags.Arg(1))
	case "version":
		_, err := fmt.Fprintln(stdout, version.Version)
		return err
	}
	return errors.New(usage)
}

// profileFlags are those of a profile, which is complete when they have been read.
func profileFlags(flags *flag.FlagSet) func() record.Profile {
	var p record.Profile
	number := func(name, usage string) *int { return flags.Int(name, 1, usage) }
	tool := flags.String("tool", "", "the profiler")
	flags.StringVar(&p.Request.Path, "path", "/", "what is asked of the server")
	body := flags.String("body", "", "the right answer's body")
	compare := flags.Bool("compare-body", false, "compare bodies with the right one")
	status, requests, connections := number("status", "the right answer's status"), number("requests", "how many requests are sent"), number("connections", "how many connections send them")
	repeats, limit := number("repeats", "how often everything is done"), number("limit", "how many seconds everything may take")
	return func() record.Profile {
		p.Tool, p.Request.Expect.Status, p.Requests = profiler.Tool(*tool), int32(*status), int32(*requests)
		p.Connections, p.Repeats, p.LimitSeconds = int32(*connections), int32(*repeats), int32(*limit)
		if *compare {
			p.Request.Expect.Body = body
		}
		return p
	}
}

// bring copies the agent to a path and, if somebody asks for the profilers, these to another.
func bring(path, toolbox string) error {
	if err := launch.Bring(path); err != nil || toolbox == "" {
		return err
	}
	return launch.BringToolbox("/"+profiler.ToolboxFolder, toolbox)
}

// generator makes load.
func generator(ctx context.Context, getenv func(string) string, dir string) error {
	if err := kernel.RaiseDescriptors(); err != nil {
		return err
	}
	return serve(ctx, getenv, dir, func(c agent.Config) (agent.Worker, error) {
		own, err := c.Generator()
		if err != nil {
			return nil, err
		}
		return generate.New(own, tools.All(generate.ScriptsDir(dir)), search.Rates{}), nil
	})
}

// beside watches what is measured, from a CPU that others share: it takes one at a time.
func beside(ctx context.Context, getenv func(string) string, dir string, port int, work func(observe.Config) agent.Worker) error {
	runtime.GOMAXPROCS(1)
	if err := kernel.Hide(); err != nil {
		return err
	}
	return serve(ctx, getenv, dir, func(c agent.Config) (agent.Worker, error) {
		own, err := c.Observer(port)
		if err != nil {
			return nil, err
		}
		return work(own), nil
	})
}

// serve answers the operator until ctx ends.
func serve(ctx context.Context, getenv func(string) string, dir string, work func(agent.Config) (agent.Worker, error)) error {
	config, err := agent.ConfigFromEnv(getenv, dir, pod())
	if err != nil {
		return err
	}
	worker, err := work(config)
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
