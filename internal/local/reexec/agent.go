package reexec

import (
	"context"
	"flag"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"loadstone.dev/loadstone/internal/agent"
	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/agent/role"
	"loadstone.dev/loadstone/internal/base/serve"
)

// stopLimit bounds an agent's wait for its tool after the run.
const stopLimit = time.Second

// serveAgent obeys commands until in ends. Its own flags precede the agent's arguments as on a cluster.
func serveAgent(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	var c agent.Config
	f := flag.NewFlagSet(AgentCommand, flag.ContinueOnError)
	f.StringVar(&c.Trial, "trial", "", "the trial")
	f.StringVar(&c.Member, "member", "", "the member of the trial that the agent is")
	f.StringVar(&c.Node, "node", "", "the name of this machine")
	f.StringVar(&c.Dir, "dir", "", "the folder for the agent's files")
	f.StringVar(&c.Sandbox.Network, "network", "", "the folder with the counters of the network, if they are of this agent's load alone")
	f.StringVar(&c.Sandbox.Cgroup, "counters", "", "the folder with the counters of the cgroup of what the agent measures, or of its own if it makes load")
	var group groupFlag
	f.Var(&group, "cgroup", "the cgroup of the agent, if it has one of its own")
	keeper := f.Int("keeper", 0, "the process that has started the server")
	if err := f.Parse(args); err != nil || f.NArg() == 0 {
		return usageError(AgentCommand)
	}
	if group.Group != nil {
		if err := group.Enter(); err != nil {
			return err
		}
	}
	c.Sandbox.SharedNetwork = true
	c.Sandbox.FindServer, c.Sandbox.Keeper = observe.OldestChildOf(*keeper), *keeper
	own, err := role.Parse(f.Args())
	if err != nil {
		return err
	}
	worker, err := own.Worker(c)
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

// serveEqual is the default server of a calibration: Go's HTTP server with one fixed answer, until ctx ends.
func serveEqual(ctx context.Context, args []string) error {
	f := flag.NewFlagSet(ServerCommand, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	port := f.Int("port", 0, "the port to listen on")
	if err := f.Parse(args); err != nil || f.NArg() > 0 || *port < 1 {
		return usageError(ServerCommand)
	}
	h := &http.Server{
		Addr:              net.JoinHostPort("127.0.0.1", strconv.Itoa(*port)),
		Handler:           http.HandlerFunc(answer),
		ReadHeaderTimeout: 10 * time.Second,
	}
	return serve.Until(ctx, h, "a calibration", h.ListenAndServe)
}

func answer(w http.ResponseWriter, _ *http.Request) {
	const text = "helloworld"
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = io.WriteString(w, text) // An error means that the client is gone.
}
