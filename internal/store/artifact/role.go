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

// The variables of the operator's environment by which a cluster gives the role of a service account: the file of a token that is shown to an STS, and
// the address of an agent of the cluster. Without them the metadata of the node are asked.
const (
	TokenFileVariable = "AWS_WEB_IDENTITY_TOKEN_FILE"
	agentVariable     = "AWS_CONTAINER_CREDENTIALS_FULL_URI"
)

// roleDeadline bounds how long credentials may take to come. An operation may wait for them without a deadline of its own.
const roleDeadline = 15 * time.Second

// opener is where the credentials come from by which a store is opened.
func (c Config) opener() (*credentials.Credentials, error) {
	if !c.ByRole || c.AccessKey != "" {
		return credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.SessionToken), nil
	}
	// A way of its own: what guards and counts requests to the store has nothing to do with these.
	way, err := transport(c, nil)
	if err != nil {
		return nil, err
	}
	heard := &listener{way: way}
	iam := credentials.IAM{Client: &http.Client{Transport: heard}, Endpoint: c.STS, Region: c.Region}
	return credentials.New(&role{IAM: iam, heard: heard}), nil
}

// listener keeps the status of the last answer, which errors of the client do not tell.
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

// role gives credentials by the role of the operator's service account, and new ones before they expire.
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

// giver is who was asked for credentials, for people.
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

// roleError says that no credentials were given.
type roleError struct {
	giver string
	// status is that of the answer; 0 without one.
	status int
	cause  error
}

func (e roleError) Error() string {
	if e.status >= http.StatusInternalServerError {
		return fmt.Sprintf("%s: status %d: %s", e.giver, e.status, rootCause(e.cause))
	}
	return e.giver + ": " + rootCause(e.cause)
}

// busy reports whether who was asked gave no credentials for a trouble of its own, or for too many questions.
func (e roleError) busy() bool {
	if said := (credentials.ErrorResponse{}); errors.As(e.cause, &said) && strings.HasPrefix(said.STSError.Code, "Throttling") {
		return true
	}
	return e.status >= http.StatusInternalServerError || e.status == http.StatusTooManyRequests
}

// insecure says of who gives credentials what package certs says of the object store.
var insecure = map[error]error{
	certs.ErrUntrusted: errors.New("the certificate of the STS that gives the credentials for the object store is signed by an authority that is not trusted: name a bundle that has it (chart value s3.caBundle, with s3.tls)"),
	certs.ErrExpired:   errors.New("the certificate of the STS that gives the credentials for the object store has expired or is not valid yet: renew it, or correct the clock"),
	certs.ErrOtherName: errors.New("the certificate of the STS that gives the credentials for the object store is for another name: correct the address (chart value s3.stsEndpoint) or the certificate"),
	certs.ErrNoTLS:     errors.New("the STS that gives the credentials for the object store does not speak TLS: correct its address (chart value s3.stsEndpoint)"),
}

// explained is the error with its way out: one that somebody must mend, or one that may end by itself.
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

// refusal is ErrDenied of a store of whose key no Secret of the cluster knows, with another way out.
type refusal string

// deniedByRole is the refusal of a store that is opened by role.
const deniedByRole refusal = "the object store refuses the role by which it is opened: let the role get, put and list the objects of the bucket"

// ErrOwnKeyDenied is the refusal of a store that the operator opens by role, and a command by a key of the user's own. It is ErrDenied, too.
const ErrOwnKeyDenied refusal = "the object store refuses your own access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, " +
	"to one that may get and list the objects of the bucket, and put them where you store something"

func (r refusal) Error() string { return string(r) }

// Is makes it the error of which callers know what it means.
func (refusal) Is(target error) bool { return target == ErrDenied }
