package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAskingForTheLoop(t *testing.T) {
	for name, tc := range map[string]struct {
		answer func(http.ResponseWriter)
		// want is a part of the error; empty if there is none.
		want string
	}{
		"an answer":                 {func(w http.ResponseWriter) { _, _ = w.Write([]byte("helloworld")) }, ""},
		"a server that is overfull": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, "503"},
		"an answer that is cut off": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("hello"))
		}, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { tc.answer(w) }))
			defer s.Close()
			err := get(t.Context(), s.URL)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), "asking for the planted loop: "+tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	if err := get(t.Context(), "http://127.0.0.1:0/"); err == nil {
		t.Error("nobody answered, and nobody said so")
	}
}
