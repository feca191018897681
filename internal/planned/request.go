package planned

import (
	"slices"

	"loadstone.dev/loadstone/internal/record"
)

// Request is what a load asks for.
type Request struct {
	Load string `json:"load"`
	// Key tells it apart from the other requests of the run.
	Key     string          `json:"key"`
	Method  string          `json:"method"`
	Path    string          `json:"path"`
	Headers []record.Header `json:"headers,omitempty"`
	// BodyBytes and BodySHA256 are of the body, which itself is in the plan of the run.
	BodyBytes  int    `json:"bodyBytes"`
	BodySHA256 string `json:"bodySHA256,omitempty"`
	// AnyBody is true if the bodies of the answers are not compared.
	AnyBody bool `json:"anyBody,omitempty"`
}

// requests are those of cells that are more than a GET of a path whose answers are compared, one a load.
func requests(cells []record.Cell) []Request {
	var out []Request
	for _, c := range cells {
		r := c.Request
		if r.Plain() && !r.Expect.AnyBody || slices.ContainsFunc(out, func(seen Request) bool { return seen.Load == c.Load }) {
			continue
		}
		out = append(out, Request{
			Load: c.Load, Key: r.Key(), Method: r.Verb(), Path: r.Path, Headers: r.Headers, BodyBytes: len(r.Body), BodySHA256: r.BodySHA256(),
			AnyBody: r.Expect.AnyBody,
		})
	}
	return out
}
