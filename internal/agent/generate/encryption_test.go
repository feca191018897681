package generate

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/testbed"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/tools"
	"loadstone.dev/loadstone/internal/trial/kind/sweep"
	"loadstone.dev/loadstone/internal/trial/protocol"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

func ofTool(name record.Tool) record.Cell {
	c := cell(2, 0)
	c.Tool, c.Load = name, string(name)
	return c
}

// shellAt is a tool made of a shell script, with the target's host and port in $0 and $1.
type shellAt struct {
	fakeTool
	text string
}

func (s shellAt) Args(_ record.Cell, target tool.Target, _ tool.Purpose) []string {
	host, port, _ := strings.Cut(target.Address, ":")
	return []string{"bash", "-c", s.text, host, port}
}

func withTools(c Config) *Generator {
	g := New(c, tools.All(ScriptsDir(c.Dir)), nil)
	g.maxLate, g.grace = patience, patience
	return g
}

// The result depends on each client's own list, so it is found per client before measuring.
func TestAGeneratorFindsWhatEachToolAgreesOn(t *testing.T) {
	testbed.Programs(t, "wrk", "ab", "k6")
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), http.HandlerFunc(hello), func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })
	b := newBench(t, withTools)
	own := &record.TLS{CA: server.Authority, ServerName: "127.0.0.1"}
	wrk := ofTool(record.ToolWrk)
	cells := []record.Cell{wrk, ofTool(record.ToolAb), ofTool(record.ToolK6), wrk}
	check := protocol.Check{Targets: []string{server.Target}, TLS: []*record.TLS{own}, Requests: []record.Request{wrk.Request}, Cells: cells}
	if checked := b.generator.Check(t.Context(), check); !checked.OK() || len(checked.Responses) != 1 {
		t.Fatalf("the check found %+v", checked)
	}
	server.Visits()
	result := b.again(protocol.Start{Targets: check.Targets, TLS: check.TLS, Slots: timetable.Of(cells[:1])}, auditedThroughout)
	const version, cipher = "TLS 1.2", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
	want := []record.Encryption{{Client: "check", Version: version, Cipher: cipher, Key: "ECDSA P-256", Verified: true}}
	for _, client := range []string{"wrk", "ab", "k6"} {
		want = append(want, record.Encryption{Client: client, Version: version, Cipher: cipher})
	}
	if diff := cmp.Diff(want, result.Encryption); diff != "" {
		t.Errorf("encryption (-want +got):\n%s", diff)
	}
	c := result.Cells[0]
	if c.Error != "" || c.Measurement == nil || c.Measurement.Requests == 0 || c.Measurement.Errors.Sum() > 0 {
		t.Fatalf("the cell has %q and %+v", c.Error, c.Measurement)
	}
	if a := c.MeasuredAudit; a == nil || a.Requests == 0 || a.Failed+a.WrongBody+a.WrongStatus > 0 {
		t.Errorf("the audit is %+v", a)
	}
	if v := server.Visits(); v.Version != version || v.Cipher != cipher || int64(v.Requests) < c.Measurement.Requests {
		t.Errorf("the server has seen %+v", v)
	}
}

func TestAServerWithoutTheTLSThatIsWantedIsRefused(t *testing.T) {
	testbed.Programs(t, "wrk", "k6")
	soon := time.Now().Add(time.Hour)
	good, other := testbed.NewEncrypted(t, soon, http.HandlerFunc(hello)), testbed.NewEncrypted(t, soon, http.HandlerFunc(hello))
	// The check offers no suite of this server.
	picky := testbed.NewEncrypted(t, soon, http.HandlerFunc(hello), func(c *tls.Config) {
		c.MaxVersion, c.CipherSuites = tls.VersionTLS12, []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256}
	})
	plain := httptest.NewServer(http.HandlerFunc(hello))
	defer plain.Close()
	for name, tc := range map[string]struct {
		targets []string
		tls     []*record.TLS
		server  int
		want    string
	}{
		"another authority":         {[]string{good.Target}, []*record.TLS{{CA: other.Authority}}, 0, "is not signed by an authority of tls.ca"},
		"the second of a duet":      {[]string{good.Target, other.Target}, []*record.TLS{{CA: good.Authority}, {CA: good.Authority}}, 1, "is not signed by an authority of tls.ca"},
		"plain HTTP":                {[]string{strings.TrimPrefix(plain.URL, "http://")}, []*record.TLS{{}}, 0, "the server does not speak TLS on its port"},
		"plain beside one with TLS": {[]string{good.Target, strings.TrimPrefix(plain.URL, "http://")}, []*record.TLS{{}, nil}, 0, ""},
		"nothing in common":         {[]string{picky.Target}, []*record.TLS{{}}, 0, "the check could not connect to the server: the TLS handshake failed: "},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, withTools)
			c := ofTool(record.ToolWrk)
			got := b.generator.Check(t.Context(), protocol.Check{Targets: tc.targets, TLS: tc.tls, Requests: []record.Request{c.Request}, Cells: []record.Cell{c}})
			if tc.want == "" {
				if !got.OK() {
					t.Errorf("got %+v", got)
				}
				return
			}
			if got.Fault != protocol.FaultTLS || got.Server != tc.server || !strings.Contains(got.Message, tc.want) {
				t.Errorf("got %+v, want %q of server %d", got, tc.want, tc.server)
			}
		})
	}
}

func TestALoadInHTTP2IsCheckedLoadedAndAudited(t *testing.T) {
	testbed.Programs(t, "k6")
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), http.HandlerFunc(hello))
	b := newBench(t, withTools)
	c := cell(2, 1).Speaking(record.HTTP2)
	c.Tool, c.Load, c.Connection = record.ToolK6, "web", record.KeepAlive
	cells := []record.Cell{c}
	check := protocol.Check{Targets: []string{server.Target}, TLS: []*record.TLS{{CA: server.Authority}}, Requests: sweep.Requests(cells), Cells: cells}
	checked := b.generator.Check(t.Context(), check)
	if !checked.OK() || len(checked.Responses) != 1 || checked.Responses[0].Key() != "/ HTTP/2" {
		t.Fatalf("the check found %+v", checked)
	}
	if v := server.Visits(); v.HTTP != "h2" {
		t.Errorf("in the check the server has seen %+v", v)
	}
	result := b.again(protocol.Start{Targets: check.Targets, TLS: check.TLS, Slots: timetable.Of(cells)}, audited)
	if len(result.Cells) != 1 || result.Cells[0].Measurement == nil {
		t.Fatalf("the cell was not measured: %q", result.message())
	}
	got := result.Cells[0]
	if m := got.Measurement; m.Requests == 0 || m.HTTP2 != m.Requests || m.Errors.Sum() > 0 {
		t.Errorf("%d requests, %d of them in HTTP/2, with %+v", m.Requests, m.HTTP2, m.Errors)
	}
	if got.Audit == nil || got.Audit.Requests == 0 || got.MeasuredAudit == nil {
		t.Fatalf("the audits are %+v and %+v", got.Audit, got.MeasuredAudit)
	}
	for _, a := range []*record.Audit{got.Audit, got.MeasuredAudit} {
		if a.Failed+a.WrongBody+a.WrongStatus > 0 {
			t.Errorf("an audit is %+v", a)
		}
	}
	if v := server.Visits(); v.HTTP != "h2" || strings.Join(v.Protocols, " ") != "h2 http/1.1" {
		t.Errorf("the server has seen %+v", v)
	}
}

func TestAServerWithoutHTTP2IsRefusedBeforeItIsMeasured(t *testing.T) {
	testbed.Programs(t, "k6")
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), http.HandlerFunc(hello), func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} })
	for name, script := range map[string]*record.Script{"a request": nil, "a script": {ConfigMap: "a", Key: "b.js"}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, withTools)
			c := ofTool(record.ToolK6).Speaking(record.HTTP2)
			c.Script = script
			check := protocol.Check{Targets: []string{server.Target}, TLS: []*record.TLS{{CA: server.Authority}}, Requests: sweep.Requests([]record.Cell{c}), Cells: []record.Cell{c}}
			if script != nil {
				check.Scripts = []protocol.Script{{Load: c.Load, Text: []byte("export default function () {}")}}
			}
			got := b.generator.Check(t.Context(), check)
			if want := "the server does not speak HTTP/2 on its port: offered h2 and http/1.1 in a TLS handshake (ALPN), it chose http/1.1: "; got.Fault != protocol.FaultTLS || !strings.HasPrefix(got.Message, want) {
				t.Errorf("got %+v, want %q", got, want)
			}
		})
	}
}

// Without this check each request would fail, with no visible reason.
func TestAToolThatBeginsNoTLSIsRefused(t *testing.T) {
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), http.HandlerFunc(hello))
	for name, tc := range map[string]struct {
		says string
		want string
	}{
		"it ends":       {"echo no common cipher; exit 3", "wrk could not start TLS with the server: exit status 3: no common cipher: both need"},
		"it is refused": {`exec 3<>/dev/tcp/$0/$1; printf '\026\003\001\000\005\001\000\000\001\003' >&3; cat <&3; sleep 60`, "wrk could not start TLS with the server: the server refused with TLS alert "},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, withTool(shellAt{text: tc.says}))
			c := ofTool(record.ToolWrk)
			got := b.generator.Check(t.Context(), protocol.Check{Targets: []string{server.Target}, TLS: []*record.TLS{{}}, Requests: []record.Request{c.Request}, Cells: []record.Cell{c}})
			if got.Fault != protocol.FaultTLS || !strings.HasPrefix(got.Message, tc.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestTheServersOfADuetMaySpeakDifferently(t *testing.T) {
	testbed.Programs(t, "wrk")
	server := testbed.NewEncrypted(t, time.Now().Add(time.Hour), http.HandlerFunc(hello))
	b := newBench(t, withTools)
	c := duetCell(2, 1)
	check := protocol.Check{
		Targets: []string{newTarget(t, hello), server.Target}, TLS: []*record.TLS{nil, {CA: server.Authority}}, Requests: []record.Request{c.Request}, Cells: []record.Cell{c},
	}
	if checked := b.generator.Check(t.Context(), check); !checked.OK() {
		t.Fatal(checked.Message)
	}
	server.Visits()
	result := b.measure(protocol.Start{At: time.Now().Add(300 * time.Millisecond), Targets: check.Targets, TLS: check.TLS, Slots: timetable.Of(check.Cells)})
	if v := server.Visits(); v.Requests == 0 {
		t.Errorf("the second server has seen %+v", v)
	}
	for i, c := range result.Cells {
		if c.Server != i || c.Error != "" || c.Measurement == nil || c.Measurement.Requests == 0 || c.Measurement.Errors.Sum() > 0 {
			t.Errorf("the cell of server %d has %q and %+v", i, c.Error, c.Measurement)
		}
	}
	if len(result.Encryption) != 2 || result.Encryption[0].Server != 1 || result.Encryption[1].Client != "wrk" {
		t.Errorf("was agreed on %+v", result.Encryption)
	}
}
