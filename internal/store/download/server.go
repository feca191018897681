package download

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/base/serve"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
)

const (
	// answerDeadline bounds an answer, including the wait for its turn.
	answerDeadline = 2 * time.Minute
	// atOnce bounds simultaneous reads: the operator has other work. eachAtOnce bounds those of one namespace's runs.
	atOnce, eachAtOnce = 8, 2
	// slowest is the lowest rate of a client that reads a file, in bytes a second, after a start of slowStart.
	slowest, slowStart = 256 << 10, 10 * time.Second
	// retryAfter is in seconds.
	retryAfter = "5"
	// maxHeader bounds a request's headers: the API server's proxy passes on those of the client.
	maxHeader = 64 << 10
)

// Shelf is the store of the files.
type Shelf interface {
	Stream(ctx context.Context, key string) (io.ReadCloser, int64, error)
}

// Server serves files:
//
//	GET /v1/namespaces/NAMESPACE/benchmarkruns/NAME/FILE   Loadstone-Authorization: Loadstone-HMAC-SHA256 TIME SIGNATURE
//	GET /v1/namespaces/NAMESPACE                           whether its runs are led
//
// FILE is a key below the run's prefix in the store. The signature is made with the run's download key, which its status shows to everyone who
// may get it. 401: no signature, or an old one. 403: another run's signature, or no such run. 404: no such file. 421: the namespace's runs are
// not led. 502: not a Loadstone file. 503: store or API server unavailable.
type Server struct {
	Runs client.Reader
	// Key is the operator's. Download keys are derived from it.
	Key ed25519.PrivateKey
	// Leads reports whether a namespace's runs are led; Runs knows no others. Nil means all.
	Leads func(namespace string) bool
	Shelf Shelf
	Addr  string

	turns *serve.Turns
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: reading needs no leadership.
func (s *Server) NeedLeaderElection() bool { return false }

// Start serves until the operator ends.
func (s *Server) Start(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return fmt.Errorf("listening for those who read reports: %w", err)
	}
	return s.serve(ctx, l)
}

func (s *Server) serve(ctx context.Context, l net.Listener) error {
	encrypted, err := ownCertificate(time.Now())
	if err != nil {
		return errors.Join(err, l.Close())
	}
	h := &http.Server{
		Handler: s.handler(), TLSConfig: encrypted, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: 10 * time.Second, WriteTimeout: answerDeadline + 10*time.Second, IdleTimeout: time.Minute,
	}
	return serve.Until(ctx, h, "reports", func() error { return h.ServeTLS(l, "", "") })
}

func (s *Server) handler() http.Handler {
	s.turns = serve.NewTurns(atOnce, eachAtOnce)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+route, s.file)
	mux.HandleFunc("GET "+namespaces+"{namespace}", s.namespace)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Server", answers)
		mux.ServeHTTP(w, q)
	})
}

func (s *Server) namespace(w http.ResponseWriter, q *http.Request) {
	key := client.ObjectKey{Namespace: q.PathValue("namespace")}
	if r := s.led(key.Namespace); r != nil {
		refuse(w, key, r)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) led(namespace string) *refusal {
	if s.Leads == nil || s.Leads(namespace) {
		return nil
	}
	return &refusal{http.StatusMisdirectedRequest, fmt.Sprintf("the operator ignores runs in namespace %s: add it to the chart value runs.namespaces, or use another namespace", namespace), nil}
}

type refusal struct {
	status int
	says   string
	cause  error
}

func (s *Server) file(w http.ResponseWriter, q *http.Request) {
	ctx, cancel := context.WithTimeout(q.Context(), answerDeadline)
	defer cancel()
	key := client.ObjectKey{Namespace: q.PathValue("namespace"), Name: q.PathValue("name")}
	run, r := s.authorize(ctx, q.Header.Get(AuthorizationHeader), key, q.PathValue("file"))
	if r != nil {
		refuse(w, key, r)
		return
	}
	done, err := s.turns.Take(ctx, key.Namespace)
	if err != nil {
		refuse(w, key, crowded(err))
		return
	}
	defer done()
	body, size, r := s.open(ctx, run, q.PathValue("file"))
	if r != nil {
		refuse(w, key, r)
		return
	}
	defer body.Close()
	// The API server's proxy rewrites HTML, and browsers must not take a report for the API server's page.
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	// A client that reads slowly must not keep its turn. A recorder of tests has no deadline.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeFor(size)))
	if _, err := io.CopyN(w, body, size); err != nil {
		log.Log.WithName("handout").Info("A file was handed out in part", "run", key, "reason", err.Error())
		panic(http.ErrAbortHandler) // Only a broken connection tells the client that the rest is missing.
	}
}

func timeFor(size int64) time.Duration {
	return min(slowStart+time.Duration(size/slowest)*time.Second, answerDeadline)
}

func crowded(cause error) *refusal {
	return &refusal{http.StatusServiceUnavailable, "too many requests at once: try again", cause}
}

// authorize returns the run that a request's signature is for.
func (s *Server) authorize(ctx context.Context, authorization string, key client.ObjectKey, file string) (*v1alpha1.BenchmarkRun, *refusal) {
	at, signature, err := parse(authorization)
	if err != nil {
		return nil, &refusal{http.StatusUnauthorized, "the request has no valid signature: use loadstone of the operator's version", err}
	}
	if now := time.Now(); at.Before(now.Add(-signatureAge)) || at.After(now.Add(signatureAge)) {
		says := fmt.Sprintf("the request is of %s, and the operator's clock shows %s: set the clock of your machine", at.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
		return nil, &refusal{http.StatusUnauthorized, says, nil}
	}
	if r := s.led(key.Namespace); r != nil {
		return nil, r
	}
	var r v1alpha1.BenchmarkRun
	if err := s.Runs.Get(ctx, key, &r); client.IgnoreNotFound(err) != nil {
		return nil, away(err)
	} else if err != nil || !hmac.Equal(signature, sign(RunKey(s.Key, r.UID), key.Namespace, key.Name, file, at)) {
		// Both have one answer, which does not reveal whether the run exists.
		return nil, &refusal{http.StatusForbidden, fmt.Sprintf("BenchmarkRun %s does not exist, or its download key has changed: read the run again", key), err}
	}
	return &r, nil
}

func (s *Server) open(ctx context.Context, r *v1alpha1.BenchmarkRun, file string) (io.ReadCloser, int64, *refusal) {
	missing := &refusal{http.StatusNotFound, fmt.Sprintf("BenchmarkRun %s/%s has no such file", r.Namespace, r.Name), nil}
	key, ok := keyOf(r, file)
	if !ok {
		return nil, 0, missing
	}
	body, size, err := s.Shelf.Stream(ctx, key)
	switch {
	case errors.Is(err, artifact.ErrNotFound):
		return nil, 0, missing
	case err != nil:
		return nil, 0, &refusal{http.StatusServiceUnavailable, "the operator cannot read the object store: try again", err}
	case size > artifact.MaxObject:
		return nil, 0, &refusal{http.StatusBadGateway, fmt.Sprintf("the file is larger than the %d bytes that a file of Loadstone's may have", artifact.MaxObject), body.Close()}
	}
	return body, size, nil
}

// away is the answer if the API server is unavailable.
func away(err error) *refusal {
	return &refusal{http.StatusServiceUnavailable, "the operator cannot reach the API server: try again", err}
}

func refuse(w http.ResponseWriter, run client.ObjectKey, r *refusal) {
	told := log.Log.WithName("handout").WithValues("run", run, "status", r.status)
	if r.cause != nil {
		told = told.WithValues("reason", r.cause.Error())
	}
	told.Info("Handing out no file")
	if r.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	http.Error(w, r.says, r.status)
}

// ownCertificate is self-signed, since the API server's proxy verifies none: it protects files on the cluster's network.
func ownCertificate(now time.Time) (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("drawing a key for TLS: %w", err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: answers}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate for TLS: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}}, nil
}

const (
	// proxied is the operator's Service and port for the API server's proxy. The right to it only allows asking.
	proxied = "https:loadstone:handout"
	// AuthorizationHeader carries the signature: the API server removes Authorization from proxied requests.
	AuthorizationHeader = "Loadstone-Authorization"
	// answers in the header Server distinguishes the operator's answers from the API server's.
	answers = "loadstone"
)

const (
	namespaces = "/v1/namespaces/"
	route      = namespaces + "{namespace}/benchmarkruns/{name}/{file...}"
)

func address(base *url.URL, namespace, name, file string) *url.URL {
	return base.JoinPath("v1/namespaces", url.PathEscape(namespace), "benchmarkruns", url.PathEscape(name), (&url.URL{Path: file}).EscapedPath())
}

// PrefixOf returns a run's prefix in the store, which includes its namespace, name and UID.
func PrefixOf(r *v1alpha1.BenchmarkRun) string {
	return artifact.RunPrefix(r.Spec.Artifacts.Prefix, record.Run{Namespace: r.Namespace, Name: r.Name, UID: string(r.UID)})
}

func keyOf(r *v1alpha1.BenchmarkRun, file string) (key string, ok bool) {
	if r.UID == "" || file == "." || !fs.ValidPath(file) {
		return "", false
	}
	return path.Join(PrefixOf(r), file), true
}
