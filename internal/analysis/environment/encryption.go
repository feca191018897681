package environment

import (
	"cmp"
	"slices"
	"strings"

	"loadstone.dev/loadstone/internal/analysis/planned"
	"loadstone.dev/loadstone/internal/base/util"
	"loadstone.dev/loadstone/internal/record"
)

// Agreed is an agreement in TLS handshakes.
type Agreed struct {
	Implementation string `json:"implementation"`
	// Client is a tool, or record.ClientCheck.
	Client string  `json:"client"`
	Values []Value `json:"values"`
}

// Encryption returns the recorded TLS agreements: one per implementation and client, in the plan's order of
// implementations.
func Encryption(data record.RunData, p planned.Run) []Agreed {
	var out []Agreed
	for _, i := range p.Implementations {
		for _, t := range data.Trials {
			eachEncryption(t, func(implementation string, e record.Encryption) {
				if implementation == i.Name {
					out = agreed(out, i.Name, e)
				}
			})
		}
	}
	for _, a := range out {
		slices.SortStableFunc(a.Values, func(a, b Value) int { return cmp.Or(cmp.Compare(b.Trials, a.Trials), cmp.Compare(a.Value, b.Value)) })
	}
	return out
}

func agreed(list []Agreed, implementation string, e record.Encryption) []Agreed {
	i := slices.IndexFunc(list, func(a Agreed) bool { return a.Implementation == implementation && a.Client == e.Client })
	if i < 0 {
		i, list = len(list), append(list, Agreed{Implementation: implementation, Client: e.Client})
	}
	words := e.Version + " " + e.Cipher
	if v := util.First(list[i].Values, func(v *Value) bool { return v.Value == words }); v != nil {
		v.Trials++
		return list
	}
	list[i].Values = append(list[i].Values, Value{Value: words, Trials: 1})
	return list
}

func eachEncryption(t record.TrialData, visit func(implementation string, e record.Encryption)) {
	for _, g := range t.Generators {
		for _, e := range g.Encryption {
			if e.Server >= 0 && e.Server < len(t.Manifest.Servers) {
				visit(t.Manifest.Servers[e.Server], e)
			}
		}
	}
}

func (b *factBook) encryption(t record.TrialData) {
	clients, keys := map[string][]string{}, map[string]string{}
	eachEncryption(t, func(implementation string, e record.Encryption) {
		clients[implementation] = append(clients[implementation], e.Client+": "+e.Version+" "+e.Cipher)
		if e.Key != "" {
			keys[implementation] = e.Key + ", " + verified[e.Verified]
		}
	})
	for _, name := range t.Manifest.Servers {
		b.note(roleServer, TLS, name, strings.Join(clients[name], ", "))
		b.note(roleServer, Certificate, name, keys[name])
	}
}

var verified = map[bool]string{true: "verified by ca", false: "not verified"}
