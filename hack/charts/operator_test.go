package main

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Alone, a new operator would wait for the lease of the old one, so the old one ends first. Of several, one is replaced at a time.
func TestAnUpgradeEndsTheOldOperatorFirst(t *testing.T) {
	for file, replicas := range map[string]int32{"testdata/embedded.yaml": 1, "testdata/full.yaml": 2, "../../config/manager/manager.yaml": 1} {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, o := range mustParse(t, string(body)) {
			if o.text("kind") != "Deployment" || o.text("metadata", "name") != "loadstone" {
				continue
			}
			found++
			spec := into[appsv1.DeploymentSpec](t, o.at("spec"))
			if spec.Replicas == nil || *spec.Replicas != replicas || !endsFirst(spec.Strategy, replicas) {
				t.Errorf("%s: the operator's Deployment is %+v", file, spec)
			}
			for _, arg := range spec.Template.Spec.Containers[0].Args {
				if strings.Contains(arg, "leader") {
					t.Errorf("%s: the operator is told of its election: %s", file, arg)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s has %d operators", file, found)
		}
	}
}

func endsFirst(s appsv1.DeploymentStrategy, replicas int32) bool {
	if replicas == 1 {
		return s.Type == appsv1.RecreateDeploymentStrategyType && s.RollingUpdate == nil
	}
	return s.RollingUpdate != nil && s.RollingUpdate.MaxSurge.IntValue() == 0 && s.RollingUpdate.MaxUnavailable.IntValue() == 1
}

// Before Kubernetes removes the address of a dead pod, steps would call it; a pod alone may be called before it is ready.
func TestStepsCallNoDeadOperatorIfThereAreSeveral(t *testing.T) {
	for replicas, early := range map[string]any{"1": true, "2": nil} {
		for _, o := range chart(t, "operator.replicas="+replicas) {
			if o.key() == "Service loadstone-system/loadstone" && o.at("spec", "publishNotReadyAddresses") != early {
				t.Errorf("with %s operators, publishNotReadyAddresses is %v, want %v", replicas, o.at("spec", "publishNotReadyAddresses"), early)
			}
		}
	}
}

func TestOneOperatorAtATimeIsEvicted(t *testing.T) {
	for replicas, want := range map[string]int{"1": 0, "2": 1} {
		found := 0
		for _, o := range chart(t, "operator.replicas="+replicas) {
			if o.text("kind") != "PodDisruptionBudget" {
				continue
			}
			found++
			if spec := into[policyv1.PodDisruptionBudgetSpec](t, o.at("spec")); spec.MaxUnavailable.IntValue() != 1 || spec.Selector.MatchLabels["app.kubernetes.io/component"] != "operator" {
				t.Errorf("with %s operators, the budget is %+v", replicas, spec)
			}
		}
		if found != want {
			t.Errorf("with %s operators, there are %d budgets, want %d", replicas, found, want)
		}
	}
}
