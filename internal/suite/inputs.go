package suite

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	kjson "sigs.k8s.io/json"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/run/plan"
)

// Resolution is a registry's answer for an image: its digest, or why there is none.
type Resolution struct {
	Digest string
	// Reason and Message say why there is no digest; otherwise empty.
	Reason, Message string
}

// inputs define a round's measurement.
type inputs struct {
	hash       string
	names      []string
	specs      []v1alpha1.BenchmarkRunSpec
	images     []v1alpha1.ResolvedImage
	parameters []v1alpha1.ParameterValue
	// tags: some image has a tag without a known digest.
	tags       bool
	unresolved *Problem
}

type written struct {
	Name string `json:"name"`
	Spec any    `json:"spec"`
}

// Images returns the images to ask registries for; none if the suite takes tags as written. They are those of its
// defaults, of an unanswered request, and of the newest round while it lacks a run.
func Images(s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun) []string {
	sets := [][]v1alpha1.ParameterValue{nil}
	rounds := roundsOf(runs)
	if r, open := calls(s, rounds); open {
		sets = append(sets, r.Parameters)
	}
	if len(rounds) > 0 && !rounds[0].whole() {
		sets = append(sets, rounds[0].Parameters)
	}
	return imagesOf(s.Spec, sets...)
}

func imagesOf(spec v1alpha1.BenchmarkSuiteSpec, sets ...[]v1alpha1.ParameterValue) []string {
	if !resolves(spec) {
		return nil
	}
	var all []written
	for _, given := range sets {
		if _, runs, problem := write(spec, given); problem == nil {
			all = append(all, runs...)
		}
	}
	return tagged(all)
}

func resolves(spec v1alpha1.BenchmarkSuiteSpec) bool {
	return follows(spec) && spec.Triggers.Change.Images != v1alpha1.ImagesAsWritten
}

func follows(spec v1alpha1.BenchmarkSuiteSpec) bool {
	return spec.Triggers.Change != v1alpha1.ChangeTrigger{}
}

func write(spec v1alpha1.BenchmarkSuiteSpec, given []v1alpha1.ParameterValue) ([]v1alpha1.ParameterValue, []written, *Problem) {
	values, problem := parameterValues(spec, given)
	if problem != nil {
		return nil, nil, problem
	}
	var runs []written
	for _, r := range spec.Runs {
		// Numbers stay as written: a seed has more digits than a float.
		reader := json.NewDecoder(bytes.NewReader(r.Template.Spec.Raw))
		reader.UseNumber()
		var template any
		if err := reader.Decode(&template); err != nil {
			return nil, nil, invalid("runs[%s].template.spec cannot be read: %v", r.Name, err)
		}
		unfilled := ""
		edit(template, func(field, text string) string {
			text = fill(text, values)
			if field == "image" && placeholder.MatchString(text) {
				unfilled = text
			}
			return text
		})
		if unfilled != "" {
			return nil, nil, invalid("runs[%s]: the image %s names an unknown parameter: add it to spec.parameters", r.Name, unfilled)
		}
		runs = append(runs, written{r.Name, template})
	}
	return values, runs, nil
}

// PullSecrets returns the names of the Secrets for pulling images, sorted.
func PullSecrets(spec v1alpha1.BenchmarkSuiteSpec) []string {
	var names []string
	for _, r := range spec.Runs {
		var template v1alpha1.BenchmarkRunSpec
		_ = json.Unmarshal(r.Template.Spec.Raw, &template) // Errors are reported when the inputs are read; the rest is usable.
		names = append(names, plan.PullSecrets(template)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func tagged(runs []written) []string {
	var images []string
	for _, r := range runs {
		edit(r.Spec, func(field, text string) string {
			if field == "image" && !strings.Contains(text, "@") && !slices.Contains(images, text) {
				images = append(images, text)
			}
			return text
		})
	}
	slices.Sort(images)
	return images
}

func inputsOf(suite *v1alpha1.BenchmarkSuite, given []v1alpha1.ParameterValue, said map[string]Resolution) (inputs, *Problem) {
	values, runs, problem := write(suite.Spec, given)
	if problem != nil {
		return inputs{}, problem
	}
	in := inputs{parameters: values}
	if resolves(suite.Spec) {
		for _, r := range runs {
			for _, image := range tagged([]written{r}) {
				if plan.IsPath(image) {
					return in, invalid("runs[%s].template.spec: the image %s is a local file: use an image reference that the cluster can pull", r.Name, image)
				}
				if _, err := name.ParseReference(image); err != nil {
					return in, invalid("runs[%s].template.spec: the image %q is not a valid reference: %v", r.Name, image, err)
				}
			}
		}
		if problem := in.resolve(tagged(runs), said, suite.Status.Inputs.Images); problem != nil {
			return in, problem
		}
	}
	for _, r := range runs {
		edit(r.Spec, in.pin)
	}
	in.tags = len(tagged(runs)) > 0
	text, err := json.Marshal(runs)
	if err != nil {
		return in, invalid("the runs cannot be written as JSON: %v", err)
	}
	in.hash = digest(string(text))
	return in, in.read(runs)
}

func (in *inputs) fixed() bool { return !in.tags && !slices.ContainsFunc(in.specs, plan.Borrows) }

func (in *inputs) resolve(images []string, said map[string]Resolution, known []v1alpha1.ResolvedImage) *Problem {
	for _, image := range images {
		r := said[image]
		if r.Digest == "" {
			in.unresolved = &Problem{r.Reason, r.Message}
			before := slices.IndexFunc(known, func(k v1alpha1.ResolvedImage) bool { return k.Image == image })
			if before < 0 {
				return in.unresolved
			}
			r.Digest = known[before].Digest
		}
		in.images = append(in.images, v1alpha1.ResolvedImage{Image: image, Digest: r.Digest})
	}
	return nil
}

// pin adds the digest to an image's name.
func (in *inputs) pin(field, text string) string {
	if field != "image" {
		return text
	}
	for _, i := range in.images {
		if i.Image == text {
			return text + "@" + i.Digest
		}
	}
	return text
}

// read parses the runs' specs and refuses unknown fields.
func (in *inputs) read(runs []written) *Problem {
	for _, r := range runs {
		text, err := json.Marshal(r.Spec)
		if err != nil {
			return invalid("runs[%s].template.spec cannot be written as JSON: %v", r.Name, err)
		}
		var spec v1alpha1.BenchmarkRunSpec
		strict, err := kjson.UnmarshalStrict(text, &spec)
		if err := errors.Join(append(strict, err)...); err != nil {
			return invalid("runs[%s].template.spec: %v", r.Name, err)
		}
		in.names, in.specs = append(in.names, r.Name), append(in.specs, spec)
	}
	return nil
}

// compile refuses runs that cannot be planned under their names.
func (in *inputs) compile(runs []v1alpha1.BenchmarkRun) *Problem {
	for i := range runs {
		if _, problem := in.plan(i, runs[i].Name); problem != nil {
			return problem
		}
	}
	return nil
}

func (in *inputs) plan(i int, name string) (plan.Plan, *Problem) {
	p, err := plan.Compile(in.specs[i], plan.Options{Name: name, UID: "suite", Round: true, Template: true})
	var v *plan.Violation
	if errors.As(err, &v) {
		return p, invalid("runs[%s].template: %s", in.names[i], v.Message)
	}
	if err != nil {
		return p, invalid("runs[%s].template: %v", in.names[i], err)
	}
	return p, nil
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
