package lint

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"loadstone.dev/loadstone/internal/base/printed"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/tool"
)

const anyJSON = "JSON"

var rowForms = []form{
	{tool: K6, begins: func(line string, current *run) bool { return isK6JSON(line) && isPoint(line) && !is[*k6Rows](current) }, rows: newK6JSON},
	{tool: K6, begins: starts("metric_name,timestamp,metric_value"), rows: newK6CSV},
	{tool: Vegeta, begins: func(line string, current *run) bool {
		return strings.HasPrefix(line, `{"attack":"`) && !is[*vegetaLines](current)
	}, rows: newVegetaLines},
	{tool: JMeter, begins: beginsJMeter, rows: func() rows { return &jmeterRows{} }},
	{tool: Locust, begins: beginsLocust, rows: func() rows { return &locustRows{} }},
	{tool: anyJSON, begins: beginsDocument, rows: func() rows { return &documents{} }},
}

func isPoint(line string) bool {
	return strings.Contains(line, `"type":"Point"`) || strings.Contains(line, `"type":"Metric"`)
}

func is[T rows](r *run) bool {
	if r == nil {
		return false
	}
	_, same := r.rows.(T)
	return same
}

// fields splits a line of CSV. Quotes are rare, so most lines are only cut.
func fields(line string) ([]string, error) {
	if !strings.Contains(line, `"`) {
		return strings.Split(line, ","), nil
	}
	return csv.NewReader(strings.NewReader(line)).Read()
}

type columns map[string]int

func header(names []string) columns {
	c := columns{}
	for i, name := range names {
		c[strings.TrimSpace(name)] = i
	}
	return c
}

func (c columns) cell(row []string, name string) string {
	if at, ok := c[name]; ok && at < len(row) {
		return row[at]
	}
	return ""
}

// jmeterColumns are those of a file without a header.
const jmeterColumns = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect"

func beginsJMeter(line string, current *run) bool {
	if is[*jmeterRows](current) {
		return strings.HasPrefix(line, "timeStamp,")
	}
	return strings.HasPrefix(line, "timeStamp,elapsed") || strings.HasPrefix(line, "<testResults") || strings.HasPrefix(line, "<httpSample ") || isJMeterRow(line)
}

// isJMeterRow finds a row without a header: a time in milliseconds, a latency, and later the success.
func isJMeterRow(line string) bool {
	if len(line) < 20 || line[0] < '0' || line[0] > '9' || !strings.Contains(line, ",true,") && !strings.Contains(line, ",false,") {
		return false
	}
	cells := strings.SplitN(line, ",", 3)
	_, errTime := strconv.ParseInt(cells[0], 10, 64)
	_, errElapsed := strconv.ParseInt(cells[1], 10, 64)
	return len(cells) == 3 && len(cells[0]) == 13 && errTime == nil && errElapsed == nil
}

// jmeterRows gathers JMeter's samples, in CSV or XML.
type jmeterRows struct {
	tally
	columns          columns
	open             string
	requests, failed int64
	threads          int64
	said             map[string]int64
	xml              bool
}

// maxOpen bounds a row of several lines, whose message holds line ends.
const maxOpen = 1 << 20

func (j *jmeterRows) add(line string) bool {
	switch {
	case strings.HasPrefix(line, "<"):
		j.xml = true
		j.element(line)
		return true
	case j.xml:
		return true // Text in an element.
	case line == "" && j.open == "":
		return true
	}
	if j.open != "" {
		line = j.open + "\n" + line
	}
	if j.open = ""; strings.Count(line, `"`)%2 == 1 && len(line) < maxOpen {
		j.open = line
		return true
	}
	row, err := fields(line)
	switch {
	case err == nil && row[0] == "timeStamp":
		j.columns = header(row)
		return true
	case j.columns == nil:
		j.columns = header(strings.Split(jmeterColumns, ","))
	}
	if err != nil || len(row) < 4 {
		if err == nil && !strings.Contains(line, ",") {
			return false
		}
		j.lose(line)
		return true
	}
	cell := func(name string) string { return j.columns.cell(row, name) }
	j.sample(line, cell("timeStamp"), cell("elapsed"), cell("success"), cell("responseCode"), cell("responseMessage"), cell("bytes"), cell("allThreads"))
	return true
}

func (j *jmeterRows) element(line string) {
	if !strings.HasPrefix(line, "<httpSample ") && !strings.HasPrefix(line, "<sample ") {
		return
	}
	attribute := func(name string) string {
		_, rest, _ := strings.Cut(line, " "+name+`="`)
		value, _, _ := strings.Cut(rest, `"`)
		return value
	}
	j.sample(line, attribute("ts"), attribute("t"), attribute("s"), attribute("rc"), attribute("rm"), attribute("by"), attribute("na"))
}

func (j *jmeterRows) sample(line, at, elapsed, success, code, message, size, threads string) {
	if strings.HasPrefix(message, "Number of samples in transaction") {
		return // Its requests have separate rows.
	}
	millis, okElapsed := bounded(elapsed)
	start, okTime := bounded(at)
	if !okTime {
		start, okTime = instant(strings.Replace(at, " ", "T", 1)+"Z")*1e3, true
	}
	if !okElapsed || !okTime || success != "true" && success != "false" && success != "" {
		j.lose(line)
		return
	}
	j.requests++
	if n, ok := bounded(threads); ok {
		j.threads = max(j.threads, int64(n))
	}
	if n, ok := bounded(size); ok {
		j.bytes += int64(n)
	}
	if success == "false" {
		j.failed++
		if j.said == nil {
			j.said = map[string]int64{}
		}
		if text := strings.TrimSpace(code + " " + message); len(j.said) < 100 || j.said[text] > 0 {
			j.said[text]++
		}
	}
	j.request(start/1e3, millis*1e3)
}

func (j *jmeterRows) samples(s Sample) ([]Sample, error) {
	if j.requests == 0 {
		if j.lost > 0 {
			return nil, fmt.Errorf("no row can be read; the first is %q", printed.Clip(j.example, quotedLine))
		}
		return nil, errEnds("the first sample")
	}
	j.finish(&s, record.Observed, 1000)
	s.Requests, s.Connections, s.Errors.Unsorted = j.requests, j.threads, j.failed
	for _, text := range mostFrequent(j.said) {
		s.say(j.said[text], text)
	}
	s.Unknown = append(s.Unknown, "JMeter's samples do not show the requested load: pauses and a sustained rate look alike.")
	return []Sample{s}, nil
}

func mostFrequent(of map[string]int64) []string {
	out := slices.Sorted(keysOf(of))
	slices.SortStableFunc(out, func(a, b string) int { return compare(float64(of[b]), float64(of[a])) })
	return out
}

func beginsLocust(line string, current *run) bool {
	plain := strings.ReplaceAll(line, `"`, "")
	return strings.HasPrefix(plain, "Type,Name,Request Count,") || strings.HasPrefix(plain, "Method,Name,# requests,") || strings.HasPrefix(plain, "Type,Name,# requests,")
}

// locustRows reads the table of requests, whose last row is the total.
type locustRows struct {
	columns columns
	all     []string
}

func (l *locustRows) add(line string) bool {
	row, err := fields(line)
	switch {
	case err != nil || len(row) < 3:
		return line == ""
	case l.columns == nil:
		l.columns = header(row)
		return true
	}
	if name := l.columns.cell(row, "Name"); name == "Aggregated" || name == "Total" {
		l.all = row
	}
	return true
}

func (l *locustRows) samples(s Sample) ([]Sample, error) {
	if l.all == nil {
		return nil, errEnds("the row \"Aggregated\"")
	}
	cell := func(names ...string) jsonNumber {
		for _, name := range names {
			if text := l.columns.cell(l.all, name); text != "" {
				return jsonNumber(text)
			}
		}
		return ""
	}
	s.Requests, s.Errors.Unsorted = cell("Request Count", "# requests").count(), cell("Failure Count", "# failures").count()
	s.Throughput = printed.OrZero(cell("Requests/s").quantity(1))
	latency := tool.PrintedLatency{Kind: record.Observed}
	for name, of := range map[string][]string{
		"mean": {"Average Response Time", "Average response time"}, "min": {"Min Response Time", "Min response time"},
		"max": {"Max Response Time", "Max response time"}, "median": {"Median Response Time", "Median response time"},
	} {
		if q := cell(of...).quantity(1e3); q != nil {
			stat(&latency, name, *q)
		}
	}
	// Locust rounds quantiles to two digits.
	for name := range l.columns {
		if q := cell(name).quantity(1e3); q != nil && strings.HasSuffix(name, "%") {
			q.Rounding = max(q.Rounding, math.Pow(10, math.Floor(math.Log10(max(q.Value, 1)))-1)/2)
			stat(&latency, name, *q)
		}
	}
	if latency.Median != nil {
		latency.Median.Rounding = max(latency.Median.Rounding, latency.Median.Value/20)
	}
	if latency.Mean != nil {
		s.Latency = []tool.PrintedLatency{latency}
	}
	if size := cell("Average Content Size", "Average size (bytes)").quantity(float64(s.Requests)); size != nil && size.Value > 0 {
		s.BodyBytes = size
	}
	s.Unknown = append(s.Unknown, "Locust's CSV does not show the number of users, their pauses, or how long it ran.")
	return []Sample{s}, nil
}

// vegetaLines gathers what vegeta encode writes as JSON.
type vegetaLines struct{ vegetaRows }

func isVegetaLine(line string) bool { return strings.HasPrefix(line, `{"attack":"`) }

func newVegetaLines() rows { return &vegetaLines{vegetaRows{errors: map[string]int64{}}} }

func (v *vegetaLines) add(line string) bool {
	if line == "" {
		return true
	}
	if !isVegetaLine(line) {
		return false
	}
	r, err := vegetaLine(line)
	if err != nil {
		v.lose(line)
		return true
	}
	v.count(r)
	return true
}

func (v *vegetaLines) samples(s Sample) ([]Sample, error) {
	err := v.finish(&s)
	if err != nil {
		return nil, err
	}
	return []Sample{s}, nil
}
