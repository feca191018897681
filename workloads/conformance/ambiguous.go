package conformance

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"
)

// hidden is a request in the body of another. Who answers it has understood that other one otherwise than who saw a body.
const hidden = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n"

// ambiguity is a request that two servers could understand differently, so that one of them, behind the other, could be made to answer
// a request that the other one has never seen. There is one answer to it, never two: it is refused, or, where a server may be lenient
// (RFC 9112, 2.2 and 5.2), the body that it then has is read as one.
type ambiguity struct {
	lines, body string
	want        []int
}

// What is asked for depends on whether RFC 9112 lets a server take the request for what was probably meant, as it does with bare line
// feeds and folded lines.
var (
	refused = []int{http.StatusBadRequest}
	lenient = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusNotImplemented, http.StatusOK}
)

// chunks is hidden as a body in chunks. It has 31 bytes.
const chunks = "1f\r\n" + hidden + "\r\n0\r\n\r\n"

var ambiguous = map[string]ambiguity{
	"a folded length":                      {lines: "Content-Length:\r\n 31\r\n", body: hidden, want: lenient},
	"a folded coding":                      {lines: "Transfer-Encoding:\r\n\tchunked\r\n", body: chunks, want: lenient},
	"a coding behind a bare line feed":     {lines: "X: y\nTransfer-Encoding: chunked\r\n", body: chunks, want: lenient},
	"a length behind a bare line feed":     {lines: "X: y\nContent-Length: 31\r\n", body: hidden, want: lenient},
	"a coding behind a carriage return":    {lines: "X: y\rTransfer-Encoding: chunked\r\n", body: chunks, want: refused},
	"a blank before the colon of a coding": {lines: "Transfer-Encoding : chunked\r\n", body: chunks, want: refused},
	"a blank before the colon of a length": {lines: "Content-Length : 31\r\n", body: hidden, want: refused},
	"two lengths":                          {lines: "Content-Length: 0\r\nContent-Length: 31\r\n", body: hidden, want: refused},
	"two lengths in a line":                {lines: "Content-Length: 0, 31\r\n", body: hidden, want: refused},
	"a length with a plus":                 {lines: "Content-Length: +31\r\n", body: hidden, want: refused},
	"a length with a minus":                {lines: "Content-Length: -31\r\n", body: hidden, want: refused},
	"a length that is none":                {lines: "Content-Length: 0x1f\r\n", body: hidden, want: refused},
	"a length and a coding":                {lines: "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", body: chunks, want: lenient},
	"a coding":                             {lines: "Transfer-Encoding: chunked\r\n", body: chunks, want: lenient},
}

// check sends the request, ends the sending direction, and counts what comes until the server ends its own.
func (a ambiguity) check(t *testing.T, address string) {
	t.Helper()
	got := converse(t, address, "GET / HTTP/1.1\r\nHost: bench\r\n"+a.lines+"\r\n"+a.body, http.MethodGet)
	if len(got) != 1 || !slices.Contains(a.want, got[0].StatusCode) {
		t.Errorf("got the answers %d, want one of %d", statuses(got), a.want)
	}
}

// heads checks that answers to HEAD have no body, beside others that have one.
func heads(t *testing.T, address string) {
	t.Helper()
	const head = "HEAD / HTTP/1.1\r\nHost: bench\r\n"
	got := converse(t, address, plain+head+"\r\n"+head+"\r\n"+plain+head+"Connection: close\r\n\r\n",
		http.MethodGet, http.MethodHead, http.MethodHead, http.MethodGet, http.MethodHead)
	if len(got) != 5 {
		t.Fatalf("got the answers %d, want five", statuses(got))
	}
	for i, response := range got {
		if response.StatusCode != http.StatusOK || response.ContentLength != int64(len("helloworld")) || response.Header.Get("Content-Type") != "text/plain" {
			t.Errorf("answer %d: got %s, %d bytes of %s", i+1, response.Status, response.ContentLength, response.Header.Get("Content-Type"))
		}
	}
}

// converse sends text and ends the sending direction. It returns all answers, each to a request of a method; the last method is that of
// all that follow, too.
func converse(t *testing.T, address, text string, methods ...string) (answers []*http.Response) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatalf("writing: %v", err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	for {
		if _, err := r.Peek(1); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the server does not end its side after %d answers", len(answers))
		} else if err != nil {
			return answers
		}
		response, err := http.ReadResponse(r, &http.Request{Method: methods[min(len(answers), len(methods)-1)]})
		if err != nil {
			t.Fatalf("reading answer %d: %v", len(answers)+1, err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatalf("reading body %d: %v", len(answers)+1, err)
		}
		answers = append(answers, response)
	}
}

func statuses(answers []*http.Response) []int {
	all := make([]int, 0, len(answers))
	for _, a := range answers {
		all = append(all, a.StatusCode)
	}
	return all
}
