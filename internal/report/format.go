package report

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// missing stands for a value that is not known.
const missing = "–"

// thousands puts separators between groups of three digits of a decimal number.
func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, fraction, dotted := strings.Cut(s, ".")
	var groups []string
	for len(whole) > 3 {
		groups = append([]string{whole[len(whole)-3:]}, groups...)
		whole = whole[:len(whole)-3]
	}
	out := sign + strings.Join(append([]string{whole}, groups...), ",")
	if dotted {
		out += "." + fraction
	}
	return out
}

// integer prints a count.
func integer(n int64) string { return thousands(strconv.FormatInt(n, 10)) }

// digits prints a number to about three significant digits, and never less than its whole part.
func digits(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return thousands(strconv.FormatFloat(v, 'f', min(max(decimals, 0), 6), 64))
}

// scaled is a number in the unit that suits it.
type scaled struct {
	factor float64
	unit   string
}

var (
	microsScales = []scaled{{1e6, "s"}, {1e3, "ms"}, {1, "µs"}}
	bytesScales  = []scaled{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
)

// scale picks the largest unit in which a value is at least 1, or the smallest.
func scale(v float64, scales []scaled) scaled {
	for _, s := range scales {
		if math.Abs(v) >= s.factor {
			return s
		}
	}
	return scales[len(scales)-1]
}

func inUnit(v float64, scales []scaled) string {
	s := scale(v, scales)
	return digits(v/s.factor) + " " + s.unit
}

// between prints an interval in one unit, that of its upper end.
func (v *view) between(low, high float64) string {
	s := scale(high, microsScales)
	return v.say("latency.between", digits(low/s.factor), digits(high/s.factor), s.unit)
}

// micros prints microseconds in s, ms or µs.
func micros(v float64) string { return inUnit(v, microsScales) }

// size prints bytes in binary units.
func size(v float64) string {
	if v < 1<<10 {
		return integer(int64(v)) + " B"
	}
	return inUnit(v, bytesScales)
}

// rate prints requests per second, without the unit.
func rate(v float64) string { return digits(v) }

// percent prints a share. Small shares keep their digits, since 0.0985 % and 0.1 % differ.
func percent(share float64) string { return digits(share*100) + " %" }

// ratio prints a ratio to two decimals, and to more significance where two would hide it.
func ratio(v float64) string {
	switch {
	case v >= 100:
		return digits(v)
	case v > 0 && v < 0.095:
		return digits(v)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// times prints a ratio with its sign.
func times(v float64) string { return ratio(v) + "×" }

// manyfold is the ratio from which on an effect is said as a multiple: "2.40×" is read more easily than "+140.0 %".
const manyfold = 2

// change prints the effect that a ratio to a base stands for: a signed percentage below twice the base, "2.40×" from there on. It is
// the one form of an effect in sentences, tables and pictures.
func change(ratio float64) string { return changeAs(ratio, ratio) }

// changeAs prints a ratio in the form that suits another: the ends of an interval have the form of their mean.
func changeAs(of, ratio float64) string {
	if of >= manyfold {
		return times(ratio)
	}
	return signedPercent(ratio)
}

// signedPercent prints the distance of a ratio from 1 to one decimal, and to more where one would print nothing or everything.
func signedPercent(ratio float64) string {
	share, decimals := (ratio-1)*100, 1
	switch {
	case math.Abs(share) < 0.1:
		decimals = 2
	case ratio > 0 && ratio < 0.01:
		decimals = min(max(int(-math.Floor(math.Log10(ratio)))-2, 1), 6)
	}
	number := strconv.FormatFloat(math.Abs(share), 'f', decimals, 64)
	sign := "+"
	switch {
	case strings.Trim(number, "0.") == "":
		return "0.0 %"
	case share < 0:
		sign = "−"
	}
	return sign + thousands(number) + " %"
}

// changeInterval prints the interval of an effect in the form of its mean. A low of 0 and a high of +Inf are open ends.
func (l language) changeInterval(mean, low, high float64) string {
	switch {
	case low <= 0 && math.IsInf(high, 1):
		return missing
	case math.IsInf(high, 1):
		return l.say("atleast", changeAs(mean, low))
	case low <= 0:
		return l.say("atmost", changeAs(mean, high))
	}
	return l.say("change.interval", changeAs(mean, low), changeAs(mean, high))
}

// capital begins a caption; a name such as p99 stays as it is.
func capital(s string) string {
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[size:]); unicode.IsDigit(second) {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// ascii spells what formats print for a place that takes ASCII alone.
func ascii(s string) string {
	return strings.NewReplacer("µ", "u", "×", "x", "−", "-", "–", "-", "≥", ">=", "≤", "<=", "±", "+/-").Replace(s)
}

// probability prints a p.
func probability(p *float64) string {
	switch {
	case p == nil:
		return missing
	case *p < 0.0001:
		return "< 0.0001"
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}

// instant prints a time of day in UTC; the zero time is unknown.
func instant(t time.Time) string {
	if t.IsZero() {
		return missing
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// day prints the day of a time in UTC.
func day(t time.Time) string { return t.UTC().Format("2006-01-02") }

// orMissing prints a value that may be unknown.
func orMissing(v *float64, print func(float64) string) string {
	if v == nil {
		return missing
	}
	return print(*v)
}
