package inputs

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/cluster/facts"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
)

// Body is a request body from a ConfigMap, as read once when the run starts.
type Body struct {
	// Name is that of its source.
	Name string
	Text []byte
}

// readBodies reads each named body once, and compiles the run with them.
func readBodies(ctx context.Context, live client.Reader, run *v1alpha1.BenchmarkRun) ([]Body, error) {
	var bodies []Body
	given := map[string]string{}
	for _, use := range sweep.BodyUses(run.Spec.Loads) {
		name := use.From.String()
		if _, seen := given[name]; seen {
			continue
		}
		text, err := read(ctx, live, run.Namespace, v1alpha1.Script{ConfigMap: use.From.ConfigMap, Key: use.From.Key}, use.Field)
		if err != nil {
			return nil, err
		}
		given[name] = string(text)
		bodies = append(bodies, Body{name, text})
	}
	if len(bodies) == 0 {
		return nil, nil
	}
	with := run.DeepCopy()
	with.Spec.Loads = sweep.WithBodies(run.Spec.Loads, given)
	_, err := facts.Plan(with)
	return bodies, err
}

func freezeBodies(ctx context.Context, store artifact.Bucket, runPrefix string, bodies []Body) ([]v1alpha1.FrozenBody, error) {
	var frozen []v1alpha1.FrozenBody
	for _, b := range bodies {
		stored, err := put(ctx, store, artifact.BodyKey(runPrefix, b.Name), b.Text)
		if err != nil {
			return nil, err
		}
		frozen = append(frozen, v1alpha1.FrozenBody{Name: b.Name, Bytes: stored.Bytes, SHA256: stored.SHA256})
	}
	return frozen, nil
}

func frozenBody(frozen []v1alpha1.FrozenBody, name string) bool {
	return slices.ContainsFunc(frozen, func(f v1alpha1.FrozenBody) bool { return f.Name == name })
}

// LoadBodies reads stored bodies by name, and checks their digests.
func LoadBodies(ctx context.Context, store artifact.Bucket, runPrefix string, frozen []v1alpha1.FrozenBody) (map[string]string, error) {
	bodies := map[string]string{}
	for _, f := range frozen {
		text, err := store.Get(ctx, artifact.BodyKey(runPrefix, f.Name), f.SHA256)
		if err != nil {
			return nil, err
		}
		bodies[f.Name] = string(text)
	}
	return bodies, nil
}

// WithBodies adds the named bodies to a plan. Requests keep their source names. A missing body is an error: the run has not stored it yet.
func WithBodies(p plan.Plan, bodies map[string]string) (plan.Plan, error) {
	var missing error
	fill := func(r *record.Request) {
		if r.From == nil {
			return
		}
		body, frozen := bodies[r.From.String()]
		if !frozen {
			missing = fmt.Errorf("the request body %s is not stored yet", r.From)
		}
		r.Body = body
	}
	p.Cells, p.Profiles = slices.Clone(p.Cells), slices.Clone(p.Profiles)
	for i := range p.Cells {
		c := &p.Cells[i]
		fill(&c.Request)
		c.Mix = slices.Clone(c.Mix)
		for j := range c.Mix {
			fill(&c.Mix[j].Request)
		}
	}
	for i := range p.Profiles {
		fill(&p.Profiles[i].Request)
	}
	return p, missing
}

// RecordBodies converts stored bodies for the run's manifest.
func RecordBodies(frozen []v1alpha1.FrozenBody, runPrefix string) []record.FrozenBody {
	var bodies []record.FrozenBody
	for _, f := range frozen {
		bodies = append(bodies, record.FrozenBody{From: f.Name, Artifact: record.Artifact{
			Name: "bodies/" + f.Name, Key: artifact.BodyKey(runPrefix, f.Name), Bytes: f.Bytes, SHA256: f.SHA256,
		}})
	}
	return bodies
}
