package testbed

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	s3 "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// ObjectStore is a running object store with its key pair.
type ObjectStore struct {
	Name      string
	Endpoint  string
	AccessKey string
	SecretKey string
	// CA is the private authority's certificate in PEM; empty without TLS.
	CA string
}

// Store returns a MinIO server like the chart's, shared by all tests of a binary.
func Store(t *testing.T) ObjectStore {
	t.Helper()
	return minio.shared(t)
}

// Gateway returns a versitygw server over a folder, shared by all tests of a binary.
func Gateway(t *testing.T) ObjectStore {
	t.Helper()
	return versitygw.shared(t)
}

// OnEachStore runs a subtest with every supported object store.
func OnEachStore(t *testing.T, test func(t *testing.T, s ObjectStore)) {
	t.Helper()
	for _, p := range storePrograms {
		t.Run(p.name, func(t *testing.T) { test(t, p.shared(t)) })
	}
}

// OnEachSecureStore is OnEachStore with separate servers that use TLS with a private authority.
func OnEachSecureStore(t *testing.T, test func(t *testing.T, s ObjectStore)) {
	t.Helper()
	for _, p := range storePrograms {
		t.Run(p.name, func(t *testing.T) { test(t, p.secure(t)) })
	}
}

// SecureStore returns a separate MinIO server that uses TLS with a private authority.
func SecureStore(t *testing.T) ObjectStore {
	t.Helper()
	return minio.secure(t)
}

// BelievingStore returns a separate MinIO server that accepts an issuer's tokens for an audience, with one role that has all object rights.
// issuer is the URL of its description.
func BelievingStore(t *testing.T, issuer, audience string) ObjectStore {
	t.Helper()
	need(t, minio.name)
	s, err := minio.start("",
		"MINIO_IDENTITY_OPENID_CONFIG_URL="+issuer, "MINIO_IDENTITY_OPENID_CLIENT_ID="+audience, "MINIO_IDENTITY_OPENID_ROLE_POLICY=readwrite")
	if err != nil {
		t.Fatalf("starting MinIO with an issuer of tokens: %v", err)
	}
	return s
}

type storeProgram struct {
	name    string
	health  string
	command func(s ObjectStore, dir, certs string) (args, env []string)

	once sync.Once
	at   ObjectStore
	err  error
}

var (
	minio = &storeProgram{name: "minio", health: "/minio/health/ready", command: func(s ObjectStore, dir, certs string) (args, env []string) {
		args = []string{"server", "--quiet", "--address", s.Endpoint, filepath.Join(dir, "objects")}
		if certs != "" {
			args = append(args, "--certs-dir", certs)
		}
		return args, []string{"MINIO_ROOT_USER=" + s.AccessKey, "MINIO_ROOT_PASSWORD=" + s.SecretKey, "MINIO_BROWSER=off"}
	}}
	// The file system may lack extended attributes, so metadata has its own folder.
	versitygw = &storeProgram{name: "versitygw", health: "/health", command: func(s ObjectStore, dir, certs string) (args, env []string) {
		args = []string{"--quiet", "--port", s.Endpoint, "--health", "/health"}
		if certs != "" {
			args = append(args, "--cert", filepath.Join(certs, "public.crt"), "--key", filepath.Join(certs, "private.key"))
		}
		args = append(args, "posix", "--sidecar", filepath.Join(dir, "metadata"), filepath.Join(dir, "objects"))
		return args, []string{"ROOT_ACCESS_KEY_ID=" + s.AccessKey, "ROOT_SECRET_ACCESS_KEY=" + s.SecretKey}
	}}
	storePrograms = []*storeProgram{minio, versitygw}
)

func (p *storeProgram) shared(t *testing.T) ObjectStore {
	t.Helper()
	need(t, p.name)
	p.once.Do(func() { p.at, p.err = p.start("") })
	if p.err != nil {
		t.Fatalf("starting %s: %v", p.name, p.err)
	}
	return p.at
}

func (p *storeProgram) secure(t *testing.T) ObjectStore {
	t.Helper()
	need(t, p.name)
	ca, pair := Certificate(t, time.Now().Add(time.Hour))
	certs := t.TempDir()
	for name, body := range pair {
		if err := os.WriteFile(filepath.Join(certs, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := p.start(certs)
	if err != nil {
		t.Fatalf("starting %s with TLS: %v", p.name, err)
	}
	s.CA = ca
	return s
}

// Client returns a client with all rights.
func (s ObjectStore) Client(t *testing.T) *s3.Client {
	t.Helper()
	o := &s3.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, "")}
	if s.CA != "" {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(s.CA))
		o.Secure, o.Transport = true, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	}
	c, err := s3.New(s.Endpoint, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var buckets atomic.Int32

// NewBucket makes a bucket and returns its name.
func (s ObjectStore) NewBucket(t *testing.T) string {
	t.Helper()
	name := fmt.Sprintf("bucket-%d", buckets.Add(1))
	if err := s.Client(t).MakeBucket(t.Context(), name, s3.MakeBucketOptions{}); err != nil {
		t.Fatalf("making bucket %s: %v", name, err)
	}
	return name
}

func (p *storeProgram) start(certs string, more ...string) (ObjectStore, error) {
	s := ObjectStore{Name: p.name, AccessKey: "testbed", SecretKey: "testbed-secret-key"}
	dir, err := os.MkdirTemp("", "loadstone-"+p.name+"-")
	if err != nil {
		return s, err
	}
	onEnd(func() error { return os.RemoveAll(dir) })
	for _, part := range []string{"objects", "metadata"} {
		if err := os.Mkdir(filepath.Join(dir, part), 0o700); err != nil {
			return s, err
		}
	}
	if s.Endpoint, err = FreeAddress(); err != nil {
		return s, err
	}
	log, err := os.Create(dir + ".log")
	if err != nil {
		return s, err
	}
	onEnd(func() error { return errors.Join(log.Close(), os.Remove(log.Name())) })
	args, env := p.command(s, dir, certs)
	c := exec.Command(filepath.Join(Assets(), p.name), args...)
	c.Env = slices.Concat(env, more, []string{"HOME=" + dir, "GOMAXPROCS=1"})
	c.Stdout, c.Stderr = log, log
	exited, err := run(c)
	if err != nil {
		return s, err
	}
	onEnd(func() error {
		err := c.Process.Kill()
		<-exited
		if errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("%s ended before the tests did", p.name)
		}
		return err
	})
	scheme := "http://"
	if certs != "" {
		scheme = "https://"
	}
	return s, ready(scheme+s.Endpoint+p.health, exited, log.Name())
}

// run starts a program that ends with this process, even after a panic. The kernel ties this to the starting thread, which therefore stays.
func run(c *exec.Cmd) (exited <-chan struct{}, err error) {
	c.SysProcAttr = endWithParent()
	started, ended := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		err := c.Start()
		started <- err
		if err == nil {
			_ = c.Wait() // It is killed at the end; an early exit shows in ready.
			close(ended)
		}
	}()
	return ended, <-started
}

func ready(url string, exited <-chan struct{}, log string) error {
	// A health probe does not depend on the certificate.
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	deadline := time.After(Patience)
	for {
		if resp, err := client.Get(url); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-exited:
			said, _ := os.ReadFile(log) // The error is valid without its output.
			return fmt.Errorf("it ended at once: %s", said)
		case <-deadline:
			return fmt.Errorf("it was not ready within %s", Patience)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
