package suites

import (
	"context"
	"fmt"
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
		// ask lets some suites ask at once. It checks the number of requests, their duration, and the result or its absence.
		ask := func(what, image string, suites int, wantAsked int32, took time.Duration, want string) {
			t.Helper()
			before, begun := asked.Load(), time.Now()
			var all sync.WaitGroup
			for range suites {
				all.Go(func() {
					said := s.ask(t.Context(), image, nil, time.Now, registry)
					if (said.Digest == "") != (want != "") || said.Message != want || want != "" && said.Reason != v1alpha1.ReasonRegistryUnavailable {
						t.Errorf("%s: it says %+v", what, said)
					}
				})
			}
			all.Wait()
			if n := asked.Load() - before; n != wantAsked || time.Since(begun) != took {
				t.Errorf("%s: it was asked %d times within %s, want %d within %s", what, n, time.Since(begun), wantAsked, took)
			}
		}
		const slow = "asking for the digest of silent.example/a:1: silent.example did not answer within 10 s; next try after 30 s, other images first"
		const other = "the digest of silent.example/b:1 was not requested: silent.example did not answer for another image within 10 s; next try after 30 s"
		ask("at first", "silent.example/a:1", 1, 1, registryPatience, slow)
		ask("soon after, by twelve suites", "silent.example/b:1", 12, 0, 0, other)
		ask("another registry", "other.example/a:1", 12, 12, 0, "")
		time.Sleep(suite.RetryImages)
		ask("half a minute after, for the same image", "silent.example/a:1", 12, 0, 0, slow)
		time.Sleep(suite.RetryImages)
		go ask("a minute after, by one", "silent.example/a:1", 1, 1, registryPatience, slow)
		synctest.Wait()
		ask("while that one waits", "silent.example/b:1", 12, 0, 0, other)
		time.Sleep(registryPatience + suite.RetryImages)
		answers.Store(true)
		ask("when it answers again, for another image", "silent.example/b:1", 1, 1, 0, "")
		ask("after that", "silent.example/a:1", 12, 12, 0, "")
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
	if may, _ := s.enter("a.example", "a.example/a:1", time.Now()); !may {
		t.Error("it is left alone")
	}
}

// A suite whose images alone a registry is silent for is back a moment after the silence each time, and takes no other suite's turn by that.
func TestAnImageThatIsSlowHoldsUpNoOther(t *testing.T) {
	for name, images := range map[string][]string{
		"one image":                 {"a.example/slow:1"},
		"three images of one suite": {"a.example/slow:1", "a.example/slow:2", "a.example/slow:3"},
	} {
		for phase := time.Duration(0); phase < 70*time.Second; phase += 7 * time.Second {
			t.Run(name+", and another suite "+phase.String()+" later", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var s silences
					registry := func(ctx context.Context, image string, _ authn.Keychain) suite.Resolution {
						if strings.Contains(image, "/slow:") {
							<-ctx.Done()
							return suite.Resolution{}
						}
						return suite.Resolution{Digest: "sha256:aa"}
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					// tries asks as a suite does: for all its images at once, and soon again.
					tries := func(images []string, answered *int) {
						for ctx.Err() == nil {
							var all sync.WaitGroup
							for _, image := range images {
								all.Go(func() {
									if s.ask(ctx, image, nil, time.Now, registry).Digest != "" {
										*answered++
									}
								})
							}
							all.Wait()
							time.Sleep(suite.RetryImages + time.Millisecond)
						}
					}
					var slow, other int
					go tries(images, &slow)
					time.Sleep(phase)
					tries([]string{"a.example/other:1"}, &other)
					if other < 20 {
						t.Errorf("in an hour it was answered %d times", other)
					}
					time.Sleep(time.Minute) // Until the slow one has seen the end.
				})
			})
		}
	}
}

// A client that panics has found out nothing, and the next one is let in.
func TestAPanicLeavesNoRegistryAsked(t *testing.T) {
	s, now := silences{}, time.Now()
	s.leave("a.example", "a.example/a:1", now)
	func() {
		defer func() { _ = recover() }()
		s.ask(t.Context(), "a.example/b:1", nil, func() time.Time { return now }, func(context.Context, string, authn.Keychain) suite.Resolution { panic("a bad answer") })
	}()
	if may, _ := s.enter("a.example", "a.example/b:1", now); !may {
		t.Error("it is asked for ever")
	}
}

// Users name registries: the operator must not remember each of them for ever.
func TestSilentRegistriesAreForgotten(t *testing.T) {
	var s silences
	now := time.Now()
	for i := range 100 {
		s.leave(fmt.Sprintf("%d.example", i), "a:1", now.Add(time.Duration(i)*suite.RetryImages))
	}
	if n := len(s.byHost); n != 1+int(forgetAfter/suite.RetryImages) {
		t.Errorf("it remembers %d registries", n)
	}
}
