package planned

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// Asked is one request of a level.
type Asked struct {
	// Key is unique in the run.
	Key     string `json:"key"`
	Weight  int32  `json:"weight"`
	AnyBody bool   `json:"anyBody,omitempty"`
}

// Asked returns the requests of the mix, or the only one.
func (l Level) Asked() []Asked {
	if len(l.Mix) > 0 {
		return l.Mix
	}
	return []Asked{{Key: cmp.Or(l.Request, l.Path), Weight: 1, AnyBody: l.AnyBody}}
}

// Key identifies what the level requests.
func (l Level) Key() string {
	if len(l.Mix) == 0 {
		return l.Asked()[0].Key
	}
	var all []string
	for _, a := range l.Mix {
		all = append(all, fmt.Sprintf("%d %s", a.Weight, a.Key))
	}
	return strings.Join(all, ", ")
}

func mixOf(mix []record.MixedRequest) []Asked {
	var out []Asked
	for _, r := range mix {
		out = append(out, Asked{Key: r.Key(), Weight: r.Weight, AnyBody: r.Expect.AnyBody})
	}
	return out
}

// Request is a request of a load.
type Request struct {
	Load string `json:"load"`
	// Share is its part of a mix; else 0.
	Share float64 `json:"share,omitempty"`
	// Key is unique in the run.
	Key    string `json:"key"`
	Method string `json:"method"`
	// Protocol is empty for HTTP/1.
	Protocol record.Protocol `json:"protocol,omitempty"`
	Path     string          `json:"path"`
	Headers  []record.Header `json:"headers,omitempty"`
	// The body is in the plan, or stored separately if From is set.
	BodyBytes  int    `json:"bodyBytes"`
	BodySHA256 string `json:"bodySHA256,omitempty"`
	// From names the body's source.
	From string `json:"from,omitempty"`
	// AnyBody: bodies are not compared.
	AnyBody bool `json:"anyBody,omitempty"`
}

// requests leaves out plain GETs in HTTP/1.
func requests(cells []record.Cell, frozen []record.FrozenBody) []Request {
	var out []Request
	for _, c := range cells {
		if c.Script != nil || slices.ContainsFunc(out, func(seen Request) bool { return seen.Load == c.Load }) {
			continue
		}
		var weights int32
		for _, r := range c.Mix {
			weights += r.Weight
		}
		for _, r := range c.Requests() {
			one := Request{
				Load: c.Load, Key: r.Key(), Method: r.Verb(), Protocol: r.Protocol, Path: r.Path, Headers: r.Headers, BodyBytes: len(r.Body), BodySHA256: r.BodySHA256(),
				AnyBody: r.Expect.AnyBody,
			}
			if from := r.From; from != nil {
				one.From = from.String()
				if b := util.First(frozen, func(b *record.FrozenBody) bool { return b.From == one.From }); b != nil {
					one.BodyBytes, one.BodySHA256 = int(b.Bytes), b.SHA256
				}
			}
			switch {
			case weights > 0:
				one.Share = float64(r.Weight) / float64(weights)
			case r.Plain() && !r.Expect.AnyBody:
				continue
			}
			out = append(out, one)
		}
	}
	return out
}
