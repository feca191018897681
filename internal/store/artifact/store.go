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
	"path"
	"strconv"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/certs"
	"loadstone.dev/loadstone/internal/trial/protocol"
)

// Config is the object store's configuration.
type Config struct {
	// Endpoint is host:port, as the operator and the measured pods reach it.
	Endpoint string
	Bucket   string
	Region   string
	// Addressing is where requests name the bucket: PathStyle, VirtualStyle, or AutoStyle, the default (VirtualStyle for Amazon, Google and Alibaba).
	Addressing string
	Secure     bool
	// CAFile is the operator's file with CA; empty if public authorities suffice.
	CAFile string
	// CA holds PEM certificates of private authorities, in addition to public ones.
	CA string
	// AccessKey and SecretKey are a key pair; SessionToken is for a temporary one.
	AccessKey    string
	SecretKey    string
	SessionToken string
	// ByRole uses the role of the operator's service account if there is no key pair.
	ByRole bool
	// STS is the URL for exchanging a service account's token. Default: Amazon's of the region.
	STS string
}

// The addressing styles.
const (
	AutoStyle    = "auto"
	PathStyle    = "path"
	VirtualStyle = "virtual"
)

var lookups = map[string]minio.BucketLookupType{
	"": minio.BucketLookupAuto, AutoStyle: minio.BucketLookupAuto, PathStyle: minio.BucketLookupPath, VirtualStyle: minio.BucketLookupDNS,
}

const (
	AccessKeyVariable = "S3_ACCESS_KEY"
	SecretKeyVariable = "S3_SECRET_KEY"
)

// AddFlags adds the operator's store flags with defaults, also for programs that parse the operator's arguments.
func (c *Config) AddFlags(f *flag.FlagSet) {
	f.StringVar(&c.Endpoint, "s3-endpoint", "", "host:port of the object store, as the operator and the measured pods reach it")
	f.StringVar(&c.Bucket, "s3-bucket", "loadstone", "the bucket; it must exist")
	f.StringVar(&c.Region, "s3-region", "us-east-1", "the object store's region")
	f.StringVar(&c.Addressing, "s3-addressing-style", "", "where requests name the bucket: path, virtual (host name), or auto, which is also the default")
	f.BoolVar(&c.Secure, "s3-tls", false, "use TLS for the object store")
	f.BoolVar(&c.ByRole, "s3-by-role", false, "open the object store by the role of the operator's service account and not by a key")
	f.StringVar(&c.STS, "s3-sts-endpoint", "", "the URL of the STS that gives credentials for the service account's token; empty is Amazon's of the region")
	f.StringVar(&c.CAFile, "s3-ca-file", "", "a PEM file of authorities that sign the object store's certificate, besides the public ones")
}

// Store is a bucket.
type Store struct {
	client *minio.Client
	bucket string
	opener *credentials.Credentials
	denied error
}

const (
	// putDeadline bounds every write, retries included.
	putDeadline = 60 * time.Second
	// getDeadline bounds every read, retries included.
	getDeadline = 60 * time.Second
	// MaxObject bounds objects that are handed out.
	MaxObject = 256 << 20
	// maxRead bounds objects in memory: manifests, records and reports are far smaller.
	maxRead = 64 << 20
)

// Open makes a Store without connecting.
func Open(c Config) (*Store, error) { return OpenThrough(c, nil) }

// OpenThrough makes a Store that dials differently, for example through a forwarded port; nil is the default.
func OpenThrough(c Config, dial Dial) (*Store, error) {
	way, err := transport(c, dial)
	if err != nil {
		return nil, err
	}
	return open(c, way)
}

// OpenBehind makes a Store whose requests pass a guard, which may refuse them.
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
	lookup, known := lookups[c.Addressing]
	if !known {
		return nil, fmt.Errorf("the addressing style %q of the object store is unknown: set auto, path or virtual (chart value s3.addressingStyle)", c.Addressing)
	}
	// With a region, the first call need not ask for it.
	client, err := minio.New(c.Endpoint, &minio.Options{
		Creds:  opener,
		Secure: c.Secure, Region: c.Region, BucketLookup: lookup, MaxRetries: 5, Transport: way,
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

// transport is the default with the store's authorities and dial function.
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

// URI is an object's address for people, such as s3://bucket/key, without credentials.
func (s *Store) URI(key string) string { return "s3://" + s.bucket + "/" + key }

// Put writes an object once. Rewriting the same content succeeds; other content is ErrExists.
func (s *Store) Put(ctx context.Context, key, contentType string, body []byte) (record.Artifact, error) {
	a := describe(key, body)
	written, err := s.putNew(ctx, key, contentType, body)
	if err != nil || written {
		return a, err
	}
	// It is read, since a copied bucket may lack digests.
	there, err := s.Find(ctx, key)
	if err == nil && there != a {
		err = otherContent(s.URI(key), there, a)
	}
	return a, err
}

// CheckWriteOnce checks that the store refuses to overwrite an existing object. It sends the same body, since a store without this condition
// would overwrite it.
func (s *Store) CheckWriteOnce(ctx context.Context, key, contentType string, body []byte) error {
	written, err := s.putNew(ctx, key, contentType, body)
	if err == nil && written {
		return fmt.Errorf("writing %s again: %w", s.URI(key), ErrOverwrites)
	}
	return err
}

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
	case minio.ToErrorResponse(err).Code == minio.NotImplemented:
		return false, fmt.Errorf("writing %s: %w", s.URI(key), ErrNoConditions)
	default:
		return false, s.explain("writing", key, err)
	}
}

const checksumHeader = "X-Amz-Checksum-Sha256"

// Destination returns a signed URL for writing one object once, with exactly the announced content and size. The URL is a bearer secret
// until it expires.
func (s *Store) Destination(ctx context.Context, a record.Artifact, expires time.Duration) (string, map[string]string, error) {
	key := a.Key
	raw, err := hex.DecodeString(a.SHA256)
	switch {
	case err != nil || len(raw) != sha256.Size:
		return "", nil, fmt.Errorf("signing %s: %q is no SHA-256", key, a.SHA256)
	case protocol.Reserved(path.Base(key)):
		return "", nil, fmt.Errorf("signing %s: only the operator may store a file of this name", key)
	case a.Bytes < 0 || a.Bytes > protocol.MaxFile:
		return "", nil, fmt.Errorf("signing %s: it has %d bytes, and at most %d are stored", key, a.Bytes, protocol.MaxFile)
	}
	headers := map[string]string{
		"If-None-Match": "*", checksumHeader: base64.StdEncoding.EncodeToString(raw), "Content-Length": strconv.FormatInt(a.Bytes, 10),
	}
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

// Verify checks that an object has an artifact's size and SHA-256.
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

// Find returns an object's size and SHA-256 by reading it.
func (s *Store) Find(ctx context.Context, key string) (record.Artifact, error) {
	body, err := s.Get(ctx, key, "")
	if err != nil {
		return record.Artifact{}, err
	}
	return describe(key, body), nil
}

// Get reads an object and, unless sha is empty, checks its SHA-256.
func (s *Store) Get(ctx context.Context, key, sha string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, getDeadline)
	defer cancel()
	obj, err := s.client.GetObject(ctx, s.bucket, key, minio.GetObjectOptions{})
	if err != nil {
		return nil, s.explain("reading", key, err)
	}
	defer obj.Close() //nolint:errcheck // A read-only object has nothing to lose on close.
	body, err := io.ReadAll(io.LimitReader(obj, maxRead+1))
	if err != nil {
		return nil, s.explain("reading", key, err)
	}
	if len(body) > maxRead {
		return nil, fmt.Errorf("reading %s: %w: it is larger than %d bytes", s.URI(key), ErrMalformed, maxRead)
	}
	return body, CheckSum(s.URI(key), body, sha)
}

// Stream returns an object's reader and size. The context bounds reading; the caller checks the digest.
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

// Errors of a store, each with another remedy.
var (
	// ErrExists: the key holds another object.
	ErrExists = errors.New("the key already holds another object")
	// ErrCorrupt: an object does not match its manifest.
	ErrCorrupt = errors.New("the object does not match its manifest")
	// ErrMalformed: an object is not a Loadstone record.
	ErrMalformed = errors.New("the object is not a record of Loadstone")
	// ErrForeign: a manifest names an object of another run.
	ErrForeign = errors.New("the object is not below the prefix of the run")
	// ErrSchema: another version wrote the record, and only that can read it.
	ErrSchema = errors.New("another version of Loadstone wrote it")
	// ErrNoBucket: the bucket does not exist.
	ErrNoBucket = errors.New("the bucket does not exist: create it, or set another one (chart value s3.bucket)")
	// ErrDenied: the key pair is wrong or lacks permission.
	ErrDenied = errors.New("the object store rejected the access key: correct the Secret that holds it (chart value s3.existingSecret), and restart the operator, which reads it only when it starts")
	// ErrLapsed: the credentials have expired. A role's are renewed, so this may pass.
	ErrLapsed = errors.New("the credentials for the object store have expired: a role's are renewed automatically; replace your own temporary ones (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN)")
	// ErrNoRole: the operator's service account has no role, or one that is refused.
	ErrNoRole = errors.New("the operator's role gives no credentials for the object store: correct the role (chart values operator.serviceAccount.annotations and s3.stsEndpoint), or use a key (chart values s3.byRole and s3.existingSecret)")
	// ErrRoleAway: the source of credentials is unavailable or failing.
	ErrRoleAway = errors.New("the source of the object store's credentials is unavailable or too busy: check that it runs and, for an STS, its address (chart value s3.stsEndpoint)")
	// ErrNotFound: there is no such object.
	ErrNotFound = errors.New("no such object")
	// ErrFull: the store is full.
	ErrFull = errors.New("the object store is full: free space or raise its quota")
	// ErrNoDigests: the store does not report digests.
	ErrNoDigests = errors.New("the object store reports no SHA-256 of its objects (x-amz-checksum-sha256 for a HEAD): use one that does, such as Amazon S3 or MinIO (chart value s3.endpoint)")
	// ErrOverwrites: the store allows overwriting.
	ErrOverwrites = errors.New("the object store overwrites an object although the request forbids it (If-None-Match: *), so results could be lost: " +
		"use one that supports conditional writes, such as Amazon S3 or MinIO (chart value s3.endpoint)")
	// ErrNoConditions: the store rejects requests that forbid overwriting.
	ErrNoConditions = errors.New("the object store rejects conditional writes (If-None-Match: *), so results could be overwritten: " +
		"use one that supports them, such as Amazon S3 or MinIO (chart value s3.endpoint)")
	// ErrRegion: requests are signed for another region than the store's.
	ErrRegion = errors.New("the object store is in another region: correct the chart value s3.region")
	// ErrNotWritable: a local folder is not writable.
	ErrNotWritable = errors.New("the folder cannot be written: choose another one, or change who may write to it")
	// ErrUnreachable: the store does not answer.
	ErrUnreachable = errors.New("the object store cannot be reached: check its endpoint (chart value s3.endpoint) and that it runs")
)

// Errors returns the errors above, in a fixed order.
func Errors() []error {
	return []error{
		ErrExists, ErrCorrupt, ErrMalformed, ErrForeign, ErrSchema, ErrNoBucket, ErrDenied, ErrLapsed, ErrNoRole, ErrRoleAway, ErrNotFound, ErrFull,
		ErrNoDigests, ErrOverwrites, ErrNoConditions, ErrRegion, ErrNotWritable, ErrUnreachable,
	}
}

// explain turns S3's errors into ours, for the caller's next step. It drops signed addresses.
func (s *Store) explain(doing, key string, err error) error {
	if refused := (roleError{}); errors.As(err, &refused) {
		return fmt.Errorf("%s %s: %w", doing, s.URI(key), refused.explained())
	}
	resp := minio.ToErrorResponse(err)
	if (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusForbidden) && !fromStore(resp) {
		return fmt.Errorf("%s %s: %w: the answer %d is not from an object store, but perhaps from a proxy", doing, s.URI(key), ErrUnreachable, resp.StatusCode)
	}
	kind := ErrUnreachable
	switch resp.Code {
	case minio.NoSuchBucket:
		kind = ErrNoBucket
	case minio.NoSuchKey:
		kind = ErrNotFound
	// versitygw answers XAdminUserNotFound for an unknown access key.
	case minio.AccessDenied, "InvalidAccessKeyId", "XAdminUserNotFound", "SignatureDoesNotMatch", "AllAccessDisabled", "InvalidTokenId":
		kind = s.denied
		s.opener.Expire() // A role's next credentials may work.
	case "AuthorizationHeaderMalformed", "InvalidRegion", "PermanentRedirect":
		kind = ErrRegion
		if resp.Region != "" {
			kind = fmt.Errorf("%w to %s", ErrRegion, resp.Region)
		}
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

// fromStore reports whether an error is from the store itself, not a proxy. The client turns any 404 into NoSuchKey and any 403 into
// AccessDenied. Stores send S3's XML or, without a body, at least a request ID: S3, MinIO, Ceph and SeaweedFS do both.
func fromStore(resp minio.ErrorResponse) bool {
	return resp.XMLName.Local == "Error" || resp.RequestID != "" || resp.HostID != ""
}

func rootCause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// Terminal reports whether a retry is useless until someone changes something.
func Terminal(err error) bool {
	return Mendable(err) || errors.Is(err, ErrExists) || errors.Is(err, ErrSchema)
}

// Mendable reports whether a refusal may end after someone corrects the store's key, bucket or space, or sets up another store.
func Mendable(err error) bool {
	return errors.Is(err, ErrNoBucket) || errors.Is(err, ErrDenied) || errors.Is(err, ErrNoRole) || errors.Is(err, ErrFull) || errors.Is(err, ErrNotWritable) ||
		errors.Is(err, ErrNoDigests) || errors.Is(err, ErrOverwrites) || errors.Is(err, ErrNoConditions) || errors.Is(err, ErrRegion)
}

// Unreadable reports whether an object is missing or bad while the store works, so that a retry is useless.
func Unreadable(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrMalformed) || errors.Is(err, ErrForeign) || errors.Is(err, ErrSchema)
}
