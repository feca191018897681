package lint

import (
	"regexp"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
)

// Command holds the parts of the command line above an output.
type Command struct {
	// Text is the line: untrusted.
	Text   string `json:"text,omitempty"`
	Script string `json:"script,omitempty"`
	// Pipeline is the number of requests in flight per connection, from wrk's arguments after -- or the tool's own flag.
	Pipeline int64 `json:"pipeline,omitempty"`
	// PerSecond is the requested rate; 0 without one.
	PerSecond float64 `json:"perSecond,omitempty"`
	// Segment is k6's --execution-segment: the run is a part of a distributed test.
	Segment string `json:"segment,omitempty"`
}

var (
	commandLine = regexp.MustCompile(`(?:^|[\s/$#%>;&|("'` + "`" + `])(wrk2?|ab|k6|vegeta|hey|oha|bombardier|autocannon|h2load|fortio)\s+(.*(?:-|https?://).*)$`)
	wholeNumber = regexp.MustCompile(`^\d+$`)
)

// flagsOf names each tool's flags by what they say.
var flagsOf = map[string]map[string]string{
	Wrk:        {"-s": "script", "--script": "script"},
	Wrk2:       {"-s": "script", "--script": "script", "-R": "rate", "--rate": "rate"},
	K6:         {"--execution-segment": "segment"},
	Hey:        {"-q": "rate"},
	Oha:        {"-q": "rate"},
	Bombardier: {"-r": "rate", "--rate": "rate"},
	Autocannon: {"-p": "pipeline", "--pipelining": "pipeline", "-R": "rate", "--overallRate": "rate"},
	H2load:     {"-m": "pipeline", "--max-concurrent-streams": "pipeline", "--rps": "rate"},
	Vegeta:     {"-rate": "rate", "--rate": "rate"},
	Fortio:     {"-qps": "rate", "--qps": "rate"},
}

func command(titles []string) Command {
	for _, title := range titles {
		m := commandLine.FindStringSubmatch(title)
		if m == nil {
			continue
		}
		c := Command{Text: printed.Clip(title, quotedLine)}
		tool, words := m[1], strings.Fields(m[2])
		if strings.Contains(m[2], "-R") && tool == Wrk {
			tool = Wrk2 // wrk2's program is often called wrk.
		}
		for i, word := range words {
			if word == "--" && (tool == Wrk || tool == Wrk2) {
				c.pipelineOf(words[i+1:])
				break
			}
			c.flag(flagsOf[tool], word, words[i+1:])
		}
		if c.Script == "" && (tool == Wrk || tool == Wrk2) {
			c.Pipeline = 0
		}
		return c
	}
	return Command{}
}

// pipelineOf reads the arguments of wrk's script: TechEmpower's and its copies take a path and a depth.
func (c *Command) pipelineOf(arguments []string) {
	for _, word := range arguments {
		if wholeNumber.MatchString(word) {
			c.Pipeline, _ = strconv.ParseInt(word, 10, 32) // 0 of a larger number.
		}
	}
}

// flag reads a flag's value, in the same word or the next one.
func (c *Command) flag(known map[string]string, word string, rest []string) {
	name, value, joined := strings.Cut(word, "=")
	what := known[name]
	if what == "" && !joined && len(word) > 2 && word[1] != '-' {
		what, value, joined = known[word[:2]], word[2:], true
	}
	if !joined && len(rest) > 0 {
		value = rest[0]
	}
	switch what {
	case "script":
		c.Script = printed.Clip(value, quotedLine)
	case "segment":
		c.Segment = printed.Clip(value, quotedLine)
	case "pipeline":
		c.Pipeline, _ = strconv.ParseInt(value, 10, 32) // 0 of another text.
	case "rate":
		number, _, _ := strings.Cut(value, "/")
		c.PerSecond, _ = bounded(number) // 0 of another text.
	}
}
