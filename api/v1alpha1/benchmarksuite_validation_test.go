package v1alpha1_test

import (
	"strings"
	"testing"
)

const minimalSuite = `
apiVersion: loadstone.dev/v1alpha1
kind: BenchmarkSuite
metadata: {name: NAME, namespace: default}
spec:
  runs:
  - {name: small, template: {spec: {}}}
  gate: GATE
`

func TestSuiteGateValidation(t *testing.T) {
	c := apiServer(t)
	for name, tc := range map[string]struct {
		gate string
		// want is a part of the refusal; empty if the gate is accepted.
		want string
	}{
		"no change points":          {gate: "{onInconclusive: Pass}"},
		"the fewest rounds":         {gate: "{changePoints: {withinRounds: 3}}"},
		"the most rounds":           {gate: "{onInconclusive: Fail, changePoints: {withinRounds: 100}}"},
		"fewer than can be found":   {gate: "{changePoints: {withinRounds: 2}}", want: "spec.gate.changePoints.withinRounds in body should be greater than or equal to 3"},
		"more than it may ask for":  {gate: "{changePoints: {withinRounds: 101}}", want: "spec.gate.changePoints.withinRounds in body should be less than or equal to 100"},
		"a smallest effect":         {gate: "{changePoints: {withinRounds: 3, minimumEffect: \"0.05\"}}"},
		"an effect of nothing":      {gate: "{changePoints: {withinRounds: 3, minimumEffect: \"0.0\"}}", want: "minimumEffect must be a decimal from 0.001 to 0.5"},
		"an effect in percent":      {gate: "{changePoints: {withinRounds: 3, minimumEffect: \"5.0\"}}", want: "minimumEffect must be a decimal from 0.001 to 0.5"},
		"change points of no bound": {gate: "{changePoints: {}}", want: "spec.gate.changePoints.withinRounds: Required value"},
		"a gate of nothing":         {gate: "{}", want: "spec.gate in body should have at least 1 properties"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("NAME", strings.ReplaceAll(name, " ", "-"), "GATE", tc.gate).Replace(minimalSuite)
			err := create(t, c, parse(t, []byte(text)))
			if tc.want != "" {
				refused(t, err, tc.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// The largest readable history has 1,000 rounds, as in make bench-suites.
func TestSuiteHistoryValidation(t *testing.T) {
	c := apiServer(t)
	for name, tc := range map[string]struct {
		history string
		// want is a part of the refusal; empty if the history is accepted.
		want string
	}{
		"a thousand rounds":      {history: "{passed: 500, failed: 500}"},
		"none":                   {history: "{passed: 0, failed: 0}"},
		"more that have passed":  {history: "{passed: 501}", want: "spec.history.passed in body should be less than or equal to 500"},
		"more that have not":     {history: "{failed: 501}", want: "spec.history.failed in body should be less than or equal to 500"},
		"fewer rounds than none": {history: "{failed: -1}", want: "spec.history.failed in body should be greater than or equal to 0"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("NAME", strings.ReplaceAll(name, " ", "-"), "gate: GATE", "history: "+tc.history).Replace(minimalSuite)
			err := create(t, c, parse(t, []byte(text)))
			if tc.want != "" {
				refused(t, err, tc.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSuiteNotificationsValidation(t *testing.T) {
	c := apiServer(t)
	for name, tc := range map[string]struct {
		sinks string
		// want is a part of the refusal; empty if the sinks are accepted.
		want string
	}{
		"a sink":                    {sinks: `[{name: events, url: "https://events.example/rounds"}]`},
		"two sinks of a name":       {sinks: `[{name: a, url: "https://a.example"}, {name: a, url: "https://b.example"}]`, want: "Duplicate value"},
		"a name of many words":      {sinks: `[{name: "Argo Events", url: "https://a.example"}]`, want: "a notification's name: use lower-case letters, digits and '-'"},
		"neither a url nor a forge": {sinks: "[{name: a}]", want: "a notification needs exactly one of url (CloudEvents), gitHub and gitLab"},
		"a repository":              {sinks: "[{name: a, gitHub: {repository: shop/checkout_v1.2, secretRef: {name: s, key: k}, commitParameter: commit}}]"},
		"a url and a forge":         {sinks: `[{name: a, url: "https://a.example", gitHub: {repository: a/b, secretRef: {name: s, key: k}, commitParameter: c}}]`, want: "add one item per receiver"},
		"an address of a repository": {
			sinks: `[{name: a, gitHub: {repository: "https://github.com/a/b", secretRef: {name: s, key: k}, commitParameter: c}}]`,
			want:  "gitHub.repository must be OWNER/NAME, such as shop/checkout, without a URL",
		},
		"a path above":                 {sinks: "[{name: a, gitHub: {repository: a/.., secretRef: {name: s, key: k}, commitParameter: c}}]", want: "gitHub.repository must be"},
		"a repository without a token": {sinks: "[{name: a, gitHub: {repository: a/b, commitParameter: c}}]", want: "secretRef: Required value"},
		"a repository of no commit":    {sinks: "[{name: a, gitHub: {repository: a/b, secretRef: {name: s, key: k}}}]", want: "commitParameter: Required value"},
		"a project of groups":          {sinks: "[{name: a, gitLab: {project: shop/web_2/checkout.v1, secretRef: {name: s, key: k}, commitParameter: c}}]"},
		"the number of a project":      {sinks: `[{name: a, gitLab: {project: "42", secretRef: {name: s, key: k}, commitParameter: c}}]`},
		"two forges at once": {
			sinks: "[{name: a, gitLab: {project: a/b, secretRef: {name: s, key: k}, commitParameter: c}, gitHub: {repository: a/b, secretRef: {name: s, key: k}, commitParameter: c}}]",
			want:  "add one item per receiver",
		},
		"an address of a project":   {sinks: `[{name: a, gitLab: {project: "https://gitlab.com/a/b", secretRef: {name: s, key: k}, commitParameter: c}}]`, want: "gitLab.project must be GROUP/PROJECT"},
		"a project above":           {sinks: "[{name: a, gitLab: {project: a/../b, secretRef: {name: s, key: k}, commitParameter: c}}]", want: "gitLab.project must be GROUP/PROJECT"},
		"a project of no group":     {sinks: "[{name: a, gitLab: {project: checkout, secretRef: {name: s, key: k}, commitParameter: c}}]", want: "or the project's number"},
		"a project without a token": {sinks: "[{name: a, gitLab: {project: a/b, commitParameter: c}}]", want: "secretRef: Required value"},
		"a project of no commit":    {sinks: "[{name: a, gitLab: {project: a/b, secretRef: {name: s, key: k}}}]", want: "commitParameter: Required value"},
		"five sinks":                {sinks: "[{name: a, url: a}, {name: b, url: b}, {name: c, url: c}, {name: d, url: d}, {name: e, url: e}]", want: "must have at most 4 items"},
		"no sinks":                  {sinks: "[]", want: "should have at least 1 items"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("NAME", strings.ReplaceAll(name, " ", "-"), "gate: GATE", "notifications: "+tc.sinks).Replace(minimalSuite)
			err := create(t, c, parse(t, []byte(text)))
			if tc.want != "" {
				refused(t, err, tc.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
