package runfile

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func TestDraftIsParsedBack(t *testing.T) {
	for name, tc := range map[string]struct {
		args   []string
		images map[string]string
		want   []string
	}{
		"an example":                 {nil, nil, []string{"old", "new"}},
		"commands":                   {[]string{"a=./a --name=x:y", "b=true on"}, nil, []string{"a", "b"}},
		"names that may be booleans": {[]string{"x=./a y", "y=./b n", "n=./c N"}, nil, []string{"x", "y", "n"}},
		"images, by their name":      {nil, map[string]string{"b": "r.io/b:2", "a": "r.io/a:1"}, []string{"a", "b"}},
		"both of one":                {[]string{"a=./a"}, map[string]string{"a": "r.io/a:1", "b": "r.io/b:2"}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := Draft{Name: "no", Tool: "wrk", Path: "/", Port: 80, Connections: []int32{1}, Seconds: 1, Blocks: 7, Images: tc.images}
			if err := d.Add(tc.args); err != nil {
				t.Fatal(err)
			}
			text, err := d.Text()
			if err != nil {
				t.Fatal(err)
			}
			var run v1alpha1.BenchmarkRun
			if err := yaml.UnmarshalStrict([]byte(text), &run); err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			if run.Name != "no" || len(run.Spec.Implementations) != len(tc.want) {
				t.Fatalf("it is read as %+v", run)
			}
			for k, i := range run.Spec.Implementations {
				if i.Name != tc.want[k] || i.Image != tc.images[i.Name] || i.Port != 80 {
					t.Errorf("implementation %d is %+v", k, i)
				}
			}
			for k, arg := range tc.args {
				if _, command, _ := strings.Cut(arg, "="); strings.Join(run.Spec.Implementations[k].Command, " ") != command {
					t.Errorf("%s is read as %q", arg, run.Spec.Implementations[k].Command)
				}
			}
		})
	}
}

func TestInitArgumentWithoutCommandIsRefused(t *testing.T) {
	for _, arg := range []string{"", "a", "a=", "=./a", "a=  "} {
		if err := (&Draft{}).Add([]string{arg}); err == nil || !strings.Contains(err.Error(), "is not an implementation") {
			t.Errorf("%q ends with %v", arg, err)
		}
	}
}

func TestInitQuestions(t *testing.T) {
	for name, tc := range map[string]struct {
		answers string
		want    []Implementation
		wantErr string
	}{
		"commands": {"./old -p 80\n ./new\n80\n", []Implementation{
			{Name: "baseline", Command: []string{"./old", "-p", "80"}, Port: 80}, {Name: "contender", Command: []string{"./new"}, Port: 80},
		}, ""},
		"an image, a command and no port": {"image r.io/a:1\n./new\n\n", []Implementation{
			{Name: "baseline", Image: "r.io/a:1", Port: 8080}, {Name: "contender", Command: []string{"./new"}, Port: 8080},
		}, ""},
		"nothing":               {"\n", nil, ""},
		"one, and no other":     {"./old\n", nil, ""},
		"no input":              {"", nil, ""},
		"a port that is a word": {"./old\n./new\nhttp\n", nil, `"http" is not a valid port`},
	} {
		t.Run(name, func(t *testing.T) {
			d, asked := Draft{Port: 8080}, strings.Builder{}
			err := d.Ask(strings.NewReader(tc.answers), &asked)
			if got := fmt.Sprint(err); err == nil && tc.wantErr != "" || err != nil && (tc.wantErr == "" || !strings.Contains(got, tc.wantErr)) {
				t.Fatalf("it ends with %v, want %q", err, tc.wantErr)
			}
			if !reflect.DeepEqual(d.Implementations, tc.want) || !strings.Contains(asked.String(), "Baseline server: its command") {
				t.Errorf("it has %+v, and asked %q", d.Implementations, asked.String())
			}
		})
	}
}
