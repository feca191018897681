package k6

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/stats/histogram"
	"loadstone.dev/loadstone/internal/tool"
)

const (
	microsPerMilli = 1000
	// rounding in microseconds bounds the arithmetic error of k6's interpolation; k6 measures whole nanoseconds.
	rounding = 1e-6
)

// known is an order statistic: a value in microseconds at a rank from 0, which may lie between two samples.
type known struct {
	rank   float64
	micros float64
}

func (k known) below() int64 { return int64(math.Floor(k.rank)) }

func (k known) above() int64 { return int64(math.Ceil(k.rank)) }

// brackets returns for each of n samples the two microsecond values around it.
//
// k6's quantile q interpolates linearly between ranks ⌊q(n-1)⌋ and ⌈q(n-1)⌉, from 0. So the sample of rank r is at least every quantile with
// upper rank ≤ r, and at most every one with lower rank ≥ r.
func brackets(stats []string, values []float64, n int64) ([]tool.Bracket, error) {
	if n == 0 {
		return nil, nil
	}
	ks, err := order(stats, values, n)
	if err != nil {
		return nil, err
	}
	var found []tool.Bracket
	low, high := 0, 0
	for from := int64(0); from < n; {
		for low+1 < len(ks) && ks[low+1].above() <= from {
			low++
		}
		for ks[high].below() < from {
			high++
		}
		to := ks[high].below() + 1
		if low+1 < len(ks) {
			to = min(to, ks[low+1].above())
		}
		found = append(found, tool.Bracket{
			LowMicros:  int64(math.Floor(max(0, ks[low].micros-rounding))),
			HighMicros: int64(math.Ceil(ks[high].micros + rounding)),
			Count:      to - from,
		})
		from = to
	}
	return found, nil
}

func order(stats []string, values []float64, n int64) ([]known, error) {
	if len(stats) != len(values) {
		return nil, fmt.Errorf("k6 was asked for %d statistics and gave %d", len(stats), len(values))
	}
	var ks []known
	ends := 0
	for i, stat := range stats {
		k := known{micros: values[i] * microsPerMilli}
		switch stat {
		case "count":
			continue
		case "min":
			ends++
		case "max":
			ends++
			k.rank = float64(n - 1)
		default:
			q, err := quantile(stat)
			if err != nil {
				return nil, err
			}
			k.rank = q * (float64(n) - 1)
		}
		if !(k.micros >= 0 && k.micros <= histogram.HighestMicros) {
			return nil, fmt.Errorf("k6's %s is %v ms, which is no latency", stat, values[i])
		}
		ks = append(ks, k)
	}
	if ends != 2 {
		return nil, errors.New("k6 gave no min and max")
	}
	return ks, ascending(ks)
}

func ascending(ks []known) error {
	slices.SortStableFunc(ks, func(a, b known) int { return cmp.Compare(a.rank, b.rank) })
	for i := 1; i < len(ks); i++ {
		if ks[i].micros < ks[i-1].micros-rounding {
			return fmt.Errorf("k6's quantiles descend from %v µs to %v µs", ks[i-1].micros, ks[i].micros)
		}
	}
	return nil
}

// quantile parses "p(99.5)" as k6 does.
func quantile(stat string) (float64, error) {
	percent, ok := strings.CutPrefix(strings.TrimSuffix(stat, ")"), "p(")
	p, err := strconv.ParseFloat(percent, 64)
	if !ok || err != nil || !(p >= 0 && p <= 100) {
		return 0, fmt.Errorf("k6's statistic %q is none that was asked for", stat)
	}
	return p / 100, nil
}
