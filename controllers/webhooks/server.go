package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	// answerDeadline bounds an answer, and readDeadline how long a request may take to come.
	answerDeadline, readDeadline = 20 * time.Second, 10 * time.Second
	// bodyDeadline is how long a body may take once it is read.
	bodyDeadline = 3 * time.Second
	// atOnce bounds how many requests are read at the same time, since each can have a body of webhook.MaxBody, and waiting how many wait for that.
	atOnce, waiting = 16, 64
	// maxHeader bounds what is read of a request before its body.
	maxHeader = 16 << 10
	// retryAfter is when whoever asks may ask again, in seconds.
	retryAfter = "5"
	// owner is who has written the annotation, for those who look at the managed fields of a suite.
	owner = "loadstone-webhook"
)

// conflicts is how often, and when, a request is written down again that others have come before.
var conflicts = wait.Backoff{Steps: 10, Duration: 10 * time.Millisecond, Factor: 2, Jitter: 1}

// Server takes requests to the webhooks of suites, that are signed or show a token:
//
//	POST /v1/namespaces/NAMESPACE/benchmarksuites/NAME/trigger
//	POST /v1/namespaces/NAMESPACE/benchmarksuites/NAME/round     Authorization: Bearer TOKEN
//
// 202 is a request that was written down on its suite, and 200 one that was before. To round, both answer webhook.Round as JSON: whoever asks sends the
// same again until there is an outcome. 401 is all that is not signed with the key of a webhook, or does not show its token: it says the same of a suite
// that there is not. 413 is too large a body, 422 one whose values the suite does not take, 429 one request too many, and 503 an API server that is away.
type Server struct {
	// Client has the rights that the namespaces of suites give it, and no cache.
	Client client.Client
	Addr   string
	Now    func() time.Time

	// turns are of those that are answered, and places of those that wait for a turn, too.
	turns, places chan struct{}
	// requests are those that are to be written down, and asks all that show a token.
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

// Handler answers requests, and probes at /healthz.
func (s *Server) Handler() http.Handler {
	s.turns, s.places = make(chan struct{}, atOnce), make(chan struct{}, atOnce+waiting)
	s.requests, s.asks = newLimits(burst, every), newLimits(askBurst, askEvery)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/namespaces/{namespace}/benchmarksuites/{name}/trigger", s.answering(s.trigger))
	mux.HandleFunc("POST /v1/namespaces/{namespace}/benchmarksuites/{name}/round", s.answering(s.round))
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	return mux
}

// answer is a status, and a sentence for whoever asks, or what a request has come to. Its cause is for the log alone.
type answer struct {
	status int
	says   string
	round  *webhook.Round
	cause  error
	after  time.Duration
}

// unknown is the answer to all who do not show that they may, whether there is such a suite or not.
func unknown(lacks string, cause error) *answer {
	return &answer{status: http.StatusUnauthorized, says: "no such webhook, or the request " + lacks, cause: cause}
}

// handler answers a request for a suite when its turn has come.
type handler func(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey) *answer

// answering answers requests, each in its turn.
func (s *Server) answering(handle handler) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		ctx, cancel := context.WithTimeout(q.Context(), answerDeadline)
		defer cancel()
		name := client.ObjectKey{Namespace: q.PathValue("namespace"), Name: q.PathValue("name")}
		a := crowded(nil)
		select {
		case s.places <- struct{}{}:
			defer func() { <-s.places }()
			a = s.await(ctx, w, q, name, handle)
		default: // Whoever waits is held in memory, whoever it is.
		}
		told := log.Log.WithName("webhook").WithValues("suite", name, "status", a.status)
		if a.cause != nil {
			told = told.WithValues("reason", a.cause.Error())
		}
		told.Info("Answered a request")
		a.write(w)
	}
}

// write writes the answer.
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

// crowded is the answer to one request too many at the same time.
func crowded(cause error) *answer {
	return &answer{status: http.StatusServiceUnavailable, says: "too many requests at once: try again", cause: cause}
}

// await answers a request when its turn comes.
func (s *Server) await(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey, handle handler) *answer {
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return crowded(ctx.Err())
	}
	// The time to send a body begins with the turn, or whoever waited for one would have none left. It is the connection's, and so not that of s.Now. A
	// recorder of tests has no deadline.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyDeadline))
	return handle(ctx, w, q, name)
}

// read reads the body of a request, unless it is too large or does not come.
func read(w http.ResponseWriter, q *http.Request) ([]byte, *answer) {
	tooLarge := &answer{status: http.StatusRequestEntityTooLarge, says: fmt.Sprintf("the body exceeds the limit of %d bytes", webhook.MaxBody)}
	if q.ContentLength > webhook.MaxBody {
		return nil, tooLarge // Whoever expects to be told to go on need not send it.
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

// unrecorded is the answer where the API server is away, or others have come before.
func unrecorded(err error) *answer {
	return &answer{status: http.StatusServiceUnavailable, says: "the request cannot be recorded now: try again", cause: err}
}

// trigger reads the body of a request that holds, and asks its suite for a round.
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

// ask asks a suite for a round: the request is written down unless it was before. One that a conflict has made ask again was admitted already.
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

// taken tells of a request that was written down on a suite.
func taken(of *v1alpha1.BenchmarkSuite) string {
	if of.Spec.Suspend != nil && *of.Spec.Suspend {
		return "round requested; the suite is suspended (spec.suspend)"
	}
	return "round requested"
}

// record writes the newest request down on its suite.
func (s *Server) record(ctx context.Context, of *v1alpha1.BenchmarkSuite, newest webhook.Request) error {
	after := of.DeepCopy()
	metav1.SetMetaDataAnnotation(&after.ObjectMeta, v1alpha1.AnnotationWebhook, newest.Text())
	if err := s.Client.Patch(ctx, after, client.MergeFromWithOptions(of, client.MergeFromWithOptimisticLock{}), client.FieldOwner(owner)); err != nil {
		return fmt.Errorf("annotating BenchmarkSuite %s: %w", client.ObjectKeyFromObject(of), err)
	}
	return nil
}

// picked are the values that the body of a request gives to a suite, or why the suite does not take them.
func picked(of *v1alpha1.BenchmarkSuite, body []byte, now time.Time) ([]v1alpha1.ParameterValue, *answer) {
	values, err := webhook.Pick(of.Spec.Triggers.Webhook, body)
	if err != nil {
		return nil, &answer{status: http.StatusUnprocessableEntity, says: err.Error()}
	}
	return values, checked(of, values, now)
}

// checked is why a suite does not take values; nil if it does.
func checked(of *v1alpha1.BenchmarkSuite, values []v1alpha1.ParameterValue, now time.Time) *answer {
	if _, faults := suite.Check(of, values, now); len(faults) > 0 {
		return &answer{status: http.StatusUnprocessableEntity, says: faults[0].Message}
	}
	return nil
}

// keys are what the Secret of a webhook holds: the key by which requests are signed, and the token that those show who ask; empty if it holds none.
type keys struct{ key, token []byte }

// shown returns a suite with a webhook to those who show that they may. To others the answer says what their request lacks.
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

// known returns a suite with a webhook, and what its Secret holds. A key that lies where the token does is no token: it is not to be sent.
func (s *Server) known(ctx context.Context, name client.ObjectKey) (*v1alpha1.BenchmarkSuite, keys, error) {
	missing := apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("benchmarksuites").GroupResource(), name.Name)
	if len(content.IsPathSegmentName(name.Namespace))+len(content.IsPathSegmentName(name.Name)) > 0 {
		return nil, keys{}, missing
	}
	of := &v1alpha1.BenchmarkSuite{}
	if err := s.Client.Get(ctx, name, of); err != nil {
		return nil, keys{}, fmt.Errorf("reading BenchmarkSuite %s: %w", name, err)
	}
	ref := of.Spec.Triggers.Webhook.SecretRef
	if ref.Name == "" {
		return nil, keys{}, missing
	}
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

// round answers who shows the token of a suite: with what the request of this body has come to, or, if the suite does not know of it, by writing it
// down. Nobody else's body is read. A conflict is no matter: they ask again.
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

// begin writes a request down that the suite does not know of.
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
	// burst is how many requests of a suite are taken at once, and every how often another is: a round takes minutes, and only the newest counts.
	burst = 10
	every = 10 * time.Second
	// askBurst and askEvery are the same of those who ask what a request has come to, as each of many canaries does twice a minute.
	askBurst = 60
	askEvery = time.Second
)

// limits count the requests of each suite that were signed with its key, or show its token: nobody else can use them up, or make them grow.
type limits struct {
	burst   int
	every   time.Duration
	mu      sync.Mutex
	bySuite map[client.ObjectKey]*rate.Limiter
}

func newLimits(burst int, every time.Duration) *limits {
	return &limits{burst: burst, every: every, bySuite: map[client.ObjectKey]*rate.Limiter{}}
}

// refuse takes a request of a suite, or answers that there were too many.
func (l *limits) refuse(name client.ObjectKey, now time.Time) *answer {
	wait := l.wait(name, now)
	if wait == 0 {
		return nil
	}
	return &answer{status: http.StatusTooManyRequests, says: "too many requests for the suite: try again later", after: wait}
}

// wait takes a request of a suite; if there were too many, it returns when another is taken.
func (l *limits) wait(name client.ObjectKey, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bySuite[name] == nil {
		l.bySuite[name] = rate.NewLimiter(rate.Every(l.every), l.burst)
	}
	r := l.bySuite[name].ReserveN(now, 1)
	delay := r.DelayFrom(now)
	if delay > 0 {
		r.CancelAt(now)
	}
	return delay
}
