package suites

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/authn/kubernetes"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/outbound"
	"loadstone.dev/loadstone/internal/suite"
)

// wayIn is the advice for missing or wrong registry credentials.
const wayIn = ": add the pull Secret to imagePullSecrets and let the operator read it, use a digest in the image name, or set triggers.change.images to AsWritten"

// Registries returns a function that asks a registry for the digest of a tag, with the credentials of a keychain. Redirects are followed, since
// public registries use them: way must check each address.
func Registries(way http.RoundTripper) func(ctx context.Context, image string, keys authn.Keychain) suite.Resolution {
	return func(ctx context.Context, image string, keys authn.Keychain) suite.Resolution {
		ref, err := name.ParseReference(image)
		if err != nil {
			return suite.Resolution{Reason: v1alpha1.ReasonImageNotFound, Message: err.Error()}
		}
		head, err := remote.Head(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(keys), remote.WithTransport(way))
		if err != nil {
			return unresolved(ref, err)
		}
		return suite.Resolution{Digest: head.Digest.String()}
	}
}

// unresolved explains why a registry did not return a digest. The answer's text is not shown.
func unresolved(image name.Reference, err error) suite.Resolution {
	host := image.Context().RegistryStr()
	unavailable := func(format string, args ...any) suite.Resolution {
		return suite.Resolution{Reason: v1alpha1.ReasonRegistryUnavailable, Message: fmt.Sprintf(format, args...)}
	}
	var said *transport.Error
	switch errors.As(err, &said); {
	case said == nil:
		return unavailable("asking for the digest of %s: %s", image, outbound.Cause(err))
	case said.StatusCode == http.StatusNotFound:
		return suite.Resolution{Reason: v1alpha1.ReasonImageNotFound, Message: fmt.Sprintf("%s does not have %s", host, image)}
	case said.StatusCode == http.StatusUnauthorized, said.StatusCode == http.StatusForbidden:
		return unavailable("%s denies the operator access to %s%s", host, image, wayIn)
	}
	return unavailable("asking for the digest of %s: %s answers %d", image, host, said.StatusCode)
}

// answers caches the registries' answers.
type answers struct {
	mu      sync.Mutex
	bySuite map[types.NamespacedName]answer
}

type answer struct {
	asked  question
	images map[string]suite.Resolution
	until  time.Time
}

// question is what triggers new requests at once: a new spec, another image, or a requested round.
type question struct {
	uid                           types.UID
	generation                    int64
	images                        string
	requested, reconcile, webhook string
}

// of returns the registries' answers for a suite and its runs.
func (a *answers) of(ctx context.Context, s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun, now time.Time, ask func(ctx context.Context, images []string) map[string]suite.Resolution) map[string]suite.Resolution {
	key := types.NamespacedName{Namespace: s.Namespace, Name: s.Name}
	wanted := suite.Images(s, runs)
	asked := question{
		s.UID, s.Generation, strings.Join(wanted, "\n"),
		s.Annotations[v1alpha1.AnnotationRequestedAt], s.Annotations[v1alpha1.AnnotationReconcileAt], s.Annotations[v1alpha1.AnnotationWebhook],
	}
	a.mu.Lock()
	last := a.bySuite[key]
	a.mu.Unlock()
	if last.asked == asked && now.Before(last.until) {
		return last.images
	}
	images := ask(ctx, wanted)
	valid := suite.Interval(s.Spec)
	for _, r := range images {
		if r.Digest == "" {
			valid = min(valid, suite.RetryImages)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bySuite == nil {
		a.bySuite = map[types.NamespacedName]answer{}
	}
	maps.DeleteFunc(a.bySuite, func(_ types.NamespacedName, old answer) bool { return !now.Before(old.until) }) // Of a deleted suite, or asked again.
	// The next pass comes slightly after the images must be asked again.
	a.bySuite[key] = answer{asked: asked, images: images, until: now.Add(valid)}
	return images
}

func (r *Reconciler) ask(ctx context.Context, s *v1alpha1.BenchmarkSuite, images []string) map[string]suite.Resolution {
	if len(images) == 0 {
		return nil
	}
	keys, unread := r.keychains(ctx, s)
	said := make([]suite.Resolution, len(images))
	var all sync.WaitGroup
	for i, image := range images {
		all.Go(func() {
			for _, key := range keys { // Like a kubelet: of several Secrets for one registry, only one may be valid for the image.
				if said[i] = r.silences.ask(ctx, image, key, r.Now, r.Registry); said[i].Digest != "" {
					return
				}
			}
		})
	}
	all.Wait()
	byImage := map[string]suite.Resolution{}
	for i, image := range images {
		if said[i].Digest == "" && unread != "" {
			said[i].Message += "; " + unread
		}
		byImage[image] = said[i]
	}
	return byImage
}

// keychains are the credentials of the runs' pull Secrets, one each for Secrets that the operator may read, or one anonymous. unread describes
// the others.
func (r *Reconciler) keychains(ctx context.Context, s *v1alpha1.BenchmarkSuite) (keys []authn.Keychain, unread string) {
	var problems []string
	for _, name := range suite.PullSecrets(s.Spec) {
		var secret corev1.Secret
		switch err := r.Live.Get(ctx, types.NamespacedName{Namespace: s.Namespace, Name: name}, &secret); {
		case apierrors.IsForbidden(err):
			problems = append(problems, fmt.Sprintf("the operator may not read the Secret %s: create a Role for it in this namespace", name))
			continue
		case err != nil:
			problems = append(problems, fmt.Sprintf("reading the Secret %s: %v", name, err))
			continue
		}
		key, err := kubernetes.NewFromPullSecrets(ctx, []corev1.Secret{secret})
		if err != nil { // It may quote the Secret.
			problems = append(problems, fmt.Sprintf("the Secret %s is not a valid docker config", name))
			continue
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		keys = []authn.Keychain{authn.NewMultiKeychain()}
	}
	return keys, strings.Join(problems, "; ")
}
