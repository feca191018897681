package lint

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/base/util"
)

// What a claim is about.
const (
	connections = "connections"
	threads     = "threads"
	seconds     = "seconds"
)

// A number belongs to a word only if neither continues: "c10k" and "sync100" claim nothing.
var claimPatterns = map[string][]*regexp.Regexp{
	connections: {
		regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:c|conc|conns?|connections?|concurrency|vus?)[ =_:-]{0,2}(\d+)(?:[^a-z0-9.]|$)`),
		regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(\d+)[ _-]?(?:c|conns?|connections?|concurrent|concurrency|vus?)(?:[^a-z0-9]|$)`),
		regexp.MustCompile(`(?:^|[^0-9.])(\d+) ?(?:个)?(?:连接|并发)`),
		regexp.MustCompile(`(?:连接数|并发数|并发)[ :：=]{0,2}(\d+)`),
	},
	threads: {
		regexp.MustCompile(`(?i)(?:^|[^a-z0-9])(?:t|threads?)[ =_:-]{0,2}(\d+)(?:[^a-z0-9.]|$)`),
		regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(\d+)[ _-]?(?:t|threads?)(?:[^a-z0-9]|$)`),
		regexp.MustCompile(`(?:^|[^0-9.])(\d+) ?(?:个)?线程`),
	},
	seconds: {regexp.MustCompile(`(?:^|\s)(?:-d|--duration)[ =]?(\d+)s(?:\s|$)`)},
}

// about lists what a tool's own label can confirm: ab's -t is a time and ab has one thread; k6 has only virtual users.
func about(s Sample) []string {
	switch {
	case s.Failed != "" || s.Arrivals != nil:
		return nil
	case s.Tool == Wrk:
		return []string{connections, threads, seconds}
	}
	return []string{connections}
}

// claims reads the lines above a run; per kind, the nearest one counts.
func claims(s Sample, titles []string) []Claim {
	var out []Claim
	for _, what := range about(s) {
		for _, title := range titles {
			if c, ok := claim(what, title, title); ok {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

func claim(what, text, where string) (Claim, bool) {
	var values []float64
	for _, p := range claimPatterns[what] {
		// A match may begin with the character that ended the one before.
		for rest := text; ; {
			at := p.FindStringSubmatchIndex(rest)
			if at == nil {
				break
			}
			if v, err := printed.Number(rest[at[2]:at[3]]); err == nil {
				values = append(values, v)
			}
			rest = rest[at[3]:]
		}
	}
	values = util.Distinct(values)
	if len(values) != 1 {
		return Claim{}, false
	}
	return Claim{What: what, Value: values[0], Where: printed.Clip(where, 120)}, true
}

// addNameClaims adds claims from the file's name if no nearer line has them. The name of a file with several levels claims nothing.
func addNameClaims(name string, samples []Sample) {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	for _, what := range []string{connections, threads} {
		c, ok := claim(what, base, path.Base(name))
		if !ok || !alike(samples, what) {
			continue
		}
		for i := range samples {
			s := &samples[i]
			nearer := slices.ContainsFunc(s.Claims, func(c Claim) bool { return c.What == what })
			if !nearer && slices.Contains(about(*s), what) {
				s.Claims = append(s.Claims, c)
			}
		}
	}
}

func alike(samples []Sample, what string) bool {
	for _, s := range samples {
		if s.Told(what) != samples[0].Told(what) {
			return false
		}
	}
	return true
}

// Told returns the tool's own value for a claim; 0 if it prints none.
func (s Sample) Told(what string) float64 {
	switch what {
	case connections:
		return float64(s.Connections)
	case threads:
		return float64(s.Threads)
	}
	return s.AskedSeconds
}
