package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/hack/bench/figures"
	"loadstone.dev/loadstone/internal/client/discover"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
)

const (
	namespace = "default"
	system    = "loadstone-system"
	// workflowLabel is Argo's, on its agent pods.
	workflowLabel = "workflows.argoproj.io/workflow"
	// patience bounds the wait for somebody else's run.
	patience = 5 * time.Minute
	// cleanUp bounds the removal of what was made.
	cleanUp   = time.Minute
	lookEvery = 200 * time.Millisecond
)

// cluster is the cluster as its administrator reaches it.
type cluster struct {
	client.WithWatch
	config *rest.Config
	store  *artifact.Store
	close  func()
}

func connect(ctx context.Context) (*cluster, error) {
	if err := v1alpha1.AddToScheme(scheme.Scheme); err != nil {
		return nil, fmt.Errorf("registering types: %w", err)
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster (is KUBECONFIG set?): %w", err)
	}
	config.QPS = -1 // What is measured waits for the API server, and for nothing of the client's own.
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme.Scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	in, err := discover.Find(ctx, system)
	if err != nil {
		return nil, err
	}
	return &cluster{WithWatch: c, config: config, store: in.Store, close: in.Close}, nil
}

// occupied says in a sentence what else is measured or about to be; empty if nothing is.
func (c *cluster) occupied(ctx context.Context) (string, error) {
	var runs v1alpha1.BenchmarkRunList
	if err := c.List(ctx, &runs); err != nil {
		return "", fmt.Errorf("listing BenchmarkRuns: %w", err)
	}
	for _, r := range runs.Items {
		if r.Status.CompletionTime == nil {
			return fmt.Sprintf("BenchmarkRun %s/%s has not ended", r.Namespace, r.Name), nil
		}
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.HasLabels{v1alpha1.LabelTrial}); err != nil {
		return "", fmt.Errorf("listing measured pods: %w", err)
	}
	if len(pods.Items) > 0 {
		return fmt.Sprintf("the measured pod %s/%s still exists", pods.Items[0].Namespace, pods.Items[0].Name), nil
	}
	return "", nil
}

// awaitFree returns when nobody else's run is under way.
func (c *cluster) awaitFree(ctx context.Context, log *figures.Log) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	told := ""
	for {
		why, err := c.occupied(ctx)
		if err != nil || why == "" {
			return err
		}
		if why != told {
			log.Say("waiting: %s", why)
			told = why
		}
		select {
		case <-time.After(5 * lookEvery):
		case <-ctx.Done():
			return fmt.Errorf("waiting for others: %s: %w", why, ctx.Err())
		}
	}
}

// remove deletes a run and returns when its pods and its workflow's are gone too. It works also after ctx has ended.
func (c *cluster) remove(ctx context.Context, run *v1alpha1.BenchmarkRun) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUp)
	defer cancel()
	if err := c.Delete(ctx, run); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting BenchmarkRun %s: %w", run.Name, err)
	}
	for {
		var measuredPods, agents corev1.PodList
		err := errors.Join(
			c.List(ctx, &measuredPods, client.MatchingLabels{v1alpha1.LabelRunUID: string(run.UID)}),
			c.List(ctx, &agents, client.InNamespace(system), client.MatchingLabels{workflowLabel: render.WorkflowName(run.Name, string(run.UID), plan.Part{})}),
		)
		if err != nil {
			return fmt.Errorf("listing what is left of run %s: %w", run.Name, err)
		}
		still := c.Get(ctx, client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{})
		if client.IgnoreNotFound(still) != nil {
			return fmt.Errorf("reading BenchmarkRun %s: %w", run.Name, still)
		}
		if len(measuredPods.Items)+len(agents.Items) == 0 && still != nil {
			return nil
		}
		time.Sleep(lookEvery)
	}
}

func (c *cluster) address(elements ...string) (*url.URL, error) {
	host, _, err := rest.DefaultServerUrlFor(c.config)
	if err != nil {
		return nil, fmt.Errorf("finding the API server: %w", err)
	}
	return host.JoinPath(elements...), nil
}

// exec runs an argument vector in a pod's container and returns what it printed.
func (c *cluster) exec(ctx context.Context, pod *corev1.Pod, container string, args []string) (string, error) {
	address, err := c.address("api/v1/namespaces", pod.Namespace, "pods", pod.Name, "exec")
	if err != nil {
		return "", err
	}
	address.RawQuery = url.Values{"container": {container}, "command": args, "stdout": {"true"}, "stderr": {"true"}}.Encode()
	e, err := remotecommand.NewSPDYExecutor(c.config, http.MethodPost, address)
	if err != nil {
		return "", fmt.Errorf("preparing to execute %s in pod %s: %w", args[0], pod.Name, err)
	}
	var out, stderr bytes.Buffer
	if err := e.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &stderr}); err != nil {
		return "", fmt.Errorf("executing %s in pod %s: %w: %s", args[0], pod.Name, err, stderr.String())
	}
	return out.String(), nil
}

// get reads an address of the API server that no typed client knows.
func (c *cluster) get(ctx context.Context, elements ...string) ([]byte, error) {
	address, err := c.address(elements...)
	if err != nil {
		return nil, err
	}
	h, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return nil, fmt.Errorf("making an HTTP client: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", address.Path, err)
	}
	resp, err := h.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", address.Path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", address.Path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking for %s: %s", address.Path, resp.Status)
	}
	return body, nil
}
