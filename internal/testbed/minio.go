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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// ObjectStore is a running MinIO, and the key pair that it accepts.
type ObjectStore struct {
	Endpoint  string
	AccessKey string
	SecretKey string
	// CA is the certificate, in PEM, of the private authority by which the server's certificate is signed; it is empty without TLS.
	CA string
}

// SecureStore is a MinIO server of the test's own that speaks TLS, with a certificate of a private authority.
func SecureStore(t *testing.T) ObjectStore {
	t.Helper()
	need(t, "minio")
	ca, pair := Certificate(t, time.Now().Add(time.Hour))
	certs := t.TempDir()
	for name, body := range pair {
		if err := os.WriteFile(filepath.Join(certs, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := startMinIO(nil, "--certs-dir", certs)
	if err != nil {
		t.Fatalf("starting MinIO with TLS: %v", err)
	}
	s.CA = ca
	return s
}

// BelievingStore is a MinIO server of the test's own that takes tokens of an issuer for an audience, and gives its one role every right of objects. The address is
// that of the issuer's description.
func BelievingStore(t *testing.T, issuer, audience string) ObjectStore {
	t.Helper()
	need(t, "minio")
	s, err := startMinIO([]string{
		"MINIO_IDENTITY_OPENID_CONFIG_URL=" + issuer, "MINIO_IDENTITY_OPENID_CLIENT_ID=" + audience, "MINIO_IDENTITY_OPENID_ROLE_POLICY=readwrite",
	})
	if err != nil {
		t.Fatalf("starting MinIO with an issuer of tokens: %v", err)
	}
	return s
}

var store struct {
	once sync.Once
	at   ObjectStore
	err  error
}

// Store is a MinIO server.
func Store(t *testing.T) ObjectStore {
	t.Helper()
	need(t, "minio")
	store.once.Do(func() { store.at, store.err = startMinIO(nil) })
	if store.err != nil {
		t.Fatalf("starting MinIO: %v", store.err)
	}
	return store.at
}

// Client is a client with every right.
func (s ObjectStore) Client(t *testing.T) *minio.Client {
	t.Helper()
	o := &minio.Options{Creds: credentials.NewStaticV4(s.AccessKey, s.SecretKey, "")}
	if s.CA != "" {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(s.CA))
		o.Secure, o.Transport = true, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	}
	c, err := minio.New(s.Endpoint, o)
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
	if err := s.Client(t).MakeBucket(t.Context(), name, minio.MakeBucketOptions{}); err != nil {
		t.Fatalf("making bucket %s: %v", name, err)
	}
	return name
}

func startMinIO(env []string, more ...string) (ObjectStore, error) {
	dir, err := os.MkdirTemp("", "loadstone-minio-")
	if err != nil {
		return ObjectStore{}, err
	}
	onEnd(func() error { return os.RemoveAll(dir) })
	s := ObjectStore{AccessKey: "testbed", SecretKey: "testbed-secret-key"}
	if s.Endpoint, err = FreeAddress(); err != nil {
		return s, err
	}
	log, err := os.Create(dir + ".log")
	if err != nil {
		return s, err
	}
	onEnd(func() error { return errors.Join(log.Close(), os.Remove(log.Name())) })
	c := exec.Command(filepath.Join(Assets(), "minio"), append([]string{"server", "--quiet", "--address", s.Endpoint, dir}, more...)...)
	c.Env = []string{"MINIO_ROOT_USER=" + s.AccessKey, "MINIO_ROOT_PASSWORD=" + s.SecretKey, "MINIO_BROWSER=off", "HOME=" + dir, "GOMAXPROCS=1"}
	c.Env = append(c.Env, env...)
	c.Stdout, c.Stderr = log, log
	exited, err := run(c)
	if err != nil {
		return s, err
	}
	onEnd(func() error {
		err := c.Process.Kill()
		<-exited
		if errors.Is(err, os.ErrProcessDone) {
			return errors.New("MinIO ended before the tests did")
		}
		return err
	})
	scheme := "http://"
	if len(more) > 0 {
		scheme = "https://"
	}
	return s, ready(scheme+s.Endpoint+"/minio/health/ready", exited, log.Name())
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
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
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
