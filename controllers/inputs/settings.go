package inputs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/conduct"
	"loadstone.dev/loadstone/internal/run/plan"
)

const (
	// Most is the maximum number of ConfigMaps per run: each is read twice per trial and listed in the run's status.
	Most = 128
	// Patience is how long a run in its turn waits for a ConfigMap, which may be applied after the run.
	Patience = 10 * time.Second
)

// Digests reads the implementations' ConfigMaps, or returns a *plan.Violation for a missing one or a missing key. Like Read, it needs a reader
// of the API server.
func Digests(ctx context.Context, live client.Reader, namespace string, implementations []record.Implementation) ([]v1alpha1.ConfigMapDigest, error) {
	return digestsOf(ctx, live, namespace, implementations, implementations)
}

func digestsOf(ctx context.Context, live client.Reader, namespace string, implementations, all []record.Implementation) ([]v1alpha1.ConfigMapDigest, error) {
	var digests []v1alpha1.ConfigMapDigest
	seen := map[string]*corev1.ConfigMap{}
	for _, u := range uses(implementations) {
		name := u.Object.ConfigMap
		if seen[name] == nil {
			if len(digests) == Most {
				return nil, digestViolation(v1alpha1.ReasonInvalidSpec, "%s names the ConfigMap %q, but a run may have at most %d: merge some, or split the run", u.Field, name, Most)
			}
			m, err := readConfigMap(ctx, live, namespace, u)
			if err != nil {
				return nil, err
			}
			seen[name] = m
			digests = append(digests, v1alpha1.ConfigMapDigest{Name: name, SHA256: digest(m, record.KeysOf(all, name))})
		}
		// The kubelet expands variables in text only, not in binary data.
		if _, ok := seen[name].Data[u.Key]; u.Key != "" && !ok {
			return nil, digestViolation(v1alpha1.ReasonObjectMissing, "%s", u.WithoutKey())
		}
	}
	return digests, nil
}

func uses(implementations []record.Implementation) []record.Use {
	var out []record.Use
	for _, i := range implementations {
		for _, u := range i.Uses() {
			if u.Object.ConfigMap != "" {
				out = append(out, u)
			}
		}
	}
	return out
}

// Awaited is the message of a run that waits for ConfigMaps; empty if it should not wait, or no longer.
func Awaited(err error, waited time.Duration) string {
	v := (*plan.Violation)(nil)
	if !errors.As(err, &v) || v.Reason != v1alpha1.ReasonObjectMissing || waited >= Patience {
		return ""
	}
	return fmt.Sprintf("waiting for up to %s: %s", Patience, v.Message)
}

func readConfigMap(ctx context.Context, live client.Reader, namespace string, u record.Use) (*corev1.ConfigMap, error) {
	var m corev1.ConfigMap
	err := live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: u.Object.ConfigMap}, &m)
	if apierrors.IsNotFound(err) {
		return nil, digestViolation(v1alpha1.ReasonObjectMissing, "%s", u.Absent(namespace))
	} else if err != nil {
		return nil, fmt.Errorf("reading ConfigMap %s: %w", u.Object.ConfigMap, err)
	}
	return &m, nil
}

func digestViolation(reason, format string, args ...any) error {
	return &plan.Violation{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// digest covers the entries that processes get: some keys, or all if none are given. Other entries, labels and annotations may change.
func digest(m *corev1.ConfigMap, keys []string) string {
	sum := sha256.New()
	for _, key := range keys {
		fmt.Fprintf(sum, "text %q %q\n", key, m.Data[key])
	}
	if len(keys) > 0 {
		return hex.EncodeToString(sum.Sum(nil))
	}
	for _, key := range slices.Sorted(maps.Keys(m.Data)) {
		fmt.Fprintf(sum, "text %q %q\n", key, m.Data[key])
	}
	for _, key := range slices.Sorted(maps.Keys(m.BinaryData)) {
		fmt.Fprintf(sum, "bytes %q %q\n", key, m.BinaryData[key])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Noted reports whether all ConfigMap digests are known.
func Noted(known []v1alpha1.ConfigMapDigest, implementations []record.Implementation) bool {
	return !slices.ContainsFunc(uses(implementations), func(u record.Use) bool { return of(known, u.Object.ConfigMap) == nil })
}

func of(known []v1alpha1.ConfigMapDigest, name string) *v1alpha1.ConfigMapDigest {
	return util.First(known, func(d *v1alpha1.ConfigMapDigest) bool { return d.Name == name })
}

// Changed is the failure of a trial if a ConfigMap differs from the start of the run; nil otherwise.
func Changed(ctx context.Context, live client.Reader, run *v1alpha1.BenchmarkRun, all, implementations []record.Implementation) (*conduct.Failure, error) {
	now, err := digestsOf(ctx, live, run.Namespace, implementations, all)
	if v := (*plan.Violation)(nil); errors.As(err, &v) {
		return conduct.PermanentFailure(v.Reason, "an object was deleted after the run started: %s, and start a new run", v.Message), nil
	} else if err != nil {
		return nil, err
	}
	for _, is := range now {
		was := of(run.Status.ConfigMaps, is.Name)
		if was == nil || was.SHA256 == is.SHA256 {
			continue
		}
		first := util.First(uses(implementations), func(u *record.Use) bool { return u.Object.ConfigMap == is.Name })
		return conduct.PermanentFailure(v1alpha1.ReasonObjectChanged,
			"ConfigMap %q of %s changed after the run started, so later trials would measure something else: start another run, and set immutable: true on the ConfigMap",
			is.Name, first.Field), nil
	}
	return nil, nil
}

// RecordDigests converts digests for the run's manifest.
func RecordDigests(known []v1alpha1.ConfigMapDigest) []record.ConfigMap {
	var out []record.ConfigMap
	for _, d := range known {
		out = append(out, record.ConfigMap{Name: d.Name, SHA256: d.SHA256})
	}
	return out
}
