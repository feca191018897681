package plan

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
)

func database(changes ...func(*v1alpha1.Dependency)) func(*v1alpha1.BenchmarkRunSpec) {
	return func(s *v1alpha1.BenchmarkRunSpec) {
		d := v1alpha1.Dependency{Name: "db", Image: "redis:7", Port: 6379}
		for _, change := range changes {
			change(&d)
		}
		s.Implementations[0].Dependencies = append(s.Implementations[0].Dependencies, d)
	}
}

func TestADependencyThatCannotRunIsRefused(t *testing.T) {
	quantity := func(text string) *resource.Quantity { q := resource.MustParse(text); return &q }
	for name, tc := range map[string]struct {
		changes []func(*v1alpha1.BenchmarkRunSpec)
		local   bool
		want    string
	}{
		"a database":                  {changes: []func(*v1alpha1.BenchmarkRunSpec){database()}},
		"one that nobody waits for":   {changes: []func(*v1alpha1.BenchmarkRunSpec){database(func(d *v1alpha1.Dependency) { d.Port = 0 })}},
		"on this machine":             {changes: []func(*v1alpha1.BenchmarkRunSpec){database()}, local: true, want: "spec.implementations[0].dependencies works on clusters only: remove it, and start db before the run (images need spec.placement.network: Host to reach it), or use a cluster"},
		"the port of the agent":       {changes: []func(*v1alpha1.BenchmarkRunSpec){database(func(d *v1alpha1.Dependency) { d.Port = 7600 })}, want: "spec.implementations[0].dependencies[0].port is 7600, like that of Loadstone's agent in the same pod"},
		"the port of the server":      {changes: []func(*v1alpha1.BenchmarkRunSpec){database(func(d *v1alpha1.Dependency) { d.Port = 8080 })}, want: "spec.implementations[0].dependencies[0].port is 8080, like that of go in the same pod"},
		"one port twice":              {changes: []func(*v1alpha1.BenchmarkRunSpec){database(), database(func(d *v1alpha1.Dependency) { d.Name = "cache" })}, want: "spec.implementations[0].dependencies[1].port is 6379, like that of db in the same pod"},
		"a time for no port":          {changes: []func(*v1alpha1.BenchmarkRunSpec){database(func(d *v1alpha1.Dependency) { d.Port, d.Readiness.TimeoutSeconds = 0, 5 })}, want: "spec.implementations[0].dependencies[0].readiness needs a port, and db has none"},
		"a path that clients rewrite": {changes: []func(*v1alpha1.BenchmarkRunSpec){database(func(d *v1alpha1.Dependency) { d.Readiness.Path = "/a|b" })}, want: "spec.implementations[0].dependencies[0].readiness.path is /a|b, which clients would send in different forms: write /a%7Cb"},
		"hardly any CPU":              {changes: []func(*v1alpha1.BenchmarkRunSpec){database(func(d *v1alpha1.Dependency) { d.CPU = quantity("1m") })}, want: "spec.implementations[0].dependencies[0].cpu is 1m, too little for any container: give at least 10m"},
		"hardly any memory":           {changes: []func(*v1alpha1.BenchmarkRunSpec){database(func(d *v1alpha1.Dependency) { d.Memory = quantity("1Mi") })}, want: "spec.implementations[0].dependencies[0].memory is 1Mi, too little for any container"},
		"an image of one machine":     {changes: []func(*v1alpha1.BenchmarkRunSpec){database(func(d *v1alpha1.Dependency) { d.Image = "./redis.tar" })}, want: "spec.implementations[0].dependencies[0].image is ./redis.tar, a file of one machine"},
		"a folder of the kernel":      {changes: []func(*v1alpha1.BenchmarkRunSpec){database(func(d *v1alpha1.Dependency) { d.Scratch = []v1alpha1.Scratch{{Path: "/proc"}} })}, want: "spec.implementations[0].dependencies[0].scratch[0].path is /proc"},
		"beside a duet":               {changes: []func(*v1alpha1.BenchmarkRunSpec){database(), func(s *v1alpha1.BenchmarkRunSpec) { s.Order = v1alpha1.OrderSlicedDuet }}, want: "spec.implementations[0].dependencies cannot run beside a duet"},
		"under a profiler": {changes: []func(*v1alpha1.BenchmarkRunSpec){database(), func(s *v1alpha1.BenchmarkRunSpec) {
			s.Profiles = []v1alpha1.Profile{{Name: "calls", Tool: v1alpha1.ToolStrace}}
		}}, want: "spec.profiles[0] would start go several times beside one and the same database"},
		"beside a program": {changes: []func(*v1alpha1.BenchmarkRunSpec){database(), func(s *v1alpha1.BenchmarkRunSpec) { s.Loads = nil; s.Microbenchmark.Format = v1alpha1.FormatGoTest }}, want: "spec.implementations[0].dependencies are for servers, and go measures itself"},
		"beside another under a profile": {changes: []func(*v1alpha1.BenchmarkRunSpec){database(), func(s *v1alpha1.BenchmarkRunSpec) {
			s.Profiles = []v1alpha1.Profile{{Name: "calls", Tool: v1alpha1.ToolStrace, Implementations: []string{s.Implementations[1].Name}}}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(func(s *v1alpha1.BenchmarkRunSpec) {
				for i := range s.Implementations {
					s.Implementations[i].Command = []string{"./server"}
				}
				for _, change := range tc.changes {
					change(s)
				}
			})
			_, err := Compile(s, Options{Name: "r", UID: "u", Local: tc.local})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestWhatADependencyGetsHasDefaultsThatAreNoted(t *testing.T) {
	p, err := Compile(spec(database(func(d *v1alpha1.Dependency) { d.Scratch = []v1alpha1.Scratch{{Path: "/data"}} })), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	d := p.Implementations[0].Dependencies[0]
	if d.MilliCPU != 1000 || d.MemoryBytes != DefaultMemoryBytes || d.Container.Readiness.Seconds != 60 || d.Container.Scratch[0].Bytes != defaultScratchBytes {
		t.Errorf("it gets %+v", d)
	}
	for _, want := range []string{"cpu defaults to 1", "memory defaults to 256Mi", "readiness.timeoutSeconds defaults to 60", "scratch[0].size defaults to 256Mi"} {
		if note := "implementations[go].dependencies[db]." + want; !slices.Contains(p.Notes, note) {
			t.Errorf("nothing says %q: %q", note, p.Notes)
		}
	}
}

// One node must hold a server, its observer and its dependencies.
func TestTheCPUsOfDependenciesCountForTheNode(t *testing.T) {
	nodes := func(milliCPU int64) []Node {
		return []Node{
			{Name: "s", Role: v1alpha1.RoleServer, MilliCPU: milliCPU, MemoryBytes: 8 << 30}, {Name: "g", Role: v1alpha1.RoleGenerator, MilliCPU: 4000, MemoryBytes: 8 << 30},
		}
	}
	fraction := resource.MustParse("300m")
	own := spec(database(func(d *v1alpha1.Dependency) { d.CPU = &fraction }), func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].CPUs = 1 })
	p, err := Compile(own, Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	if v := Fits(p, nodes(1500)); v != nil {
		t.Errorf("1,000m, 200m and 300m do not fit into 1,500m: %v", v)
	}
	v := Fits(p, nodes(1400))
	if v == nil || v.Reason != v1alpha1.ReasonNotEnoughCPUs || !strings.Contains(v.Message, "spec.implementations[0].cpus is 1, with 300m of dependencies: its pod needs 1500m CPU on one node") {
		t.Errorf("got %v", v)
	}
	if got := p.readySeconds(own.Implementations); got != 60*p.Blocks {
		t.Errorf("the servers of all trials may take %d s, want a minute for each of the database's %d blocks", got, p.Blocks)
	}
}
