package suites

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite"
)

// A registry that is silent costs the suites that need it 10 s once and not each, and those that need another nothing.
func TestARegistryThatIsSilentIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s silences
		var asked atomic.Int32
		var answers atomic.Bool
		registry := func(ctx context.Context, image string, _ authn.Keychain) suite.Resolution {
			asked.Add(1)
			if strings.HasPrefix(image, "silent.example/") && !answers.Load() {
				<-ctx.Done()
				return suite.Resolution{Reason: v1alpha1.ReasonRegistryUnavailable, Message: ctx.Err().Error()}
			}
			return suite.Resolution{Digest: "sha256:aa"}
		}
		// ask lets so many suites ask at once, and wants the registry to be asked for some, all to take so long, and all or none to have a digest.
		ask := func(what, image string, suites int, wantAsked int32, took time.Duration, digest bool) {
			t.Helper()
			before, begun := asked.Load(), time.Now()
			var all sync.WaitGroup
			for range suites {
				all.Go(func() {
					said := s.ask(t.Context(), image, nil, time.Now, registry)
					if (said.Digest != "") != digest {
						t.Errorf("%s: it says %+v", what, said)
					}
					const silent = "silent.example does not answer within 10 s, and is asked again every 30 s"
					if !digest && (said.Reason != v1alpha1.ReasonRegistryUnavailable || !strings.HasSuffix(said.Message, silent)) {
						t.Errorf("%s: it says %q", what, said.Message)
					}
				})
			}
			all.Wait()
			if n := asked.Load() - before; n != wantAsked || time.Since(begun) != took {
				t.Errorf("%s: it was asked %d times within %s, want %d within %s", what, n, time.Since(begun), wantAsked, took)
			}
		}
		ask("at first", "silent.example/a:1", 1, 1, registryPatience, false)
		ask("soon after, by twelve suites", "silent.example/b:1", 12, 0, 0, false)
		ask("another registry", "other.example/a:1", 12, 12, 0, true)
		time.Sleep(suite.RetryImages)
		go ask("half a minute after, by one", "silent.example/a:1", 1, 1, registryPatience, false)
		synctest.Wait()
		ask("while that one waits", "silent.example/b:1", 12, 0, 0, false)
		time.Sleep(registryPatience + suite.RetryImages)
		answers.Store(true)
		ask("when it answers again", "silent.example/a:1", 1, 1, 0, true)
		ask("after that", "silent.example/b:1", 12, 12, 0, true)
	})
}

// An operator that ends has not waited for its registry.
func TestARegistryIsNotSilentToWhoGoesAway(t *testing.T) {
	var s silences
	ctx, cancel := context.WithCancel(t.Context())
	s.ask(ctx, "a.example/a:1", nil, time.Now, func(context.Context, string, authn.Keychain) suite.Resolution {
		cancel()
		return suite.Resolution{}
	})
	if !s.enter("a.example", time.Now()) {
		t.Error("it is left alone")
	}
}
