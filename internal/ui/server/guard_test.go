package server

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOtherHostNamesAreRefused(t *testing.T) {
	there := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for name, tc := range map[string]struct {
		port   int
		method string
		host   string
		want   int
	}{
		"its address":                  {8017, http.MethodGet, "127.0.0.1:8017", http.StatusOK},
		"its name":                     {8017, http.MethodGet, "localhost:8017", http.StatusOK},
		"the head of a page":           {8017, http.MethodHead, "127.0.0.1:8017", http.StatusOK},
		"another port":                 {8017, http.MethodGet, "127.0.0.1:8018", http.StatusMisdirectedRequest},
		"no port":                      {8017, http.MethodGet, "127.0.0.1", http.StatusMisdirectedRequest},
		"no port, which is that of 80": {80, http.MethodGet, "localhost", http.StatusOK},
		"a name that leads here":       {8017, http.MethodGet, "evil.example:8017", http.StatusMisdirectedRequest},
		"a name that begins as its":    {8017, http.MethodGet, "localhost.evil.example:8017", http.StatusMisdirectedRequest},
		"something is to be changed":   {8017, http.MethodPost, "127.0.0.1:8017", http.StatusMethodNotAllowed},
		"something is to be deleted":   {8017, http.MethodDelete, "127.0.0.1:8017", http.StatusMethodNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			q := httptest.NewRequest(tc.method, "/", nil)
			q.Host = tc.host
			w := httptest.NewRecorder()
			guard(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: tc.port}, there).ServeHTTP(w, q)
			if w.Code != tc.want {
				t.Errorf("it answers %d, want %d", w.Code, tc.want)
			}
			for header, want := range map[string]string{
				"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
			} {
				if got := w.Header().Get(header); !strings.HasPrefix(got, want) {
					t.Errorf("%s is %q", header, got)
				}
			}
		})
	}
}
