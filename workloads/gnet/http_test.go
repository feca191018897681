package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

type respondCase struct {
	input    string
	want     string
	wantRest string
	wantEnd  ending
}

func TestRespond(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
	ok, refuse := string(answer), string(badRequest)
	tests := map[string]respondCase{
		"a request is answered":                     {input: get, want: ok},
		"half a request waits for its other half":   {input: get[:20], wantRest: get[:20]},
		"a pipeline is answered as far as it goes":  {input: get + get + get[:20], want: ok + ok, wantRest: get[:20]},
		"nothing is answered after a wish to close": {input: "GET / HTTP/1.1\r\nHost: a\r\nConnection: CLOSE\r\n\r\n" + get, want: string(answerClose), wantRest: get, wantEnd: asked},
		"nothing is answered after nonsense":        {input: get + "\r\n\r\n" + get, want: ok + refuse, wantRest: get, wantEnd: refused},
		"an old client must ask to be kept":         {input: "GET / HTTP/1.0\r\n\r\n", want: string(answerClose), wantEnd: asked},
		"an old client that asks is kept":           {input: "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", want: string(answerKeep)},
		"the future is refused":                     {input: "GET / HTTP/1.2\r\n\r\n", want: refuse, wantEnd: refused},
		"a request without a path is refused":       {input: "GET HTTP/1.1\r\n\r\n", want: refuse, wantEnd: refused},
		"other methods are refused":                 {input: "POST / HTTP/1.1\r\n\r\n", want: string(badMethod), wantEnd: refused},
		"a body is refused":                         {input: "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n", want: string(badBody), wantEnd: refused},
		"a body of nothing is none":                 {input: "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", want: ok},
		"a body in chunks is refused":               {input: "GET / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: chunked\r\n\r\n", want: string(badBody), wantEnd: refused},
		"a header that only begins like one":        {input: "GET / HTTP/1.1\r\nHost: a\r\nContent-Lengthy: 10\r\nConnections: close\r\n\r\n", want: ok},
		"the largest head is answered":              {input: "GET /" + strings.Repeat("a", headMax-27) + " HTTP/1.1\r\nHost: a\r\n\r\n", want: ok},
		"a byte more is refused":                    {input: "GET /" + strings.Repeat("a", headMax-26) + " HTTP/1.1\r\nHost: a\r\n\r\n", want: string(badHead), wantRest: "all", wantEnd: refused},
		"a HEAD is answered without the body":       {input: "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + get, want: ok[:len(ok)-len(body)] + ok},
		"a word that only contains close is none":   {input: "GET / HTTP/1.1\r\nHost: a\r\nConnection: closed, x-close\r\n\r\n", want: ok},
		"close may be one of several words":         {input: "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", want: string(answerClose), wantEnd: asked},
	}
	for _, nonsense := range []string{
		"GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n", "GET  / HTTP/1.1\r\nHost: a\r\n", "GET / / HTTP/1.1\r\nHost: a\r\n",
		"G(T / HTTP/1.1\r\nHost: a\r\n", "GET /\x7f HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n", "GET / HTTP/1.1\r\nHost : a\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n 36\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nX: y\nTransfer-Encoding: chunked\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: y\rz\r\n", "GET / HTTP/1.1\nHost: a\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 0\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n",
	} {
		tests["refused is "+strconv.Quote(nonsense)] = respondCase{input: nonsense + "\r\n" + get, want: refuse, wantRest: get, wantEnd: refused}
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			out, used, end := respond(nil, []byte(tc.input))
			rest := tc.input[used:]
			if tc.wantRest == "all" {
				tc.wantRest = tc.input
			}
			if string(out) != tc.want || rest != tc.wantRest || end != tc.wantEnd {
				t.Errorf("got %q, rest %.40q, ending %d; want %q, rest %.40q, ending %d", out, rest, end, tc.want, tc.wantRest, tc.wantEnd)
			}
		})
	}
}

// FuzzRespond checks that splitting the input in two makes no difference.
func FuzzRespond(f *testing.F) {
	for _, seed := range []string{"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n", "\r\n\r\n", "POST / HTTP/1.1\r\nContent-Length: 0\r\n:\r\n\r\n"} {
		f.Add([]byte(seed), 5)
	}
	f.Fuzz(func(t *testing.T, input []byte, cut int) {
		whole, used, end := respond(nil, input)
		if used < 0 || used > len(input) || len(whole) > 0 && end == goesOn && used == 0 || end == goesOn && len(input)-used >= headMax {
			t.Fatalf("used %d of %d bytes, %d bytes of answers, ending %d", used, len(input), len(whole), end)
		}
		if cut < 0 || cut > len(input) {
			return
		}
		pieces, first, firstEnd := respond(nil, input[:cut])
		if firstEnd == goesOn {
			var second int
			if pieces, second, firstEnd = respond(pieces, input[first:]); first+second != used {
				t.Fatalf("in two pieces %d bytes were used, in one %d", first+second, used)
			}
		}
		if !bytes.Equal(pieces, whole) || firstEnd != end {
			t.Fatalf("in two pieces %q (ending %d), in one %q (ending %d)", pieces, firstEnd, whole, end)
		}
	})
}
