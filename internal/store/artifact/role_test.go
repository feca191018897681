package artifact_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/store/artifact"
	"loadstone.dev/loadstone/internal/testbed"
)

const (
	patience = 2 * time.Minute
	token    = "eyJhbGciOiJSUzI1NiJ9.of-the-test"
	roleName = "arn:aws:iam::123456789012:role/loadstone"
)

func given(t *testing.T, token string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		artifact.TokenFileVariable: file, "AWS_ROLE_ARN": roleName, "AWS_REGION": "", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "",
	} {
		t.Setenv(name, value)
	}
}

// lend gets credentials with a policy from MinIO. A just started MinIO gives none.
func lend(t *testing.T, store testbed.ObjectStore, policy string) credentials.Value {
	t.Helper()
	lent, err := credentials.NewSTSAssumeRole("http://"+store.Endpoint, credentials.STSAssumeRoleOptions{
		AccessKey: store.AccessKey, SecretKey: store.SecretKey, Policy: policy, Location: "us-east-1",
	})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		v, err := lent.GetWithContext(nil)
		if err == nil {
			return v
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// sts is a fake STS: for the token it gives credentials with a policy and a lifetime, and counts requests.
func sts(t *testing.T, store testbed.ObjectStore, policy string, life time.Duration) (url string, asked *atomic.Int32) {
	t.Helper()
	v, asked := lend(t, store, policy), new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked.Add(1)
		if q.FormValue("Action") != "AssumeRoleWithWebIdentity" || q.FormValue("WebIdentityToken") != token || q.FormValue("RoleArn") != roleName {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code>
				<Message>Not authorized to perform sts:AssumeRoleWithWebIdentity</Message></Error><RequestId>1</RequestId></ErrorResponse>`)
			return
		}
		var answer credentials.AssumeRoleWithWebIdentityResponse
		c := &answer.Result.Credentials
		c.AccessKey, c.SecretKey, c.SessionToken, c.Expiration = v.AccessKeyID, v.SecretAccessKey, v.SessionToken, time.Now().Add(life)
		if err := xml.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func documented(t *testing.T, bucket string) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/stores.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```json\n(\\{.*?\"Statement\".*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatal("the page has no policy")
	}
	return strings.ReplaceAll(string(m[1]), "arn:aws:s3:::loadstone", "arn:aws:s3:::"+bucket)
}

func byRole(t *testing.T, policy func(t *testing.T, bucket string) string, life time.Duration) (artifact.Config, *atomic.Int32) {
	t.Helper()
	given(t, token)
	s := testbed.Store(t)
	c := artifact.Config{Endpoint: s.Endpoint, Bucket: s.NewBucket(t), Region: "us-east-1", ByRole: true}
	var asked *atomic.Int32
	c.STS, asked = sts(t, s, policy(t, c.Bucket), life)
	return c, asked
}

func TestARoleForOneBucketIsEnough(t *testing.T) {
	c, asked := byRole(t, documented, time.Hour)
	store := open(t, c)
	a, err := store.Put(t.Context(), "run/plan.json", "application/json", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Put(t.Context(), "run/plan.json", "application/json", []byte("{}")); err != nil {
		t.Errorf("writing it again: %v", err)
	}
	if _, err := store.Get(t.Context(), a.Key, a.SHA256); err != nil {
		t.Error(err)
	}
	if _, err := store.Get(t.Context(), "run/absent", ""); !errors.Is(err, artifact.ErrNotFound) {
		t.Errorf("what is not there: %v", err)
	}
	if objects, err := store.List(t.Context(), "run"); err != nil || len(objects) != 1 {
		t.Errorf("listed %v, %v", objects, err)
	}
	const body = "what an agent has measured"
	url, headers, err := store.Destination(t.Context(), record.Artifact{Key: "run/raw.txt", Bytes: int64(len(body)), SHA256: digest(body)}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if status, said := put(t, url, headers, body); status != http.StatusOK {
		t.Errorf("an agent's file was answered %d: %s", status, said)
	}
	if err := store.Verify(t.Context(), record.Artifact{Key: "run/raw.txt", Bytes: int64(len(body)), SHA256: digest(body)}); err != nil {
		t.Error(err)
	}
	other := c
	other.Bucket = testbed.Store(t).NewBucket(t)
	if _, err := open(t, other).Get(t.Context(), "k", ""); !errors.Is(err, artifact.ErrDenied) || strings.Contains(err.Error(), "Secret") ||
		!strings.Contains(err.Error(), "let the role get, put and list") {
		t.Errorf("another bucket: %v", err)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("two stores asked for credentials %d times", n)
	}
}

func TestCredentialsOfARoleAreRenewed(t *testing.T) {
	c, asked := byRole(t, documented, -time.Second)
	store := open(t, c)
	for range 3 {
		if _, err := store.Put(t.Context(), "k", "text/plain", []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if n := asked.Load(); n < 3 {
		t.Errorf("credentials that had expired were renewed %d times for three objects", n)
	}
}

func TestARoleByTheAgentOfACluster(t *testing.T) {
	s := testbed.Store(t)
	given(t, token)
	answer := `{"AccessKeyId": "` + s.AccessKey + `", "SecretAccessKey": "` + s.SecretKey + `", "Expiration": "2100-01-01T00:00:00Z"}`
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) }))
	t.Cleanup(agent.Close)
	t.Setenv(artifact.TokenFileVariable, "")
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", agent.URL)
	c := artifact.Config{Endpoint: s.Endpoint, Bucket: s.NewBucket(t), Region: "us-east-1", ByRole: true}
	if _, err := open(t, c).Put(t.Context(), "k", "text/plain", []byte("x")); err != nil {
		t.Error(err)
	}
}

func TestEveryTroubleWithARoleHasItsError(t *testing.T) {
	const closed = "127.0.0.1:1" // No server listens there.
	const another = "another token"
	for name, tc := range map[string]struct {
		token string
		// file overrides the token's file; "none" means that none is configured.
		file     string
		away     bool
		want     error
		terminal bool
		says     []string
	}{
		"the STS refuses the token": {
			token: another, want: artifact.ErrNoRole, terminal: true, says: []string{"/token", roleName, "Not authorized to perform", "operator.serviceAccount.annotations"},
		},
		"there is no token": {
			token: token, file: "/nowhere/token", want: artifact.ErrNoRole, terminal: true, says: []string{"/nowhere/token", "no such file"},
		},
		"nobody listens at the STS": {
			token: token, away: true, want: artifact.ErrRoleAway, says: []string{"connection refused", "s3.stsEndpoint"},
		},
		"the cluster gives no role, and the node has none": {
			// Without a token an STS address is that of the node's metadata.
			token: token, file: "none", away: true, want: artifact.ErrNoRole, terminal: true, says: []string{"the metadata of its node", artifact.TokenFileVariable},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := byRole(t, documented, time.Hour)
			given(t, tc.token)
			if tc.file != "" {
				t.Setenv(artifact.TokenFileVariable, strings.TrimPrefix(tc.file, "none"))
			}
			if tc.away {
				c.STS = "http://" + closed
			}
			_, err := open(t, c).Put(t.Context(), "k", "text/plain", []byte("x"))
			if !errors.Is(err, tc.want) || artifact.Terminal(err) != tc.terminal || artifact.Mendable(err) != tc.terminal {
				t.Fatalf("got %v (for good: %v), want %v (for good: %v)", err, artifact.Terminal(err), tc.want, tc.terminal)
			}
			for _, part := range tc.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error %q does not say %q", err, part)
				}
			}
			if strings.Contains(err.Error(), token) || strings.Contains(err.Error(), another) {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

// Transient STS trouble differs from a role that must be corrected, and an untrusted STS from an unavailable one.
func TestTroubleOfAnSTSIsNotTheRoles(t *testing.T) {
	const said = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>%s</Code><Message>no</Message></Error></ErrorResponse>`
	_, private := testbed.Certificate(t, time.Now().Add(time.Hour))
	for name, tc := range map[string]struct {
		status   int
		body     string
		pair     map[string]string
		want     error
		terminal bool
		says     string
		agent    bool
	}{
		"it says that it does not serve":            {status: 503, body: fmt.Sprintf(said, "ServiceUnavailable"), want: artifact.ErrRoleAway, says: "status 503: no"},
		"a proxy says so in its place":              {status: 502, body: "<html>502", want: artifact.ErrRoleAway, says: "status 502"},
		"it is asked too often":                     {status: 400, body: fmt.Sprintf(said, "ThrottlingException"), want: artifact.ErrRoleAway, says: "too busy"},
		"the agent of a cluster is asked too often": {status: 429, agent: true, want: artifact.ErrRoleAway, says: "too busy"},
		"it refuses the role":                       {status: 400, body: fmt.Sprintf(said, "InvalidIdentityToken"), want: artifact.ErrNoRole, terminal: true, says: "correct the role"},
		"no authority that is trusted signed it":    {pair: private, says: "s3.caBundle"},
	} {
		t.Run(name, func(t *testing.T) {
			given(t, token)
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.body)
			}))
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			t.Cleanup(server.Close)
			speak(t, server, tc.pair)
			if tc.agent {
				t.Setenv(artifact.TokenFileVariable, "")
				t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.URL)
			}
			c := artifact.Config{Endpoint: "127.0.0.1:1", Bucket: "bucket", Region: "us-east-1", ByRole: true, STS: server.URL}
			_, err := open(t, c).Get(t.Context(), "k", "")
			if err == nil || !strings.Contains(err.Error(), tc.says) || artifact.Terminal(err) != tc.terminal {
				t.Fatalf("got %v (for good: %v), want %q", err, artifact.Terminal(err), tc.says)
			}
			for _, kind := range []error{artifact.ErrNoRole, artifact.ErrRoleAway} {
				if errors.Is(err, kind) != errors.Is(tc.want, kind) {
					t.Errorf("got %v, want %v", err, tc.want)
				}
			}
		})
	}
}

func TestAnSTSWhoseCertificateHasExpired(t *testing.T) {
	ca, late := testbed.Certificate(t, time.Now().Add(-time.Hour))
	given(t, token)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	speak(t, server, late)
	c := artifact.Config{Endpoint: "127.0.0.1:1", Bucket: "bucket", Region: "us-east-1", ByRole: true, STS: server.URL, Secure: true, CA: ca}
	_, err := open(t, c).Get(t.Context(), "k", "")
	if err == nil || !strings.Contains(err.Error(), "the certificate of the STS") || !strings.Contains(err.Error(), "has expired") {
		t.Errorf("got %v", err)
	}
}

func speak(t *testing.T, server *httptest.Server, pair map[string]string) {
	t.Helper()
	if pair == nil {
		server.Start()
		return
	}
	certificate, err := tls.X509KeyPair([]byte(pair["public.crt"]), []byte(pair["private.key"]))
	if err != nil {
		t.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
}

// A MinIO with a token issuer is itself an STS.
func TestARoleByTheTokensThatMinIOBelieves(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	const audience = "loadstone"
	s := testbed.BelievingStore(t, issuer(t, &key.PublicKey), audience)
	sum, hence := sha1.Sum([]byte(audience)), time.Now().Add(time.Hour).Unix()
	given(t, signed(t, key, map[string]any{"aud": []string{audience}, "sub": "system:serviceaccount:loadstone-system:loadstone", "exp": hence}))
	its := "arn:minio:iam:::role/" + encode(sum[:]) // As MinIO prints it when it starts.
	t.Setenv("AWS_ROLE_ARN", its)
	c := artifact.Config{Endpoint: s.Endpoint, Bucket: s.NewBucket(t), Region: "us-east-1", ByRole: true, STS: "http://" + s.Endpoint}
	store := open(t, c)
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) { // It gives none just after its start.
		_, err := store.Put(t.Context(), "k", "text/plain", []byte("x"))
		if err == nil {
			break
		}
		if !errors.Is(err, artifact.ErrNoRole) && !errors.Is(err, artifact.ErrRoleAway) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	url, headers, err := store.Destination(t.Context(), record.Artifact{Key: "raw.txt", Bytes: 1, SHA256: digest("x")}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if status, said := put(t, url, headers, "x"); status != http.StatusOK {
		t.Errorf("an agent's file was answered %d: %s", status, said)
	}
	given(t, signed(t, key, map[string]any{"aud": "another", "sub": "another", "exp": hence}))
	t.Setenv("AWS_ROLE_ARN", its)
	if _, err := open(t, c).Get(t.Context(), "k", ""); !errors.Is(err, artifact.ErrNoRole) {
		t.Errorf("a token for somebody else: %v", err)
	}
}

func issuer(t *testing.T, key *rsa.PublicKey) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		answer := map[string]any{"issuer": "http://" + q.Host, "jwks_uri": "http://" + q.Host + "/keys"}
		if q.URL.Path == "/keys" {
			answer = map[string]any{"keys": []map[string]string{{
				"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes()),
			}}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/.well-known/openid-configuration"
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func signed(t *testing.T, key *rsa.PrivateKey, claims map[string]any) string {
	t.Helper()
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	text := encode([]byte(`{"alg": "RS256", "typ": "JWT", "kid": "1"}`)) + "." + encode(body)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + encode(signature)
}
