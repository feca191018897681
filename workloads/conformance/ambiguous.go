package conformance

import (
	"fmt"
	"net/http"
	"slices"
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
func (a ambiguity) check(address string) error {
	got, err := converse(address, "GET / HTTP/1.1\r\nHost: bench\r\n"+a.lines+"\r\n"+a.body, http.MethodGet)
	if err != nil {
		return err
	}
	if len(got) != 1 || !slices.Contains(a.want, got[0].StatusCode) {
		return fmt.Errorf("got the answers %d, want one of %d", statuses(got), a.want)
	}
	return nil
}

// heads checks that answers to HEAD have no body, beside others that have one.
func heads(address string) error {
	const head = "HEAD / HTTP/1.1\r\nHost: bench\r\n"
	got, err := converse(address, plain+head+"\r\n"+head+"\r\n"+plain+head+"Connection: close\r\n\r\n",
		http.MethodGet, http.MethodHead, http.MethodHead, http.MethodGet, http.MethodHead)
	if err != nil {
		return err
	}
	if len(got) != 5 {
		return fmt.Errorf("got the answers %d, want five", statuses(got))
	}
	for i, response := range got {
		if response.StatusCode != http.StatusOK || response.ContentLength != int64(len("helloworld")) || response.Header.Get("Content-Type") != "text/plain" {
			return fmt.Errorf("answer %d: got %s, %d bytes of %s", i+1, response.Status, response.ContentLength, response.Header.Get("Content-Type"))
		}
	}
	return nil
}

func statuses(answers []*http.Response) []int {
	all := make([]int, 0, len(answers))
	for _, a := range answers {
		all = append(all, a.StatusCode)
	}
	return all
}
