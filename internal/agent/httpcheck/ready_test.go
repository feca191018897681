package httpcheck

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
)

func TestAServerIsReadyWhenItAnswersWithAStatusOf2xx(t *testing.T) {
	var asked atomic.Int64
	answers := []string{
		"", // The connection is closed.
		"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 204 No Content\r\n\r\n",
	}
	target := speak(t, func(conn net.Conn) {
		n := asked.Add(1)
		if readRequest(bufio.NewReader(conn)) {
			_, _ = io.WriteString(conn, answers[min(int(n), len(answers))-1])
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if n := Ready(ctx, Server{Address: target}, "/ready"); n == 0 || asked.Load() < int64(len(answers)) {
		t.Errorf("after %d answers the server is not ready, or it was so before", asked.Load())
	}
}

func TestNobodyWaitsForAServerLongerThanTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	target := speak(t, func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) {
			_, _ = io.WriteString(conn, "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
			cancel()
		}
	})
	if Ready(ctx, Server{Address: target}, "/ready") > 0 {
		t.Error("a server that answers 503 is ready")
	}
}

func TestAnyStatusIsAnAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		answer string
		want   bool
	}{
		"a page that is not there":       {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", true},
		"a greeting in another protocol": {"220 ready\r\n", false},
		"nothing":                        {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			target := speak(t, func(conn net.Conn) {
				if readRequest(bufio.NewReader(conn)) {
					_, _ = io.WriteString(conn, tc.answer)
				}
			})
			if got := Answers(t.Context(), Server{Address: target}, "/"); got != tc.want {
				t.Errorf("it answers: %v, want %v", got, tc.want)
			}
		})
	}
}
