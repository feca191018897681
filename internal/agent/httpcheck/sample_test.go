package httpcheck

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/record"
)

func wanting(body string) Expectation {
	return Expect(record.Request{Path: "/", Expect: record.Expect{Status: 200, Body: &body}})
}

func TestSampledAnswers(t *testing.T) {
	sized := func(status, body string) string {
		return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
	}
	good := sized("200 OK", "helloworld")
	const right, wrongBody, wrongStatus, uncounted = "right", "body", "status", "uncounted"
	for name, tc := range map[string]struct {
		waiting string
		expect  Expectation
		want    string
		example string
	}{
		"a whole answer":                     {waiting: good, want: right},
		"another body of the same length":    {waiting: sized("200 OK", "yyyyyyyyyy"), want: wrongBody, example: `GET / answered the body "yyyyyyyyyy" instead of "helloworld"`},
		"another length":                     {waiting: sized("200 OK", "hello"), want: wrongBody},
		"another status":                     {waiting: sized("500 Oops", "helloworld"), want: wrongStatus, example: "GET / answered 500 instead of 200"},
		"a status without its whole body":    {waiting: "HTTP/1.1 500 Oops\r\nContent-Length: 10\r\n\r\nhe", want: wrongStatus},
		"an old version of HTTP":             {waiting: strings.Replace(good, "HTTP/1.1", "HTTP/1.0", 1), want: right},
		"an informational answer first":      {waiting: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + good, want: right},
		"only an informational answer":       {waiting: "HTTP/1.1 100 Continue\r\n\r\n", want: uncounted},
		"half of a head":                     {waiting: good[:20], want: uncounted},
		"a status line without its end":      {waiting: "HTTP/1.1 500", want: uncounted},
		"a head alone":                       {waiting: good[:len(good)-10], want: uncounted},
		"half of a body":                     {waiting: good[:len(good)-5], want: uncounted},
		"half of a wrong body":               {waiting: sized("200 OK", "hellOWORLD")[:len(good)-4], want: wrongBody, example: `GET / answered a body that begins with "hellOW"... (10 bytes) instead of "helloworld"`},
		"the head of a longer body":          {waiting: "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n", want: wrongBody},
		"the middle of a body":               {waiting: "loworld", want: uncounted},
		"a rest before an answer":            {waiting: "ld" + good, want: uncounted},
		"two answers, pipelined":             {waiting: good + good, want: uncounted},
		"bytes after an answer":              {waiting: good + "x", want: uncounted},
		"no HTTP at all":                     {waiting: "\x00\x01\x02", want: uncounted},
		"a head that cannot be read":         {waiting: "HTTP/1.1 OK\r\n\r\n", want: uncounted},
		"chunks":                             {waiting: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n", want: right},
		"chunks without the last":            {waiting: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nworld\r\n", want: uncounted},
		"a wrong chunk":                      {waiting: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\n", want: wrongBody},
		"more chunks than the body has":      {waiting: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhelloworld!\r\n", want: wrongBody},
		"garbage among chunks":               {waiting: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", want: uncounted},
		"a body until the connection's end":  {waiting: "HTTP/1.1 200 OK\r\n\r\nhelloworld", want: uncounted},
		"a wrong one until that":             {waiting: "HTTP/1.1 200 OK\r\n\r\nHELLO", want: wrongBody},
		"no content":                         {waiting: "HTTP/1.1 204 No Content\r\n\r\n", expect: Expect(record.Request{Path: "/", Expect: record.Expect{Status: 204}}), want: right},
		"any body":                           {waiting: good, expect: Expect(record.Request{Path: "/", Expect: record.Expect{Status: 200, AnyBody: true}}), want: right},
		"half of any body":                   {waiting: good[:len(good)-5], expect: Expect(record.Request{Path: "/", Expect: record.Expect{Status: 200, AnyBody: true}}), want: uncounted},
		"a body that nothing is known about": {waiting: good, expect: Expect(record.Request{Path: "/", Expect: record.Expect{Status: 200}}), want: right},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.expect.Request.Path == "" {
				tc.expect = wanting("helloworld")
			}
			s := NewSampler([]Expectation{tc.expect}, time.Now())
			s.See(7, []byte(tc.waiting))
			got, found := uncounted, s.Found()
			switch {
			case found == nil:
			case found.WrongBody == 1:
				got = wrongBody
			case found.WrongStatus == 1:
				got = wrongStatus
			default:
				got = right
			}
			if got != tc.want {
				t.Fatalf("it is %s, want %s: %+v", got, tc.want, found)
			}
			if found != nil && (found.Requests != 1 || found.Connections != 1 || (found.Example != "") != (got != right)) {
				t.Errorf("it is found that %+v", *found)
			}
			if tc.example != "" && (!strings.HasPrefix(found.Example, tc.example+" (") || !strings.HasSuffix(found.Example, " s after the load began, on a connection of the load)")) {
				t.Errorf("the example is %q", found.Example)
			}
		})
	}
}

func TestALongBodyIsComparedByItsBeginning(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 10_000)
	e := wanting(long)
	e.body = e.body[:maxBody]
	for name, tc := range map[string]struct {
		body  string
		wrong bool
	}{"the same": {long, false}, "another beginning": {"x" + long[1:], true}} {
		s := NewSampler([]Expectation{e}, time.Now())
		s.See(1, fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(long), tc.body[:50_000]))
		if found := s.Found(); (found != nil) != tc.wrong || tc.wrong && (found.WrongBody != 1 || len(found.Example) > 500) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// Which request of a mix an answer belongs to is unknown.
func TestASampledAnswerOfAMixMaySuitAnyRequest(t *testing.T) {
	created := Expect(record.Request{Method: "POST", Path: "/orders", Expect: record.Expect{Status: 201, AnyBody: true}})
	s := NewSampler([]Expectation{wanting("a"), wanting("b"), created}, time.Now())
	for i, answer := range []string{"200 OK\r\nContent-Length: 1\r\n\r\na", "200 OK\r\nContent-Length: 1\r\n\r\nb", "201 Created\r\nContent-Length: 0\r\n\r\n"} {
		s.See(i, []byte("HTTP/1.1 "+answer))
	}
	if found := s.Found(); found == nil || found.Requests != 3 || found.Connections != 3 || found.Example != "" {
		t.Fatalf("right answers: %+v", found)
	}
	s.See(1, []byte("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nc"))
	s.See(2, []byte("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
	if found := s.Found(); found.Requests != 5 || found.WrongBody != 1 || found.WrongStatus != 1 || found.Connections != 3 || !strings.HasPrefix(found.Example, "GET / answered the body \"c\" instead of ") {
		t.Errorf("with two wrong ones: %+v", found)
	}
}

func FuzzSampledAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhelloworld"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"))
	f.Add([]byte("HTTP/1.0 100 Continue\r\n\r\nHTTP/1.0 204\r\n\r\n"))
	f.Fuzz(func(t *testing.T, waiting []byte) {
		s := NewSampler([]Expectation{wanting("helloworld")}, time.Now())
		s.See(1, waiting)
		if found := s.Found(); found != nil && (found.Requests != 1 || found.WrongBody+found.WrongStatus > 1 || len(found.Example) > 500) {
			t.Errorf("%q: %+v", waiting, *found)
		}
	})
}
