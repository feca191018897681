package suites

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite"
)

// registryPatience is how long a registry may take to answer.
const registryPatience = 10 * time.Second

// silences are the registries that did not answer in time. Each is left alone for a while, whichever suite needs it, and is then asked by one suite before
// others wait for it again: or suites whose registry is silent would take the workers of all others.
type silences struct {
	mu     sync.Mutex
	byHost map[string]*silence
}

// silence is that of one registry.
type silence struct {
	until time.Time
	// asked is true while somebody finds out whether the registry answers again.
	asked bool
}

// ask asks an image's registry for the digest behind its tag, unless the registry was silent a short time ago.
func (s *silences) ask(ctx context.Context, image string, keys authn.Keychain, now func() time.Time, registry func(context.Context, string, authn.Keychain) suite.Resolution) suite.Resolution {
	host := ""
	if ref, err := name.ParseReference(image); err == nil {
		host = ref.Context().RegistryStr()
	}
	// The same text at each try: one that differed would be written and seen each time.
	silent := suite.Resolution{Reason: v1alpha1.ReasonRegistryUnavailable, Message: fmt.Sprintf(
		"asking for the digest of %s: %s does not answer within %.0f s, and is asked again every %.0f s", image, host, registryPatience.Seconds(), suite.RetryImages.Seconds())}
	if !s.enter(host, now()) {
		return silent
	}
	within, cancel := context.WithTimeout(ctx, registryPatience)
	defer cancel()
	said := registry(within, image, keys)
	if said.Digest == "" && within.Err() != nil && ctx.Err() == nil {
		s.leave(host, now().Add(suite.RetryImages))
		return silent
	}
	s.leave(host, time.Time{})
	return said
}

// enter reports whether a registry may be asked.
func (s *silences) enter(host string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.byHost[host]
	if was == nil {
		return true
	}
	if was.asked || now.Before(was.until) {
		return false
	}
	was.asked = true
	return true
}

// leave notes until when a registry is left alone that was asked; zero if it has answered.
func (s *silences) leave(host string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until.IsZero() {
		delete(s.byHost, host)
		return
	}
	if s.byHost == nil {
		s.byHost = map[string]*silence{}
	}
	s.byHost[host] = &silence{until: until}
}
