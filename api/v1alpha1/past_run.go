package v1alpha1

import "encoding/json"

// UnmarshalJSON also reads the prefixes that named earlier runs in older versions, so that stored runs with them can be listed. Such an entry
// has a prefix alone: it identifies no run, and its objective is undecided.
func (p *PastRun) UnmarshalJSON(text []byte) error {
	var prefix string
	if json.Unmarshal(text, &prefix) == nil {
		*p = PastRun{Prefix: prefix}
		return nil
	}
	type plain PastRun
	return json.Unmarshal(text, (*plain)(p))
}
