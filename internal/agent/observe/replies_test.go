package observe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/agent/httpcheck"
	"loadstone.dev/loadstone/internal/record"
)

func TestClaimsAboutAnswersAreLookedUpInThem(t *testing.T) {
	var asked atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/version", func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, strings.Repeat("-", 100)+"shop 1.2.3\n"+strings.Repeat("-", 100))
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("-", 100_000)+"end")
	})
	mux.HandleFunc("/silent", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	s := httptest.NewServer(mux)
	defer s.Close()
	fill := strings.Repeat("-", 60)
	want := []record.Reply{
		{Path: "/version", Text: "1.2.3", There: record.Fact{Is: record.Yes, By: `GET /version got ..."` + fill[5:] + `shop 1.2.3\n` + fill[1:] + `"...`}},
		{Path: "/version", Text: "1.3", There: record.Fact{Is: record.No, By: `GET /version got 211 bytes that do not contain it: "` + fill + `"...`}},
		{Path: "/large", Text: "end", There: record.Fact{Is: record.Unknown, By: "GET /large got 100003 bytes; the first 65537 do not contain it"}},
		{Path: "/nowhere", Text: "page", There: record.Fact{Is: record.Unknown, By: "GET /nowhere got status 404"}},
		{Path: "/silent", Text: "a", There: record.Fact{Is: record.Unknown, By: "GET /silent got no answer: EOF"}},
	}
	var list []record.Reply
	for _, r := range want {
		list = append(list, record.Reply{Path: r.Path, Text: r.Text})
	}
	if diff := cmp.Diff(want, askAll(t.Context(), httpcheck.Server{Address: s.Listener.Addr().String()}, list)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("/version was asked for %d times", n)
	}
}
