package render

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
)

// WorkflowKind is Argo's Workflow, without Argo's Go types, which would more than double the operator's size.
var WorkflowKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Workflow"}

// TokensSecret has the tokens of unfinished runs, one key per workflow name. The chart creates it empty. The workflow's service account can
// read only this Secret.
const TokensSecret = "loadstone-run-tokens"

// WorkflowOptions are the inputs of a workflow besides the plan.
type WorkflowOptions struct {
	// Namespace is the operator's namespace: workflow, agent pod and token are kept apart from measured pods.
	Namespace string
	Part      plan.Part
	// Run identifies the run.
	RunNamespace, RunName, RunUID string
	Service                       string
	ServiceAccount                string
	// InstanceID selects the Argo controller; empty for one without an instanceID.
	InstanceID string
}

// WorkflowName is the name of the workflow of a part of a run, and of its key in TokensSecret.
func WorkflowName(run, uid string, part plan.Part) string {
	name := run + "-" + uid[:min(8, len(uid))]
	switch {
	case part.Following:
		name += "-f"
	case part.Repeat > 0:
		name += fmt.Sprintf("-s%d", part.Repeat)
	}
	return name
}

// Workflow runs the trials of a part in order: one HTTP step per trial. A step starts its trial and waits for its end, successful or not; any
// status but 200 means "retry".
func Workflow(p plan.Plan, o WorkflowOptions) *unstructured.Unstructured {
	trials := p.Lines(o.RunName, o.Part)
	steps := make([]any, 0, len(trials))
	for _, t := range trials {
		steps = append(steps, []any{map[string]any{
			"name": stepName(t), "template": "trial",
			"arguments": map[string]any{"parameters": []any{map[string]any{"name": "trial", "value": t.Name}}},
		}})
	}
	w := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"entrypoint":            "trials",
		"serviceAccountName":    o.ServiceAccount,
		"activeDeadlineSeconds": int64(p.TimeoutSeconds),
		"podGC":                 map[string]any{"strategy": "OnPodCompletion"},
		"securityContext":       map[string]any{"runAsNonRoot": true, "runAsUser": int64(record.OwnUser), "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
		"affinity":              offMeasuringNodes(),
		"templates": []any{
			map[string]any{"name": "trials", "steps": steps},
			trialTemplate(p, trials, o),
		},
	}}}
	w.SetGroupVersionKind(WorkflowKind)
	w.SetName(WorkflowName(o.RunName, o.RunUID, o.Part))
	w.SetNamespace(o.Namespace)
	labels := map[string]string{v1alpha1.LabelRun: o.RunName, v1alpha1.LabelRunUID: o.RunUID, "app.kubernetes.io/name": "loadstone"}
	if o.InstanceID != "" {
		labels["workflows.argoproj.io/controller-instanceid"] = o.InstanceID
	}
	w.SetLabels(labels)
	return w
}

func stepName(t record.PlannedTrial) string {
	if t.Follows() {
		return fmt.Sprintf("t%03d-%s-%s", t.Index, t.Item, strings.Join(t.Servers, "-"))
	}
	return fmt.Sprintf("t%03d-%s", t.Index, strings.Join(t.Servers, "-"))
}

func trialTemplate(p plan.Plan, trials []record.PlannedTrial, o WorkflowOptions) map[string]any {
	// The step outlives every attempt at its trial; the run's own timeout bounds it anyway.
	longest := p.Estimate(1)
	for _, t := range trials {
		if t.Follows() {
			longest = max(longest, p.EstimateOf([]record.PlannedTrial{t}))
		}
	}
	timeout := int64(plan.Attempts*longest.Seconds()) + 900
	return map[string]any{
		"name":   "trial",
		"inputs": map[string]any{"parameters": []any{map[string]any{"name": "trial"}}},
		"http": map[string]any{
			"url":              fmt.Sprintf("%s/v1/trials/%s/{{inputs.parameters.trial}}", o.Service, o.RunNamespace),
			"method":           "POST",
			"timeoutSeconds":   timeout,
			"successCondition": "response.statusCode == 200",
			"headers": []any{map[string]any{
				"name":      "Authorization",
				"valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": TokensSecret, "key": WorkflowName(o.RunName, o.RunUID, o.Part)}},
			}},
		},
		// A broken connection fails an HTTP step at once: an operator's restart must cost a retry and not the run.
		"retryStrategy": map[string]any{
			"limit": "30", "retryPolicy": "Always",
			"backoff": map[string]any{"duration": "1s", "factor": "2", "cap": "10s"},
		},
	}
}

// offMeasuringNodes keeps Argo's agent pod off measuring nodes, tainted or not.
func offMeasuringNodes() map[string]any {
	return map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{
		"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{map[string]any{
			"key": v1alpha1.LabelRole, "operator": "NotIn", "values": []any{v1alpha1.RoleServer, v1alpha1.RoleGenerator},
		}}}},
	}}}
}
