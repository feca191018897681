package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
)

func TestCalibrationMeasuresOneServerUnderTwoNames(t *testing.T) {
	taken := func(port int) bool { return port == 8080 || port == 8081 }
	here := func(s Server) (*v1alpha1.BenchmarkRun, error) { return s.Here("/bin/loadstone", taken) }
	gohttp := "localhost/loadstone/gohttp:dev"
	for name, tc := range map[string]struct {
		make    func(Server) (*v1alpha1.BenchmarkRun, error)
		server  Server
		image   string
		port    int32
		command []string
	}{
		"the sample on a cluster":           {Server.OnCluster, Server{Run: "aa", Port: 8080}, gohttp, 8080, []string{"/usr/local/bin/gohttp", "--port=8080"}},
		"another image on a cluster":        {Server.OnCluster, Server{Run: "aa", Image: "zco:1", Port: 9090, Command: []string{"/zco"}}, "zco:1", 9090, []string{"/zco"}},
		"this program on a free port":       {here, Server{Run: "aa", Port: 8080}, "", 8082, []string{"/bin/loadstone", builtInServer, "--port=8082"}},
		"a command on this machine":         {here, Server{Run: "aa", Port: 8081, Command: []string{"./zco"}}, "", 8081, []string{"./zco"}},
		"an image on this machine":          {here, Server{Run: "aa", Port: 80, Image: "zco:1"}, "zco:1", 80, nil},
		"a command of an image, as it were": {here, Server{Run: "aa", Port: 80, Image: "zco:1", Command: []string{"/zco"}}, "zco:1", 80, []string{"/zco"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := tc.make(tc.server)
			if err != nil {
				t.Fatal(err)
			}
			a, b := r.Spec.Implementations[0], r.Spec.Implementations[1]
			if a.Name == b.Name || a.Image != tc.image || a.Port != tc.port || cmp.Diff(tc.command, a.Command) != "" || r.Name != "aa" {
				t.Errorf("run %+v", r)
			}
			b.Name = a.Name
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("the two differ:\n%s", diff)
			}
			if _, err := plan.Compile(r.Spec, plan.Options{Name: r.Name, UID: "1", Local: tc.image == ""}); err != nil {
				t.Errorf("it cannot be planned: %v", err)
			}
		})
	}
}

func TestCalibrationRefusesInvalidInput(t *testing.T) {
	for name, tc := range map[string]struct {
		server Server
		want   string
	}{
		"a name that is none":           {Server{Run: "A/A", Port: 80}, `--name "A/A" is not a valid run name`},
		"no name":                       {Server{Port: 80}, `--name "" is not a valid run name`},
		"a port that is none":           {Server{Run: "aa"}, "--port 0 is not a valid port"},
		"a port beyond the highest one": {Server{Run: "aa", Port: 65536}, "--port 65536 is not a valid port: use 1 to 65535"},
	} {
		t.Run(name, func(t *testing.T) {
			_, here := tc.server.Here("/bin/loadstone", func(int) bool { return false })
			_, there := tc.server.OnCluster()
			for _, err := range []error{here, there} {
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %q", err, tc.want)
				}
			}
		})
	}
	if _, err := (Server{Run: "aa", Port: 80, Command: []string{"/zco"}}).OnCluster(); err == nil || !strings.Contains(err.Error(), "a command on a cluster needs an image") {
		t.Errorf("a command without an image on a cluster: %v", err)
	}
	all := func(int) bool { return true }
	if r, err := (Server{Run: "aa", Port: 65530}).Here("/bin/loadstone", all); err != nil || r.Spec.Implementations[0].Port != lastPort {
		t.Errorf("where every port is taken: %v, %v", r, err)
	}
}
