package server

import (
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"loadstone.dev/loadstone/internal/client/kube"
	"loadstone.dev/loadstone/internal/store/download"
	"loadstone.dev/loadstone/internal/ui"
)

func TestAFileIsFetchedByTheDownloadKeyOfItsRun(t *testing.T) {
	r := ended()
	r.Status.DownloadKey = "key"
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		const proxied = "/api/v1/namespaces/system/services/https:loadstone:handout/proxy/v1/namespaces/bench/benchmarkruns/quick/"
		w.Header().Set("Content-Type", "application/json")
		switch file, handed := strings.CutPrefix(q.URL.Path, proxied); {
		case q.URL.Path == "/apis":
			fmt.Fprint(w, `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [{"name": "loadstone.dev", "versions": [{"groupVersion": "loadstone.dev/v1alpha1", "version": "v1alpha1"}]}]}`)
		case handed && file == "trials/a/wrk.txt" && q.Header.Get(download.AuthorizationHeader) != "":
			w.Header().Set("Server", "loadstone")
			fmt.Fprint(w, "handed out")
		default:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "jane may not"}`)
		}
	}))
	defer api.Close()
	k := clientcmdapi.NewConfig()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw})
	k.Clusters["c"] = &clientcmdapi.Cluster{Server: api.URL, CertificateAuthorityData: authority}
	k.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: "of-jane"}
	k.Contexts["here"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	k.CurrentContext = "here"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	s := newShelf(&kube.Flags{System: "system", Note: func(string) {}})
	if got, err := s.Get(t.Context(), r, download.PrefixOf(r)+"/trials/a/wrk.txt", ""); err != nil || string(got) != "handed out" {
		t.Errorf("it reads %q, %v", got, err)
	}
	if got, err := s.Get(t.Context(), r, download.PrefixOf(r)+"/trials/b/wrk.txt", ""); !errors.Is(err, download.ErrRefused) || !strings.Contains(err.Error(), "need the credentials of the object store") {
		t.Errorf("what is refused is %q, %v", got, err)
	}
	h := newReports(t.Context(), s, make(chan struct{}, 1), func() {})
	var c ui.Course
	until(t, func() bool {
		c = h.history(t.Context(), checkout(), nil)
		return !c.Reading
	})
	if c.Err != nil || len(c.History.Series) > 0 {
		t.Errorf("the history of no round is %+v", c)
	}
}
