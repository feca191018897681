package server

import (
	"fmt"
	"net"
	"net/http"
	"slices"
)

// Policies of content: pages are ours, and take only what this server has; files are of runs, whose own styles are all that they may use, in a place
// of their own from which they reach nothing.
const (
	pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	filePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-downloads"
)

// guard answers to this server's own names alone, so that no name of another site that leads to this machine opens the pages to that site, and only
// to who reads.
func guard(address net.Addr, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(address.String()) // It is one that a listener has.
	names := []string{net.JoinHostPort(host, port), net.JoinHostPort("localhost", port)}
	if port == "80" {
		names = append(names, host, "localhost")
	}
	isOurs := func(name string) bool { return slices.Contains(names, name) }
	return answering(isOurs, fmt.Sprintf("this server answers to http://%s/ alone", names[0]), next)
}

// answering answers to who reads, and calls it by one of its own names. Everybody else is told something else.
func answering(isOurs func(host string) bool, otherwise string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", pagePolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !isOurs(q.Host):
			http.Error(w, otherwise, http.StatusMisdirectedRequest)
		case q.Method != http.MethodGet && q.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "the pages change nothing: only GET and HEAD are answered", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, q)
		}
	})
}
