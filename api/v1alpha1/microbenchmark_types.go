package v1alpha1

// CaseFormat is the format in which a program prints what it has measured.
// +kubebuilder:validation:Enum=GoogleBenchmark;GoTest;JSONLines
type CaseFormat string

const (
	// FormatGoogleBenchmark is the JSON of Google Benchmark (--benchmark_format=json).
	FormatGoogleBenchmark CaseFormat = "GoogleBenchmark"
	// FormatGoTest is the text of go test -bench.
	FormatGoTest CaseFormat = "GoTest"
	// FormatJSONLines is a line of JSON per value, of the schema loadstone.case/v1.
	FormatJSONLines CaseFormat = "JSONLines"
)

// Microbenchmark runs programs that measure themselves and end. What each prints on its standard output is compared case by case.
type Microbenchmark struct {
	// format is the format of what the programs print on their standard output.
	// +required
	Format CaseFormat `json:"format,omitempty"`

	// limitSeconds is the maximum duration of one process. A process that takes longer has failed. Defaults to 300.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	LimitSeconds int32 `json:"limitSeconds,omitempty"`
}
