package protocol

import (
	"crypto/ed25519"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/timetable"
)

// A name from the network must never lead out of its folder.
func TestAPlainNameLeadsIntoNoOtherFolder(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		want bool
	}{
		"a record":            {"result.json", true},
		"a raw output":        {"sweep-100.server-1.wrk.txt", true},
		"a hidden file":       {".hidden", true},
		"three dots":          {"...", true},
		"a name with a blank": {"a b", true},
		"nothing":             {"", false},
		"the folder itself":   {".", false},
		"its parent":          {"..", false},
		"a folder below":      {"a/b", false},
		"a folder above":      {"../a", false},
		"a way round":         {"a/../b", false},
		"an absolute path":    {"/etc/passwd", false},
		"another system's":    {`a\b`, false},
		"a folder at its end": {"a/", false},
		"the end of a string": {"a\x00.json", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := PlainName(tc.file); got != tc.want {
				t.Errorf("PlainName(%q) = %v, want %v", tc.file, got, tc.want)
			}
		})
	}
}

func TestACheckIsOKUnlessItNamesAFault(t *testing.T) {
	for name, tc := range map[string]struct {
		checked Checked
		want    bool
	}{
		"answers":            {Checked{Responses: []record.Response{{Status: 200}}}, true},
		"nothing to say":     {Checked{}, true},
		"a fault of servers": {Checked{Fault: FaultServer, Message: "it answered 500"}, false},
		"a fault of loads":   {Checked{Fault: FaultLoad}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.checked.OK(); got != tc.want {
				t.Errorf("OK() = %v, want %v", got, tc.want)
			}
		})
	}
}

// Every command is signed as JSON, so lost fields would change the measurement.
func TestOrdersArriveAsTheyWereGiven(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	cpu, body := int32(0), ""
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.UTC)
	cells := []record.Cell{{
		Load: "sweep", Tool: record.ToolWrk, Connections: 10, Generators: 1, Threads: 2, Connection: record.KeepAlive, WarmupSeconds: 1, DurationSeconds: 5,
		Request: record.Request{Path: "/?a=<b>&c", Expect: record.Expect{Status: 200, Body: &body}}, Order: record.OrderSlicedDuet,
	}}
	for name, command := range map[string]Command{
		"a check": {Check: &Check{
			Targets: []string{"10.0.0.1:80", "[fd00::1]:80"}, Requests: []record.Request{cells[0].Request}, Cells: cells,
			Scripts: []Script{{Load: "sweep", Text: []byte("return \"\xff\x00<script>\"\n")}},
		}},
		"a start":              {Start: &Start{At: at, Targets: []string{"10.0.0.1:80"}, Slots: timetable.Of(cells)}},
		"a start on CPU 0":     {Start: &Start{At: at, Targets: []string{"10.0.0.1:80"}, ServerCPU: &cpu, Slots: timetable.Of(cells)}},
		"a store":              {Store: &Store{Files: []Destination{{Name: "result.json", URL: "http://s3/a?b=c&d=e", Headers: map[string]string{"X-Amz-Checksum-Sha256": "a+/="}}}}},
		"a command of nothing": {},
	} {
		t.Run(name, func(t *testing.T) {
			command.Trial, command.Attempt, command.Member = "uid", 1, record.MemberServer(1)
			sealed, err := Seal(private, command)
			if err != nil {
				t.Fatal(err)
			}
			wire, err := json.Marshal(sealed)
			if err != nil {
				t.Fatal(err)
			}
			var arrived Envelope
			if err := json.Unmarshal(wire, &arrived); err != nil {
				t.Fatal(err)
			}
			got, err := Open(public, arrived, "uid", 1, record.MemberServer(1))
			if diff := cmp.Diff(command, got); err != nil || diff != "" {
				t.Errorf("error %v (-sent +arrived):\n%s", err, diff)
			}
		})
	}
}

func TestWhatIsSignedAndNoOrderIsRefused(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{"nothing": "", "no JSON": "start", "another shape": `{"trial": 5}`, "a list": "[]", "half a command": `{"trial":"uid"`} {
		t.Run(name, func(t *testing.T) {
			e := Envelope{Command: []byte(body), Signature: ed25519.Sign(private, []byte(body))}
			if got, err := Open(public, e, "uid", 1, "server-0"); err == nil {
				t.Errorf("it is obeyed as %+v", got)
			}
		})
	}
}

func TestAKeyOfAnotherLengthOpensNothing(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Seal(private, Command{Trial: "uid", Attempt: 1, Member: "server-0"})
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]ed25519.PublicKey{"none": nil, "too short": public[:31], "too long": append(append(ed25519.PublicKey{}, public...), 0)} {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(key, e, "uid", 1, "server-0"); err == nil {
				t.Error("the command is obeyed")
			}
		})
	}
}

func TestAnOrderThatIsNoJSONIsNotSigned(t *testing.T) {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	// A year that RFC 3339 does not have.
	if e, err := Seal(private, Command{Start: &Start{At: time.Unix(math.MaxInt32*1000, 0)}}); err == nil {
		t.Errorf("it is signed: %s", e.Command)
	}
}
