package lint

import (
	"fmt"
	"iter"
	"maps"
	"strings"
)

// readable names all forms that are read.
const readable = "wrk, wrk2, ab, k6 (text, summary JSON, --out json or csv), vegeta (text, JSON, results), hey, oha, bombardier, autocannon, h2load, fortio (JSON), " +
	"JMeter (CSV, JTL) and Locust (CSV)"

// unread are unsupported tools, recognized by a text of their output.
var unread = []struct{ text, tool, instead string }{
	{"starting vegeta attack", "vegeta", "save its results (vegeta attack > results.bin)"},
	{"# Histogram", "vegeta's histogram", "use vegeta report, or its results"},
	{"Bucket         #", "vegeta's histogram", "use vegeta report, or its results"},
	{"Fastest:\t", "hey or oha", "keep the line \"Summary:\""},
	{"Fortio ", "fortio's text", "use fortio load -json FILE"},
	{"All done ", "fortio's text", "use fortio load -json FILE"},
	{"Response codes distribution", "ghz", "" /* below */},
	{"Status code distribution:\n  [OK]", "ghz", ""},
	{"\"latencyDistribution\"", "ghz", ""},
	{"---- Global Information", "Gatling", ""},
	{"** SIEGE", "siege", ""},
	{"Transactions:\t", "siege", ""},
	{"\"availability\"", "siege", ""},
	{"transaction type:", "pgbench", ""},
	{"pgbench (", "pgbench", ""},
	{"sysbench ", "sysbench", ""},
	{"SQL statistics:", "sysbench", ""},
	{"throughput summary:", "redis-benchmark", ""},
	{"====== ", "redis-benchmark", ""},
	{"ALL STATS", "memtier_benchmark", ""},
	{"All VUs finished", "Artillery", ""},
	{"http.response_time:", "Artillery", ""},
	{"\"intermediate\"", "Artillery", ""},
	{"INFO loadtest", "loadtest", ""},
	{"httperf --", "httperf", ""},
	{"Maximum connect burst length", "httperf", ""},
	{"Nighthawk - A layer 7", "Nighthawk", ""},
	{"[  ID] Interval", "iperf", ""},
	{"[ ID] Interval", "iperf", ""},
	{"Beginning round 1", "rewrk", ""},
	{"Time taken for tests      ", "drill", ""},
	{"Starting Cassowary", "cassowary", ""},
	{"[OVERALL], RunTime(ms)", "YCSB", ""},
	{"Response time percentiles (approximated)", "Locust's text", "use locust --csv"},
	{"Timestamp,User Count,Type,Name", "Locust's history", "give the file NAME_stats.csv"},
	{"Method,Name,Error,Occurrences", "Locust's failures", "give the file NAME_stats.csv"},
	{"Count,Message,Traceback,Nodes", "Locust's exceptions", "give the file NAME_stats.csv"},
	{"\"Label\",\"# Samples\"", "JMeter's report", "give the samples (jmeter -l FILE)"},
	{"Label,# Samples", "JMeter's report", "give the samples (jmeter -l FILE)"},
	{"summary =", "JMeter's summary", "give the samples (jmeter -l FILE)"},
	{"summary +", "JMeter's summary", "give the samples (jmeter -l FILE)"},
	{"\"library_build_type\"", "Google Benchmark", micro},
	{"\"jmhVersion\"", "JMH", micro},
	{"\"machine_info\"", "pytest-benchmark", micro},
	{"\"exit_codes\"", "hyperfine", micro},
	{"\"HostEnvironmentInfo\"", "BenchmarkDotNet", micro},
	{"ns/op", "go test", micro},
	{"loadstone.case/v1", "JSON lines of a micro-benchmark", micro},
	{"ns/iter", "a micro-benchmark in Rust", micro},
}

const micro = "run it as a micro-benchmark (docs/how-to/microbenchmarks.md)"

func nameUnread(head string) string {
	for _, u := range unread {
		if !strings.Contains(head, u.text) {
			continue
		}
		if u.instead == "" {
			return fmt.Sprintf("it is output of %s, which is not read. Read are %s", u.tool, readable)
		}
		return fmt.Sprintf("it is output of %s, which is not read: %s", u.tool, u.instead)
	}
	return "found no output of a load tool. Read are " + readable
}

func keysOf[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }
