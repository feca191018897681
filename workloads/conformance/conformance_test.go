package conformance

import (
	"io"
	"net"
	"net/http/httputil"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	good = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nhelloworld"
	last = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhelloworld"
	head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n"
	bad  = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)

// say sends the same text on every connection. It then ends its side, or waits for the client to do so.
func say(t *testing.T, text string, ends bool) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.WriteString(c, text)
				if ends {
					_ = c.(*net.TCPConn).CloseWrite()
				}
				_, _ = io.Copy(io.Discard, c)
			}()
		}
	}()
	return l.Addr().String()
}

// checked tells the child of the tests below the server and omitted cases.
const (
	checked = "CONFORMANCE_ADDRESS"
	leftOut = "CONFORMANCE_BUT"
)

func TestChecked(t *testing.T) {
	if address := os.Getenv(checked); address != "" {
		Check(t, address, strings.Split(os.Getenv(leftOut), ",")...)
	}
}

// child runs a failing case of Check in its own process, and returns the output.
func child(t *testing.T, address, name string, but ...string) (out string, passed bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^TestChecked$/^"+strings.ReplaceAll(name, " ", "_")+"$")
	c.Env = []string{checked + "=" + address, leftOut + "=" + strings.Join(but, ",")}
	text, err := c.CombinedOutput()
	return string(text), err == nil
}

func TestACheckFindsFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		of, says string
		ends     bool
		want     bool
	}{
		"an answer":                             {of: "a request", says: good, want: true},
		"another body":                          {of: "a request", says: strings.Replace(good, "helloworld", "hello, all", 1)},
		"another type":                          {of: "a request", says: strings.Replace(good, "plain", "html", 1)},
		"another status":                        {of: "a request", says: strings.Replace(good, "200 OK", "404 Not Found", 1)},
		"an end that nobody asked for":          {of: "a request", says: last, ends: true},
		"an answer cut off":                     {of: "a request", says: good[:len(good)-1], ends: true},
		"an answer too few":                     {of: "requests one after the other", says: strings.Repeat(good, 4), ends: true},
		"an end that was asked for":             {of: "an old client", says: last, ends: true, want: true},
		"no end where one was asked for":        {of: "an old client", says: good},
		"an answer behind the end":              {of: "an old client", says: last + good},
		"a refusal":                             {of: "two lengths", says: bad, ends: true, want: true},
		"no answer to what is ambiguous":        {of: "two lengths", says: "", ends: true},
		"leave where a refusal is asked for":    {of: "two lengths", says: good, ends: true},
		"leave where it may be given":           {of: "a coding", says: good, ends: true, want: true},
		"an answer to the hidden request":       {of: "a coding", says: good + good, ends: true},
		"a refusal of the hidden request alone": {of: "a coding", says: good + bad, ends: true},
		"heads":                                 {of: "heads only", says: good + head + head + good + head, ends: true, want: true},
		"a head with a body":                    {of: "heads only", says: good + good + head + good + head, ends: true},
		"a head without its length":             {of: "heads only", says: good + strings.Replace(head, "Content-Length: 10\r\n", "", 1) + head + good + head, ends: true},
		"a head too few":                        {of: "heads only", says: good + head + head + good, ends: true},
	} {
		t.Run(name, func(t *testing.T) {
			out, passed := child(t, say(t, tc.says, tc.ends), tc.of)
			if passed != tc.want || !strings.Contains(out, "=== RUN   TestChecked/") {
				t.Errorf("the check is passed: %v, want %v: %s", passed, tc.want, out)
			}
		})
	}
}

func TestWhatIsLeftOutIsACase(t *testing.T) {
	address := say(t, bad, true)
	for _, name := range Other {
		t.Run(name, func(t *testing.T) {
			const ran = "=== RUN   TestChecked/"
			if out, _ := child(t, address, name); !strings.Contains(out, ran) {
				t.Errorf("there is no such case: %s", out)
			}
			if out, passed := child(t, address, name, Other...); strings.Contains(out, ran) || !passed {
				t.Errorf("it is not left out: %s", out)
			}
		})
	}
}

func TestAHiddenRequestIsTheWholeBody(t *testing.T) {
	body, err := io.ReadAll(httputil.NewChunkedReader(strings.NewReader(chunks)))
	if err != nil || string(body) != hidden {
		t.Errorf("the chunks hold %q, %v; want %q", body, err, hidden)
	}
	for name, a := range ambiguous {
		t.Run(name, func(t *testing.T) {
			if !strings.HasSuffix(a.lines, "\r\n") || strings.Contains(a.lines, "\r\n\r\n") {
				t.Errorf("behind the lines %q the head goes on, or is at its end", a.lines)
			}
			if strings.Contains(a.lines, "31") && len(a.body) != 31 {
				t.Errorf("a body of %d bytes, want 31", len(a.body))
			}
			if !strings.Contains(a.body, hidden) || len(a.want) == 0 {
				t.Errorf("the body is %q, and the answers may be %d", a.body, a.want)
			}
		})
	}
}
