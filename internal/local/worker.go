package local

import (
	"context"
	"flag"
	"fmt"
	"io"
	"runtime"
	"time"

	"loadstone.dev/loadstone/internal/agent"
	"loadstone.dev/loadstone/internal/generate"
	"loadstone.dev/loadstone/internal/kernel"
	"loadstone.dev/loadstone/internal/launch"
	"loadstone.dev/loadstone/internal/observe"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/search"
	"loadstone.dev/loadstone/internal/tool/tools"
)

// stopLimit is how long an agent waits for the end of its tool once its run is over.
const stopLimit = time.Second

// serveAgent is an agent of a run, which does its commands until in ends. After its own flags come the arguments that the agent has on a
// cluster.
func serveAgent(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	var c agent.Config
	f := flag.NewFlagSet(agentCommand, flag.ContinueOnError)
	f.StringVar(&c.Trial, "trial", "", "the trial")
	f.StringVar(&c.Member, "member", "", "the member of the trial that the agent is")
	f.StringVar(&c.Node, "node", "", "the name of this machine")
	f.StringVar(&c.Dir, "dir", "", "the folder for the agent's files")
	f.StringVar(&c.Sandbox.Network, "network", "", "the folder with the counters of the network, if they are of this agent's load alone")
	keeper := f.Int("keeper", 0, "the process that has started the server")
	if err := f.Parse(args); err != nil || f.NArg() == 0 {
		return usageError(agentCommand)
	}
	c.Sandbox.SharedNetwork = true
	c.Sandbox.FindServer = observe.OldestChildOf(*keeper)
	worker, err := newWorker(c, f.Args())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	a := agent.New(ctx, c, worker)
	err = a.ServePipe(in, out)
	cancel()
	a.Wait(stopLimit)
	return err
}

// newWorker makes what an agent is by its arguments.
func newWorker(c agent.Config, args []string) (agent.Worker, error) {
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	port := f.Int("port", 0, "the port of the server that is observed")
	format := f.String("format", "", "what the program prints")
	exchange := f.String("exchange", "", "the folder in which a collector and the parent of a program meet")
	symbols := observe.SymbolFlag(f)
	if err := f.Parse(args[1:]); err != nil {
		return nil, fmt.Errorf("reading the arguments of an agent: %w", err)
	}
	switch args[0] {
	case "generate":
		if err := kernel.RaiseDescriptors(); err != nil {
			return nil, err
		}
		own, err := c.Generator()
		if err != nil {
			return nil, err
		}
		return generate.New(own, tools.All(generate.ScriptsDir(c.Dir)), search.Rates{}), nil
	case "observe":
		// The observer shares its CPUs with others: it takes one at a time.
		runtime.GOMAXPROCS(1)
		own, err := c.Observer(*port)
		if err != nil {
			return nil, err
		}
		own.Symbols = *symbols
		return observe.New(own), nil
	case "collect":
		runtime.GOMAXPROCS(1)
		own, err := c.Observer(0)
		if err != nil {
			return nil, err
		}
		own.Symbols = *symbols
		return observe.NewCollector(own, record.CaseFormat(*format), launch.Exchange(*exchange)), nil
	}
	return nil, fmt.Errorf("no agent is called %q", args[0])
}
