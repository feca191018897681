package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/serve"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

const (
	// answerDeadline limits an answer, and readDeadline the time to receive a request.
	answerDeadline, readDeadline = 20 * time.Second, 10 * time.Second
	// bodyDeadline limits the time to receive a body once reading starts.
	bodyDeadline = 3 * time.Second
	// atOnce limits parallel requests, because each may have a body of webhook.MaxBody; waiting limits the queue.
	atOnce, waiting = 16, 64
	// eachAtOnce and eachWaiting limit those to the suites of one namespace, so that they do not delay others.
	eachAtOnce, eachWaiting = 4, 16
	// lookups limits parallel lookups of suites, and eachLookups those of one client address.
	lookups, eachLookups = 64, 32
	// strangers limits parallel requests to suites without a webhook, and eachStrangers those of one client address. They never wait.
	strangers, eachStrangers = 4, 2
	// maxHeader limits a request's header.
	maxHeader  = 16 << 10
	retryAfter = "5"
	owner      = "loadstone-webhook"
)

// conflicts is the backoff for recording a request after conflicts.
var conflicts = wait.Backoff{Steps: 10, Duration: 10 * time.Millisecond, Factor: 2, Jitter: 1}

// Server serves signed requests, and requests with a token, to the webhooks of suites:
//
//	POST /v1/namespaces/NAMESPACE/benchmarksuites/NAME/trigger
//	POST /v1/namespaces/NAMESPACE/benchmarksuites/NAME/round     Authorization: Bearer TOKEN
//
// 202: recorded on the suite; 200: recorded before. For /round both return webhook.Round as JSON, and clients repeat the request until there is an
// outcome. 401: wrong signature or token, or no such suite. 413: body too large. 422: the suite refuses the values. 429: too many requests. 503: the API
// server is unavailable.
type Server struct {
	// Client has only the rights that the namespaces of suites grant, and no cache.
	Client client.Client
	Addr   string
	Now    func() time.Time

	// turns limits running requests, and places running and waiting ones: in total, and for the suites of a namespace.
	turns, places *serve.Turns
	// lookups and strangers have turns for client addresses: anyone can invent names of suites.
	lookups, strangers *serve.Turns
	// requests limits recorded requests per suite, and asks those with a token.
	requests, asks *limits
}

// Start serves until the process ends.
func (s *Server) Start(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("listening for webhook requests: %w", err)
	}
	h := &http.Server{
		Handler: s.Handler(), MaxHeaderBytes: maxHeader,
		ReadTimeout: readDeadline, WriteTimeout: answerDeadline + readDeadline, IdleTimeout: time.Minute,
	}
	return serve.Until(ctx, h, "webhooks", func() error { return h.Serve(l) })
}

// Handler serves requests, and probes at /healthz.
func (s *Server) Handler() http.Handler {
	s.turns, s.places = serve.NewTurns(atOnce, eachAtOnce), serve.NewTurns(atOnce+waiting, eachAtOnce+eachWaiting)
	s.lookups, s.strangers = serve.NewTurns(lookups, eachLookups), serve.NewTurns(strangers, eachStrangers)
	s.requests, s.asks = newLimits(burst, every), newLimits(askBurst, askEvery)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/namespaces/{namespace}/benchmarksuites/{name}/trigger", s.answering(s.trigger))
	mux.HandleFunc("POST /v1/namespaces/{namespace}/benchmarksuites/{name}/round", s.answering(s.round))
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	return mux
}

type answer struct {
	status int
	says   string
	round  *webhook.Round
	cause  error
	after  time.Duration
}

// unknown is the answer to unauthenticated requests. It does not reveal whether the suite exists.
func unknown(lacks string, cause error) *answer {
	return &answer{status: http.StatusUnauthorized, says: "no such webhook, or the request " + lacks, cause: cause}
}

type handler func(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey) *answer

// answering serves a request in a turn of its suite's namespace. A suite without a webhook gets the same answer, in a turn of the client's
// address: slow bodies for invented suites must not delay others.
func (s *Server) answering(handle handler) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		ctx, cancel := context.WithTimeout(q.Context(), answerDeadline)
		defer cancel()
		name := client.ObjectKey{Namespace: q.PathValue("namespace"), Name: q.PathValue("name")}
		a := s.admit(ctx, w, q, name, handle)
		told := log.Log.WithName("webhook").WithValues("suite", name, "status", a.status)
		if a.cause != nil {
			told = told.WithValues("reason", a.cause.Error())
		}
		told.Info("Answered a request")
		a.write(w)
	}
}

func (s *Server) admit(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey, handle handler) *answer {
	from, _, err := net.SplitHostPort(q.RemoteAddr)
	if err != nil {
		return crowded(err)
	}
	takes, err := s.takesRequests(ctx, from, name)
	if err != nil {
		return unrecorded(err)
	}
	pool, who := s.strangers, from
	if takes {
		pool, who = s.places, name.Namespace
	}
	done, ok := pool.Try(who) // Waiting requests use memory.
	if !ok {
		return crowded(nil)
	}
	defer done()
	if takes {
		return s.await(ctx, w, q, name, handle)
	}
	return serveBody(ctx, w, q, name, handle)
}

var errLookups = errors.New("too many lookups of suites at once")

func (s *Server) takesRequests(ctx context.Context, from string, name client.ObjectKey) (bool, error) {
	done, ok := s.lookups.Try(from)
	if !ok {
		return false, errLookups
	}
	defer done()
	_, err := s.suite(ctx, name)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return false, nil
	}
	return err == nil, err
}

func (a *answer) write(w http.ResponseWriter) {
	switch {
	case a.after > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(a.after.Seconds()))))
	case a.status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
	}
	if a.round == nil {
		http.Error(w, a.says, a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.round) // Whoever has gone reads nothing.
}

func crowded(cause error) *answer {
	return &answer{status: http.StatusServiceUnavailable, says: "too many requests at once: try again", cause: cause}
}

func (s *Server) await(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey, handle handler) *answer {
	done, err := s.turns.Take(ctx, name.Namespace)
	if err != nil {
		return crowded(err)
	}
	defer done()
	return serveBody(ctx, w, q, name, handle)
}

// serveBody serves a request in its turn. The time to send a body begins with the turn: a request that waited has some left. It is the
// connection's, not that of s.Now.
func serveBody(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey, handle handler) *answer {
	// A recorder of tests has no deadline.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyDeadline))
	return handle(ctx, w, q, name)
}

func read(w http.ResponseWriter, q *http.Request) ([]byte, *answer) {
	tooLarge := &answer{status: http.StatusRequestEntityTooLarge, says: fmt.Sprintf("the body exceeds the limit of %d bytes", webhook.MaxBody)}
	if q.ContentLength > webhook.MaxBody {
		return nil, tooLarge // Clients with Expect: 100-continue need not send it.
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, webhook.MaxBody))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, tooLarge
	}
	if err != nil {
		return nil, &answer{status: http.StatusBadRequest, says: "the body is incomplete: send it again", cause: err}
	}
	return body, nil
}

// unrecorded is the answer if the API server is unavailable, or after too many conflicts.
func unrecorded(err error) *answer {
	return &answer{status: http.StatusServiceUnavailable, says: "the request cannot be recorded now: try again", cause: err}
}

func (s *Server) trigger(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey) *answer {
	signed := webhook.Signed{Timestamp: q.Header.Get(webhook.TimeHeader), Signature: q.Header.Get(webhook.SignatureHeader)}
	expires, err := signed.Expires(s.Now())
	if err != nil {
		return &answer{status: http.StatusUnauthorized, says: err.Error()}
	}
	var a *answer
	if signed.Body, a = read(w, q); a != nil {
		return a
	}
	admitted := false
	err = retry.RetryOnConflict(conflicts, func() (err error) {
		a, err = s.ask(ctx, name, signed, expires, &admitted)
		return err
	})
	if err != nil {
		return unrecorded(err)
	}
	return a
}

// ask records a request unless it was recorded before. A retry after a conflict does not count against the limit again.
func (s *Server) ask(ctx context.Context, name client.ObjectKey, signed webhook.Signed, expires time.Time, admitted *bool) (*answer, error) {
	of, a, err := s.shown(ctx, name, "has no valid signature", func(k keys) bool { return signed.SignedBy(k.key) })
	if a != nil || err != nil {
		return a, err
	}
	before, now := webhook.Read(of.Annotations[v1alpha1.AnnotationWebhook]), s.Now()
	if before.Has(signed.ID()) {
		return &answer{status: http.StatusOK, says: "the request was accepted before and starts no second round"}, nil
	}
	if !*admitted {
		if a := s.requests.refuse(name, now); a != nil {
			return a, nil
		}
		*admitted = true
	}
	values, refused := picked(of, signed.Body, now)
	if refused != nil {
		return refused, nil
	}
	if err := s.record(ctx, of, before.Then(signed.ID(), values, expires, now)); err != nil {
		return nil, err
	}
	return &answer{status: http.StatusAccepted, says: taken(of)}, nil
}

func taken(of *v1alpha1.BenchmarkSuite) string {
	if of.Spec.Suspend != nil && *of.Spec.Suspend {
		return "round requested; the suite is suspended (spec.suspend)"
	}
	return "round requested"
}

func (s *Server) record(ctx context.Context, of *v1alpha1.BenchmarkSuite, newest webhook.Request) error {
	after := of.DeepCopy()
	metav1.SetMetaDataAnnotation(&after.ObjectMeta, v1alpha1.AnnotationWebhook, newest.Text())
	if err := s.Client.Patch(ctx, after, client.MergeFromWithOptions(of, client.MergeFromWithOptimisticLock{}), client.FieldOwner(owner)); err != nil {
		return fmt.Errorf("annotating BenchmarkSuite %s: %w", client.ObjectKeyFromObject(of), err)
	}
	return nil
}

func picked(of *v1alpha1.BenchmarkSuite, body []byte, now time.Time) ([]v1alpha1.ParameterValue, *answer) {
	values, err := webhook.Pick(of.Spec.Triggers.Webhook, body)
	if err != nil {
		return nil, &answer{status: http.StatusUnprocessableEntity, says: err.Error()}
	}
	return values, checked(of, values, now)
}

// checked is the refusal of values; nil if they are valid.
func checked(of *v1alpha1.BenchmarkSuite, values []v1alpha1.ParameterValue, now time.Time) *answer {
	if _, faults := suite.Check(of, values, now); len(faults) > 0 {
		return &answer{status: http.StatusUnprocessableEntity, says: faults[0].Message}
	}
	return nil
}

// keys are the signing key and the bearer token in a webhook's Secret; the token may be empty.
type keys struct{ key, token []byte }

// shown returns the suite of an authenticated request, or the refusal.
func (s *Server) shown(ctx context.Context, name client.ObjectKey, lacks string, may func(keys) bool) (*v1alpha1.BenchmarkSuite, *answer, error) {
	of, k, err := s.known(ctx, name)
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		return nil, unknown(lacks, err), nil
	case err != nil:
		return nil, nil, err
	case !may(k):
		return nil, unknown(lacks, nil), nil
	}
	return of, nil, nil
}

// known returns a suite with its webhook's Secret. If the signing key is stored under the token's name, it is not accepted as a token, because
// tokens are sent and signing keys must not be.
func (s *Server) known(ctx context.Context, name client.ObjectKey) (*v1alpha1.BenchmarkSuite, keys, error) {
	of, err := s.suite(ctx, name)
	if err != nil {
		return nil, keys{}, err
	}
	ref := of.Spec.Triggers.Webhook.SecretRef
	var secret corev1.Secret
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: name.Namespace, Name: ref.Name}, &secret); err != nil {
		return nil, keys{}, fmt.Errorf("reading the key of BenchmarkSuite %s: %w", name, err)
	}
	k := keys{key: secret.Data[ref.Key]}
	if ref.Key != webhook.TokenKey {
		k.token = secret.Data[webhook.TokenKey]
	}
	return of, k, nil
}

// suite returns a suite with a webhook; NotFound without one.
func (s *Server) suite(ctx context.Context, name client.ObjectKey) (*v1alpha1.BenchmarkSuite, error) {
	missing := apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("benchmarksuites").GroupResource(), name.Name)
	if len(content.IsPathSegmentName(name.Namespace))+len(content.IsPathSegmentName(name.Name)) > 0 {
		return nil, missing
	}
	of := &v1alpha1.BenchmarkSuite{}
	if err := s.Client.Get(ctx, name, of); err != nil {
		return nil, fmt.Errorf("reading BenchmarkSuite %s: %w", name, err)
	}
	if of.Spec.Triggers.Webhook.SecretRef.Name == "" {
		return nil, missing
	}
	return of, nil
}

// round serves a request with a bearer token: it returns the state of the request with this body, or records it if it is new. Bodies of
// unauthenticated requests are not read. Clients retry after conflicts.
func (s *Server) round(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey) *answer {
	authorization := q.Header.Get("Authorization")
	of, a, err := s.shown(ctx, name, "has no valid token", func(k keys) bool { return webhook.ShowsToken(authorization, k.token) })
	if err != nil {
		return unrecorded(err)
	}
	if a != nil {
		return a
	}
	if a := s.asks.refuse(name, s.Now()); a != nil {
		return a
	}
	body, a := read(w, q)
	if a != nil {
		return a
	}
	values, err := webhook.Pick(of.Spec.Triggers.Webhook, body)
	if err != nil {
		return &answer{status: http.StatusUnprocessableEntity, says: err.Error()}
	}
	id := webhook.AskID(of.Spec, values, body)
	if come, known := webhook.RoundOf(of, id); known {
		return &answer{status: http.StatusOK, round: &come}
	}
	if why := webhook.Holds(of, values); why != "" {
		return &answer{status: http.StatusOK, round: &webhook.Round{Message: why}}
	}
	return s.begin(ctx, of, id, values)
}

func (s *Server) begin(ctx context.Context, of *v1alpha1.BenchmarkSuite, id string, values []v1alpha1.ParameterValue) *answer {
	now := s.Now()
	if a := checked(of, values, now); a != nil {
		return a
	}
	if a := s.requests.refuse(client.ObjectKeyFromObject(of), now); a != nil {
		return a
	}
	newest := webhook.Read(of.Annotations[v1alpha1.AnnotationWebhook]).Then(id, values, now, now)
	if err := s.record(ctx, of, newest); err != nil {
		return unrecorded(err)
	}
	return &answer{status: http.StatusAccepted, round: &webhook.Round{Message: taken(of)}}
}

const (
	// burst and every limit recorded requests per suite: a round takes minutes, and only the newest request counts.
	burst = 10
	every = 10 * time.Second
	// askBurst and askEvery limit status requests per suite. Each of many canaries asks twice a minute.
	askBurst = 60
	askEvery = time.Second
)

// limits counts authenticated requests per suite, so that other clients cannot exhaust a limit.
type limits struct {
	burst   int
	every   time.Duration
	mu      sync.Mutex
	bySuite map[client.ObjectKey]*rate.Limiter
}

func newLimits(burst int, every time.Duration) *limits {
	return &limits{burst: burst, every: every, bySuite: map[client.ObjectKey]*rate.Limiter{}}
}

// refuse counts a request, or refuses it.
func (l *limits) refuse(name client.ObjectKey, now time.Time) *answer {
	wait := l.wait(name, now)
	if wait == 0 {
		return nil
	}
	return &answer{status: http.StatusTooManyRequests, says: "too many requests for the suite: try again later", after: wait}
}

// wait counts a request; over the limit it returns the time until the next one is accepted.
func (l *limits) wait(name client.ObjectKey, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bySuite[name] == nil {
		// A full limiter is like a new one.
		maps.DeleteFunc(l.bySuite, func(_ client.ObjectKey, old *rate.Limiter) bool { return old.TokensAt(now) >= float64(l.burst) })
		l.bySuite[name] = rate.NewLimiter(rate.Every(l.every), l.burst)
	}
	r := l.bySuite[name].ReserveN(now, 1)
	delay := r.DelayFrom(now)
	if delay > 0 {
		r.CancelAt(now)
	}
	return delay
}
