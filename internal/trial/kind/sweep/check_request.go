package sweep

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

const (
	contentType = "Content-Type"
	// maxBodyBytes bounds a request's body, which each cell of a trial holds.
	maxBodyBytes = 64 << 10
)

var (
	methodPattern = regexp.MustCompile(`^[A-Z][A-Z-]*$`)
	// headerName is an HTTP token, headerValue its one-line value.
	headerName  = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	headerValue = regexp.MustCompile(`^[!-~]([ -~]*[!-~])?$`)
	bodyKey     = regexp.MustCompile(`^[-._a-zA-Z0-9]+$`)
)

// unsent methods, with the reason.
var unsent = map[string]string{
	"HEAD":    "its answers announce a body that wrk and ab would wait for: use GET",
	"CONNECT": "it asks a proxy for a tunnel: use GET or POST",
	"TRACE":   "its answers are the request itself: use GET",
}

// taken headers are set by the tools and connections of a load, with what to do instead.
var taken = map[string]string{
	"host":              "a load reaches the pods of its run by their addresses: remove it",
	"content-length":    "it follows from request.body: remove it",
	"transfer-encoding": "bodies are sent whole, with their length: remove it",
	"connection":        "it follows from the load's connection: remove it, and choose connection: PerRequest for one request on each connection",
	"keep-alive":        "it follows from the load's connection: remove it",
	"proxy-connection":  "loads use no proxy: remove it",
	"upgrade":           "the version of HTTP follows from the load's protocol: remove it",
	"te":                "loads take no trailers: remove it",
	"trailer":           "loads send no trailers: remove it",
	"expect":            "a body is sent without waiting for leave: remove it",
}

// checkRequests refuses requests that some tool, or the check before the measurement, would send differently.
func checkRequests(spec v1alpha1.BenchmarkRunSpec) *kind.Violation {
	return kind.Each(spec.Loads, func(i int, l v1alpha1.Load) *kind.Violation {
		field := fmt.Sprintf("spec.loads[%d]", i)
		if len(l.Requests) == 0 {
			return kind.Join(checkScripted(field+".request", l), checkRequest(field+".request", l.Request))
		}
		if v := checkMix(field, l); v != nil {
			return v
		}
		return kind.Each(l.Requests, func(j int, r v1alpha1.MixedRequest) *kind.Violation {
			return checkRequest(fmt.Sprintf("%s.requests[%d]", field, j), r.Request)
		})
	})
}

func checkRequest(field string, r v1alpha1.Request) *kind.Violation {
	if reason := unsent[r.Method]; reason != "" {
		return kind.Invalid("%s.method is %s, which no load sends, since %s", field, r.Method, reason)
	}
	if r.Method != "" && !methodPattern.MatchString(r.Method) {
		return kind.Invalid("%s.method is %q: give a method of upper-case letters, such as POST", field, r.Method)
	}
	if r.Expect.Body != nil && r.Expect.Bodies == v1alpha1.BodiesAny {
		return kind.Invalid("%s.expect.body is one body, and bodies: Any compares none: remove one of the two", field)
	}
	if v := kind.CheckPath(field+".path", r.Path); v != nil {
		return v
	}
	if v := checkBody(field, r); v != nil {
		return v
	}
	return checkHeaders(field, r.Headers)
}

// checkBody refuses a body that cannot be sent. Bodies from ConfigMaps or files are checked when the run starts.
func checkBody(field string, r v1alpha1.Request) *kind.Violation {
	field += ".body"
	if from := r.BodyFrom; from != (v1alpha1.BodySource{}) {
		field += "From"
		if !bodyKey.MatchString(from.Key) || from.Key == "." || strings.HasPrefix(from.Key, "..") {
			return kind.Invalid("%s.key is %q: a key of a ConfigMap has letters, digits, '-', '_' and '.', is not '.', and does not begin with '..'", field, from.Key)
		}
	}
	switch {
	case len(r.Body) > maxBodyBytes:
		return kind.Invalid("%s has %d bytes, and the maximum is %d: shorten it, or let a script make the requests (wrk, k6)", field, len(r.Body), maxBodyBytes)
	case strings.ContainsRune(r.Body, 0):
		return kind.Invalid("%s contains a zero byte, and it must be text: let a script make the requests (wrk, k6)", field)
	case !utf8.ValidString(r.Body):
		return kind.Invalid("%s has bytes that are no text in UTF-8: let a script make the requests (wrk, k6)", field)
	}
	return nil
}

// checkScripted refuses request fields next to a script, which makes its own requests.
func checkScripted(field string, l v1alpha1.Load) *kind.Violation {
	if l.Script.IsZero() {
		return nil
	}
	for _, f := range []struct {
		name string
		set  bool
	}{{"method", l.Request.Method != ""}, {"headers", len(l.Request.Headers) > 0}, {"body", l.Request.Body != ""}, {"bodyFrom", l.Request.BodyFrom != (v1alpha1.BodySource{})}, {"expect.bodies", l.Request.Expect.Bodies != ""}} {
		if f.set {
			return kind.Invalid("%s.%s has no effect beside script, which makes the requests: set it in the script, and remove it here", field, f.name)
		}
	}
	return nil
}

func checkHeaders(field string, headers []v1alpha1.Header) *kind.Violation {
	var names []string
	for n, h := range headers {
		name := strings.ToLower(h.Name)
		switch {
		case !headerName.MatchString(h.Name):
			return kind.Invalid("%s.headers[%d].name is %q: a header's name has letters, digits and '-', such as X-Tenant", field, n, h.Name)
		case taken[name] != "":
			return kind.Invalid("%s.headers[%d].name is %s, which cannot be set: %s", field, n, h.Name, taken[name])
		case slices.Contains(names, name):
			return kind.Invalid("%s.headers[%d].name is %s for the second time, and wrk and k6 send each header once: put the values into one, separated by commas", field, n, h.Name)
		case strings.ContainsAny(h.Value, "\r\n"):
			return kind.Invalid("%s.headers[%d].value, of %s, has a line break, which would begin another header: write it on one line", field, n, h.Name)
		case !headerValue.MatchString(h.Value):
			return kind.Invalid("%s.headers[%d].value, of %s, is %q: give printable ASCII without spaces at its ends", field, n, h.Name, h.Value)
		}
		names = append(names, name)
	}
	return nil
}

const (
	// These bound the requests of a mix and their weights, and so the order in which they are made. With more than
	// twelve, the API's rule on their paths would exceed the API server's cost limit in a Trial's cells.
	leastMixed, mostMixed, mostWeight = 2, 12, 100
)

// checkMix refuses a mix that cannot be sent. It repeats the API's rules for specs from elsewhere.
func checkMix(load string, l v1alpha1.Load) *kind.Violation {
	field := load + ".requests"
	switch {
	case !l.Script.IsZero():
		return kind.Invalid("%s has no effect beside script, which makes the requests: remove one of the two", field)
	case given(l.Request):
		return kind.Invalid("%s is set beside %s.request: put the one request among requests, with a weight, or remove requests", field, load)
	case len(l.Requests) < leastMixed || len(l.Requests) > mostMixed:
		return kind.Invalid("%s has %d requests, and a mix has from %d to %d: set request for one, or make several loads", field, len(l.Requests), leastMixed, mostMixed)
	}
	var bodies int
	var keys []string
	for j, r := range l.Requests {
		if r.Weight < 1 || r.Weight > mostWeight {
			return kind.Invalid("%s[%d].weight is %d: give a whole number from 1 to %d, its part of the sum of all weights", field, j, r.Weight, mostWeight)
		}
		// Defaults are part of the request.
		one := asked(r.Request)
		defaultContentType(&one)
		key := one.Key()
		if first := slices.Index(keys, key); first >= 0 {
			return kind.Invalid("%s[%d] asks for the same as %s[%d]: remove it, and add its weight to that one's", field, j, field, first)
		}
		keys, bodies = append(keys, key), bodies+len(r.Body)
	}
	if bodies > maxBodyBytes {
		return kind.Invalid("%s has bodies of %d bytes together, and the maximum is %d: shorten them, or let a script make the requests", field, bodies, maxBodyBytes)
	}
	return nil
}

func given(r v1alpha1.Request) bool {
	return r.Method != "" || r.Path != "" || len(r.Headers) > 0 || r.Body != "" || r.BodyFrom != (v1alpha1.BodySource{}) || r.Expect != (v1alpha1.Expect{})
}

// noteMix notes the order of a mix's requests.
func noteMix(p *record.Plan, load string, mix []record.MixedRequest) {
	if len(mix) == 0 {
		return
	}
	p.Note("loads[%s].requests are made in an order that follows from their weights alone, and is the same in all trials", load)
}

// BodyUse is a field of a spec that names a body.
type BodyUse struct {
	Field string
	From  record.BodySource
}

// BodyUses returns the loads' fields that name bodies, in order.
func BodyUses(loads []v1alpha1.Load) []BodyUse {
	var out []BodyUse
	add := func(field string, r v1alpha1.Request) {
		if from := kind.ReadRequest(r).From; from != nil {
			out = append(out, BodyUse{field + ".bodyFrom", *from})
		}
	}
	for i, l := range loads {
		add(fmt.Sprintf("spec.loads[%d].request", i), l.Request)
		for j, r := range l.Requests {
			add(fmt.Sprintf("spec.loads[%d].requests[%d]", i, j), r.Request)
		}
	}
	return out
}

// WithBodies returns the loads with their bodies filled in, by source. Requests keep their source.
func WithBodies(loads []v1alpha1.Load, bodies map[string]string) []v1alpha1.Load {
	fill := func(r *v1alpha1.Request) {
		if from := kind.ReadRequest(*r).From; from != nil {
			r.Body = bodies[from.String()]
		}
	}
	loads = slices.Clone(loads)
	for i := range loads {
		l := &loads[i]
		fill(&l.Request)
		l.Requests = slices.Clone(l.Requests)
		for j := range l.Requests {
			fill(&l.Requests[j].Request)
		}
	}
	return loads
}
