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
	"syscall"
	"testing"
	"time"

	s3 "github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// ObjectStore is a running object store, and the key pair that it accepts.
type ObjectStore struct {
	// Name is the name of its program.
	Name      string
	Endpoint  string
	AccessKey string
	SecretKey string
	// CA is the certificate, in PEM, of the private authority by which the server's certificate is signed; it is empty without TLS.
	CA string
}

// Store is a MinIO server, as the chart installs it. All tests of a binary share it.
func Store(t *testing.T) ObjectStore {
	t.Helper()
	return minio.shared(t)
}

// Gateway is a versitygw server over a folder. All tests of a binary share it.
func Gateway(t *testing.T) ObjectStore {
	t.Helper()
	return versitygw.shared(t)
}

// OnEachStore runs a test on every object store that Loadstone is tested with, each in a subtest.
func OnEachStore(t *testing.T, test func(t *testing.T, s ObjectStore)) {
	t.Helper()
	for _, p := range storePrograms {
		t.Run(p.name, func(t *testing.T) { test(t, p.shared(t)) })
	}
}

// OnEachSecureStore is OnEachStore with servers of the test's own that speak TLS, with a certificate of a private authority.
func OnEachSecureStore(t *testing.T, test func(t *testing.T, s ObjectStore)) {
	t.Helper()
	for _, p := range storePrograms {
		t.Run(p.name, func(t *testing.T) { test(t, p.secure(t)) })
	}
}

// SecureStore is a MinIO server of the test's own that speaks TLS, with a certificate of a private authority.
func SecureStore(t *testing.T) ObjectStore {
	t.Helper()
	return minio.secure(t)
}

// BelievingStore is a MinIO server of the test's own that takes tokens of an issuer for an audience, and gives its one role every right of objects. The address is
// that of the issuer's description.
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

// storeProgram is an object store that tests start.
type storeProgram struct {
	name string
	// health is the path of its health probe.
	health string
	// command gives arguments and environment to serve a folder; certs is the folder of its certificate, empty for plain HTTP.
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
	// The file system need not keep extended attributes: metadata lie in a folder of their own.
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

// shared is the server without TLS that all tests of a binary share.
func (p *storeProgram) shared(t *testing.T) ObjectStore {
	t.Helper()
	need(t, p.name)
	p.once.Do(func() { p.at, p.err = p.start("") })
	if p.err != nil {
		t.Fatalf("starting %s: %v", p.name, p.err)
	}
	return p.at
}

// secure is a server of the test's own that speaks TLS.
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

// Client is a client with every right.
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

// start starts a server that ends when the tests of the binary have ended.
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

// run starts a program that ends with this process, also when a test panics. The kernel's promise is bound to the thread that
// started it, which therefore stays until then.
func run(c *exec.Cmd) (exited <-chan struct{}, err error) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
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

// ready waits until a health probe is answered 200.
func ready(url string, exited <-chan struct{}, log string) error {
	// Whose certificate it is matters to the tests and not to the question whether anybody answers.
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
			said, _ := os.ReadFile(log) // Without its last words the error is as true.
			return fmt.Errorf("it ended at once: %s", said)
		case <-deadline:
			return fmt.Errorf("it was not ready within %s", Patience)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
