package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// checkRepeatable finds what changes from one rendering to the next: a tool that renders the chart for each comparison,
// as Argo CD does, would install it each time.
func (r repository) checkRepeatable(ctx context.Context) ([]string, error) {
	first, err := r.rendered(ctx, "")
	if err != nil {
		return nil, err
	}
	second, err := r.rendered(ctx, "")
	if err != nil {
		return nil, err
	}
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		return []string{"(-first +second)\n" + diff}, nil
	}
	return nil, nil
}

// checkUpgrade finds what an upgrade to another version of Loadstone would change of MinIO's pod, which holds the artifacts.
func (r repository) checkUpgrade(ctx context.Context) ([]string, error) {
	var specs []string
	for _, tag := range []string{"v1", "v2"} {
		list, err := r.chart(ctx, "images.tag="+tag)
		if err != nil {
			return nil, err
		}
		for _, o := range list {
			if o.text("kind") != "StatefulSet" {
				continue
			}
			body, err := yaml.Marshal(o.at("spec"))
			if err != nil {
				return nil, fmt.Errorf("writing %s: %w", o.key(), err)
			}
			specs = append(specs, string(body))
		}
	}
	if len(specs) != 2 || !strings.Contains(specs[0], "volumeClaimTemplates") {
		return []string{"MinIO has no volume by default"}, nil
	}
	if diff := cmp.Diff(specs[0], specs[1]); diff != "" {
		return []string{"another images.tag changes MinIO (-v1 +v2)\n" + diff}, nil
	}
	return nil, nil
}
