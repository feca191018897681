package conduct

import (
	"slices"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/protocol"
)

// Members are the roles of the agents that a trial needs: its generators first, then its server, then the second server of a duet.
func Members(generators int32, duet bool) []string {
	var roles []string
	for i := range max(generators, 1) {
		roles = append(roles, protocol.RoleGenerator(i))
	}
	roles = append(roles, protocol.RoleObserver)
	if duet {
		roles = append(roles, protocol.RoleBeside)
	}
	return roles
}

// Requests are those that a check sends before anything is measured: one of each kind. A script makes its own.
func Requests(cells []v1alpha1.Cell) []v1alpha1.Request {
	var requests []v1alpha1.Request
	for _, c := range cells {
		same := func(r v1alpha1.Request) bool { return sameRequest(r, c.Request) }
		if c.Script == nil && !slices.ContainsFunc(requests, same) {
			requests = append(requests, c.Request)
		}
	}
	return requests
}

func sameRequest(a, b v1alpha1.Request) bool {
	return a.Path == b.Path && a.Expect.Status == b.Expect.Status && equalBody(a.Expect.Body, b.Expect.Body)
}

func equalBody(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
