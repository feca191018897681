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
	// format is the format of what the programs print on their standard output, where outputs names no other.
	// +required
	Format CaseFormat `json:"format,omitempty"`

	// limitSeconds is the maximum duration of one process. A process that takes longer has failed. Defaults to 300.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	LimitSeconds int32 `json:"limitSeconds,omitempty"`

	// outputs say what single implementations print in another format or under other names. Cases are compared by their names.
	// +optional
	// +listType=map
	// +listMapKey=implementation
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Outputs []ProgramOutput `json:"outputs,omitempty"`
}

// ProgramOutput says what one implementation prints in another format or under other names than the others.
type ProgramOutput struct {
	// implementation is the name of the implementation.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Implementation string `json:"implementation,omitempty"`

	// format is the format of what it prints. Defaults to the format of the microbenchmark.
	// +optional
	Format CaseFormat `json:"format,omitempty"`

	// cases are the names that its cases are to have. Cases that no entry matches keep the name that was printed. The first entry that
	// matches counts. At most 64.
	// +optional
	// +listType=map
	// +listMapKey=printed
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Cases []CaseName `json:"cases,omitempty"`
}

// CaseName is the name of a case, or of a family of cases, in the place of the one that a program prints.
type CaseName struct {
	// printed is the name that the program prints, as the report shows it: without what its tool appends for itself, such as -8 or
	// /real_time. One * in it stands for any text.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Printed string `json:"printed,omitempty"`

	// name is the name that the case is compared under. A * in it stands for the text that the * of printed matches.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=200
	Name string `json:"name,omitempty"`
}
