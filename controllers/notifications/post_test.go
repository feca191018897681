package notifications

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// sink is a server, and its address with a token in it that nobody is to be shown.
func sink(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL + "/rounds?token=secret"
}

func TestWhatASinkAnswers(t *testing.T) {
	elsewhere := sink(t, func(http.ResponseWriter, *http.Request) { t.Error("a redirect is followed") })
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		// reason and message are why the event is not taken; empty if it is.
		reason, message string
		after           time.Duration
	}{
		"200":            {answer: func(http.ResponseWriter, *http.Request) {}},
		"204":            {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},
		"an endless 202": {answer: endless},
		"404": {
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "secret", http.StatusNotFound) },
			v1alpha1.ReasonSinkRefused, "answers 404 Not Found", 0,
		},
		"429 with a pause": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "120")
				w.WriteHeader(http.StatusTooManyRequests)
			},
			v1alpha1.ReasonSinkRefused, "answers 429 Too Many Requests", 2 * time.Minute,
		},
		"503 with a date": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")
				w.WriteHeader(http.StatusServiceUnavailable)
			},
			v1alpha1.ReasonSinkRefused, "answers 503 Service Unavailable", 0,
		},
		"a redirect": {
			func(w http.ResponseWriter, q *http.Request) {
				http.Redirect(w, q, elsewhere, http.StatusTemporaryRedirect)
			},
			v1alpha1.ReasonSinkRefused, "answers 307 Temporary Redirect, and no redirect is followed: name the address to which it leads", 0,
		},
		"one that dies": {
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			v1alpha1.ReasonSinkUnavailable, "does not answer: EOF", 0,
		},
		"a header without an end": {
			func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("secret", 2000)) },
			v1alpha1.ReasonSinkUnavailable, "does not answer: ", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			sent := make(chan string, 1)
			address := sink(t, func(w http.ResponseWriter, q *http.Request) {
				sent <- fmt.Sprintf("%s %s %s %s", q.Method, q.URL, q.Header.Get("Content-Type"), read(q))
				tc.answer(w, q)
			})
			answer := Poster(unguarded())(t.Context(), address, []byte(`{"specversion":"1.0"}`))
			if answer.Reason != tc.reason || !strings.HasPrefix(answer.Message, tc.message) || answer.After != tc.after || strings.Contains(answer.Message, "secret") {
				t.Errorf("got %+v", answer)
			}
			if got := <-sent; got != `POST /rounds?token=secret application/cloudevents+json; charset=utf-8 {"specversion":"1.0"}` {
				t.Errorf("the sink was sent %s", got)
			}
		})
	}
}

// unguarded is the way of sinks, but for the addresses that it refuses: the sinks of tests are on the machine that they run on.
func unguarded() *http.Transport {
	way := Way()
	way.DialContext = (&net.Dialer{}).DialContext
	return way
}

func read(q *http.Request) []byte {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return []byte(err.Error())
	}
	return body
}

// endless answers for as long as anybody reads.
func endless(w http.ResponseWriter, q *http.Request) {
	w.WriteHeader(http.StatusAccepted)
	for q.Context().Err() == nil {
		if _, err := w.Write(make([]byte, 1<<10)); err != nil {
			return
		}
	}
}

func TestNothingIsSentToTheOperatorsOwnMachine(t *testing.T) {
	address := sink(t, func(http.ResponseWriter, *http.Request) { t.Error("the operator's own machine is asked") })
	post := Poster(Way())
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/rounds?token=secret"))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254"} {
		a := post(t.Context(), "http://"+host+":"+port+"/", nil)
		if a.Reason != v1alpha1.ReasonSinkUnavailable || !strings.Contains(a.Message, "its host has an address of the operator's own machine or of its link, to which nothing is sent") {
			t.Errorf("%s: %+v", host, a)
		}
	}
	if err := reachable("10.96.0.10:80"); err != nil {
		t.Error(err)
	}
}

func TestWhyASinkDoesNotAnswerIsTheSameAtEachTry(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + l.Addr().String() + "/secret"
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	post := Poster(unguarded())
	if a := post(t.Context(), closed, nil); a.Message != "does not answer: dial: connect: connection refused" {
		t.Errorf("nobody listens: %+v", a)
	}
	if a := post(ctx, closed, nil); a.Message != "does not answer: nothing came within 10 s" {
		t.Errorf("a sink that is slow: %+v", a)
	}
	if a := post(t.Context(), "http://[::1]:secret/", nil); a.Message != "cannot be asked: its url is no address" {
		t.Errorf("no address: %+v", a)
	}
}
