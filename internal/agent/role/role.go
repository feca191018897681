// Package role creates an agent from its arguments, in a pod or locally: a generator, an observer, a collector or a monitor.
package role

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"time"

	"loadstone.dev/loadstone/internal/agent"
	"loadstone.dev/loadstone/internal/agent/generate"
	"loadstone.dev/loadstone/internal/agent/kernel"
	"loadstone.dev/loadstone/internal/agent/launch"
	"loadstone.dev/loadstone/internal/agent/observe"
	"loadstone.dev/loadstone/internal/agent/program"
	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/search"
)

const (
	generator = "generate"
	observer  = "observe"
	collector = "collect"
	monitor   = "profile"
)

// UnknownError is an unknown role's name.
type UnknownError string

// Error names it.
func (e UnknownError) Error() string { return fmt.Sprintf("no agent is called %q", string(e)) }

const defaultDir = "/var/lib/loadstone"

// Role is an agent's role.
type Role struct {
	Dir string

	name         string
	port         int
	ready        string
	tls          bool
	http2        bool
	format       string
	exchange     string
	symbols      *[]string
	replies      *[]record.Reply
	profile      func() record.Profile
	dependencies []string
	stopSignal   string
	startSeconds int
}

// Parse reads an agent's arguments: the name of a role, and its flags.
func Parse(args []string) (Role, error) {
	if len(args) == 0 {
		return Role{}, UnknownError("")
	}
	r := Role{name: args[0]}
	f := flag.NewFlagSet(r.name, flag.ContinueOnError)
	f.StringVar(&r.Dir, "dir", defaultDir, "the folder for the agent's files")
	switch r.name {
	case generator:
	case observer:
		f.IntVar(&r.port, "port", 0, "port of the observed server")
		f.StringVar(&r.ready, "ready-path", "", "path to GET until the server answers with a 2xx status")
		f.BoolVar(&r.http2, "http2", false, "use HTTP/2")
		tlsFlag(f, &r.tls)
		r.symbols, r.replies = symbolFlag(f), replyFlag(f)
		f.Func("dependency", "container that started before the server; repeatable, in the order of their start", func(name string) error {
			r.dependencies = append(r.dependencies, name)
			return nil
		})
	case collector:
		r.symbols = symbolFlag(f)
		f.StringVar(&r.format, "format", "", "format of the program's output: GoogleBenchmark, GoTest or JSONLines")
		f.StringVar(&r.exchange, "exchange", "", "folder that a collector shares with the parent of a program")
	case monitor:
		f.StringVar(&r.exchange, "exchange", "", "folder that a monitor shares with the parent of a server")
		r.profile = profileFlags(f)
		tlsFlag(f, &r.tls)
		f.StringVar(&r.stopSignal, "stop-signal", "", "signal that stops the server")
		f.IntVar(&r.startSeconds, "start-seconds", 0, "maximum seconds from the start of a server without a profiler to its first answer")
	default:
		return Role{}, UnknownError(r.name)
	}
	if err := f.Parse(args[1:]); err != nil {
		return Role{}, fmt.Errorf("reading the arguments of an agent: %w", err)
	}
	if r.name == observer && (r.port < 1 || r.port > 65535) {
		return Role{}, errors.New("--port must be the port of the server, 1 to 65535")
	}
	return r, nil
}

// Watches reports whether the agent watches the measured program instead of loading it.
func (r Role) Watches() bool { return r.name != generator }

// Worker makes the role's worker, and sets up this process for it.
func (r Role) Worker(c agent.Config) (agent.Worker, error) {
	if !r.Watches() {
		return r.generator(c)
	}
	// Watchers share CPUs with others, so they use one at a time.
	runtime.GOMAXPROCS(1)
	if r.name == observer {
		return r.observer(c)
	}
	own, err := c.Launched(launch.Exchange(r.exchange))
	if err != nil {
		return nil, err
	}
	if r.name == monitor {
		start := time.Duration(r.startSeconds) * time.Second
		return program.NewMonitor(program.MonitorConfig{Config: own, Task: r.profile(), TLS: r.tls, StopSignal: r.stopSignal, StartLimit: start}), nil
	}
	own.Symbols = *r.symbols
	return program.NewCollector(program.CollectorConfig{Config: own, Cgroup: c.Sandbox.Cgroup, SharedNetwork: c.Sandbox.SharedNetwork, Format: record.CaseFormat(r.format)}), nil
}

func (r Role) observer(c agent.Config) (agent.Worker, error) {
	own, err := c.Observer(r.port)
	if err != nil {
		return nil, err
	}
	own.ReadyPath, own.TLS, own.Symbols, own.Replies = r.ready, r.tls, *r.symbols, *r.replies
	if r.http2 {
		own.Protocol = record.HTTP2
	}
	if len(r.dependencies) > 0 {
		// Dependencies and server talk through their shared network namespace.
		own.Dependencies, own.FindServer, own.SharedNetwork = r.dependencies, observe.ParentlessAfter(len(r.dependencies)), true
	}
	return observe.New(own), nil
}

func tlsFlag(flags *flag.FlagSet, on *bool) {
	flags.BoolVar(on, "tls", false, "the server speaks TLS; its certificate is not verified")
}

// profileFlags adds the flags of a profile. Call the returned function after parsing.
func profileFlags(flags *flag.FlagSet) func() record.Profile {
	var p record.Profile
	number := func(name, usage string) *int { return flags.Int(name, 1, usage) }
	tool := flags.String("tool", "", "the profiler")
	flags.StringVar(&p.Request.Path, "path", "/", "path of the request")
	flags.StringVar(&p.Request.Method, "method", "", "the method of the request, if it is not GET")
	flags.Func("header", "a header of the request, such as \"X-Tenant: a\"", func(line string) error {
		name, value, found := strings.Cut(line, ": ")
		if !found {
			return errors.New("want a name and a value, with a colon between them")
		}
		p.Request.Headers = append(p.Request.Headers, record.Header{Name: name, Value: value})
		return nil
	})
	flags.StringVar(&p.Request.Body, "send", "", "the body of the request")
	body := flags.String("body", "", "the right answer's body")
	compare := flags.Bool("compare-body", false, "compare bodies with the right one")
	status, requests, connections := number("status", "the right answer's status"), number("requests", "number of requests"), number("connections", "number of connections")
	repeats, limit := number("repeats", "number of repetitions"), number("limit", "maximum seconds for all repetitions")
	return func() record.Profile {
		p.Tool, p.Request.Expect.Status, p.Requests = profiler.Tool(*tool), int32(*status), int32(*requests)
		p.Connections, p.Repeats, p.LimitSeconds = int32(*connections), int32(*repeats), int32(*limit)
		if *compare {
			p.Request.Expect.Body = body
		}
		return p
	}
}

func (r Role) generator(c agent.Config) (agent.Worker, error) {
	if err := kernel.RaiseDescriptors(); err != nil {
		return nil, err
	}
	own, err := c.Generator()
	if err != nil {
		return nil, err
	}
	return generate.New(own, tools.All(generate.ScriptsDir(c.Dir)), search.Rates{}), nil
}

// symbolFlag adds a repeatable flag: a symbol that claims about the program need.
func symbolFlag(flags *flag.FlagSet) *[]string {
	var list []string
	flags.Func("symbol", "symbol that claims ask for; repeatable", func(name string) error {
		list = append(list, name)
		return nil
	})
	return &list
}

// replyFlag adds a repeatable flag: a path, a blank, and the text that claims expect in the answer.
func replyFlag(flags *flag.FlagSet) *[]record.Reply {
	var list []record.Reply
	flags.Func("reply", "path, a space, and the text that claims expect in the answer; repeatable", func(value string) error {
		path, text, ok := strings.Cut(value, " ")
		if !ok || text == "" {
			return errors.New("want a path, a space and a text")
		}
		list = append(list, record.Reply{Path: path, Text: text})
		return nil
	})
	return &list
}
