package main

// measured is what was seen of a cell. What its load does not show is 0.
type measured struct {
	// Operations are requests that were answered, or what a micro-benchmark counts.
	Operations  int64   `json:"operations,omitempty"`
	WallSeconds float64 `json:"wallSeconds,omitempty"`
	// CPUSeconds are those of the server, or of the micro-benchmark.
	CPUSeconds float64 `json:"cpuSeconds,omitempty"`
	Bytes      int64   `json:"bytes,omitempty"`
	P99Micros  int64   `json:"p99Micros,omitempty"`
	// Jain is Jain's index of the answers of each connection: 1 if all had as many, and 1/n if one had all.
	Jain        float64 `json:"jain,omitempty"`
	Unanswered  int     `json:"unanswered,omitempty"`
	SystemCalls int64   `json:"systemCalls,omitempty"`
	// ResidentEarly and ResidentLate are the bytes of memory after a million requests and after ten.
	ResidentEarly int64 `json:"residentEarly,omitempty"`
	ResidentLate  int64 `json:"residentLate,omitempty"`
}

// quantity is a number that is made of what was measured. Where a part of it is missing it is not positive or not a number, of which
// no ratio is made.
type quantity func(measured) float64

func cpuNanos(m measured) float64       { return m.CPUSeconds * 1e9 / float64(m.Operations) }
func wallNanos(m measured) float64      { return m.WallSeconds * 1e9 / float64(m.Operations) }
func throughput(m measured) float64     { return float64(m.Operations) / m.WallSeconds }
func byteRate(m measured) float64       { return float64(m.Bytes) / m.WallSeconds }
func bytesPerCPU(m measured) float64    { return float64(m.Bytes) / m.CPUSeconds }
func p99(m measured) float64            { return float64(m.P99Micros) }
func callsPerAnswer(m measured) float64 { return float64(m.SystemCalls) / float64(m.Operations) }
func jain(m measured) float64           { return m.Jain }
func unanswered(m measured) float64     { return float64(m.Unanswered) }
func memoryGrowth(m measured) float64   { return float64(m.ResidentLate) / float64(m.ResidentEarly) }
