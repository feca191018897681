package docs_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/runfile"
	"loadstone.dev/loadstone/internal/testbed"
)

// placeholders are what readers put something of theirs for.
var placeholders = strings.NewReplacer("NODE", "node-1", "YOUR_REGISTRY", "registry.example", "YOUR_TAG", "v1")

// commands are the lines of the pages that are typed, each once, with what follows a backslash, and without what is said of them.
func commands(t *testing.T) []string {
	t.Helper()
	seen := map[string]bool{}
	for _, page := range pages(t) {
		for _, block := range fenced(page, "bash") {
			for line := range strings.SplitSeq(strings.ReplaceAll(block, "\\\n", " "), "\n") {
				line, _, _ = strings.Cut(line, " #")
				for part := range strings.SplitSeq(line, "&&") {
					seen[strings.Join(strings.Fields(placeholders.Replace(part)), " ")] = true
				}
			}
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

// environment are the assignments before a command.
var environment = regexp.MustCompile(`^([A-Z_]+=\S+ )+`)

// TestEveryCommandOfThePagesWorks runs them in the order of the alphabet, so that none of them may need another.
func TestEveryCommandOfThePagesWorks(t *testing.T) {
	testbed.Programs(t, "make", "kubectl", "helm", "go")
	shell := reader(t)
	usage := shell(t, "go run ./cmd/loadstone --help")
	for _, line := range commands(t) {
		t.Run(line, func(t *testing.T) {
			words := strings.Fields(environment.ReplaceAllString(line, ""))
			switch program := words[0]; {
			case program == "make":
				shell(t, line+" --dry-run")
			case program == `eval`:
				shell(t, "make --dry-run kubeconfig")
			case program == "kubectl":
				shell(t, harmless(line))
			case program == "sed":
				checkEdited(t, shell(t, line[:strings.LastIndex(line, ">")]))
			case program == "helm":
				shell(t, rendered(line))
			case program == "bin/loadstone":
				checkLoadstone(t, usage, words[1:])
			case strings.HasPrefix(program, "hack/"):
				shell(t, "test -x "+program+" && bash -n "+program)
			case program == "go" && words[1] == "test":
				shell(t, "go vet "+words[2])
			default:
				t.Errorf("nobody knows how to check %s: see this test", program)
			}
		})
	}
}

// harmless is a command of kubectl that leaves the API server as it is, and needs no node: nobody runs pods here.
func harmless(line string) string {
	switch {
	case strings.Contains(line, " logs "):
		return "kubectl logs --help"
	case strings.Contains(line, " -f quick.yaml"):
		return strings.Replace(line, "-f ", "-f config/samples/", 1) + " --dry-run=server"
	case strings.Contains(line, " wait "), strings.Contains(line, " get "), strings.Contains(line, " describe "):
		return line
	}
	return line + " --dry-run=server"
}

// rendered is a command of helm that installs nothing.
func rendered(line string) string {
	if strings.Contains(line, " uninstall ") {
		return line + " --ignore-not-found"
	}
	return strings.Replace(line, "helm install ", "helm template --kube-version=1.30.0 ", 1) + " >/dev/null"
}

// checkLoadstone checks a command of the program: that there is such a one, and that it takes the file that it is given.
func checkLoadstone(t *testing.T, usage string, args []string) {
	t.Helper()
	if !regexp.MustCompile(`(?m)^\s*(loadstone: )?(usage: )?(loadstone )?` + args[0] + `\s`).MatchString(usage) {
		t.Errorf("there is no command %s: %s", args[0], usage)
	}
	if args[0] != "run" && args[0] != "validate" || len(args) < 2 {
		return
	}
	file := args[1]
	if file == "quick.yaml" {
		file = filepath.Join("config", "samples", file) // TestEveryCommandOfThePagesWorks/sed makes the one from the other.
	}
	for _, page := range pages(t) {
		for _, example := range fenced(page, "yaml") {
			if strings.Contains(example, "{name: "+strings.TrimSuffix(file, ".yaml")+"}") {
				return // TestTheExamplesAreRuns reads it.
			}
		}
	}
	text, err := runfile.Read(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	if args[0] == "validate" && runfile.IsSuite(text) {
		_, err = runfile.NamedSuite(t.Context(), file, text)
	} else {
		_, err = runfile.Named(t.Context(), file, text)
	}
	if err != nil {
		t.Error(err)
	}
}

// checkEdited wants a run whose images are the reader's.
func checkEdited(t *testing.T, text string) {
	t.Helper()
	f, err := runfile.Parse(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Run.Spec.Implementations {
		if want := "registry.example/loadstone/" + i.Name + ":v1"; i.Image != want {
			t.Errorf("the image of %s is %s, want %s", i.Name, i.Image, want)
		}
	}
}

// reader is the shell of somebody who reads the pages in a checkout, with an API server that has what they name.
func reader(t *testing.T) func(*testing.T, string) string {
	t.Helper()
	config := testbed.Cluster(t, root)
	prepare(t, config)
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(access(config), kubeconfig); err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, line string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", line)
		c.Dir, c.Env = root, append(os.Environ(), "KUBECONFIG="+kubeconfig, "PATH="+testbed.Assets()+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
}

func access(config *rest.Config) api.Config {
	return api.Config{
		Clusters:       map[string]*api.Cluster{"test": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*api.AuthInfo{"test": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*api.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		CurrentContext: "test",
	}
}

// prepare makes what the commands name: a node, the namespace of Loadstone, runs that have ended, and a suite that is ready.
func prepare(t *testing.T, config *rest.Config) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	sample, err := runfile.Open(t.Context(), filepath.Join(root, "config", "samples", "quick.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	objects := []client.Object{
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "loadstone-system"}},
	}
	for _, name := range []string{"quick", "shortest"} {
		run := sample.Run.DeepCopy()
		run.Name, run.Namespace = name, "default"
		objects = append(objects, run)
	}
	suite := &v1alpha1.BenchmarkSuite{}
	if err := yaml.Unmarshal([]byte(fenced(pages(t)["benchmarksuite.md"], "yaml")[0]), suite); err != nil {
		t.Fatal(err)
	}
	for _, o := range append(objects, suite) {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if o == client.Object(suite) {
			suite.Status.ObservedGeneration = &suite.Generation
			suite.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonDone, LastTransitionTime: now}}
			if err := c.Status().Update(t.Context(), suite); err != nil {
				t.Fatal(err)
			}
		}
		if run, ok := o.(*v1alpha1.BenchmarkRun); ok {
			run.Status.CompletionTime = &now
			if err := c.Status().Update(t.Context(), run); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestTheExamplesAreRuns(t *testing.T) {
	for name, page := range pages(t) {
		for _, example := range fenced(page, "yaml") {
			if !strings.Contains(example, "kind: BenchmarkRun") {
				continue
			}
			if _, err := runfile.Parse(t.Context(), []byte(example)); err != nil {
				t.Errorf("%s: %v\n%s", name, err, example)
			}
		}
	}
}

// links are those to files of the repository, without the part behind the hash.
var links = regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)

func TestTheLinksOfThePagesLeadSomewhere(t *testing.T) {
	for name, page := range pages(t) {
		folder := filepath.Join(root, "docs")
		if name == "README.md" || name == "CONTRIBUTING.md" {
			folder = root
		}
		for _, m := range links.FindAllStringSubmatch(page, -1) {
			if _, err := os.Stat(filepath.Join(folder, m[1])); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
