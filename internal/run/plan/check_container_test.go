package plan

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

func TestWhatAContainerCannotHaveIsRefused(t *testing.T) {
	from := v1alpha1.ObjectReference{Name: "app"}
	file := func(path string) func(*v1alpha1.Implementation) {
		return func(i *v1alpha1.Implementation) {
			i.Files = append(i.Files, v1alpha1.FileMount{Path: path, ConfigMap: from})
		}
	}
	scratch := func(path, size string) func(*v1alpha1.Implementation) {
		return func(i *v1alpha1.Implementation) {
			q := resource.MustParse(size)
			i.Scratch = append(i.Scratch, v1alpha1.Scratch{Path: path, Size: &q})
		}
	}
	secret := func(i *v1alpha1.Implementation) {
		i.Env = []v1alpha1.Variable{{Name: "PASSWORD", ValueFrom: v1alpha1.ValueSource{SecretKeyRef: v1alpha1.KeyReference{Name: "db", Key: "password"}}}}
	}
	for name, tc := range map[string]struct {
		change func(*v1alpha1.Implementation)
		local  bool
		want   string
	}{
		"files in a folder of their own":  {file("/etc/app"), false, ""},
		"files in the root":               {file("//"), false, "spec.implementations[0].files[0].path is //, which a container needs for itself"},
		"files in a folder of the kernel": {file("/proc/1"), false, "spec.implementations[0].files[0].path is /proc/1, which a container needs for itself"},
		"files where the agent is":        {file("/loadstone/"), false, "spec.implementations[0].files[0].path is /loadstone/, which a container needs for itself"},
		"files beside where the agent is": {file("/loadstone-data"), false, ""},
		"files in one folder twice":       {func(i *v1alpha1.Implementation) { file("/a")(i); file("/a/")(i) }, false, "spec.implementations[0].files[1].path is /a/, like another item"},
		"scratch where files are":         {func(i *v1alpha1.Implementation) { file("/a")(i); scratch("/a", "1Mi")(i) }, false, "spec.implementations[0].scratch[0].path is /a, like another item"},
		"scratch for no file":             {scratch("/a", "1Ki"), false, "spec.implementations[0].scratch[0].size is 1Ki, too little for any file"},
		"scratch for a file":              {scratch("/a", "1Mi"), false, ""},
		"a path that clients rewrite":     {func(i *v1alpha1.Implementation) { i.Readiness.Path = "/a|b" }, false, "spec.implementations[0].readiness.path is /a|b, which clients would send in different forms: write /a%7Cb"},
		"a Secret on a cluster":           {secret, false, ""},
		"a Secret on this machine":        {secret, true, "spec.implementations[0].env[0].valueFrom cannot be read: a run on one machine has no ConfigMaps and Secrets: give PASSWORD a value"},
		"files on this machine":           {file("/etc/app"), true, "spec.implementations[0].files cannot be read: a run on one machine has no ConfigMaps"},
		"a ConfigMap's keys on this machine": {func(i *v1alpha1.Implementation) {
			i.EnvFrom = []v1alpha1.VariableSource{{Kind: v1alpha1.KindConfigMap, Name: "app"}}
		}, true, "spec.implementations[0].envFrom cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(func(s *v1alpha1.BenchmarkRunSpec) {
				for i := range s.Implementations {
					s.Implementations[i].Command = []string{"./server"}
				}
				tc.change(&s.Implementations[0])
			})
			_, err := Compile(s, Options{Name: "r", UID: "u", Local: tc.local})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestAProgramIsNeverReady(t *testing.T) {
	s := programs(func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Readiness.Path = "/ready" })
	if _, err := Compile(s, Options{Name: "r", UID: "u"}); err == nil || !strings.Contains(err.Error(), "spec.implementations[1].readiness is for servers, and new has no port") {
		t.Errorf("got %v", err)
	}
}

func TestTheTimeUntilAServerIsReadyHasADefaultThatIsNoted(t *testing.T) {
	given := spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[1].Readiness.TimeoutSeconds = 90 })
	p, err := Compile(given, Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	first, second := p.Implementations[0], p.Implementations[1]
	if first.Container.Readiness.Seconds != record.ReadySeconds || second.Container.Readiness.Seconds != 90 {
		t.Errorf("they may take %d and %d s", first.Container.Readiness.Seconds, second.Container.Readiness.Seconds)
	}
	for name, want := range map[string]bool{first.Name: true, second.Name: false} {
		if note := "implementations[" + name + "].readiness.timeoutSeconds defaults to 30"; slices.Contains(p.Notes, note) != want {
			t.Errorf("that something says %q is %v: %q", note, !want, p.Notes)
		}
	}
	if got := p.readySeconds(given.Implementations); got != 90*p.Blocks {
		t.Errorf("the run has %d s for the starts of its servers, and the spec says 90 s of one of them", got)
	}
	p, err = Compile(programs(), Options{Name: "r", UID: "u"})
	if err != nil || p.Implementations[0].Container.Readiness != (record.Readiness{}) {
		t.Errorf("a program is ready after %+v, %v", p.Implementations[0].Container.Readiness, err)
	}
}

func TestTheSizeOfScratchHasADefaultThatIsNoted(t *testing.T) {
	p, err := Compile(spec(func(s *v1alpha1.BenchmarkRunSpec) { s.Implementations[0].Scratch = []v1alpha1.Scratch{{Path: "/tmp"}} }), Options{Name: "r", UID: "u"})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Implementations[0].Container.Scratch[0].Bytes; got != defaultScratchBytes {
		t.Errorf("the size is %d bytes", got)
	}
	if note := "implementations[" + p.Implementations[0].Name + "].scratch[0].size defaults to 256Mi"; !slices.Contains(p.Notes, note) {
		t.Errorf("nothing says %q: %q", note, p.Notes)
	}
}
