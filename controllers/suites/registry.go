package suites

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"k8s.io/apimachinery/pkg/types"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite"
)

// registryPatience is how long a registry may take to answer.
const registryPatience = 10 * time.Second

// AskRegistry asks an image's registry for the digest behind its tag.
func AskRegistry(ctx context.Context, image string) suite.Resolution {
	ref, err := name.ParseReference(image)
	if err != nil {
		return suite.Resolution{Reason: v1alpha1.ReasonImageNotFound, Message: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, registryPatience)
	defer cancel()
	head, err := remote.Head(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err == nil {
		return suite.Resolution{Digest: head.Digest.String()}
	}
	var said *transport.Error
	switch errors.As(err, &said); {
	case said == nil:
		return suite.Resolution{Reason: v1alpha1.ReasonRegistryUnavailable, Message: fmt.Sprintf("asking for the digest of %s: %v", image, err)}
	case said.StatusCode == http.StatusNotFound:
		return suite.Resolution{Reason: v1alpha1.ReasonImageNotFound, Message: fmt.Sprintf("%s does not have %s", ref.Context().RegistryStr(), image)}
	case said.StatusCode == http.StatusUnauthorized, said.StatusCode == http.StatusForbidden:
		return suite.Resolution{Reason: v1alpha1.ReasonRegistryUnavailable, Message: fmt.Sprintf(
			"%s does not tell anybody of %s without a password: name the image by its digest, or set triggers.change.images to AsWritten", ref.Context().RegistryStr(), image)}
	}
	return suite.Resolution{Reason: v1alpha1.ReasonRegistryUnavailable, Message: fmt.Sprintf("asking for the digest of %s: %s answers %d", image, ref.Context().RegistryStr(), said.StatusCode)}
}

// answers are what registries said of the images of suites. They are lost with the operator, which then asks again.
type answers struct {
	mu      sync.Mutex
	bySuite map[types.NamespacedName]answer
}

// answer is what registries said of the images of a suite, and when they are to be asked again.
type answer struct {
	asked  question
	images map[string]suite.Resolution
	until  time.Time
}

// question is what makes registries be asked at once: a new spec, another image, or a request for a round.
type question struct {
	uid                           types.UID
	generation                    int64
	images                        string
	requested, reconcile, webhook string
}

// of returns what registries say of the images of a suite, and of its runs.
func (a *answers) of(ctx context.Context, s *v1alpha1.BenchmarkSuite, runs []v1alpha1.BenchmarkRun, now time.Time, ask func(context.Context, string) suite.Resolution) map[string]suite.Resolution {
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
	images := askAll(ctx, wanted, ask)
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
	// The pass that comes when they are to be asked again comes a moment later, and not before.
	a.bySuite[key] = answer{asked: asked, images: images, until: now.Add(valid)}
	return images
}

// askAll asks for all images at the same time.
func askAll(ctx context.Context, images []string, ask func(context.Context, string) suite.Resolution) map[string]suite.Resolution {
	said := make([]suite.Resolution, len(images))
	var all sync.WaitGroup
	for i, image := range images {
		all.Go(func() { said[i] = ask(ctx, image) })
	}
	all.Wait()
	byImage := map[string]suite.Resolution{}
	for i, image := range images {
		byImage[image] = said[i]
	}
	return byImage
}
