package role

import (
	"flag"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/profiler"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind/profile"
)

// A monitor parses all arguments that its trial writes, whatever the request contains.
func TestAMonitorReadsWhatItsTrialWrites(t *testing.T) {
	body, empty := `a "b" --status=1 $HOME`+"\nnext line", ""
	for name, request := range map[string]record.Request{
		"any body":       {Path: "/", Expect: record.Expect{Status: 200}},
		"a body":         {Path: "/a?b=c&d=--e", Expect: record.Expect{Status: 404, Body: &body}},
		"no body at all": {Path: "/", Expect: record.Expect{Status: 204, Body: &empty}},
		"a long path":    {Path: "/" + strings.Repeat("x", 1000), Expect: record.Expect{Status: 301}},
		"all of a request": {
			Method: "POST", Path: "/", Body: "--header=a\n$(HOME) é", Expect: record.Expect{Status: 200},
			Headers: []record.Header{{Name: "X-A", Value: "a: b"}, {Name: "X-B", Value: "--send=c"}},
		},
		"a path of a flag": {Path: "/--requests=9", Expect: record.Expect{Status: 200}},
	} {
		t.Run(name, func(t *testing.T) {
			want := record.Profile{Tool: profiler.MassifPages, Request: request, Requests: 70, Connections: 7, Repeats: 2, LimitSeconds: 99}
			work := profile.Profile{Profile: want}
			args := work.Members()[0].Processes[1].Args
			flags := flag.NewFlagSet("profile", flag.ContinueOnError)
			task := profileFlags(flags)
			if err := flags.Parse(args[1:]); err != nil || flags.NArg() > 0 {
				t.Fatalf("%v, and %q is left", err, flags.Args())
			}
			if diff := cmp.Diff(want, task()); args[0] != "profile" || diff != "" {
				t.Errorf("%s (-want +got):\n%s", args[0], diff)
			}
		})
	}
}
