package v1alpha1

// ProfileTool is a profiler.
// +kubebuilder:validation:Enum=memcheck;massif;massif-heap;massif-pages;callgrind;cachegrind;strace;perf-stat
type ProfileTool string

const (
	// ToolMemcheck finds memory errors and leaks.
	ToolMemcheck ProfileTool = "memcheck"
	// ToolMassif measures heap and stacks over time, at the allocator.
	ToolMassif ProfileTool = "massif"
	// ToolMassifHeap is massif without stacks, for programs that switch stacks.
	ToolMassifHeap ProfileTool = "massif-heap"
	// ToolMassifPages measures all memory over time, at the kernel.
	ToolMassifPages ProfileTool = "massif-pages"
	// ToolCallgrind counts instructions by function and line, with calls.
	ToolCallgrind ProfileTool = "callgrind"
	// ToolCachegrind counts instructions by function and line, without calls.
	ToolCachegrind ProfileTool = "cachegrind"
	// ToolStrace counts system calls by name.
	ToolStrace ProfileTool = "strace"
	// ToolPerfStat counts CPU time, context switches, page faults and, if the kernel provides them, instructions, cycles and other CPU
	// counters.
	ToolPerfStat ProfileTool = "perf-stat"
)

// Profile runs implementations under a profiler, after all blocks and alone. Each implementation gets one trial per profile, with its
// unmodified image and command.
type Profile struct {
	// name identifies the profile: a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a profile's name: use lower-case letters, digits and '-'; start and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// tool is the profiler. If it cannot profile a program, another one is used and the report says so: cachegrind instead of callgrind for
	// Go; massif-pages instead of massif for Go, static programs and custom allocators.
	// +required
	Tool ProfileTool `json:"tool,omitempty"`

	// implementations are the implementations to profile. Each needs a command. Default: all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=20
	Implementations []string `json:"implementations,omitempty"`

	// load is the load whose request is sent. Default: the first HTTP/1 load with a single request and no script.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Load string `json:"load,omitempty"`

	// requests is the number of requests. Counting tools run with this number and with twice as many; the difference is the cost of the
	// requests without start and stop. Default: 10000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	Requests int32 `json:"requests,omitempty"`

	// connections is the number of connections that share the requests. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Connections int32 `json:"connections,omitempty"`

	// repeats is how often the profile is repeated; the spread comes from the repeats. Default: 3 for counting tools, 1 for others.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Repeats int32 `json:"repeats,omitempty"`

	// limitSeconds is the maximum duration of one implementation's trial with all repeats, in seconds. Earlier results are kept. Default: 300.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	LimitSeconds int32 `json:"limitSeconds,omitempty"`
}
