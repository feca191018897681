package conduct

import (
	"slices"

	"loadstone.dev/loadstone/internal/plan"
	"loadstone.dev/loadstone/internal/record"
)

// Members are those of a trial: its generators first, then its servers.
func Members(s plan.Sweep) []string {
	var members []string
	for i := range max(s.Generators.Pods, 1) {
		members = append(members, record.MemberGenerator(int(i)))
	}
	for i := range s.Servers {
		members = append(members, record.MemberServer(i))
	}
	return members
}

// Requests are those that a check sends before anything is measured: one of each kind. A script makes its own.
func Requests(cells []record.Cell) []record.Request {
	var requests []record.Request
	for _, c := range cells {
		same := func(r record.Request) bool { return sameRequest(r, c.Request) }
		if c.Script == nil && !slices.ContainsFunc(requests, same) {
			requests = append(requests, c.Request)
		}
	}
	return requests
}

func sameRequest(a, b record.Request) bool {
	return a.Path == b.Path && a.Expect.Status == b.Expect.Status && equalBody(a.Expect.Body, b.Expect.Body)
}

func equalBody(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
