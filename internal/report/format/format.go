package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Missing stands for an unknown value.
const Missing = "–"

// Thousands separates groups of three digits.
func Thousands(s string) string {
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

// Integer prints a count.
func Integer[N int | int32 | int64](n N) string { return Thousands(strconv.FormatInt(int64(n), 10)) }

// Digits prints about three significant digits, but all of the whole part.
func Digits(v float64) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return Thousands(strconv.FormatFloat(v, 'f', min(max(decimals, 0), 6), 64))
}

type scaled struct {
	factor float64
	unit   string
}

var (
	microsScales = []scaled{{1e6, "s"}, {1e3, "ms"}, {1, "µs"}}
	bytesScales  = []scaled{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}
)

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
	return Digits(v/s.factor) + " " + s.unit
}

// Micros prints microseconds in s, ms or µs.
func Micros(v float64) string { return inUnit(v, microsScales) }

// Size prints bytes in binary units.
func Size(v float64) string {
	if v < 1<<10 {
		return Integer(int64(v)) + " B"
	}
	return inUnit(v, bytesScales)
}

// Rate prints requests per second, without the unit.
func Rate(v float64) string { return Digits(v) }

// Percent prints a share. Small shares keep their digits, since 0.0985 % and 0.1 % differ.
func Percent(share float64) string { return Digits(share*100) + " %" }

func ratio(v float64) string {
	switch {
	case v >= 100:
		return Digits(v)
	case v > 0 && v < 0.095:
		return Digits(v)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Times prints a ratio with its sign.
func Times(v float64) string { return ratio(v) + "×" }

// Manyfold is the least ratio printed as a multiple: "2.40×" reads more easily than "+140.0 %".
const Manyfold = 2

// Change prints a ratio's effect: a signed percentage below Manyfold, else such as "2.40×".
func Change(ratio float64) string { return ChangeAs(ratio, ratio) }

// ChangeAs prints a ratio in the form of another: interval ends use their mean's form.
func ChangeAs(of, ratio float64) string {
	if of >= Manyfold {
		return Times(ratio)
	}
	return signedPercent(ratio)
}

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
	return sign + Thousands(number) + " %"
}

// Probability prints a p.
func Probability(p *float64) string {
	switch {
	case p == nil:
		return Missing
	case *p < 0.0001:
		return "< 0.0001"
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}

// Instant prints a UTC time; the zero time is unknown.
func Instant(t time.Time) string {
	if t.IsZero() {
		return Missing
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// Day prints the UTC day of a time.
func Day(t time.Time) string { return t.UTC().Format("2006-01-02") }

// OrMissing prints a value that may be unknown.
func OrMissing(v *float64, print func(float64) string) string {
	if v == nil {
		return Missing
	}
	return print(*v)
}

// Between prints both ends of an interval of microseconds in the unit of its upper end.
func Between(low, high float64) (from, to, unit string) {
	s := scale(high, microsScales)
	return Digits(low / s.factor), Digits(high / s.factor), s.unit
}

// Plain prints a constant of the rules without separators.
func Plain(n float64) string { return strconv.FormatFloat(n, 'g', 4, 64) }

// PlainPercent prints a constant share of the rules.
func PlainPercent(share float64) string { return Plain(share*100) + " %" }

// Apart splits a code into words: NotPinned becomes "not pinned".
func Apart(code string) string {
	var out strings.Builder
	for i, r := range code {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte(' ')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// Capital capitalizes a caption; a name such as p99 stays.
func Capital(s string) string {
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	if second, _ := utf8.DecodeRuneInString(s[size:]); unicode.IsDigit(second) {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

// ASCII spells printed symbols in ASCII. Other characters become question marks.
func ASCII(s string) string {
	spelt := strings.NewReplacer("µ", "u", "×", "x", "−", "-", "–", "-", "≥", ">=", "≤", "<=", "±", "+/-", "…", "...", "→", "->").Replace(s)
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, spelt)
}

// Join joins words without empty ones.
func Join(separator string, words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), separator)
}

// nearly allows for a tick's rounding errors.
const nearly = 1e-9

// TickMicros prints a round tick without decimals.
func TickMicros(v float64) string {
	s := scale(v*(1+nearly), microsScales)
	return Integer(int64(math.Round(v/s.factor))) + " " + s.unit
}

// TickNumber prints a short tick: 50k instead of 50,000.
func TickNumber(t float64) string {
	switch {
	case t >= 1e6:
		return fmt.Sprintf("%gM", t/1e6)
	case t >= 1e4:
		return fmt.Sprintf("%gk", t/1e3)
	}
	return fmt.Sprintf("%g", t)
}

// TickChange labels a round ratio as an effect.
func TickChange(t float64) string {
	number := func(v float64) string { return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64) }
	switch {
	case t >= Manyfold*(1-nearly):
		return Thousands(number(t)) + "×"
	case math.Abs(t-1) < nearly:
		return "0 %"
	case t < 1:
		return "−" + number((1-t)*100) + " %"
	}
	return "+" + number((t-1)*100) + " %"
}
