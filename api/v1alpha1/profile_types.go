package v1alpha1

// ProfileTool is a profiler.
// +kubebuilder:validation:Enum=memcheck;massif;massif-heap;massif-pages;callgrind;cachegrind;strace;perf-stat
type ProfileTool string

const (
	// ToolMemcheck finds errors and leaks of memory.
	ToolMemcheck ProfileTool = "memcheck"
	// ToolMassif measures heap and stacks over time, as the program asks its allocator for memory.
	ToolMassif ProfileTool = "massif"
	// ToolMassifHeap is massif without stacks, for programs that switch them.
	ToolMassifHeap ProfileTool = "massif-heap"
	// ToolMassifPages measures all memory over time, as the program asks the kernel for it.
	ToolMassifPages ProfileTool = "massif-pages"
	// ToolCallgrind counts instructions by function and line, with the calls between functions.
	ToolCallgrind ProfileTool = "callgrind"
	// ToolCachegrind counts instructions by function and line, without calls.
	ToolCachegrind ProfileTool = "cachegrind"
	// ToolStrace counts system calls by name.
	ToolStrace ProfileTool = "strace"
	// ToolPerfStat counts what perf stat counts: CPU time, context switches, page faults and, where the kernel gives them, instructions, cycles and
	// other counters of the CPU.
	ToolPerfStat ProfileTool = "perf-stat"
)

// Profile runs implementations under a profiler, after the blocks: nothing is measured beside it. Each implementation has a trial per profile,
// with its own unmodified image and command.
type Profile struct {
	// name identifies the profile in the run and its report. It is a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a profile's name must be lower-case letters, digits and '-', and begin and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// tool is the profiler. A tool that cannot see a program is replaced by one that can, and the report says so: Go gets cachegrind for
	// callgrind; Go, static programs and those with an allocator of their own get massif-pages for massif.
	// +required
	Tool ProfileTool `json:"tool,omitempty"`

	// implementations are the names of the implementations to profile. Each needs a command. Defaults to all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=20
	Implementations []string `json:"implementations,omitempty"`

	// load is the name of the load whose request is sent. Defaults to the first load with one request in HTTP/1 and no script.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Load string `json:"load,omitempty"`

	// requests is the number of requests. A tool that counts is run with so many and with twice as many: the difference is what the requests
	// cost, without start and end of the program. Defaults to 10000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	Requests int32 `json:"requests,omitempty"`

	// connections is the number of connections that share the requests. Defaults to 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Connections int32 `json:"connections,omitempty"`

	// repeats is the number of times that everything is done, from which follows the spread. Defaults to 3 for tools that count, and to 1
	// for others.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=20
	Repeats int32 `json:"repeats,omitempty"`

	// limitSeconds is the maximum duration of the trial of one implementation, all repeats included. What was found until then is kept.
	// Defaults to 300.
	// +optional
	// +kubebuilder:validation:Minimum=5
	// +kubebuilder:validation:Maximum=3600
	LimitSeconds int32 `json:"limitSeconds,omitempty"`
}
