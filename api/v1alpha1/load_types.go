package v1alpha1

// Tool is a load generator program.
// +kubebuilder:validation:Enum=wrk;ab;k6;vegeta;h2load
type Tool string

const (
	// ToolWrk is wrk 4.x: closed model, C connections with one request in flight each.
	ToolWrk Tool = "wrk"
	// ToolAb is ApacheBench: closed model on one thread, with kept-alive connections or one connection per request.
	ToolAb Tool = "ab"
	// ToolK6 is k6 1.x: closed model of C virtual users, or open model with an arrival rate served by C virtual users.
	ToolK6 Tool = "k6"
	// ToolVegeta is vegeta 12: open model with a constant arrival rate, served by C workers.
	ToolVegeta Tool = "vegeta"
	// ToolH2load is h2load of nghttp2 1.x: closed model of C connections, HTTP/1.1 or HTTP/2 with several streams each.
	ToolH2load Tool = "h2load"
)

// ConnectionUse is the number of requests per connection: many or one.
// +kubebuilder:validation:Enum=KeepAlive;PerRequest
type ConnectionUse string

const (
	// KeepAlive reuses connections.
	KeepAlive ConnectionUse = "KeepAlive"
	// PerRequest opens a connection for each request.
	PerRequest ConnectionUse = "PerRequest"
)

// Protocol is the HTTP version of a load.
// +kubebuilder:validation:Enum=HTTP1;HTTP2
type Protocol string

const (
	// ProtocolHTTP1 is HTTP/1.1 (ab: HTTP/1.0).
	ProtocolHTTP1 Protocol = "HTTP1"
	// ProtocolHTTP2 is HTTP/2 over TLS.
	ProtocolHTTP2 Protocol = "HTTP2"
)

// Bodies is whether response bodies are compared.
// +kubebuilder:validation:Enum=Same;Any
type Bodies string

const (
	// BodiesSame compares them with expect.body, or else with each other.
	BodiesSame Bodies = "Same"
	// BodiesAny ignores them: the status alone decides.
	BodiesAny Bodies = "Any"
)

// Expect describes a correct response. It is checked before each trial and again during its load.
// +kubebuilder:validation:MinProperties=1
type Expect struct {
	// status is the HTTP status code. Default: 200.
	// +optional
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=599
	Status int32 `json:"status,omitempty"`

	// body is the exact body. Default: all bodies of a trial must equal its first one, and that one the baseline's.
	// +optional
	// +kubebuilder:validation:MinLength=0
	// +kubebuilder:validation:MaxLength=65536
	Body *string `json:"body,omitempty"`

	// bodies is Same, or Any for responses that differ each time, such as with a new order number. With Any only the status is compared, and
	// body must be absent. Default: Same.
	// +optional
	Bodies Bodies `json:"bodies,omitempty"`
}

// Header is a header of a request.
type Header struct {
	// name is the name of the header, such as Content-Type. Each header can occur once; case is ignored.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	Name string `json:"name,omitempty"`

	// value is printable ASCII on one line. It is recorded and printed: do not use it for secrets.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	Value string `json:"value,omitempty"`
}

// Request is the HTTP request of a load. It has no host: a load reaches only the pods of its run.
// +kubebuilder:validation:MinProperties=1
type Request struct {
	// method is the HTTP method, in upper-case letters and '-'. Default: GET.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	Method string `json:"method,omitempty"`

	// path is the request target and begins with a slash. Default: "/".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[!-~]*$')",message="path must start with '/' and contain only printable ASCII without spaces: percent-encode everything else"
	Path string `json:"path,omitempty"`

	// headers are sent with every request, in addition to those of the tool; at most 32. Content-Type defaults to text/plain if there is a
	// body.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Headers []Header `json:"headers,omitempty"`

	// body is the request body; at most 65,536 bytes. Default: none.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=65536
	Body string `json:"body,omitempty"`

	// bodyFrom is the source of the request body, instead of body; at most 65,536 bytes.
	// +optional
	BodyFrom BodySource `json:"bodyFrom,omitzero"`

	// expect describes a correct response.
	// +optional
	Expect Expect `json:"expect,omitzero"`
}

// BodySource is the source of a request body: a ConfigMap, or on one machine a file in the folder of the run file.
type BodySource struct {
	// configMap is the name of a ConfigMap in the run's namespace. It is read once, at the start of the run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap,omitempty"`

	// key is the key of the ConfigMap: letters, digits, '-', '_' and '.'.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key,omitempty"`
}

// MixedRequest is one request of a mix.
type MixedRequest struct {
	Request `json:",inline"`

	// weight is the share of this request, relative to the sum of all weights. Of weights 4 and 1, the first makes four of five requests.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight int32 `json:"weight,omitempty"`
}

// Generators are the pods that generate a load.
// +kubebuilder:validation:MinProperties=1
type Generators struct {
	// pods is the number of generator pods. They share each level equally and start at the same instant. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=16
	Pods int32 `json:"pods,omitempty"`

	// cpus is the number of whole CPUs per generator pod, and of the tool's threads; always 1 with ab. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	CPUs int32 `json:"cpus,omitempty"`
}

// Level is one point of a sweep.
type Level struct {
	// connections is the number of open connections over all generator pods, each with streamsPerConnection requests in flight. With
	// requestsPerSecond: the maximum number of k6 virtual users or vegeta workers. At most 25,000 per pod, because a pod has 28,000 ports per
	// server.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=400000
	Connections int32 `json:"connections,omitempty"`

	// requestsPerSecond is the arrival rate, independent of responses (open model; k6 and vegeta only). If absent, each connection sends its
	// next request after the response (closed model).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RequestsPerSecond int32 `json:"requestsPerSecond,omitempty"`

	// rampToRequestsPerSecond is the arrival rate at the end of the level; the rate changes linearly from requestsPerSecond. Default: constant
	// rate.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	RampToRequestsPerSecond int32 `json:"rampToRequestsPerSecond,omitempty"`
}

// Script is a user's program for a tool: Lua for wrk, JavaScript for k6. It runs in the generator's container without credentials.
type Script struct {
	// configMap is the name of a ConfigMap in the run's namespace. It is read once, at the start of the run.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ConfigMap string `json:"configMap,omitempty"`

	// key is the key of the ConfigMap with the script.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-._a-zA-Z0-9]+$') && !self.startsWith('..')",message="key: use letters, digits, '-', '_' and '.'"
	Key string `json:"key,omitempty"`
}

// Search finds the highest arrival rate whose latency percentile stays below a bound. Rates quadruple until one misses, then the interval is
// cut. The result is fitted to all steps, so single misses by chance do not end the climb. Each trial searches independently.
type Search struct {
	// percentile is the percentile of the latency, measured from the intended start: 50, 90, 95 or 99.
	// +required
	// +kubebuilder:validation:Minimum=50
	// +kubebuilder:validation:Maximum=99
	// +kubebuilder:validation:Enum=50;90;95;99
	Percentile int32 `json:"percentile,omitempty"`

	// maxMilliseconds is the latency bound in milliseconds.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60000
	MaxMilliseconds int32 `json:"maxMilliseconds,omitempty"`

	// startRequestsPerSecond is the first rate; each block begins at another one, up to half of it or twice of it. Default: 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	StartRequestsPerSecond int32 `json:"startRequestsPerSecond,omitempty"`

	// steps is the number of rates that each trial tries. Default: 12.
	// +optional
	// +kubebuilder:validation:Minimum=4
	// +kubebuilder:validation:Maximum=32
	Steps int32 `json:"steps,omitempty"`
}

// Load is a sweep of one tool over levels.
// +kubebuilder:validation:XValidation:rule="self.levels.all(l, l.connections % (has(self.generators) && has(self.generators.pods) ? self.generators.pods : 1) == 0)",message="every level's connections must be a multiple of generators.pods: all pods generate the same share"
// +kubebuilder:validation:XValidation:rule="self.tool != 'wrk' || self.levels.all(l, l.connections % ((has(self.generators) && has(self.generators.pods) ? self.generators.pods : 1) * (has(self.generators) && has(self.generators.cpus) ? self.generators.cpus : 1)) == 0)",message="every level's connections must be a multiple of generators.pods times generators.cpus: wrk gives each thread the same number and would drop the remainder"
// +kubebuilder:validation:XValidation:rule="self.tool != 'ab' || !has(self.generators) || !has(self.generators.cpus) || self.generators.cpus == 1",message="generators.cpus must be 1 with ab, which has one thread: raise generators.pods instead"
// +kubebuilder:validation:XValidation:rule="!(self.tool in ['wrk', 'ab']) || self.levels.all(l, !has(l.requestsPerSecond))",message="levels[].requestsPerSecond is for k6 and vegeta only: wrk and ab wait for responses and cannot sustain a rate"
// +kubebuilder:validation:XValidation:rule="self.tool != 'vegeta' || has(self.search) || self.levels.all(l, has(l.requestsPerSecond) && !has(l.rampToRequestsPerSecond))",message="vegeta sustains constant rates only: set levels[].requestsPerSecond without rampToRequestsPerSecond, or choose k6"
// +kubebuilder:validation:XValidation:rule="self.levels.all(l, !has(l.rampToRequestsPerSecond) || has(l.requestsPerSecond))",message="levels[].rampToRequestsPerSecond needs levels[].requestsPerSecond, the start of the ramp"
// +kubebuilder:validation:XValidation:rule="self.levels.all(l, self.levels.exists_one(m, m.connections == l.connections && (has(m.requestsPerSecond) ? m.requestsPerSecond : 0) == (has(l.requestsPerSecond) ? l.requestsPerSecond : 0)))",message="two levels have the same connections and requestsPerSecond: remove one, because blocks repeat each level"
// +kubebuilder:validation:XValidation:rule="!has(self.script) || !(self.tool in ['ab', 'vegeta'])",message="script needs tool wrk (Lua) or k6 (JavaScript): other tools run no scripts"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !(self.tool in ['ab', 'vegeta'])",message="requests needs tool wrk or k6: other tools send only one request"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.request)",message="request and requests exclude each other: move request into requests with a weight, or remove requests"
// +kubebuilder:validation:XValidation:rule="!has(self.request) || !has(self.request.body) || !has(self.request.bodyFrom)",message="request.body and request.bodyFrom exclude each other: remove one"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || self.requests.all(r, !has(r.body) || !has(r.bodyFrom))",message="body and bodyFrom of a request exclude each other: remove one"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.script)",message="requests and script exclude each other, because the script makes the requests: remove one"
// +kubebuilder:validation:XValidation:rule="!has(self.protocol) || self.protocol != 'HTTP2' || !(self.tool in ['wrk', 'ab', 'vegeta'])",message="protocol HTTP2 needs tool k6 or h2load: wrk and ab support only HTTP/1, and vegeta does not report the version of responses"
// +kubebuilder:validation:XValidation:rule="!has(self.protocol) || self.protocol != 'HTTP2' || !has(self.connection) || self.connection == 'KeepAlive'",message="protocol HTTP2 excludes connection PerRequest: remove connection, or use HTTP1"
// +kubebuilder:validation:XValidation:rule="!has(self.streamsPerConnection) || self.streamsPerConnection == 1 || (has(self.protocol) && self.protocol == 'HTTP2')",message="streamsPerConnection above 1 needs protocol HTTP2: HTTP/1.1 sends one request at a time per connection"
// +kubebuilder:validation:XValidation:rule="!has(self.search) || (!(self.tool in ['wrk', 'ab']) && self.levels.size() == 1 && !has(self.levels[0].requestsPerSecond) && (!has(self.generators) || !has(self.generators.pods) || self.generators.pods == 1))",message="search needs tool k6 or vegeta, one generator pod and exactly one level without requestsPerSecond: its connections are the maximum number of virtual users (k6) or workers (vegeta)"
type Load struct {
	// name identifies the load: a DNS label of at most 20 characters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a load's name: use lower-case letters, digits and '-'; start and end with a letter or digit"
	Name string `json:"name,omitempty"`

	// tool is the load generator.
	// +required
	Tool Tool `json:"tool,omitempty"`

	// weight is the share of the load in the overall verdict, such as "0.25". Either every load without search has a weight and they add up to
	// 1, or none has. Without weights each load has its own verdict, and there is no overall verdict.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=10
	// +kubebuilder:validation:XValidation:rule="self.matches('^(0|1)([.][0-9]+)?$') && double(self) > 0.0 && double(self) <= 1.0",message="weight must be a decimal above 0 and at most 1, such as \"0.25\""
	Weight string `json:"weight,omitempty"`

	// generators are the pods that generate the load.
	// +optional
	Generators Generators `json:"generators,omitzero"`

	// request is the HTTP request of the load.
	// +optional
	Request Request `json:"request,omitzero"`

	// requests are a mix of requests, instead of request. The weights set their shares and order. Results cover all of them together. Only wrk
	// and k6 send a mix. All bodies together: at most 65,536 bytes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=12
	Requests []MixedRequest `json:"requests,omitempty"`

	// connection is KeepAlive (many requests per connection) or PerRequest (one request per connection, including a TLS handshake). Default:
	// KeepAlive.
	// +optional
	Connection ConnectionUse `json:"connection,omitempty"`

	// protocol is the HTTP version. HTTP2 needs k6 or h2load, and tls on all implementations. A server that does not negotiate HTTP/2 is
	// refused; a cell with another version in a response is void. With HTTP1, HTTP/2 is never offered. Default: HTTP1.
	// +optional
	Protocol Protocol `json:"protocol,omitempty"`

	// streamsPerConnection is the number of requests in flight per connection. More than 1 needs protocol HTTP2 and a tool with several
	// streams. Servers usually accept 100. Default: 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	StreamsPerConnection int32 `json:"streamsPerConnection,omitempty"`

	// script is a user's program that makes the requests, instead of request.
	// +optional
	Script Script `json:"script,omitzero"`

	// levels are the points of the sweep. Their order differs by block.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	Levels []Level `json:"levels,omitempty"`

	// search finds the highest arrival rate within a latency bound, instead of a sweep over levels.
	// +optional
	Search Search `json:"search,omitzero"`

	// warmupSeconds is how long the load runs before each measurement, in seconds; 0 measures from the first request. Default: 2.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=600
	WarmupSeconds *int32 `json:"warmupSeconds,omitempty"`

	// durationSeconds is the duration of each measurement, in seconds. Default: 5.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	DurationSeconds int32 `json:"durationSeconds,omitempty"`
}
