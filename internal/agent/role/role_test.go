package role

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/agent"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

func TestAnAgentIsWhatItsArgumentsSay(t *testing.T) {
	// Agents that share CPUs use one at a time.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, tc := range map[string]struct {
		member string
		args   []string
		want   string
		err    string
	}{
		"a generator":                             {"generator-0", []string{"generate"}, "*generate.Generator", ""},
		"the sixteenth of sixteen generators":     {"generator-15", []string{"generate"}, "*generate.Generator", ""},
		"an observer":                             {"server-0", []string{"observe", "--port=8080"}, "*observe.Observer", ""},
		"the observer of the second server":       {"server-1", []string{"observe", "--port=8080"}, "*observe.Observer", ""},
		"an observer of a server with a database": {"server-0", []string{"observe", "--port=8080", "--dependency=db"}, "*observe.Observer", ""},
		"a collector":                             {"server-0", []string{"collect", "--format=GoTest", "--exchange=/exchange"}, "*program.Collector", ""},
		"a monitor":                               {"server-0", []string{"profile", "--tool=strace", "--requests=10", "--exchange=/exchange"}, "*program.Monitor", ""},
		"a server that makes load":                {"server-0", []string{"generate"}, "", "server-0"},
		"a generator that observes":               {"generator-0", []string{"observe", "--port=8080"}, "", "generator-0"},
		"a generator that collects":               {"generator-0", []string{"collect"}, "", "generator-0"},
		"a seventeenth generator":                 {"generator-16", []string{"generate"}, "", "generator-16"},
		"no port":                                 {"server-0", []string{"observe"}, "", "--port must be the port of the server"},
		"a port beyond the last":                  {"server-0", []string{"observe", "--port=65536"}, "", "--port must be the port of the server"},
		"a port that is none":                     {"server-0", []string{"observe", "--port=http"}, "", "reading the arguments of an agent: "},
		"an argument that is none":                {"server-0", []string{"observe", "--cell=1"}, "", "reading the arguments of an agent: "},
		"an argument of another role":             {"generator-0", []string{"generate", "--port=8080"}, "", "flag provided but not defined"},
		"a role that nobody knows":                {"server-0", []string{"juggle"}, "", `no agent is called "juggle"`},
		"no role":                                 {"server-0", nil, "", `no agent is called ""`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := made(agent.Config{Trial: "quick-000-plain", Member: tc.member, Node: "here", Dir: t.TempDir()}, tc.args)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("it ends with %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if kind := fmt.Sprintf("%T", got); kind != tc.want || got.Member() != tc.member {
				t.Errorf("it is a %s of %s, want a %s of %s", kind, got.Member(), tc.want, tc.member)
			}
		})
	}
}

func TestAnObserverLearnsWhatClaimsAskFor(t *testing.T) {
	claims := kind.Claims([]v1alpha1.Claim{
		{Subject: v1alpha1.ClaimSymbol, Value: "main"},
		{Subject: v1alpha1.ClaimResponse, Value: "a = b"},
		{Subject: v1alpha1.ClaimResponse, Value: "1.2", Path: "/version?full=yes"},
	})
	r, err := Parse(append(append([]string{"observe", "--port=8080"}, kind.SymbolArgs(claims)...), kind.ReplyArgs(claims)...))
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Reply{{Path: "/", Text: "a = b"}, {Path: "/version?full=yes", Text: "1.2"}}
	if diff := cmp.Diff(want, *r.replies); diff != "" || !slices.Equal(*r.symbols, []string{"main"}) {
		t.Errorf("symbols %v, replies (-want +got):\n%s", *r.symbols, diff)
	}
}

func made(c agent.Config, args []string) (agent.Worker, error) {
	r, err := Parse(args)
	if err != nil {
		return nil, err
	}
	return r.Worker(c)
}

func TestARoleSaysWhereItsFilesLieAndWhatItDoes(t *testing.T) {
	for name, tc := range map[string]struct {
		args    []string
		dir     string
		watches bool
	}{
		"a generator in a pod":       {[]string{"generate"}, "/var/lib/loadstone", false},
		"an observer elsewhere":      {[]string{"observe", "--port=1", "--dir=/tmp/own"}, "/tmp/own", true},
		"a collector in a pod":       {[]string{"collect"}, "/var/lib/loadstone", true},
		"a generator with its files": {[]string{"generate", "--dir", "here"}, "here", false},
	} {
		r, err := Parse(tc.args)
		if err != nil || r.Dir != tc.dir || r.Watches() != tc.watches {
			t.Errorf("%s: its files lie in %q, it watches %v, %v", name, r.Dir, r.Watches(), err)
		}
	}
	var unknown UnknownError
	if _, err := Parse([]string{"launch"}); !errors.As(err, &unknown) || unknown != "launch" {
		t.Errorf("a command is taken for a role: %v", err)
	}
}

func TestARepliesFlagHoldsAPathAndAText(t *testing.T) {
	f := flag.NewFlagSet("observe", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	list := replyFlag(f)
	if err := f.Parse([]string{"--reply=/v?a=b a text", "--reply=/ x"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]record.Reply{{Path: "/v?a=b", Text: "a text"}, {Path: "/", Text: "x"}}, *list); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := f.Parse([]string{"--reply=/"}); err == nil {
		t.Error("a path without a text is taken")
	}
}

func TestAnObserverIsToldToAskInHTTP2(t *testing.T) {
	if r, err := Parse([]string{"observe", "--port=8080", "--tls", "--http2"}); err != nil || !r.http2 {
		t.Errorf("it is told %v, %v", r.http2, err)
	}
}

func TestWhoAsksAServerIsToldThatItSpeaksTLS(t *testing.T) {
	observes, profiles := []string{"observe", "--port=8080"}, []string{"profile", "--tool=strace"}
	for _, args := range [][]string{observes, profiles} {
		for _, speaks := range []bool{false, true} {
			own := record.Implementation{}
			if speaks {
				own.TLS = &record.TLS{}
			}
			if r, err := Parse(append(slices.Clone(args), kind.TLSArgs(own)...)); err != nil || r.tls != speaks {
				t.Errorf("%s of a server that speaks TLS (%v) is told %v, %v", args[0], speaks, r.tls, err)
			}
		}
	}
}
