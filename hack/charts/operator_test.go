package main

import (
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// Two operators would wait for each other's lease. So the old one must end before the new one starts.
func TestAnUpgradeEndsTheOldOperatorFirst(t *testing.T) {
	for _, file := range []string{"testdata/embedded.yaml", "testdata/full.yaml", "../../config/manager/manager.yaml"} {
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
			if spec.Replicas == nil || *spec.Replicas != 1 || spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType || spec.Strategy.RollingUpdate != nil {
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
