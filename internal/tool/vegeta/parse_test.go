package vegeta_test

import (
	"bytes"
	"encoding/gob"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/testbed/mutated"
	"loadstone.dev/loadstone/internal/tool"
	"loadstone.dev/loadstone/internal/tool/vegeta"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// All were recorded against workloads/faulty: 100 arrivals per second for one second, on four connections (busy.bin: two).
func TestParseRecordedOutput(t *testing.T) {
	whole := record.Measurement{Tool: "vegeta", Threads: 1, Connections: 4, DurationMicros: 1_000_000, Requests: 100, Asked: 100, Bytes: 100 * 112}
	with := func(change func(*record.Measurement)) record.Measurement {
		m := whole
		change(&m)
		return m
	}
	for name, tc := range map[string]struct {
		file string
		want record.Measurement
		kind record.LatencyKind
	}{
		"a good run":                    {"good.bin", whole, record.Observed},
		"a connection for each request": {"perrequest.bin", whole, record.WithConnection},
		"every tenth status is wrong": {"status.bin", with(func(m *record.Measurement) {
			m.Errors.Status, m.Bytes = 10, 100*112-10*4
		}), record.Observed},
		"every tenth body is wrong": {"body.bin", with(func(m *record.Measurement) { m.Errors.Body = 10 }), record.Observed},
		"a server that exits": {"exits.bin", with(func(m *record.Measurement) {
			m.Requests, m.Errors.Connect, m.Bytes = 31, 69, 31*112
		}), record.Observed},
		"four connections that hang": {"hangs.bin", with(func(m *record.Measurement) {
			m.Requests, m.Errors.Timeout, m.Dropped, m.Bytes = 77, 4, 19, 77*112
		}), record.Observed},
		"a server that is too slow": {"busy.bin", with(func(m *record.Measurement) {
			m.Connections, m.Requests, m.Dropped, m.Bytes = 2, 77, 23, 77*112
		}), record.Observed},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := vegeta.Tool{}.Parse(read(t, tc.file))
			if err != nil {
				t.Fatal(err)
			}
			latency := got.Latency
			got.Latency = nil
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(latency) != 2 || latency[0].Kind != tc.kind || latency[1].Kind != record.FromIntended {
				t.Fatalf("the latencies are %+v", latency)
			}
			for _, l := range latency {
				if l.Samples != got.Requests {
					t.Errorf("%s has %d samples of %d requests", l.Kind, l.Samples, got.Requests)
				}
			}
		})
	}
}

type vegetaRow struct {
	Attack    string
	Seq       uint64
	Code      uint16
	Timestamp time.Time
	Latency   time.Duration
	BytesIn   uint64
	Error     string
	Body      []byte
	Headers   map[string][]string
}

func output(t *testing.T, cell record.Cell, rows ...vegetaRow) []byte {
	t.Helper()
	var raw bytes.Buffer
	names := vegeta.Tool{}.Outputs(cell)
	raw.WriteString(tool.OutputHeader(names[0]) + vegeta.Tool{}.Files(cell, tool.Target{Address: "10.0.0.1:80"})[0].Text + tool.OutputHeader(names[1]))
	e := gob.NewEncoder(&raw)
	for _, r := range rows {
		if err := e.Encode(&r); err != nil {
			t.Fatal(err)
		}
	}
	return raw.Bytes()
}

func cellAt(rate, seconds int32) record.Cell {
	return record.Cell{
		Load: "open", Tool: record.ToolVegeta, Connections: 2, RequestsPerSecond: rate, Generators: 1, Threads: 1, DurationSeconds: seconds,
		Connection: record.KeepAlive, Request: record.Request{Path: "/", Expect: record.Expect{Status: 200}},
	}
}

// Arrivals are due every 100 ms. The third waits 30 ms for a worker, and the last ones never start.
func TestLatenciesBeginAtTheIntendedStarts(t *testing.T) {
	const ms = time.Millisecond
	began := time.Date(2026, 1, 2, 3, 4, 5, 6789, time.UTC)
	row := func(seq uint64, late, took time.Duration) vegetaRow {
		return vegetaRow{Seq: seq, Code: 200, Timestamp: began.Add(time.Duration(seq+1)*100*ms + late), Latency: took, Headers: map[string][]string{"Content-Length": {"5"}}}
	}
	// Records are in the order of requests' ends.
	raw := output(t, cellAt(10, 1), row(1, 0, 2*ms), row(0, ms, 2*ms), row(2, 30*ms, 10*ms), row(3, 0, 4*ms))
	m, err := vegeta.Tool{}.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if m.Asked != 10 || m.Dropped != 6 || m.Requests != 4 || m.Bytes != 4*(17+2+len64("Content-Length: 5\r\n")+5) {
		t.Errorf("got %+v", m)
	}
	for what, tc := range map[string]struct {
		encoded string
		want    []int64
	}{
		"observed":                      {m.Latency[0].HDR, []int64{2000, 2000, 4000, 10_000}},
		"from the intended start":       {m.Latency[1].HDR, []int64{2000, 3000, 4000, 40_000}},
		"from it, at most 0.1 ms later": {m.Latency[1].HDRHigh, []int64{2101, 3101, 4101, 40_101}},
	} {
		h, err := histogram.Decode(tc.encoded)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for bin, n := range h.Bins() {
			for range n {
				got = append(got, bin.Low)
			}
		}
		if want := binned(tc.want); !cmp.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
}

func len64(s string) int64 { return int64(len(s)) }

func binned(values []int64) []int64 {
	out := make([]int64, len(values))
	for i, v := range values {
		out[i] = histogram.BinOf(v).Low
	}
	return out
}

func TestWhatStartsInTheMarginIsNoArrival(t *testing.T) {
	began := time.Unix(1_700_000_000, 0)
	var rows []vegetaRow
	for i := range uint64(1003) { // The last three are of the margin.
		rows = append(rows, vegetaRow{Seq: i, Code: 200, Timestamp: began.Add(time.Duration(i+1) * time.Millisecond), Latency: time.Millisecond})
	}
	m, err := vegeta.Tool{}.Parse(output(t, cellAt(1000, 1), rows...))
	if err != nil || m.Requests != 1000 || m.Dropped != 0 || m.Latency[0].Samples != 1000 || m.Latency[1].Samples != 1000 {
		t.Errorf("got %+v, %v", m, err)
	}
	if len(m.Unknown) != 1 || m.Bytes != 0 {
		t.Errorf("answers without a length have %d bytes, and unknown is %q", m.Bytes, m.Unknown)
	}
}

func TestErrorsByKind(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]record.Errors{
		`Get "http://10.0.0.1/": dial tcp 0.0.0.0:0->10.0.0.1:80: connect: connection refused`:                       {Connect: 1},
		`Get "http://10.0.0.1/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`:         {Timeout: 1},
		`Get "http://10.0.0.1/": dial tcp 10.0.0.1:80: i/o timeout (Client.Timeout exceeded while awaiting headers)`: {Timeout: 1},
		`Get "https://10.0.0.1/": remote error: tls: handshake failure`:                                              {Connect: 1},
		`Get "http://10.0.0.1/": write tcp 10.0.0.2:4->10.0.0.1:80: write: broken pipe`:                              {Write: 1},
		`Get "http://10.0.0.1/": read tcp 10.0.0.2:4->10.0.0.1:80: read: connection reset by peer`:                   {Read: 1},
		`Get "http://10.0.0.1/": EOF`: {Read: 1},
		"unexpected EOF":              {Read: 1},
	} {
		m, err := vegeta.Tool{}.Parse(output(t, cellAt(2, 1), vegetaRow{Seq: 0, Code: 200, Timestamp: now}, vegetaRow{Seq: 1, Timestamp: now.Add(time.Second), Error: text}))
		if err != nil || m.Errors != want || m.Requests != 1 {
			t.Errorf("%s: got %+v, %v", text, m.Errors, err)
		}
	}
}

func TestOutputsThatAreNoMeasurement(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	good := output(t, cellAt(2, 1), vegetaRow{Code: 200, Timestamp: now}, vegetaRow{Seq: 1, Code: 200, Timestamp: now.Add(time.Second)})
	for name, tc := range map[string]struct {
		raw  []byte
		want string
	}{
		"nothing":                           {nil, "vegeta left no records: it did not run, or ended before its time"},
		"a complaint":                       {[]byte("\nflag provided but not defined: -x\nUsage\n"), "vegeta did not run: flag provided but not defined: -x"},
		"no server":                         {read(t, "refused.bin"), "vegeta got no answer: Get \"http://127.0.0.1:"},
		"records that are cut off":          {good[:len(good)-4], "reading vegeta's record 1: "},
		"a record that is missing":          {output(t, cellAt(2, 1), vegetaRow{Seq: 1, Code: 200, Timestamp: now}), "reading vegeta's records: there are 1, and the last has the number 1"},
		"a latency below nothing":           {output(t, cellAt(2, 1), vegetaRow{Latency: -1, Timestamp: now}), "reading vegeta's record 0: number 0 with a latency of -1ns is none"},
		"a rate that is none":               {output(t, cellAt(0, 1), vegetaRow{Code: 200, Timestamp: now}), "0 requests/s for 1 s are out of range"},
		"a target that is no JSON":          {bytes.Replace(good, []byte(`{"method"`), []byte(`{method`), 1), "reading what vegeta was asked for: "},
		"records that are something else":   {append(output(t, cellAt(2, 1)), "zeros\x00\x00"...), "reading vegeta's record 0: "},
		"a target without records after it": {output(t, cellAt(2, 1)), "vegeta left no records"},
	} {
		t.Run(name, func(t *testing.T) {
			if m, err := (vegeta.Tool{}).Parse(tc.raw); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v, %v, want %q", m, err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	corpus := mutated.Of[[]byte](f)
	for _, name := range []string{"good.bin", "hangs.bin", "refused.bin"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		corpus.Add(raw)
	}
	corpus.Fuzz(func(t testing.TB, raw []byte) {
		m, err := vegeta.Tool{}.Parse(raw)
		if err == nil && (m.Requests < 1 || len(m.Latency) != 2) {
			t.Errorf("it reads %+v", m)
		}
	})
}
