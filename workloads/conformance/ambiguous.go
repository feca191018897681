package conformance

import (
	"fmt"
	"net/http"
	"slices"
)

// hidden is a request in another's body. A server that answers it disagrees with one that saw a body.
const hidden = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n"

// ambiguity is a request that two servers could read differently (request smuggling). It must get exactly one answer: a refusal or, if RFC
// 9112 (2.2 and 5.2) allows leniency, the answer to a request with a body.
type ambiguity struct {
	lines, body string
	want        []int
}

// Whether a request may be accepted depends on RFC 9112's leniency, as with bare line feeds and folded lines.
var (
	refused = []int{http.StatusBadRequest}
	lenient = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusNotImplemented, http.StatusOK}
)

// chunks is hidden (31 bytes) as a chunked body.
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

// check sends the request, ends sending, and counts answers until the server ends.
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
