package artifact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/certs"
)

// Config names the object store.
type Config struct {
	// Endpoint is host:port, as the operator and the measured pods reach it.
	Endpoint string
	Bucket   string
	Region   string
	Secure   bool
	// CAFile is where the operator finds the certificates in CA; it is empty if the public authorities suffice.
	CAFile string
	// CA holds certificates of private authorities in PEM, which are trusted besides the public ones.
	CA string
	// AccessKey and SecretKey are a key pair, with a SessionToken if it is a temporary one.
	AccessKey    string
	SecretKey    string
	SessionToken string
	// ByRole says that the store is opened by the role of the operator's service account, where no key pair is given.
	ByRole bool
	// STS is the URL of who gives credentials for the token of a service account; empty is Amazon's of the region.
	STS string
}

// The variables of the operator's environment that hold the store's key.
const (
	AccessKeyVariable = "S3_ACCESS_KEY"
	SecretKeyVariable = "S3_SECRET_KEY"
)

// AddFlags makes the flags of the operator that say where its store is, with their defaults. A program that reads the operator's arguments reads
// them by these.
func (c *Config) AddFlags(f *flag.FlagSet) {
	f.StringVar(&c.Endpoint, "s3-endpoint", "", "host:port of the object store, as the operator and the measured pods reach it")
	f.StringVar(&c.Bucket, "s3-bucket", "loadstone", "the bucket; it must exist")
	f.StringVar(&c.Region, "s3-region", "us-east-1", "the object store's region")
	f.BoolVar(&c.Secure, "s3-tls", false, "use TLS for the object store")
	f.BoolVar(&c.ByRole, "s3-by-role", false, "open the object store by the role of the operator's service account and not by a key")
	f.StringVar(&c.STS, "s3-sts-endpoint", "", "the URL of the STS that gives credentials for the service account's token; empty is Amazon's of the region")
	f.StringVar(&c.CAFile, "s3-ca-file", "", "a PEM file of authorities that sign the object store's certificate, besides the public ones")
}

// Store is a bucket.
type Store struct {
	client *minio.Client
	bucket string
	// opener gives the credentials of each request, and denied is what it means that the store refuses them.
	opener *credentials.Credentials
	denied error
}

const (
	// putDeadline bounds every write, retries included.
	putDeadline = 60 * time.Second
	// getDeadline bounds every read, retries included.
	getDeadline = 60 * time.Second
	// MaxObject bounds what is read into memory: manifests and records are far smaller.
	MaxObject = 256 << 20
)

// Open makes a Store; it does not connect yet.
func Open(c Config) (*Store, error) { return OpenThrough(c, nil) }

// OpenThrough makes a Store whose connections take a way of their own, such as a forwarded port; nil means the usual one.
func OpenThrough(c Config, dial Dial) (*Store, error) {
	way, err := transport(c, dial)
	if err != nil {
		return nil, err
	}
	return open(c, way)
}

// OpenBehind makes a Store whose requests go through a guard, which may refuse them.
func OpenBehind(c Config, guard func(http.RoundTripper) http.RoundTripper) (*Store, error) {
	way, err := transport(c, nil)
	if err != nil {
		return nil, err
	}
	return open(c, guard(way))
}

func open(c Config, way http.RoundTripper) (*Store, error) {
	opener, err := c.opener()
	if err != nil {
		return nil, err
	}
	// The region is given, so that the first call need not ask the store for it.
	client, err := minio.New(c.Endpoint, &minio.Options{
		Creds:  opener,
		Secure: c.Secure, Region: c.Region, BucketLookup: minio.BucketLookupAuto, MaxRetries: 5, Transport: way,
	})
	if err != nil {
		return nil, fmt.Errorf("configuring the object store at %q: %w", c.Endpoint, err)
	}
	s := &Store{client: client, bucket: c.Bucket, opener: opener, denied: ErrDenied}
	switch {
	case c.ByRole && c.AccessKey == "":
		s.denied = deniedByRole
	case c.ByRole:
		s.denied = ErrOwnKeyDenied
	}
	return s, nil
}

// Dial makes a connection.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// transport is the usual one with the authorities that the store's certificate is checked by, and a way of its own.
func transport(c Config, dial Dial) (http.RoundTripper, error) {
	t, err := minio.DefaultTransport(c.Secure)
	if err != nil {
		return nil, fmt.Errorf("preparing connections to the object store: %w", err)
	}
	if dial != nil {
		t.DialContext, t.Proxy = dial, nil
	}
	trusted, err := certs.TLS(c.CA)
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authorities of the object store (chart value s3.caBundle): %w", err)
	}
	if trusted != nil && c.Secure {
		t.TLSClientConfig = trusted
	}
	return t, nil
}

// URI is an object's address for people, such as s3://bucket/key. It holds no credentials.
func (s *Store) URI(key string) string { return "s3://" + s.bucket + "/" + key }

// Put writes an object once. Written again with the same content it succeeds; with another content it is ErrExists.
func (s *Store) Put(ctx context.Context, key, contentType string, body []byte) (record.Artifact, error) {
	a := describe(key, body)
	written, err := s.putNew(ctx, key, contentType, body)
	if err != nil || written {
		return a, err
	}
	// It is read, since a bucket that somebody has copied from another store may tell no digests.
	there, err := s.Find(ctx, key)
	if err == nil && there != a {
		err = otherContent(s.URI(key), there, a)
	}
	return a, err
}

// CheckWriteOnce checks that the store refuses to write an object that is there already, with the body that it has: a store that ignores the condition
// would overwrite it.
func (s *Store) CheckWriteOnce(ctx context.Context, key, contentType string, body []byte) error {
	written, err := s.putNew(ctx, key, contentType, body)
	if err == nil && written {
		return fmt.Errorf("writing %s again: %w", s.URI(key), ErrOverwrites)
	}
	return err
}

// putNew writes an object, unless the store says that there is one already.
func (s *Store) putNew(ctx context.Context, key, contentType string, body []byte) (written bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, putDeadline)
	defer cancel()
	sum := sha256.Sum256(body)
	opts := minio.PutObjectOptions{
		ContentType: contentType, DisableMultipart: true, SendContentMd5: false,
		UserMetadata: map[string]string{checksumHeader: base64.StdEncoding.EncodeToString(sum[:])},
	}
	opts.SetMatchETagExcept("*")
	_, err = s.client.PutObject(ctx, s.bucket, key, bytes.NewReader(body), int64(len(body)), opts)
	switch {
	case err == nil:
		return true, nil
	case minio.ToErrorResponse(err).StatusCode == http.StatusPreconditionFailed:
		return false, nil
	default:
		return false, s.explain("writing", key, err)
	}
}

const checksumHeader = "X-Amz-Checksum-Sha256"

// Destination is a signed address to which one object can be written once, with exactly the content that was announced.
// The address is a bearer secret until it expires.
func (s *Store) Destination(ctx context.Context, key, sha string, expires time.Duration) (string, map[string]string, error) {
	raw, err := hex.DecodeString(sha)
	if err != nil || len(raw) != sha256.Size {
		return "", nil, fmt.Errorf("signing %s: %q is no SHA-256", key, sha)
	}
	headers := map[string]string{"If-None-Match": "*", checksumHeader: base64.StdEncoding.EncodeToString(raw)}
	h := http.Header{}
	for k, v := range headers {
		h.Set(k, v)
	}
	u, err := s.client.PresignHeader(ctx, http.MethodPut, s.bucket, key, expires, nil, h)
	if err != nil {
		return "", nil, s.explain("signing", key, err)
	}
	return u.String(), headers, nil
}

// Verify checks that an object is there with the size and SHA-256 that the artifact says.
func (s *Store) Verify(ctx context.Context, a record.Artifact) error {
	ctx, cancel := context.WithTimeout(ctx, getDeadline)
	defer cancel()
	info, err := s.client.StatObject(ctx, s.bucket, a.Key, minio.StatObjectOptions{Checksum: true})
	if err != nil {
		return s.explain("looking up", a.Key, err)
	}
	want, err := hex.DecodeString(a.SHA256)
	if err != nil {
		return fmt.Errorf("looking up %s: %q is no SHA-256", s.URI(a.Key), a.SHA256)
	}
	if info.ChecksumSHA256 == "" {
		return fmt.Errorf("looking up %s: %w", s.URI(a.Key), ErrNoDigests)
	}
	if info.Size != a.Bytes || info.ChecksumSHA256 != base64.StdEncoding.EncodeToString(want) {
		return fmt.Errorf("%w: %s holds %d bytes with SHA-256 %s (base64), not %d bytes with %s (hexadecimal)", ErrExists, s.URI(a.Key), info.Size, info.ChecksumSHA256, a.Bytes, a.SHA256)
	}
	return nil
}

// Find returns what lies under a key: its size and its SHA-256, as read.
func (s *Store) Find(ctx context.Context, key string) (record.Artifact, error) {
	body, err := s.Get(ctx, key, "")
	if err != nil {
		return record.Artifact{}, err
	}
	return describe(key, body), nil
}

// Get reads an object and, where sha is not empty, checks its SHA-256.
func (s *Store) Get(ctx context.Context, key, sha string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, getDeadline)
	defer cancel()
	obj, err := s.client.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, s.explain("reading", key, err)
	}
	defer obj.Close() //nolint:errcheck // A read-only object has nothing to lose on close.
	body, err := io.ReadAll(io.LimitReader(obj, MaxObject+1))
	if err != nil {
		return nil, s.explain("reading", key, err)
	}
	if len(body) > MaxObject {
		return nil, fmt.Errorf("reading %s: %w: it is larger than %d bytes", s.URI(key), ErrMalformed, MaxObject)
	}
	return body, CheckSum(s.URI(key), body, sha)
}

// Stream reads an object as it comes, with its size. The context bounds the reading, and whoever reads checks the digest.
func (s *Store) Stream(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	obj, err := s.client.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, 0, s.explain("reading", key, err)
	}
	info, err := obj.Stat()
	if err != nil {
		return nil, 0, errors.Join(s.explain("reading", key, err), obj.Close())
	}
	return obj, info.Size, nil
}

// Errors of a store, each with another way out.
var (
	// ErrExists says that a key already holds something else.
	ErrExists = errors.New("the key already holds another object")
	// ErrCorrupt says that an object is not what its manifest says.
	ErrCorrupt = errors.New("the object does not match its manifest")
	// ErrMalformed says that an object is no record of Loadstone's.
	ErrMalformed = errors.New("the object is not a record of Loadstone")
	// ErrSchema says that a record was written by another version, and can be read by no other.
	ErrSchema = errors.New("it was written by another version of Loadstone")
	// ErrNoBucket says that the bucket is not there.
	ErrNoBucket = errors.New("the bucket does not exist: create it, or set another one (chart value s3.bucket)")
	// ErrDenied says that the key pair is wrong or may not do this.
	ErrDenied = errors.New("the object store rejected the access key: correct the Secret that holds it (chart value s3.existingSecret), and restart the operator, which reads it only when it starts")
	// ErrLapsed says that the credentials were good for a while that is over. Those of a role are renewed, and so it may end by itself.
	ErrLapsed = errors.New("the credentials by which the object store is opened have expired: those of a role are renewed by themselves, and of temporary ones of yours new ones are needed (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN)")
	// ErrNoRole says that the operator's service account has no role, or one that is refused.
	ErrNoRole = errors.New("the role of the operator's service account gives no credentials for the object store: correct the role (chart values operator.serviceAccount.annotations and s3.stsEndpoint), or name a Secret with a key instead (chart values s3.byRole and s3.existingSecret)")
	// ErrRoleAway says that the giver of credentials does not answer, or is in trouble of its own.
	ErrRoleAway = errors.New("the giver of credentials for the object store does not answer, or is too busy to give any: check that it runs and, of an STS, its address (chart value s3.stsEndpoint)")
	// ErrNotFound says that there is no such object.
	ErrNotFound = errors.New("no such object")
	// ErrFull says that the store has no room left.
	ErrFull = errors.New("the object store is full: free space or raise its quota")
	// ErrNoDigests says that the store does not tell what it holds.
	ErrNoDigests = errors.New("the object store tells no SHA-256 of what it holds (x-amz-checksum-sha256 in the answer to a HEAD), without which nothing that is stored can be believed: use one that does, such as Amazon S3 or MinIO (chart value s3.endpoint)")
	// ErrOverwrites says that the store does not keep what it holds from being overwritten.
	ErrOverwrites = errors.New("the object store overwrites an object although the request forbids it (If-None-Match: *), so results could be lost: " +
		"use one that supports conditional writes, such as Amazon S3 or MinIO (chart value s3.endpoint)")
	// ErrNotWritable says that a folder of this machine cannot be written to.
	ErrNotWritable = errors.New("the folder cannot be written: choose another one, or change who may write to it")
	// ErrUnreachable says that the store does not answer.
	ErrUnreachable = errors.New("the object store cannot be reached: check its endpoint (chart value s3.endpoint) and that it runs")
)

// explain turns S3's errors into ours, so that callers can tell what to do next. It drops signed addresses.
func (s *Store) explain(doing, key string, err error) error {
	if refused := (roleError{}); errors.As(err, &refused) {
		return fmt.Errorf("%s %s: %w", doing, s.URI(key), refused.explained())
	}
	resp := minio.ToErrorResponse(err)
	if (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusForbidden) && !fromStore(resp) {
		return fmt.Errorf("%s %s: %w: what answered %d in its place is no object store, such as a proxy before it", doing, s.URI(key), ErrUnreachable, resp.StatusCode)
	}
	kind := ErrUnreachable
	switch resp.Code {
	case minio.NoSuchBucket:
		kind = ErrNoBucket
	case minio.NoSuchKey:
		kind = ErrNotFound
	// versitygw says XAdminUserNotFound of an unknown access key.
	case minio.AccessDenied, "InvalidAccessKeyId", "XAdminUserNotFound", "SignatureDoesNotMatch", "AllAccessDisabled", "InvalidTokenId":
		kind = s.denied
		s.opener.Expire() // The next ones of a role may be good.
	case "ExpiredToken":
		kind = ErrLapsed
		s.opener.Expire()
	case "XMinioStorageFull", "QuotaExceeded", "XMinioAdminBucketQuotaExceeded":
		kind = ErrFull
	case "":
	default:
		return fmt.Errorf("%s %s: %s: %s", doing, s.URI(key), resp.Code, resp.Message)
	}
	if reason := certs.Explain(err); reason != nil {
		return fmt.Errorf("%s %s: %w", doing, s.URI(key), reason)
	}
	if errors.Is(kind, ErrUnreachable) {
		return fmt.Errorf("%s %s: %w: %s", doing, s.URI(key), kind, rootCause(err))
	}
	return fmt.Errorf("%s %s: %w", doing, s.URI(key), kind)
}

// fromStore reports whether an error is the store's own. The client makes NoSuchKey of whatever is answered with 404, and AccessDenied of 403; stores
// say in S3's XML what is wrong and, where an answer has no body, at least number it: S3, MinIO, Ceph and SeaweedFS do both.
func fromStore(resp minio.ErrorResponse) bool {
	return resp.XMLName.Local == "Error" || resp.RequestID != "" || resp.HostID != ""
}

// rootCause is the innermost message, since the outer ones of net/http carry the address with its signature.
func rootCause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// Terminal reports whether trying again cannot help until somebody changes something.
func Terminal(err error) bool {
	return Mendable(err) || errors.Is(err, ErrExists) || errors.Is(err, ErrSchema)
}

// Mendable reports whether what the store refuses may be granted once somebody has corrected its key, its bucket or its room, or has set up another.
func Mendable(err error) bool {
	return errors.Is(err, ErrNoBucket) || errors.Is(err, ErrDenied) || errors.Is(err, ErrNoRole) || errors.Is(err, ErrFull) || errors.Is(err, ErrNotWritable) ||
		errors.Is(err, ErrNoDigests) || errors.Is(err, ErrOverwrites)
}

// Unreadable reports whether what was asked for is not there, or is not what it should be, while the store itself is well: however often
// it is read, it stays so.
func Unreadable(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrMalformed) || errors.Is(err, ErrSchema)
}
