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

// WorkflowKind is Argo's Workflow. It is handled without Argo's Go types, which would more than double the operator.
var WorkflowKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Workflow"}

// TokensSecret is the Secret, shipped empty with the installation, that holds the tokens of the runs that go on: one key a
// run, named like its workflow. The workflow's service account may read this one Secret and no other.
const TokensSecret = "loadstone-run-tokens"

// WorkflowOptions is what the workflow of a run needs beside the plan.
type WorkflowOptions struct {
	// Namespace is the operator's: workflow, agent pod and token live there, away from the measured pods.
	Namespace string
	// Part is the part of the run that the workflow is for.
	Part plan.Part
	// Run identifies the run.
	RunNamespace, RunName, RunUID string
	// Service is the address of the operator's trial endpoint, such as "http://loadstone.loadstone-system.svc:8090".
	Service string
	// ServiceAccount is the one of Argo's agent pod.
	ServiceAccount string
	// InstanceID keeps other Argo controllers away from the workflow; empty for one that has none.
	InstanceID string
}

// WorkflowName is the name of a run's workflow, and of its key in TokensSecret; each part of the run has one.
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

// Workflow orders the trials of a part of a run: one HTTP step a trial, one after the other. A step starts its trial
// and waits for its end, however it ends; anything but 200 means "ask again".
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

// stepName is what Argo shows of a trial: its place, and what it measures.
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

// offMeasuringNodes keeps Argo's agent pod off the nodes that measure, tainted or not.
func offMeasuringNodes() map[string]any {
	return map[string]any{"nodeAffinity": map[string]any{"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{
		"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{map[string]any{
			"key": v1alpha1.LabelRole, "operator": "NotIn", "values": []any{v1alpha1.RoleServer, v1alpha1.RoleGenerator},
		}}}},
	}}}
}
