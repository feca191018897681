package artifact

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"loadstone.dev/loadstone/internal/store/certs"
)

// Environment variables for a service account's role: the token file for an STS, and a cluster agent's address. Without them the node's
// metadata service is used.
const (
	TokenFileVariable = "AWS_WEB_IDENTITY_TOKEN_FILE"
	agentVariable     = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
)

// roleDeadline bounds getting credentials: an operation's context may have no deadline.
const roleDeadline = 15 * time.Second

func (c Config) opener() (*credentials.Credentials, error) {
	if !c.ByRole || c.AccessKey != "" {
		return credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.SessionToken), nil
	}
	// A separate transport: guards and counters of store requests do not apply.
	way, err := transport(c, nil)
	if err != nil {
		return nil, err
	}
	heard := &listener{way: way}
	iam := credentials.IAM{Client: &http.Client{Transport: heard}, Endpoint: c.STS, Region: c.Region}
	return credentials.New(&role{IAM: iam, heard: heard}), nil
}

// listener keeps the last answer's status, which the client's errors lack.
type listener struct {
	way    http.RoundTripper
	status atomic.Int32
}

func (l *listener) RoundTrip(q *http.Request) (*http.Response, error) {
	l.status.Store(0)
	answer, err := l.way.RoundTrip(q)
	if err == nil {
		l.status.Store(int32(answer.StatusCode)) //nolint:gosec // It has three digits.
	}
	return answer, err
}

type role struct {
	credentials.IAM
	heard *listener
}

// RetrieveWithCredContext implements credentials.Provider. Its errors are of type roleError.
func (r *role) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	var bounded credentials.CredContext
	if cc != nil {
		bounded = *cc
	}
	if bounded.Context == nil {
		bounded.Context = context.Background()
	}
	ctx, cancel := context.WithTimeout(bounded.Context, roleDeadline)
	defer cancel()
	bounded.Context = ctx
	r.heard.status.Store(0)
	v, err := r.IAM.RetrieveWithCredContext(&bounded)
	if err != nil {
		return v, roleError{giver: r.giver(), status: int(r.heard.status.Load()), cause: err}
	}
	return v, nil
}

// Retrieve implements credentials.Provider.
func (r *role) Retrieve() (credentials.Value, error) { return r.RetrieveWithCredContext(nil) }

func (r *role) giver() string {
	switch {
	case os.Getenv(TokenFileVariable) != "":
		return fmt.Sprintf("the STS that is shown the token in %s for the role %q", os.Getenv(TokenFileVariable), os.Getenv("AWS_ROLE_ARN"))
	case os.Getenv(agentVariable) != "":
		return "the agent at " + os.Getenv(agentVariable)
	default:
		return "the metadata of its node, since the operator's environment has neither " + TokenFileVariable + " nor " + agentVariable
	}
}

type roleError struct {
	giver  string
	status int
	cause  error
}

func (e roleError) Error() string {
	if e.status >= http.StatusInternalServerError {
		return fmt.Sprintf("%s: status %d: %s", e.giver, e.status, rootCause(e.cause))
	}
	return e.giver + ": " + rootCause(e.cause)
}

// busy reports whether the source itself failed or limits requests.
func (e roleError) busy() bool {
	if said := (credentials.ErrorResponse{}); errors.As(e.cause, &said) && strings.HasPrefix(said.STSError.Code, "Throttling") {
		return true
	}
	return e.status >= http.StatusInternalServerError || e.status == http.StatusTooManyRequests
}

var insecure = map[error]error{
	certs.ErrUntrusted: errors.New("no trusted authority signed the certificate of the object store's STS: name a bundle that has its authority (chart value s3.caBundle, with s3.tls)"),
	certs.ErrExpired:   errors.New("the certificate of the STS that gives the credentials for the object store has expired or is not valid yet: renew it, or correct the clock"),
	certs.ErrOtherName: errors.New("the certificate of the STS that gives the credentials for the object store is for another name: correct the address (chart value s3.stsEndpoint) or the certificate"),
	certs.ErrNoTLS:     errors.New("the STS that gives the credentials for the object store does not speak TLS: correct its address (chart value s3.stsEndpoint)"),
}

// explained adds a remedy: the error may need a correction, or pass by itself.
func (e roleError) explained() error {
	if reason := certs.Explain(e.cause); reason != nil {
		return fmt.Errorf("%w: %w", insecure[reason], e)
	}
	kind := ErrNoRole
	if e.busy() {
		kind = ErrRoleAway
	}
	if away := (*url.Error)(nil); errors.As(e.cause, &away) && os.Getenv(TokenFileVariable)+os.Getenv(agentVariable) != "" {
		kind = ErrRoleAway
	}
	return fmt.Errorf("%w: %w", kind, e)
}

// refusal is an ErrDenied with another remedy, for a store whose credentials are not in a Secret.
type refusal string

// deniedByRole: the store refuses its role.
const deniedByRole refusal = "the object store refuses the role: let the role get, put and list the objects of the bucket"

// ErrOwnKeyDenied: the store refuses the user's own credentials, while the operator uses a role. It is also an ErrDenied.
const ErrOwnKeyDenied refusal = "the object store refuses your own access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, " +
	"to one that may get and list the objects of the bucket, and put them where you store something"

func (r refusal) Error() string { return string(r) }

// Is makes it an ErrDenied for callers.
func (refusal) Is(target error) bool { return target == ErrDenied }
