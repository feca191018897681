package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/serve"
	"loadstone.dev/loadstone/internal/suite"
	"loadstone.dev/loadstone/internal/webhook"
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

// Server takes requests to the webhooks of suites:
//
//	POST /v1/namespaces/NAMESPACE/benchmarksuites/NAME/trigger
//
// 202 is a request that was written down on its suite, and 200 one that was before. 401 is all that is not signed with the key of a webhook: it says
// the same of a suite that there is not. 413 is too large a body, 422 one whose values the suite does not take, 429 one request too many, and 503 an
// API server that is away.
type Server struct {
	// Client has the rights that the namespaces of suites give it, and no cache.
	Client client.Client
	Addr   string
	Now    func() time.Time

	// turns are of those that are answered, and places of those that wait for a turn, too.
	turns, places chan struct{}
	limits        limits
}

// Start serves until the process ends.
func (s *Server) Start(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("listening for requests to webhooks: %w", err)
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
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/namespaces/{namespace}/benchmarksuites/{name}/trigger", s.trigger)
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	return mux
}

// answer is a status, and a sentence for whoever asks. Its cause is for the log alone.
type answer struct {
	status int
	says   string
	cause  error
	after  time.Duration
}

// unknown is the answer to all that no suite's key has signed, whether there is such a suite or not.
func unknown(cause error) *answer {
	return &answer{status: http.StatusUnauthorized, says: "there is no such webhook, or the request is not signed with its key", cause: cause}
}

// trigger answers one request.
func (s *Server) trigger(w http.ResponseWriter, q *http.Request) {
	ctx, cancel := context.WithTimeout(q.Context(), answerDeadline)
	defer cancel()
	name := client.ObjectKey{Namespace: q.PathValue("namespace"), Name: q.PathValue("name")}
	signed := webhook.Signed{Timestamp: q.Header.Get(webhook.TimeHeader), Signature: q.Header.Get(webhook.SignatureHeader)}
	a := crowded(nil)
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
		a = s.await(ctx, w, q, name, signed)
	default: // Whoever waits is held in memory, whoever it is.
	}
	told := log.Log.WithName("webhook").WithValues("suite", name, "status", a.status)
	if a.cause != nil {
		told = told.WithValues("reason", a.cause.Error())
	}
	told.Info("Answering a request")
	switch {
	case a.after > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(a.after.Seconds()))))
	case a.status == http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
	}
	http.Error(w, a.says, a.status)
}

// crowded is the answer to one request too many at the same time.
func crowded(cause error) *answer {
	return &answer{status: http.StatusServiceUnavailable, says: "too many requests at once: try again", cause: cause}
}

// await answers a request when its turn comes.
func (s *Server) await(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey, signed webhook.Signed) *answer {
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		return crowded(ctx.Err())
	}
	// The time to send a body begins with the turn, or whoever waited for one would have none left. A recorder of tests has no deadline.
	_ = http.NewResponseController(w).SetReadDeadline(s.Now().Add(bodyDeadline))
	return s.read(ctx, w, q, name, signed)
}

// read reads the body of a request that holds, and asks its suite for a round.
func (s *Server) read(ctx context.Context, w http.ResponseWriter, q *http.Request, name client.ObjectKey, signed webhook.Signed) *answer {
	expires, err := signed.Expires(s.Now())
	if err != nil {
		return &answer{status: http.StatusUnauthorized, says: err.Error()}
	}
	tooLarge := &answer{status: http.StatusRequestEntityTooLarge, says: fmt.Sprintf("the body is larger than the %d bytes that it may have", webhook.MaxBody)}
	if q.ContentLength > webhook.MaxBody {
		return tooLarge // Whoever expects to be told to go on need not send it.
	}
	signed.Body, err = io.ReadAll(http.MaxBytesReader(w, q.Body, webhook.MaxBody))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return tooLarge
	}
	if err != nil {
		return &answer{status: http.StatusBadRequest, says: "the body has not come as a whole: send it again", cause: err}
	}
	var a *answer
	admitted := false
	err = retry.RetryOnConflict(conflicts, func() (err error) {
		a, err = s.ask(ctx, name, signed, expires, &admitted)
		return err
	})
	if err != nil {
		return &answer{status: http.StatusServiceUnavailable, says: "the request cannot be recorded now: try again", cause: err}
	}
	return a
}

// ask asks a suite for a round: the request is written down unless it was before. One that a conflict has made ask again was admitted already.
func (s *Server) ask(ctx context.Context, name client.ObjectKey, signed webhook.Signed, expires time.Time, admitted *bool) (*answer, error) {
	of, key, err := s.known(ctx, name)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return unknown(err), nil
	}
	if err != nil {
		return nil, err
	}
	if !signed.SignedBy(key) {
		return unknown(nil), nil
	}
	before, now := webhook.Read(of.Annotations[v1alpha1.AnnotationWebhook]), s.Now()
	if before.Has(signed.ID()) {
		return &answer{status: http.StatusOK, says: "the request was taken before, and starts no second round"}, nil
	}
	if !*admitted {
		if wait := s.limits.wait(name, now); wait > 0 {
			return &answer{status: http.StatusTooManyRequests, says: "the suite has had too many requests: try again later", after: wait}, nil
		}
		*admitted = true
	}
	values, refused := picked(of, signed.Body, now)
	if refused != nil {
		return refused, nil
	}
	after := of.DeepCopy()
	metav1.SetMetaDataAnnotation(&after.ObjectMeta, v1alpha1.AnnotationWebhook, before.Then(signed.ID(), values, expires, now).Text())
	if err := s.Client.Patch(ctx, after, client.MergeFromWithOptions(of, client.MergeFromWithOptimisticLock{}), client.FieldOwner(owner)); err != nil {
		return nil, fmt.Errorf("annotating BenchmarkSuite %s: %w", name, err)
	}
	says := "a round is asked for"
	if of.Spec.Suspend != nil && *of.Spec.Suspend {
		says += ", and waits until spec.suspend is false"
	}
	return &answer{status: http.StatusAccepted, says: says}, nil
}

// picked are the values that the body of a request gives to a suite, or why the suite does not take them.
func picked(of *v1alpha1.BenchmarkSuite, body []byte, now time.Time) ([]v1alpha1.ParameterValue, *answer) {
	values, err := webhook.Pick(of.Spec.Triggers.Webhook, body)
	if err != nil {
		return nil, &answer{status: http.StatusUnprocessableEntity, says: err.Error()}
	}
	if _, faults := suite.Check(of, values, now); len(faults) > 0 {
		return nil, &answer{status: http.StatusUnprocessableEntity, says: faults[0].Message}
	}
	return values, nil
}

// known returns a suite with a webhook, and the key with which requests to it are signed.
func (s *Server) known(ctx context.Context, name client.ObjectKey) (*v1alpha1.BenchmarkSuite, []byte, error) {
	missing := apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("benchmarksuites").GroupResource(), name.Name)
	if len(path.IsValidPathSegmentName(name.Namespace))+len(path.IsValidPathSegmentName(name.Name)) > 0 {
		return nil, nil, missing
	}
	of := &v1alpha1.BenchmarkSuite{}
	if err := s.Client.Get(ctx, name, of); err != nil {
		return nil, nil, fmt.Errorf("reading BenchmarkSuite %s: %w", name, err)
	}
	ref := of.Spec.Triggers.Webhook.SecretRef
	if ref.Name == "" {
		return nil, nil, missing
	}
	var secret corev1.Secret
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: name.Namespace, Name: ref.Name}, &secret); err != nil {
		return nil, nil, fmt.Errorf("reading the key of BenchmarkSuite %s: %w", name, err)
	}
	return of, secret.Data[ref.Key], nil
}
