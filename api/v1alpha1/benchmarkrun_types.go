package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tool names a load generator program.
// +kubebuilder:validation:Enum=wrk;ab;k6
type Tool string

const (
	// ToolWrk is wrk 4.x: a closed model of C connections, each with one request in flight.
	ToolWrk Tool = "wrk"
	// ToolAb is ApacheBench: a closed model on one thread, which also knows a connection for each request.
	ToolAb Tool = "ab"
	// ToolK6 is k6 1.x: closed with C virtual users, or open with an arrival rate that C virtual users must keep up with.
	ToolK6 Tool = "k6"
)

// ConnectionUse says whether a connection carries one request or many.
// +kubebuilder:validation:Enum=KeepAlive;PerRequest
type ConnectionUse string

const (
	// KeepAlive sends request after request on each connection.
	KeepAlive ConnectionUse = "KeepAlive"
	// PerRequest opens a connection for each request.
	PerRequest ConnectionUse = "PerRequest"
)

// Role says what an implementation is there for.
// +kubebuilder:validation:Enum=Contender;Limit
type Role string

const (
	// RoleContender is compared with the baseline and can win or lose.
	RoleContender Role = "Contender"
	// RoleLimit is measured and shown as the practical limit of the hardware; it takes no part in verdicts.
	RoleLimit Role = "Limit"
)

// Order says how the trials of a run follow each other.
// +kubebuilder:validation:Enum=Blocks;SlicedDuet
type Order string

const (
	// OrderBlocks runs every implementation once a block, in seeded random order within the block.
	OrderBlocks Order = "Blocks"
	// OrderSlicedDuet keeps both of two servers alive on the same CPU and switches one load between them in short slices of seeded
	// random order, so that whatever disturbs one disturbs the other alike.
	OrderSlicedDuet Order = "SlicedDuet"
)

// Strictness says whether a wish about placement is a condition of validity.
// +kubebuilder:validation:Enum=Required;Preferred
type Strictness string

const (
	// Required voids a cell, or refuses a run, that cannot have what was asked for.
	Required Strictness = "Required"
	// Preferred measures anyway and says in the report what was not had.
	Preferred Strictness = "Preferred"
)

// Implementation is one contender: an image that serves requests on a port.
type Implementation struct {
	// name identifies the implementation in the run, its trials and its report: a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="an implementation's name must be lower-case letters, digits and '-', and begin and end with a letter or digit"
	Name string `json:"name"`

	// image is the container image of the server.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image"`

	// command is the argument vector that starts the server; empty means the image's own entrypoint. No shell is involved.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Command []string `json:"command,omitempty"`

	// port is the TCP port on which the server listens for HTTP requests.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// cpus is the number of whole CPUs that the server gets exclusively; 1 if absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1024
	CPUs int32 `json:"cpus,omitempty"`

	// memory is the server's memory request and limit; 256Mi if absent.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// role is Contender (default) or Limit: a Limit is shown as the practical limit of the hardware and takes no part in verdicts.
	// +optional
	Role Role `json:"role,omitempty"`
}

// Expect is what a correct response looks like; it is checked once before each trial measures.
type Expect struct {
	// status is the HTTP status code of a correct response; 200 if absent.
	// +optional
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=599
	Status int32 `json:"status,omitempty"`

	// body is the exact body of a correct response; absent means that the body is not checked.
	// +optional
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=65536
	Body *string `json:"body,omitempty"`
}

// Request is the HTTP request that a load sends. There is no host: a load goes to the pods of its own run only.
type Request struct {
	// path is the request target, beginning with a slash; "/" if absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[!-~]*$')",message="path must begin with '/' and hold printable ASCII without spaces; percent-encode everything else"
	Path string `json:"path,omitempty"`

	// expect is what a correct response looks like.
	// +optional
	Expect Expect `json:"expect,omitzero"`
}

// Generators says from where a load comes.
type Generators struct {
	// pods is the number of generator pods that share each level equally and start at one instant; 1 if absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Pods int32 `json:"pods,omitempty"`

	// cpus is the number of whole CPUs of each generator pod, and of the tool's threads; 1 if absent. ab has one thread.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	CPUs int32 `json:"cpus,omitempty"`
}

// Level is one point of a concurrency sweep.
type Level struct {
	// connections is the number of connections held open, each with one request in flight, over all generator pods: at most
	// 25,000 a pod, since a pod has 28,000 ports towards one server. Of an arrival rate it is the number of virtual users that may
	// be needed to keep it.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=400000
	Connections int32 `json:"connections,omitempty"`

	// requestsPerSecond is the rate at which requests arrive whether or not earlier ones are answered (open model; k6 only);
	// absent means that each connection sends its next request when it has its answer (closed model).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`

	// rampToRequestsPerSecond is the rate at the end of the level, reached linearly from requestsPerSecond; absent means that the
	// rate is constant.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RampToRequestsPerSecond int32 `json:"rampToRequestsPerSecond,omitempty"`
}

// Script is a program of the user's for a tool: Lua for wrk, JavaScript for k6. It runs in the generator's container, which holds
// no credentials.
type Script struct {
	// configMap is the name of a ConfigMap in the run's namespace. It is read once, when the run starts.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap"`

	// key is the entry of the ConfigMap that holds the script.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$') && !self.startsWith('..')",message="key must be a key of a ConfigMap: letters, digits, '-', '_' and '.'"
	Key string `json:"key"`
}

// Search looks for the highest arrival rate at which a latency stays below a bound: doubling, then bisection. Each trial searches
// anew, so that blocks confirm the boundary.
type Search struct {
	// percentile is that of the latency from the intended start: 50, 90, 95 or 99.
	// +required
	// +kubebuilder:validation:Enum=50;90;95;99
	Percentile int32 `json:"percentile,omitempty"`

	// maxMilliseconds is the bound of that latency.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60000
	MaxMilliseconds int32 `json:"maxMilliseconds,omitempty"`

	// startRequestsPerSecond is the first rate that is tried; 100 if absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	StartRequestsPerSecond int32 `json:"startRequestsPerSecond,omitempty"`

	// steps is the number of rates that are tried in each trial; 12 if absent.
	// +optional
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=32
	Steps int32 `json:"steps,omitempty"`
}

// Load is a sweep of one tool over levels.
// +kubebuilder:validation:XValidation:rule="self.levels.all(l, l.connections % (has(self.generators) && has(self.generators.pods) ? self.generators.pods : 1) == 0)",message="every level's connections must be a multiple of generators.pods: each pod makes the same share of the load"
// +kubebuilder:validation:XValidation:rule="self.tool != 'wrk' || self.levels.all(l, l.connections % ((has(self.generators) && has(self.generators.pods) ? self.generators.pods : 1) * (has(self.generators) && has(self.generators.cpus) ? self.generators.cpus : 1)) == 0)",message="every level's connections must be a multiple of generators.pods times generators.cpus: wrk gives each thread the same number of connections and would drop the remainder"
// +kubebuilder:validation:XValidation:rule="self.tool != 'ab' || !has(self.generators) || !has(self.generators.cpus) || self.generators.cpus == 1",message="generators.cpus must be 1 with ab, which has one thread: raise generators.pods instead"
// +kubebuilder:validation:XValidation:rule="self.tool == 'k6' || self.levels.all(l, !has(l.requestsPerSecond))",message="levels[].requestsPerSecond is for k6 only: wrk and ab wait for answers and cannot keep a rate"
// +kubebuilder:validation:XValidation:rule="self.levels.all(l, !has(l.rampToRequestsPerSecond) || has(l.requestsPerSecond))",message="levels[].rampToRequestsPerSecond needs levels[].requestsPerSecond, from which the ramp begins"
// +kubebuilder:validation:XValidation:rule="self.levels.all(l, self.levels.exists_one(m, m.connections == l.connections && (has(m.requestsPerSecond) ? m.requestsPerSecond : 0) == (has(l.requestsPerSecond) ? l.requestsPerSecond : 0)))",message="two levels have the same connections and requestsPerSecond: each level may be there once, since blocks repeat it"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || self.tool != 'ab'",message="script is for wrk (Lua) and k6 (JavaScript): ab runs none"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || (self.tool == 'k6' && self.levels.size() == 1 && !has(self.levels[0].requestsPerSecond) && (!has(self.generators) || !has(self.generators.pods) || self.generators.pods == 1))",message="search needs tool k6, one generator pod and exactly one level without requestsPerSecond: its connections are the virtual users that the search may use"
type Load struct {
	// name identifies the load in the run and its report: a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a load's name must be lower-case letters, digits and '-', and begin and end with a letter or digit"
	Name string `json:"name"`

	// tool is the load generator.
	// +required
	Tool Tool `json:"tool"`

	// weight is the load's share in the verdict over all loads, a decimal such as "0.25". Either all loads have one, and they add up to 1, or
	// none has: then each load has a verdict and there is none over all of them.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^(0|1)([.][0-9]+)?$') && double(self) > 0.0 && double(self) <= 1.0",message="weight must be a decimal above 0 and at most 1, such as \"0.25\""
	Weight string `json:"weight,omitempty"`

	// generators says from where the load comes.
	// +optional
	Generators Generators `json:"generators,omitzero"`

	// request is what is asked of the server.
	// +optional
	Request Request `json:"request,omitzero"`

	// connection says whether a connection carries many requests (KeepAlive) or one (PerRequest); KeepAlive if absent.
	// +optional
	Connection ConnectionUse `json:"connection,omitempty"`

	// script is a program of the user's that makes the requests instead of request.path.
	// +optional
	Script *Script `json:"script,omitempty"`

	// levels are the points of the sweep, measured in this order in each trial.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Levels []Level `json:"levels"`

	// search looks for the highest arrival rate that keeps a latency, instead of measuring given levels.
	// +optional
	Search *Search `json:"search,omitempty"`

	// warmupSeconds is how long each level is loaded before it is measured; 2 if absent. 0 measures from the first request on.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// durationSeconds is how long each level is measured; 5 if absent.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	DurationSeconds int32 `json:"durationSeconds,omitempty"`
}

// Placement says on which CPUs and nodes a run may be measured.
type Placement struct {
	// pinning says whether server and generators must own their CPUs; Required if absent. It is read back from the
	// processes in every cell: with Required, a cell that was not pinned is void.
	// +optional
	Pinning Strictness `json:"pinning,omitempty"`

	// generatorPinning says the same of generators alone; as pinning if absent. With Preferred they share their node's CPUs, so that
	// several fit on few: their latencies then hold waiting for each other.
	// +optional
	GeneratorPinning Strictness `json:"generatorPinning,omitempty"`

	// separateNodes says whether server and generators must live on different nodes; Preferred if absent.
	// +optional
	SeparateNodes Strictness `json:"separateNodes,omitempty"`
}

// Validity tightens the limits beyond which a cell is void. Each is a share of 1, as a decimal such as "0.0005"; none can be loosened,
// lest a run be made valid by asking for it.
type Validity struct {
	// maxErrorRate is the share of failed requests beyond which a cell is void; 0.001 if absent, and at most that.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^0([.][0-9]+)?$') && double(self) <= 0.001",message="validity.maxErrorRate must be a decimal from 0 to 0.001, such as \"0.0005\": limits can be tightened and not loosened"
	MaxErrorRate string `json:"maxErrorRate,omitempty"`

	// maxStrangers is the share of the server's CPUs that others use beyond which a cell is void; 0.15 if absent, and at most that.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^0([.][0-9]+)?$') && double(self) <= 0.15",message="validity.maxStrangers must be a decimal from 0 to 0.15, such as \"0.1\": limits can be tightened and not loosened"
	MaxStrangers string `json:"maxStrangers,omitempty"`

	// maxSteal is the share of the server's CPUs that the hypervisor takes beyond which a cell is void; 0.05 if absent, and at most that.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^0([.][0-9]+)?$') && double(self) <= 0.05",message="validity.maxSteal must be a decimal from 0 to 0.05, such as \"0.02\": limits can be tightened and not loosened"
	MaxSteal string `json:"maxSteal,omitempty"`
}

// Artifacts says where in the object store a run's artifacts go.
type Artifacts struct {
	// prefix is put before the keys of all objects of the run; empty if absent.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9_-]+([/.][A-Za-z0-9_-]+)*$')",message="prefix must be path elements of letters, digits, '_', '-' and single dots, separated by '/', without a slash at either end"
	Prefix string `json:"prefix,omitempty"`
}

// BenchmarkRunSpec is what a user asks for. It cannot be changed afterwards: a changed question is a new run. The rule compares
// the order of lists by itself, since lists with keys are equal in any order.
// +kubebuilder:validation:XValidation:rule="self == oldSelf && self.implementations.map(i, i.name) == oldSelf.implementations.map(i, i.name) && self.loads.map(l, l.name) == oldSelf.loads.map(l, l.name)",message="the spec of a BenchmarkRun cannot be changed, since its trials would no longer answer one question: delete it or create a run of another name"
// +kubebuilder:validation:XValidation:rule="self.implementations.size() == 1 || has(self.baseline)",message="baseline must name the implementation that the others are compared with"
// +kubebuilder:validation:XValidation:rule="!has(self.baseline) || self.implementations.exists(i, i.name == self.baseline)",message="baseline must be the name of one of the implementations"
// +kubebuilder:validation:XValidation:rule="!has(self.baseline) || self.implementations.all(i, i.name != self.baseline || !has(i.role) || i.role == 'Contender')",message="baseline must be a Contender: an implementation of role Limit takes no part in verdicts"
// +kubebuilder:validation:XValidation:rule="!has(self.order) || self.order != 'SlicedDuet' || self.implementations.size() == 2",message="order SlicedDuet compares two implementations: make a run for each pair"
type BenchmarkRunSpec struct {
	// implementations are what is compared: each is measured once a block, in a fresh process.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Implementations []Implementation `json:"implementations"`

	// baseline is the name of the implementation that the others are compared with; it may be absent if there is only one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Baseline string `json:"baseline,omitempty"`

	// loads are the sweeps that each trial goes through, in this order.
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Loads []Load `json:"loads"`

	// blocks is the number of times that every implementation is measured; 10 if absent. Fewer than 7 give a ratio and no verdict.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Blocks int32 `json:"blocks,omitempty"`

	// stop lets the run end before its last block when enough has been measured; absent means that all blocks are measured.
	// +optional
	Stop *Stop `json:"stop,omitempty"`

	// latencyPercentiles are the percentiles of the latency that are compared with the baseline: of 50, 90, 95, 99 and 99.9; 50 and 99 if
	// absent.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum="50";"90";"95";"99";"99.9"
	LatencyPercentiles []string `json:"latencyPercentiles,omitempty"`

	// order says how trials follow each other; Blocks if absent. SlicedDuet keeps two servers of one CPU each on the same CPU and
	// switches the load of wrk between them every 100 ms: it sees smaller differences, and no latencies.
	// +optional
	Order Order `json:"order,omitempty"`

	// seed decides in which order each block measures its implementations; drawn from the run's UID if absent, and then named in the
	// report: two runs of one spec and one seed measure in the same order. It has at most 53 bits, which every reader of JSON keeps.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9007199254740991
	Seed int64 `json:"seed,omitempty"`

	// objectives are bounds that figures have to keep. With objectives, a run has succeeded only if every one is met.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Objectives []Objective `json:"objectives,omitempty"`

	// placement says on which CPUs and nodes the run may be measured.
	// +optional
	Placement Placement `json:"placement,omitzero"`

	// validity tightens the limits beyond which a cell is void.
	// +optional
	Validity Validity `json:"validity,omitzero"`

	// artifacts says where the run's artifacts go.
	// +optional
	Artifacts Artifacts `json:"artifacts,omitzero"`

	// timeoutSeconds is how long the run may take once it is its turn; absent means three times the planned time plus ten minutes.
	// +optional
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=604800
	TimeoutSeconds int32 `json:"timeoutSeconds,omitempty"`
}

// ReportRef names a report in the object store. It holds no credentials and no signed address.
type ReportRef struct {
	// uri is the HTML report's address, as s3://BUCKET/KEY.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	URI string `json:"uri,omitempty"`

	// sha256 is the HTML report's digest, in hexadecimal.
	// +optional
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256,omitempty"`
}

// FrozenScript is the script of a load as it was when the run started. It lies in the object store, from which the generators get it.
type FrozenScript struct {
	// load is the name of the load.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	Load string `json:"load"`

	// bytes is the size of the script.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1048576
	Bytes int64 `json:"bytes,omitempty"`

	// sha256 is the script's digest, in hexadecimal.
	// +required
	// +kubebuilder:validation:MinLength=64
	// +kubebuilder:validation:MaxLength=64
	SHA256 string `json:"sha256"`
}

// BenchmarkRunStatus is what the operator has seen. The record of a run is its manifest in the object store.
type BenchmarkRunStatus struct {
	// conditions are Planned, Executed, Reported, Conclusive, the summary Succeeded, and kstatus' Reconciling and Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status speaks of; -1 before the first look.
	// +optional
	// +kubebuilder:default=-1
	ObservedGeneration *int64 `json:"observedGeneration,omitempty"`

	// planHash is the digest of the compiled plan.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	PlanHash string `json:"planHash,omitempty"`

	// progress is the number of cells measured and planned, such as "12/40".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Progress string `json:"progress,omitempty"`

	// timeLeft is about how long the run will still take, such as "3m20s", as of the last cell that ended.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	TimeLeft string `json:"timeLeft,omitempty"`

	// startTime is when the run's turn came.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the run ended, for whatever reason.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// scripts are the users' scripts, frozen when the run started: what becomes of their ConfigMaps afterwards changes no load.
	// +optional
	// +listType=map
	// +listMapKey=load
	// +kubebuilder:validation:MaxItems=8
	Scripts []FrozenScript `json:"scripts,omitempty"`

	// lookedAfterBlock is the last block after which the run has looked whether enough is measured.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	LookedAfterBlock int32 `json:"lookedAfterBlock,omitempty"`

	// stoppedAfterBlock is the block after which the run ended, since enough was measured; absent if it went on.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	StoppedAfterBlock int32 `json:"stoppedAfterBlock,omitempty"`

	// reviewedBlocks is how many blocks, the spare ones included, had been measured when the run last looked for cells that a fault
	// from outside has voided: at most the 100 that a run may have, and as many spare ones.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	ReviewedBlocks int32 `json:"reviewedBlocks,omitempty"`

	// spoiledBlocks are the blocks in which that look found such a cell. They are measured anew, as far as there are spare blocks.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=200
	SpoiledBlocks []int32 `json:"spoiledBlocks,omitempty"`

	// verdict is the outcome in a few words.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Verdict string `json:"verdict,omitempty"`

	// report names the report.
	// +optional
	Report ReportRef `json:"report,omitzero"`
}

// BenchmarkRun asks which of its implementations is better, at what load, by how much, and how sure we are.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=brun;bruns
// +kubebuilder:printcolumn:name="Progress",type=string,JSONPath=`.status.progress`
// +kubebuilder:printcolumn:name="Left",type=string,JSONPath=`.status.timeLeft`
// +kubebuilder:printcolumn:name="Succeeded",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].reason`
// +kubebuilder:printcolumn:name="Verdict",type=string,JSONPath=`.status.verdict`
// +kubebuilder:printcolumn:name="Report",type=string,JSONPath=`.status.report.uri`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 28",message="the name of a BenchmarkRun may have at most 28 characters, since the names of its trials and pods are made from it"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.contains('.')",message="the name of a BenchmarkRun may not hold dots, since the names of its trials and pods are made from it"
type BenchmarkRun struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the user asks for.
	// +required
	Spec BenchmarkRunSpec `json:"spec"`

	// status is what the operator has seen.
	// +optional
	// +kubebuilder:default={}
	Status BenchmarkRunStatus `json:"status,omitzero"`
}

// BenchmarkRunList is a list of runs.
// +kubebuilder:object:root=true
type BenchmarkRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []BenchmarkRun `json:"items"`
}
