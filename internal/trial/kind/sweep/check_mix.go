package sweep

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/trial/kind"
)

const (
	// leastMixed and mostMixed bound the requests of a mix, and mostWeight the weight of each: by them the order in which they are made is bounded. Of more
	// than twelve, the rule of the API over their paths would exceed what the API server lets rules cost, in the cells of a Trial.
	leastMixed, mostMixed, mostWeight = 2, 12, 100
)

// checkMix refuses a mix that cannot be sent, and repeats what the API's rules say of it, for specs that come another way.
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
		// What is left to a default is asked for as well.
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

// given reports whether anything of a request is set.
func given(r v1alpha1.Request) bool {
	return r.Method != "" || r.Path != "" || len(r.Headers) > 0 || r.Body != "" || r.BodyFrom != (v1alpha1.BodySource{}) || r.Expect != (v1alpha1.Expect{})
}

// noteMix says how the requests of a mix are drawn.
func noteMix(p *record.Plan, load string, mix []record.MixedRequest) {
	if len(mix) == 0 {
		return
	}
	p.Note("loads[%s].requests are made in an order that follows from their weights alone, and is the same in all trials", load)
}
