package gitops

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/test/flux"
)

// argo is the folder with the settings of Argo CD.
const argo = root + "/config/gitops/argocd"

// settings are the entries of argocd-cm.
type settings map[string]string

func readSettings(t *testing.T) settings {
	t.Helper()
	var read struct {
		Data settings `json:"data"`
	}
	readYAML(t, filepath.Join(argo, "argocd-cm.yaml"), &read)
	return read.Data
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// action returns the script of an action on suites.
func (s settings) action(t *testing.T, name string) string {
	t.Helper()
	var read struct {
		Discovery   string `json:"discovery.lua"`
		Definitions []struct {
			Name   string `json:"name"`
			Script string `json:"action.lua"`
		} `json:"definitions"`
	}
	if err := yaml.UnmarshalStrict([]byte(s["resource.customizations.actions.loadstone.dev_BenchmarkSuite"]), &read); err != nil {
		t.Fatal(err)
	}
	for _, d := range read.Definitions {
		if d.Name == name {
			return d.Script
		}
	}
	t.Fatalf("there is no action %s", name)
	return ""
}

// ServeHTTP returns an object's health by the script of its kind, or no content.
func (s settings) ServeHTTP(answer http.ResponseWriter, q *http.Request) {
	o := &unstructured.Unstructured{}
	if err := json.NewDecoder(q.Body).Decode(&o.Object); err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	kind := o.GroupVersionKind()
	script, is := s["resource.customizations.health."+kind.Group+"_"+kind.Kind]
	if !is {
		answer.WriteHeader(http.StatusNoContent)
		return
	}
	state, message, err := health(script, o.Object)
	if err == nil {
		err = json.NewEncoder(answer).Encode(map[string]string{"status": state, "message": message})
	}
	if err != nil {
		http.Error(answer, err.Error(), http.StatusInternalServerError)
	}
}

// syncState is the state of a sync, as hack/cluster/src/argocd prints it.
type syncState struct {
	Phase     string       `json:"phase"`
	Message   string       `json:"message"`
	Resources []syncResult `json:"resources"`
	OutOfSync []string     `json:"outOfSync"`
}

type syncResult struct {
	Object  string `json:"object"`
	Status  string `json:"status"`
	Phase   string `json:"phase"`
	Message string `json:"message"`
}

func (s syncState) of(object string) syncResult {
	for _, r := range s.Resources {
		if r.Object == object {
			return r
		}
	}
	return syncResult{}
}

// argoCD is a cluster with the engine of Argo CD and an application.
type argoCD struct {
	*cluster
	settings settings
	// text is the content of Git, rendered by kustomize; commits is the number of syncs.
	text    string
	commits int
	options map[string]bool
	in      *json.Encoder
	states  chan syncState
}

// newArgoCD starts an engine with the settings and options of config/gitops/argocd. It uses other namespaces than the Flux test.
func newArgoCD(t *testing.T) *argoCD {
	t.Helper()
	testbed.Programs(t, "argocd-sync", "kubectl")
	w := &argoCD{cluster: newCluster(t, "argocd-"+measured, "argocd-"+served), settings: readSettings(t), states: make(chan syncState, 100)}
	var path string
	path, w.options = application(t)
	w.text = rendered(t, filepath.Join(layout, path))
	w.text = strings.NewReplacer(" "+measured+"\n", " "+w.measured+"\n", " "+served+"\n", " "+w.served+"\n").Replace(w.text)
	scripts := httptest.NewServer(w.settings)
	t.Cleanup(scripts.Close)
	c := exec.CommandContext(t.Context(), "argocd-sync", "-kubeconfig", kubeconfig(t, w.config), "-app", "checkout", "-health", scripts.URL)
	in, err := c.StdinPipe()
	w.Must(err)
	out, err := c.StdoutPipe()
	w.Must(err)
	log, err := os.Create(filepath.Join(t.TempDir(), "argocd-sync.log"))
	w.Must(err)
	c.Stderr = log
	w.in = json.NewEncoder(in)
	w.Must(c.Start())
	t.Cleanup(func() {
		_ = c.Wait() // It was killed, since the test has ended.
		if said, err := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the engine has said (%v):\n%s", err, said)
		}
		_ = log.Close()
	})
	go w.listen(out)
	return w
}

// application returns the folder and the options of the application.
func application(t *testing.T) (path string, options map[string]bool) {
	t.Helper()
	var read struct {
		Spec struct {
			Source struct {
				Path string `json:"path"`
			} `json:"source"`
			SyncPolicy struct {
				Automated struct {
					Prune bool `json:"prune"`
				} `json:"automated"`
				SyncOptions []string `json:"syncOptions"`
			} `json:"syncPolicy"`
		} `json:"spec"`
	}
	readYAML(t, filepath.Join(argo, "application.yaml"), &read)
	options = map[string]bool{"Prune": read.Spec.SyncPolicy.Automated.Prune}
	for _, o := range read.Spec.SyncPolicy.SyncOptions {
		name, is := strings.CutSuffix(o, "=true")
		if !is {
			t.Fatalf("the engine is not given the option %s here", o)
		}
		options[name] = true
	}
	return read.Spec.Source.Path, options
}

// rendered renders a folder with kustomize, as Argo CD does.
func rendered(t *testing.T, folder string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "kubectl", "kustomize", folder).Output()
	if err != nil {
		t.Fatalf("kubectl kustomize %s: %v", folder, err)
	}
	return string(out)
}

func (w *argoCD) listen(out io.Reader) {
	defer close(w.states)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var s syncState
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			s = syncState{Phase: "Unreadable", Message: err.Error()}
		}
		w.states <- s
	}
}

// edit replaces a text in Git. It fails if the text is missing.
func (w *argoCD) edit(old, with string) {
	w.T.Helper()
	if !strings.Contains(w.text, old) {
		w.T.Fatalf("nothing in Git says %q:\n%s", old, w.text)
	}
	w.text = strings.ReplaceAll(w.text, old, with)
}

func (w *argoCD) objects() []*unstructured.Unstructured {
	w.T.Helper()
	var all []*unstructured.Unstructured
	for document := range strings.SplitSeq(w.text, "\n---\n") {
		o := &unstructured.Unstructured{}
		w.Must(yaml.Unmarshal([]byte(document), &o.Object))
		all = append(all, o)
	}
	return all
}

func (w *argoCD) remove(kind string) {
	w.T.Helper()
	documents := strings.Split(w.text, "\n---\n")
	left := slices.DeleteFunc(slices.Clone(documents), func(d string) bool { return strings.Contains("\n"+d, "\nkind: "+kind+"\n") })
	if len(left) != len(documents)-1 {
		w.T.Fatalf("there are %d objects in Git without a %s, and %d with it", len(left), kind, len(documents))
	}
	w.text = strings.Join(left, "\n---\n")
}

// sync starts a sync with additional options, such as Force=true.
func (w *argoCD) sync(options ...string) {
	w.T.Helper()
	w.commits++
	on := maps.Clone(w.options)
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		on[name] = value == "true"
	}
	w.Must(w.in.Encode(map[string]any{"revision": fmt.Sprintf("%040d", w.commits), "objects": w.objects(), "options": on}))
}

// says waits for a sync state with a part of its message, and returns it.
func (w *argoCD) says(phase, text string) syncState {
	w.T.Helper()
	var last syncState
	for deadline := time.After(flux.Patience); ; {
		select {
		case s, goesOn := <-w.states:
			if !goesOn {
				w.T.Fatalf("the engine has ended, and has said last %+v", last)
			}
			if last = s; s.Phase == phase && s.mentions(text) {
				return s
			}
			if s.Phase != "Running" {
				w.T.Fatalf("the sync has ended with %+v, want %s with %q", s, phase, text)
			}
		case <-deadline:
			w.T.Fatalf("no sync is %s with %q: %+v", phase, text, last)
		}
	}
}

func (s syncState) mentions(text string) bool {
	return strings.Contains(s.Message, text) || slices.ContainsFunc(s.Resources, func(r syncResult) bool { return strings.Contains(r.Message, text) })
}
