package record

import "time"

// CalibrationSchema names the shape of a Calibration.
const CalibrationSchema = "loadstone.dev/calibration/v1"

// Calibration is the noise floor of a machine: what an A/A run, which measured one thing under two names, saw of differences that are
// none.
type Calibration struct {
	Schema string `json:"schema"`
	Run    Run    `json:"run"`
	// Fingerprint is the digest of the machine's facts. Runs of the same fingerprint were measured on machines that look the same.
	Fingerprint string    `json:"fingerprint"`
	Ended       time.Time `json:"ended"`
	// Implementations are the two names.
	Implementations [2]string `json:"implementations"`
	// Blocks is the number of blocks to which DetectableRatio applies.
	Blocks  int     `json:"blocks"`
	Entries []Noise `json:"entries"`
}

// Noise is the noise of the pairs of one metric, at one level or over all.
type Noise struct {
	// Metric is Throughput or ServerCPUPerRequest.
	Metric string `json:"metric"`
	// Point is the level; nil for one level of ordinary noise: the root mean square over the levels.
	Point *Point `json:"point,omitempty"`
	// N is the number of pairs in it.
	N int `json:"n"`
	// LogStdDev is the standard deviation of the logs of the pairs' ratios.
	LogStdDev float64 `json:"logStdDev"`
	// Detectable is the smallest relative difference that Blocks blocks of this noise show in 80 % of runs: 0.047 is 4.7 %.
	Detectable float64 `json:"detectable"`
}
