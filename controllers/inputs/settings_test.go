package inputs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/inputs"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: name}, Data: data, BinaryData: map[string][]byte{"image": {0xff}}}
}

// given is an implementation whose container has some settings.
func given(c record.Container) []record.Implementation {
	return []record.Implementation{{Name: "go", Container: c}}
}

func key(object, key string) record.Container {
	return record.Container{Env: []record.Variable{{Name: "PORT", From: record.Object{ConfigMap: object}, Key: key}}}
}

func files(object string) record.Container {
	return record.Container{Files: []record.FileMount{{Path: "/etc/app", From: record.Object{ConfigMap: object}}}}
}

func TestEveryConfigMapThatIsNamedIsLookedFor(t *testing.T) {
	live := fake.NewClientBuilder().WithObjects(configMap("app", map[string]string{"port": "80"}), configMap("files", nil)).Build()
	many := record.Container{}
	for i := range inputs.Most + 1 {
		name := fmt.Sprintf("many-%d", i)
		many.EnvFrom = append(many.EnvFrom, record.VariableSource{Kind: "ConfigMap", Name: name})
		if err := live.Create(t.Context(), configMap(name, nil)); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		given []record.Implementation
		// names are those whose digests are read.
		names   []string
		refused string
	}{
		"none":                         {given: given(record.Container{})},
		"a Secret, which nobody reads": {given: given(record.Container{EnvFrom: []record.VariableSource{{Kind: "Secret", Name: "keys"}}})},
		"a key and files":              {given: append(given(key("app", "port")), given(files("files"))...), names: []string{"app", "files"}},
		"one that two of them name":    {given: append(given(key("app", "port")), given(files("app"))...), names: []string{"app"}},
		"one that is not there":        {given: given(files("other")), refused: `ObjectMissing: implementations[go].files[0] names the ConfigMap "other", which namespace "bench" does not have: create it there, or correct the name`},
		"a key that is not there":      {given: given(key("app", "host")), refused: `ObjectMissing: implementations[go].env[0].valueFrom names the key "host", but the ConfigMap "app" has no text there: add it, or correct the key`},
		"a key that holds bytes":       {given: given(key("app", "image")), refused: `ObjectMissing: implementations[go].env[0].valueFrom names the key "image", but the ConfigMap "app" has no text there`},
		"too many":                     {given: given(many), refused: `InvalidSpec: implementations[go].envFrom[128] names the ConfigMap "many-128", but a run may have at most 128: merge some, or split the run`},
	} {
		t.Run(name, func(t *testing.T) {
			digests, err := inputs.Digests(t.Context(), live, "bench", tc.given)
			var names []string
			for _, d := range digests {
				names = append(names, d.Name)
			}
			if diff := cmp.Diff(tc.names, names); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			said := ""
			if v := (*plan.Violation)(nil); errors.As(err, &v) {
				said = v.Reason + ": " + v.Message
			} else if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(said, tc.refused) || (said == "") != (tc.refused == "") {
				t.Errorf("got %q, want %q", said, tc.refused)
			}
			if err == nil && (!inputs.Noted(digests, tc.given) || len(digests) > 0 && inputs.Noted(nil, tc.given)) {
				t.Error("what has been read is not noted, or is noted before it was read")
			}
		})
	}
}

func TestAConfigMapThatIsMissingIsWaitedForAWhile(t *testing.T) {
	missing := &plan.Violation{Reason: v1alpha1.ReasonObjectMissing, Message: "it is not there"}
	for name, tc := range map[string]struct {
		err    error
		waited bool
		want   string
	}{
		"nothing is missing":   {nil, false, ""},
		"it may yet come":      {missing, false, "waiting for up to 10s: it is not there"},
		"it has not come":      {missing, true, ""},
		"no waiting helps":     {&plan.Violation{Reason: v1alpha1.ReasonInvalidSpec}, false, ""},
		"it could not be read": {errors.New("no route"), false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			waited := inputs.Patience - 1
			if tc.waited {
				waited = inputs.Patience
			}
			if got := inputs.Awaited(tc.err, waited); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// running is a run of the implementations go, and c if there is one.
func running(named ...v1alpha1.ContainerSettings) *v1alpha1.BenchmarkRun {
	var given []v1alpha1.Implementation
	for i, s := range named {
		given = append(given, v1alpha1.Implementation{Name: []string{"go", "c"}[i], Image: "go:1", Port: 8080, ContainerSettings: s})
	}
	return &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: "quick"}, Spec: v1alpha1.BenchmarkRunSpec{
		Implementations: given, Loads: []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 10}}}},
	}}
}

func TestAChangeOfAConfigMapEndsTheTrial(t *testing.T) {
	mounted := v1alpha1.ContainerSettings{Files: []v1alpha1.FileMount{{Path: "/etc/app", ConfigMap: v1alpha1.ObjectReference{Name: "app"}}}}
	keyed := v1alpha1.ContainerSettings{Env: []v1alpha1.Variable{{Name: "PORT", ValueFrom: v1alpha1.ValueSource{ConfigMapKeyRef: v1alpha1.KeyReference{Name: "app", Key: "port"}}}}}
	edited := func(key string) func(*corev1.ConfigMap) { return func(m *corev1.ConfigMap) { m.Data[key] = "81" } }
	for name, tc := range map[string]struct {
		// settings are the implementations'; the trial has the first one. Default: files.
		settings []v1alpha1.ContainerSettings
		change   func(*corev1.ConfigMap)
		gone     bool
		want     string
	}{
		"it is what it was":               {},
		"its labels differ":               {change: func(m *corev1.ConfigMap) { m.Labels = map[string]string{"a": "b"} }},
		"a text differs":                  {change: func(m *corev1.ConfigMap) { m.Data["port"] = "81" }, want: `ObjectChanged: ConfigMap "app" of implementations[go].files[0] changed after the run started`},
		"bytes differ":                    {change: func(m *corev1.ConfigMap) { m.BinaryData["image"] = nil }, want: "ObjectChanged"},
		"there is a new key":              {change: func(m *corev1.ConfigMap) { m.Data["host"] = "" }, want: "ObjectChanged"},
		"it has gone":                     {gone: true, want: `ObjectMissing: an object was deleted after the run started: implementations[go].files[0] names the ConfigMap "app", which namespace "bench" does not have: create it there, or correct the name, and start a new run`},
		"a key that nobody reads differs": {settings: []v1alpha1.ContainerSettings{keyed}, change: edited("host")},
		"the one key that is read differs": {
			settings: []v1alpha1.ContainerSettings{keyed}, change: edited("port"),
			want: `ObjectChanged: ConfigMap "app" of implementations[go].env[0].valueFrom changed after the run started`,
		},
		"a key differs that another implementation reads": {settings: []v1alpha1.ContainerSettings{keyed, mounted}, change: edited("host"), want: "ObjectChanged"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.settings == nil {
				tc.settings = []v1alpha1.ContainerSettings{mounted}
			}
			mine, run := configMap("app", map[string]string{"port": "80"}), running(tc.settings...)
			live := fake.NewClientBuilder().WithObjects(mine).Build()
			planned, err := facts.Plan(run)
			if err != nil {
				t.Fatal(err)
			}
			servers := planned.Implementations[:1]
			if run.Status.ConfigMaps, err = inputs.Digests(t.Context(), live, "bench", planned.Implementations); err != nil {
				t.Fatal(err)
			}
			if err := live.Get(t.Context(), client.ObjectKeyFromObject(mine), mine); err != nil {
				t.Fatal(err)
			}
			switch {
			case tc.gone:
				err = live.Delete(t.Context(), mine)
			case tc.change != nil:
				tc.change(mine)
				err = live.Update(t.Context(), mine)
			}
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			f, err := inputs.Changed(t.Context(), live, run, planned.Implementations, servers)
			if f != nil {
				said = f.Reason + ": " + f.Message
			}
			if err != nil || !strings.HasPrefix(said, tc.want) || (said == "") != (tc.want == "") {
				t.Errorf("got %q, %v, want %q", said, err, tc.want)
			}
			run.Status.ConfigMaps = nil
			if f, err := inputs.Changed(t.Context(), live, run, planned.Implementations, servers); err != nil || !tc.gone && f != nil {
				t.Errorf("a run of which nothing was noted ends with %+v, %v", f, err)
			}
		})
	}
}
