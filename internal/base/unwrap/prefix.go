package unwrap

import (
	"encoding/json"
	"regexp"
	"strings"
)

// A log may put several prefixes before a line, for example a pod and a time. None is longer than longestPrefix bytes.
const maxPrefixes, longestPrefix = 4, 512

var (
	timeOfDay = regexp.MustCompile(`^\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?(?:[ \t]|$)`)
	// written are prefixes of logs: the first group, if any, is the source.
	written = []struct {
		starts func(first byte) bool
		shape  *regexp.Regexp
	}{
		{digitOrBracket, timeOfDay},
		{bracket, regexp.MustCompile(`^\[([\w.@/:-]*[A-Za-z][\w.@/:-]*)\](?: |$)`)},                              // kubectl --prefix, concurrently
		{letter, regexp.MustCompile(`^([A-Za-z][\w.-]*) *\|(?: |$)`)},                                            // docker compose
		{letter, regexp.MustCompile(`^([^\t]+\t[^\t]+)\t\x{FEFF}?(?:\d{4}-\d\d-\d\dT[\d:.]+Z(?: |$))`)},          // gh run view --log
		{letter, regexp.MustCompile(`^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (\S+ [\w./-]+)(?:\[\d+\])?:(?: |$)`)}, // syslog, journalctl
	}
	// afterTime are prefixes that only stand behind a time: CRI's stream, GitLab's stream, and the process in Heroku's or syslog's new form.
	afterTime = regexp.MustCompile(`^(?:std(?:out|err) [FP] |\d\d[OE][ +]|([\w.-]+\[[\w.-]+\]): )`)
)

func digitOrBracket(c byte) bool { return c >= '0' && c <= '9' || c == '[' }
func bracket(c byte) bool        { return c == '[' }
func letter(c byte) bool         { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// Prefix removes what logs put before a line, and returns it without times as the line's source.
func Prefix(text string) (source, rest string) {
	if strings.HasPrefix(text, `{"log":"`) {
		return "", dockerLog(text)
	}
	var sources []string
	rest = text
	for range maxPrefixes {
		found, tail, ok := onePrefix(rest)
		if !ok {
			break
		}
		if found != "" {
			sources = append(sources, found)
		}
		rest = tail
	}
	return strings.Join(sources, " "), rest
}

func onePrefix(text string) (source, rest string, ok bool) {
	text = strings.TrimPrefix(text, "\uFEFF")
	if text == "" {
		return "", "", false
	}
	for _, w := range written {
		if !w.starts(text[0]) {
			continue
		}
		m := w.shape.FindStringSubmatchIndex(text[:min(len(text), longestPrefix)])
		if m == nil {
			continue
		}
		rest = text[m[1]:]
		if len(m) > 2 && m[2] >= 0 {
			return text[m[2]:m[3]], rest, true
		}
		if a := afterTime.FindStringSubmatchIndex(rest[:min(len(rest), longestPrefix)]); a != nil {
			if a[2] >= 0 {
				source = rest[a[2]:a[3]]
			}
			rest = rest[a[1]:]
		}
		return source, rest, true
	}
	return "", "", false
}

func dockerLog(text string) string {
	var line struct {
		Log string `json:"log"`
	}
	if json.Unmarshal([]byte(text), &line) != nil {
		return text
	}
	return strings.TrimRight(line.Log, "\r\n")
}

// Plain removes escape sequences: colors, titles of windows and moves of the cursor.
func Plain(text string) string {
	at := strings.IndexByte(text, '\x1b')
	if at < 0 {
		return text
	}
	var b strings.Builder
	for at >= 0 {
		b.WriteString(text[:at])
		text = text[at+escapeLength(text[at:]):]
		at = strings.IndexByte(text, '\x1b')
	}
	b.WriteString(text)
	return b.String()
}

// escapeLength is the number of bytes of the sequence at the beginning of a text.
func escapeLength(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	switch text[1] {
	case '[':
		for i := 2; i < len(text); i++ {
			if text[i] >= 0x40 && text[i] <= 0x7e {
				return i + 1
			}
			if text[i] < 0x20 || text[i] > 0x7e {
				return i
			}
		}
		return len(text)
	case ']':
		for i := 2; i < len(text); i++ {
			if text[i] == '\a' {
				return i + 1
			}
			if text[i] == '\x1b' {
				return i
			}
		}
		return len(text)
	}
	return 2
}

// Common returns the longest prefix that all nonempty lines of a text share, up to a delimiter; empty if there is none. Digits are zeros, because
// prefixes hold times and counts.
func Common(head string) string {
	common, lines := "", 0
	for text := range strings.Lines(head) {
		_, text = Prefix(Plain(strings.TrimRight(text, "\r\n \t")))
		if text == "" {
			continue
		}
		digits := zeros(text)
		if lines++; lines == 1 {
			common = digits
			continue
		}
		n := 0
		for n < min(len(common), len(digits)) && common[n] == digits[n] {
			n++
		}
		common = common[:n]
	}
	common = common[:strings.LastIndexAny(common, " \t|:]>)#*/+")+1]
	if lines < 4 || len(strings.TrimSpace(common)) == 0 || strings.ContainsAny(common, `,{"`) {
		return ""
	}
	return common
}

func zeros(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, text)
}

func without(text, common string) string {
	if len(text) >= len(common) && zeros(text[:len(common)]) == common {
		return text[len(common):]
	}
	if trimmed := strings.TrimRight(common, " \t"); len(text) >= len(trimmed) && zeros(text[:len(trimmed)]) == trimmed {
		return text[len(trimmed):]
	}
	return text
}
