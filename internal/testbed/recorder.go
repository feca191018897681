package testbed

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

type recorder struct {
	mu       sync.Mutex
	refused  map[string]string
	expected []string
	uses     uses
}

func (r *recorder) between(way http.RoundTripper) http.RoundTripper { return recorded{way, r} }

type recorded struct {
	way http.RoundTripper
	r   *recorder
}

// RoundTrip implements http.RoundTripper.
func (r recorded) RoundTrip(q *http.Request) (*http.Response, error) {
	what := asked(q)
	answer, err := r.way.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusForbidden {
		tally.use(what)
		r.r.uses.use(what)
		return answer, nil
	}
	body, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading why a request was refused: %w", err)
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	// Quotas, policies and webhooks also answer "forbidden". The body may be JSON or protobuf.
	switch {
	case bytes.Contains(body, []byte("forbidden: User ")):
		r.r.refuse(what, q)
	case bytes.Contains(body, []byte("cannot set blockOwnerDeletion if ")):
		r.r.refuse(what+" that block the deletion of an owner whose finalizers it may not update", q)
	}
	return answer, nil
}

func (r *recorder) refuse(what string, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = map[string]string{}
	}
	r.refused[what] = q.Method + " " + q.URL.Path
}

func (r *recorder) expect(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected = append(r.expected, what)
}

// findings returns unexpected refusals, and expected ones that did not occur.
func (r *recorder) findings() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var findings []string
	for _, what := range slices.Sorted(maps.Keys(r.refused)) {
		if !slices.Contains(r.expected, what) {
			findings = append(findings, fmt.Sprintf("may not %s, and asked for it (%s): give the chart the rule, or ask for less", what, r.refused[what]))
		}
	}
	for _, what := range r.expected {
		if r.refused[what] == "" {
			findings = append(findings, fmt.Sprintf("was to lack the right to %s, and was never refused it", what))
		}
	}
	return findings
}

func asked(q *http.Request) string {
	parts := strings.Split(strings.Trim(q.URL.Path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = parts[1], parts[3:]
	default:
		return ""
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}[q.Method]
	watches := q.URL.Query().Get("watch")
	switch named := len(parts) > 1; {
	case verb == "delete" && !named:
		verb = "deletecollection"
	case verb == "" && named:
		verb = "get"
	case verb == "" && (watches == "true" || watches == "1"):
		verb = "watch"
	case verb == "":
		verb = "list"
	}
	resource := parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	return right(verb, group, resource)
}

func right(verb, group, resource string) string {
	name, part, has := strings.Cut(resource, "/")
	if group != "" {
		name += "." + group
	}
	if has {
		name += "/" + part
	}
	return verb + " " + name
}

type uses struct {
	mu    sync.Mutex
	given map[string]bool
	used  map[string]bool
}

var tally uses

func (u *uses) grant(rules []rbacv1.PolicyRule) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.given == nil {
		u.given = map[string]bool{}
	}
	for _, r := range rules {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				u.given[right(verb, cmp.Or(r.APIGroups...), resource)] = true
			}
		}
	}
}

func (u *uses) use(what string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.used == nil {
		u.used = map[string]bool{}
	}
	u.used[what] = true
}

// unused returns granted, unused rights, sorted. Rights to finalizers are for owner references, which no request names.
func (u *uses) unused() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var left []string
	for what := range u.given {
		if !u.used[what] && !strings.HasSuffix(what, "/finalizers") {
			left = append(left, what)
		}
	}
	slices.Sort(left)
	return left
}

// tell prints, with -v, the chart's rights that the package's tests did not use and may be superfluous.
func (u *uses) tell() {
	if left := u.unused(); testing.Verbose() && len(left) > 0 {
		fmt.Fprintf(os.Stderr, "testbed: no test used the chart's rights to %s\n", strings.Join(left, ", "))
	}
}
