package v1alpha1

// CaseFormat is the output format of a program.
// +kubebuilder:validation:Enum=Auto;GoogleBenchmark;GoTest;JSONLines;Time
type CaseFormat string

const (
	// FormatAuto means that the output tells its format: one of those below, or that of JMH, criterion, pytest-benchmark, hyperfine, BenchmarkDotNet or nanobench.
	FormatAuto CaseFormat = "Auto"
	// FormatGoogleBenchmark is the JSON of Google Benchmark (--benchmark_format=json).
	FormatGoogleBenchmark CaseFormat = "GoogleBenchmark"
	// FormatGoTest is the text of go test -bench.
	FormatGoTest CaseFormat = "GoTest"
	// FormatJSONLines is one JSON value per line, in the schema loadstone.case/v1.
	FormatJSONLines CaseFormat = "JSONLines"
	// FormatTime does not read the output. Loadstone measures the wall time, the CPU time and the peak memory of the process.
	FormatTime CaseFormat = "Time"
)

// Microbenchmark runs programs that measure themselves. Their standard output is compared case by case. With the format Time, the
// processes are measured and compared as a whole.
// +kubebuilder:validation:MinProperties=1
type Microbenchmark struct {
	// format is the format of the standard output, unless outputs sets another. Default: Auto.
	// +optional
	Format CaseFormat `json:"format,omitempty"`

	// limitSeconds is the maximum duration of one process, in seconds. A slower process fails. Default: 300.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	LimitSeconds int32 `json:"limitSeconds,omitempty"`

	// outputs set another format or other case names for single implementations. Cases are compared by name.
	// +optional
	// +listType=map
	// +listMapKey=implementation
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Outputs []ProgramOutput `json:"outputs,omitempty"`
}

// ProgramOutput is the format and the case names of one implementation.
type ProgramOutput struct {
	// implementation is the name of the implementation.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Implementation string `json:"implementation,omitempty"`

	// format is its output format. Default: the format of the microbenchmark.
	// +optional
	Format CaseFormat `json:"format,omitempty"`

	// cases rename printed cases; at most 64. The first match counts. Other cases keep their names.
	// +optional
	// +listType=map
	// +listMapKey=printed
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Cases []CaseName `json:"cases,omitempty"`
}

// CaseName renames a case, or a family of cases.
type CaseName struct {
	// printed is the printed name as the report shows it, without suffixes of the tool such as -8 or /real_time. One * matches any text.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Printed string `json:"printed,omitempty"`

	// name is the new name. A * is replaced by the text that the * of printed matched.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Name string `json:"name,omitempty"`
}
