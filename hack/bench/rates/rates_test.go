package rates

import (
	"bytes"
	"encoding/gob"
	"math"
	"strings"
	"testing"
	"time"

	"loadstone.dev/loadstone/internal/tool"
)

const ms = time.Millisecond

func TestWhatBecomesOfARate(t *testing.T) {
	l := load{rate: 100, seconds: 1}
	// Arrivals are 10 ms apart; each request takes 2 ms.
	made := func(n int, late func(int) time.Duration) (list []request) {
		for i := range n {
			start := l.due(i) + late(i)
			list = append(list, request{start, start + 2*ms})
		}
		return list
	}
	tenth := func(i int) time.Duration { return time.Duration(i%10) * ms }
	later := func(i int) time.Duration { return tenth(i) + 3*ms }
	for name, tc := range map[string]struct {
		list         []request
		told         bool
		median, last time.Duration
		p99          time.Duration
		wantLost     string
	}{
		"each in its time": {list: made(100, func(int) time.Duration { return 0 }), told: true, p99: 2 * ms, wantLost: "100 of 100"},
		"up to 9 ms late":  {list: made(100, tenth), told: true, median: 4 * ms, last: 9 * ms, p99: 11 * ms, wantLost: "100 of 100"},
		"where the timetable is told, all of them are late": {list: made(100, later), told: true, median: 7 * ms, last: 12 * ms, p99: 14 * ms, wantLost: "100 of 100"},
		"where it is not, the promptest is in time":         {list: made(100, later), median: 4 * ms, last: 9 * ms, p99: 11 * ms, wantLost: "100 of 100"},
		"two of a hundred that were never made":             {list: made(98, tenth), told: true, median: 4 * ms, last: 9 * ms, p99: never, wantLost: "98 of 100"},
	} {
		t.Run(name, func(t *testing.T) {
			o := l.outcomeOf(tc.list, tc.told)
			if got := quantile(o.late, 0.5); got != tc.median || quantile(o.late, 1) != tc.last || o.low != tc.p99 || o.high != tc.p99 {
				t.Errorf("requests were late by %s in the median and %s at most, and p99 is %s", got, quantile(o.late, 1), o.low)
			}
			if list := o.figures(generators[0], l); !strings.HasPrefix(list[1].Note, tc.wantLost) {
				t.Errorf("got %+v, want a note that begins with %q", list[1], tc.wantLost)
			}
		})
	}
}

func TestTheAimsAreOfOneRate(t *testing.T) {
	late := outcome{sent: aimed, late: []time.Duration{2 * ms}, low: ms, high: ms}
	for rate, want := range map[int]string{aimed: "short", 1000: "-"} {
		if got := late.figures(generators[0], load{rate: rate, seconds: 1})[0].Verdict(); got != want {
			t.Errorf("2 ms late at %d requests/s is %q, want %q", rate, got, want)
		}
	}
}

func TestRowsOfEachGenerator(t *testing.T) {
	var records bytes.Buffer
	e := gob.NewEncoder(&records)
	type result struct {
		Seq       uint64
		Code      uint16
		Timestamp time.Time
		Latency   time.Duration
		Error     string
	}
	began := time.Unix(1700000000, 0)
	for i := range 2 {
		if err := e.Encode(&result{uint64(i), 200, began.Add(time.Duration(i) * 12 * ms), ms, ""}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Encode(&result{Seq: 2, Timestamp: began, Error: "EOF"}); err != nil {
		t.Fatal(err)
	}
	l := load{rate: 100, seconds: 1}
	for name, tc := range map[string]struct {
		read func(load, []byte) (outcome, error)
		out  string
		// last is when the second of two requests started after its instant.
		last    time.Duration
		wantErr string
	}{
		"h2load, ordered by their ends":        {read: readH2load, out: "1700000000012000\t200\t1000\n1700000000000000\t200\t30000\n1700000000000000\t-1\t5\n", last: 2 * ms},
		"a row of h2load that is none":         {read: readH2load, out: "nonsense\n", wantErr: "h2load's row"},
		"oha":                                  {read: readOha, out: "request-start,DNS\n0.001,0,0,0,0.001,10,200\n0.012,0,0,0,0.001,10,200\n", last: 2 * ms},
		"a row of oha that is cut off":         {read: readOha, out: "request-start,DNS\n0.001,0\n", wantErr: "2 columns"},
		"oha that printed nothing":             {read: readOha, wantErr: "there are none"},
		"vegeta, and a request without answer": {read: readVegeta, out: records.String(), last: 2 * ms},
		"records of vegeta that are cut off":   {read: readVegeta, out: records.String()[:records.Len()-3], wantErr: "vegeta's records"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := tc.read(l, []byte(tc.out))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("got %v, want %q", err, tc.wantErr)
				}
				return
			}
			if got := quantile(o.late, 1); err != nil || o.sent != 2 || got.Round(time.Microsecond) != tc.last {
				t.Errorf("got %d requests, the last %s late, %v", o.sent, got, err)
			}
		})
	}
}

func TestEveryGeneratorIsAskedForTheRate(t *testing.T) {
	l := load{rate: 6400, seconds: 3}
	for _, g := range generators {
		all := strings.Join(g.args(l), " ")
		if g.files != nil {
			for _, f := range g.files(l) {
				all += " " + f.Text
			}
		}
		share := g.name == "h2load" && strings.Contains(all, "--rps 100 ")
		if !share && !strings.Contains(all, "6400") || !strings.Contains(all, "3") || !strings.Contains(all, address) {
			t.Errorf("%s is started as %q", g.name, all)
		}
	}
	if first := k6Files(l); len(first) == 0 || first[0] == (tool.File{}) {
		t.Error("k6 has no script")
	}
}

func TestQuantiles(t *testing.T) {
	for share, want := range map[float64]time.Duration{0.5: 2, 0.99: 4, 1: 4, 0: 1} {
		if got := quantile([]time.Duration{1, 2, 3, 4}, share); got != want {
			t.Errorf("%v of four values is %d, want %d", share, got, want)
		}
	}
	if got := quantile(nil, 0.99); got != math.MaxInt64 {
		t.Errorf("of none it is %d", got)
	}
}
