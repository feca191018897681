package record_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
)

func depending(changes ...func(*record.Dependency)) record.Implementation {
	d := record.Dependency{Name: "db", Image: "redis:7", Port: 6379, MilliCPU: 300, MemoryBytes: 64 << 20}
	for _, change := range changes {
		change(&d)
	}
	return record.Implementation{Dependencies: []record.Dependency{d}}
}

func TestADependencyIsASettingOfItsImplementation(t *testing.T) {
	got := depending(func(d *record.Dependency) {
		d.Command, d.Container.Args = []string{"redis-server"}, []string{"--appendonly", "yes"}
	}).Settings()
	want := []record.Setting{
		{Name: "dependencies db image", Value: "redis:7"},
		{Name: "dependencies db command", Value: `"redis-server"`},
		{Name: "dependencies db cpu", Value: "300m"},
		{Name: "dependencies db memory", Value: "64 MiB"},
		{Name: "dependencies db port", Value: "6379"},
		{Name: "dependencies db args", Value: `"--appendonly" "yes"`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestImplementationsAreAlikeIfTheirDependenciesAre(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*record.Dependency)
		want   bool
	}{
		"the same":              {func(*record.Dependency) {}, true},
		"longer to get ready":   {func(d *record.Dependency) { d.Container.Readiness.Seconds = 90 }, true},
		"another pull secret":   {func(d *record.Dependency) { d.Container.PullSecrets = []string{"registry"} }, true},
		"another image":         {func(d *record.Dependency) { d.Image = "redis:6" }, false},
		"another argument":      {func(d *record.Dependency) { d.Container.Args = []string{"--save", ""} }, false},
		"more CPU":              {func(d *record.Dependency) { d.MilliCPU = 1000 }, false},
		"a variable of its own": {func(d *record.Dependency) { d.Container.Env = []record.Variable{{Name: "A"}} }, false},
	} {
		if got := depending().SetAlike(depending(tc.change)); got != tc.want {
			t.Errorf("%s: alike is %v", name, got)
		}
	}
	if depending().SetAlike(record.Implementation{}) {
		t.Error("an implementation with a database is as one without")
	}
}

func TestTheAmountOfAResourceIsPrintedWithItsUnit(t *testing.T) {
	for name, tc := range map[string]struct {
		of   record.Resource
		want string
	}{
		"devices":                        {record.Resource{Name: "example.com/nic", Amount: 2}, "2"},
		"huge pages":                     {record.Resource{Name: "hugepages-2Mi", Amount: 64 << 20}, "64 MiB"},
		"small huge pages":               {record.Resource{Name: "hugepages-64Ki", Amount: 64 << 10}, "64 KiB"},
		"small huge pages, beyond 1 MiB": {record.Resource{Name: "hugepages-64Ki", Amount: 1088 << 10}, "1088 KiB"},
	} {
		if got := tc.of.Printed(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
