// Command argocd-sync applies manifests to a cluster with gitops-engine, in the steps of Argo CD's controller. It is for tests: standard input has
// one JSON object per sync, and standard output one line per state.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"time"

	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/health"
	"github.com/argoproj/gitops-engine/pkg/sync"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubectl/pkg/util/openapi"
)

// tracking is the annotation that marks an application's objects.
const tracking = "argocd.argoproj.io/tracking-id"

// errComparison is what Argo CD calls a ComparisonError.
var errComparison = errors.New("Failed to compare desired state to live state")

// manager is Argo CD's field manager.
const manager = "argocd-controller"

// between is how long a sync waits for its next step.
const between = 100 * time.Millisecond

// kinds are those of an application's possible objects.
var kinds = []schema.GroupVersionResource{
	{Version: "v1", Resource: "namespaces"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "loadstone.dev", Version: "v1alpha1", Resource: "benchmarksuites"},
	{Group: "loadstone.dev", Version: "v1alpha1", Resource: "benchmarkruns"},
}

type request struct {
	Revision string                       `json:"revision"`
	Objects  []*unstructured.Unstructured `json:"objects"`
	Options  map[string]bool              `json:"options"`
}

type state struct {
	Phase     string   `json:"phase"`
	Message   string   `json:"message"`
	Resources []result `json:"resources"`
	OutOfSync []string `json:"outOfSync"`
}

type result struct {
	Object  string `json:"object"`
	Status  string `json:"status"`
	Phase   string `json:"phase"`
	Message string `json:"message"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how the API server is reached")
	app := flag.String("app", "", "name of the application")
	asked := flag.String("health", "", "URL for the health of other objects: it answers a POST of the object with its health")
	flag.Parse()
	if err := run(*kubeconfig, *app, *asked, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, app, asked string, in io.Reader, out io.Writer) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 100, 100
	e := engine{config: config, app: app, health: scripts(asked), kubectl: &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}}
	if e.client, err = dynamic.NewForConfig(config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if e.schema, e.parser, err = e.kubectl.LoadOpenAPISchema(config); err != nil {
		return fmt.Errorf("reading the schema: %w", err)
	}
	for requests := json.NewDecoder(in); ; {
		var r request
		if err := requests.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("reading a request: %w", err)
		}
		if err := e.sync(context.Background(), r, json.NewEncoder(out)); err != nil {
			return err
		}
	}
}

type engine struct {
	config  *rest.Config
	app     string
	health  health.HealthOverride
	kubectl kube.Kubectl
	client  dynamic.Interface
	schema  openapi.Resources
	parser  *managedfields.GvkParser
}

func (e *engine) sync(ctx context.Context, r request, out *json.Encoder) error {
	for _, o := range r.Objects {
		annotations := o.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[tracking] = e.id(kube.GetResourceKey(o))
		o.SetAnnotations(annotations)
	}
	var said state
	var phase common.OperationPhase
	var message string
	var results []common.ResourceSyncResult
	for began := metav1.Now(); ; time.Sleep(between) {
		found, differ, err := e.compare(ctx, r)
		if errors.Is(err, errComparison) {
			return out.Encode(state{Phase: string(common.OperationError), Message: err.Error()}) // Argo CD applies nothing then.
		} else if err != nil {
			return err
		}
		step, end, err := sync.NewSyncContext(r.Revision, found, e.config, e.config, e.kubectl, "", e.schema,
			sync.WithInitialState(phase, message, results, began), sync.WithHealthOverride(e.health), sync.WithLogr(logr.Discard()),
			sync.WithOperationSettings(false, r.Options["Prune"], r.Options["Force"], false), sync.WithPruneLast(r.Options["PruneLast"]),
			sync.WithReplace(r.Options["Replace"]), sync.WithServerSideApply(r.Options["ServerSideApply"]), sync.WithServerSideApplyManager(manager),
			sync.WithResourceModificationChecker(r.Options["ApplyOutOfSyncOnly"], differ))
		if err != nil {
			return fmt.Errorf("preparing a step: %w", err)
		}
		step.Sync()
		phase, message, results = step.GetState()
		end()
		now := state{Phase: string(phase), Message: message, Resources: resultsOf(results)}
		if phase.Completed() {
			if now.OutOfSync, err = e.outOfSync(ctx, r); err != nil {
				return err
			}
		}
		if !reflect.DeepEqual(now, said) {
			if err := out.Encode(now); err != nil {
				return fmt.Errorf("saying the state: %w", err)
			}
			said = now
		}
		if phase.Completed() {
			return nil
		}
	}
}

// id is Argo CD's mark on an application's object; it is invalid when copied to another object.
func (e *engine) id(k kube.ResourceKey) string {
	return fmt.Sprintf("%s:%s/%s:%s/%s", e.app, k.Group, k.Kind, k.Namespace, k.Name)
}

// compare compares Git with the cluster. It asks the API server each time, while Argo CD waits for its cache.
func (e *engine) compare(ctx context.Context, r request) (sync.ReconciliationResult, *diff.DiffResultList, error) {
	wanted, live := map[kube.ResourceKey]bool{}, map[kube.ResourceKey]*unstructured.Unstructured{}
	for _, o := range r.Objects {
		wanted[kube.GetResourceKey(o)] = true
	}
	for _, kind := range kinds {
		list, err := e.client.Resource(kind).List(ctx, metav1.ListOptions{})
		if err != nil {
			return sync.ReconciliationResult{}, nil, fmt.Errorf("listing %s: %w", kind.Resource, err)
		}
		for i := range list.Items {
			o := &list.Items[i]
			if k := kube.GetResourceKey(o); wanted[k] || o.GetAnnotations()[tracking] == e.id(k) {
				live[k] = o
			}
		}
	}
	found := sync.Reconcile(r.Objects, live, "", scope{})
	differ, err := diff.DiffArray(found.Target, found.Live, diff.WithLogr(logr.Discard()),
		diff.WithStructuredMergeDiff(r.Options["ServerSideApply"]), diff.WithGVKParser(e.parser), diff.WithManager(manager))
	if err != nil {
		return sync.ReconciliationResult{}, nil, fmt.Errorf("%w: %w", errComparison, err)
	}
	return found, differ, nil
}

// outOfSync names what differs from what lies in Git.
func (e *engine) outOfSync(ctx context.Context, r request) ([]string, error) {
	found, differ, err := e.compare(ctx, r)
	if err != nil {
		return nil, err
	}
	var names []string
	for i, d := range differ.Diffs {
		o := found.Target[i]
		if o == nil {
			o = found.Live[i]
		}
		if d.Modified || found.Target[i] == nil || found.Live[i] == nil {
			names = append(names, o.GetKind()+"/"+o.GetName())
		}
	}
	return names, nil
}

func resultsOf(results []common.ResourceSyncResult) []result {
	var all []result
	for _, r := range results {
		all = append(all, result{Object: r.ResourceKey.Kind + "/" + r.ResourceKey.Name, Status: string(r.Status), Phase: string(r.HookPhase), Message: r.Message})
	}
	return all
}

// scope knows which of the kinds are namespaced.
type scope struct{}

func (scope) IsNamespaced(k schema.GroupKind) (bool, error) { return k.Kind != "Namespace", nil }

type scripts string

// GetResourceHealth asks for the health of an object. Without an answer, Argo CD's own knowledge counts.
func (s scripts) GetResourceHealth(o *unstructured.Unstructured) (*health.HealthStatus, error) {
	text, err := o.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("writing the object: %w", err)
	}
	answer, err := http.Post(string(s), "application/json", bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("asking for the health of %s: %w", o.GetName(), err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNoContent {
		return nil, nil
	}
	var h health.HealthStatus
	if err := json.NewDecoder(answer.Body).Decode(&h); answer.StatusCode != http.StatusOK || err != nil {
		return nil, fmt.Errorf("asking for the health of %s: %s, %w", o.GetName(), answer.Status, err)
	}
	return &h, nil
}
