package suites

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite"
)

const registryPatience = 10 * time.Second

// forgetAfter is how long a silent registry is remembered that no suite asks any more: suites ask every suite.RetryImages.
const forgetAfter = 10 * suite.RetryImages

// silences are the registries that did not answer in time. Each is skipped for a while by all suites, and then tried by one suite first.
// Otherwise suites with a silent registry would block all workers.
type silences struct {
	mu     sync.Mutex
	byHost map[string]*silence
}

type silence struct {
	until time.Time
	asked bool
	// slow are the unanswered images. Others are tried first, because the registry may be silent only for these.
	slow map[string]bool
}

func (s *silences) ask(ctx context.Context, image string, keys authn.Keychain, now func() time.Time, registry func(context.Context, string, authn.Keychain) suite.Resolution) suite.Resolution {
	host := ""
	if ref, err := name.ParseReference(image); err == nil {
		host = ref.Context().RegistryStr()
	}
	// The text must be equal at each try: a changed one would be written and trigger a pass.
	silent := func(text string) suite.Resolution {
		return suite.Resolution{Reason: v1alpha1.ReasonRegistryUnavailable, Message: fmt.Sprintf(text, image, host, registryPatience.Seconds(), suite.RetryImages.Seconds())}
	}
	const (
		slow  = "asking for the digest of %s: %s did not answer within %.0f s; next try after %.0f s, other images first"
		other = "the digest of %s was not requested: %s did not answer for another image within %.0f s; next try after %.0f s"
	)
	if may, isSlow := s.enter(host, image, now()); !may && isSlow {
		return silent(slow)
	} else if !may {
		return silent(other)
	}
	var until time.Time
	defer func() { s.leave(host, image, until) }() // After a panic, too: no other suite asks a registry meanwhile.
	within, cancel := context.WithTimeout(ctx, registryPatience)
	defer cancel()
	said := registry(within, image, keys)
	if said.Digest == "" && within.Err() != nil && ctx.Err() == nil {
		until = now().Add(suite.RetryImages)
		return silent(slow)
	}
	return said
}

// enter reports whether a registry may be asked for an image, and whether it was silent for that image.
func (s *silences) enter(host, image string, now time.Time) (may, slow bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.byHost[host]
	if was == nil {
		return true, false
	}
	from := was.until
	if was.slow[image] {
		from = from.Add(suite.RetryImages) // As long as a suite waits between its tries: each other has one before.
	}
	if was.asked || now.Before(from) {
		return false, was.slow[image]
	}
	was.asked = true
	return true, was.slow[image]
}

// leave records until when a registry is skipped; zero if it answered.
func (s *silences) leave(host, image string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until.IsZero() {
		delete(s.byHost, host)
		return
	}
	maps.DeleteFunc(s.byHost, func(_ string, old *silence) bool { return !old.asked && until.Sub(old.until) > forgetAfter })
	if s.byHost == nil {
		s.byHost = map[string]*silence{}
	}
	was := s.byHost[host]
	if was == nil {
		was = &silence{slow: map[string]bool{}}
		s.byHost[host] = was
	}
	was.until, was.asked, was.slow[image] = until, false, true
}
