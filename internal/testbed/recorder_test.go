package testbed

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

func TestWhatARequestAsksFor(t *testing.T) {
	const ours = "/apis/loadstone.dev/v1alpha1"
	for name, tc := range map[string]struct{ method, path, want string }{
		"a list of one namespace":        {http.MethodGet, "/api/v1/namespaces/a/pods", "list pods"},
		"a list of all":                  {http.MethodGet, ours + "/benchmarkruns", "list benchmarkruns.loadstone.dev"},
		"a watch":                        {http.MethodGet, ours + "/trials?watch=true", "watch trials.loadstone.dev"},
		"a list that says what it isn't": {http.MethodGet, ours + "/trials?watch=false", "list trials.loadstone.dev"},
		"one object":                     {http.MethodGet, "/api/v1/namespaces/a/secrets/b", "get secrets"},
		"one of the cluster's":           {http.MethodGet, "/api/v1/nodes/n", "get nodes"},
		"all nodes":                      {http.MethodGet, "/api/v1/nodes", "list nodes"},
		"a new object":                   {http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", "create subjectaccessreviews.authorization.k8s.io"},
		"a status":                       {http.MethodPatch, ours + "/namespaces/a/trials/b/status", "patch trials.loadstone.dev/status"},
		"a lease":                        {http.MethodPut, "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "update leases.coordination.k8s.io"},
		"the end of one":                 {http.MethodDelete, "/api/v1/namespaces/a/pods/b", "delete pods"},
		"the end of many":                {http.MethodDelete, "/api/v1/namespaces/a/pods?labelSelector=x", "deletecollection pods"},
		"a namespace itself":             {http.MethodGet, "/api/v1/namespaces/a", "get namespaces"},
		"what kinds there are":           {http.MethodGet, "/apis/loadstone.dev/v1alpha1", ""},
		"the version":                    {http.MethodGet, "/version", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := asked(httptest.NewRequest(tc.method, tc.path, nil)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestARightThatIsMissingFailsTheTest(t *testing.T) {
	const rbac = `{"kind": "Status", "message": "secrets \"a\" is forbidden: User \"system:serviceaccount:s:loadstone\" cannot get resource \"secrets\""}`
	for name, tc := range map[string]struct {
		status   int
		answer   string
		expected []string
		want     string
	}{
		"what is answered":               {status: http.StatusOK, answer: rbac},
		"what is not there":              {status: http.StatusNotFound, answer: `secrets "a" not found`},
		"what a policy forbids":          {status: http.StatusForbidden, answer: `pods "a" is forbidden: exceeded quota: stop`},
		"what the account may not":       {status: http.StatusForbidden, answer: rbac, want: "may not get secrets, and asked for it (GET /api/v1/namespaces/a/secrets/b)"},
		"an owner that it may not block": {status: http.StatusForbidden, answer: "cannot set blockOwnerDeletion if an ownerReference refers to a resource", want: "may not get secrets that block the deletion of an owner whose finalizers it may not update, and asked"},
		"what is meant to be refused":    {status: http.StatusForbidden, answer: rbac, expected: []string{"get secrets"}},
		"what was to be refused":         {status: http.StatusOK, expected: []string{"get secrets"}, want: "was to lack the right to get secrets"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.answer)
			}))
			defer server.Close()
			r := &recorder{}
			for _, what := range tc.expected {
				r.expect(what)
			}
			c := &http.Client{Transport: r.between(http.DefaultTransport)}
			answer, err := c.Get(server.URL + "/api/v1/namespaces/a/secrets/b")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if body, err := io.ReadAll(answer.Body); err != nil || string(body) != tc.answer {
				t.Errorf("the answer becomes %q, %v", body, err)
			}
			switch got := r.findings(); {
			case tc.want == "" && len(got) > 0:
				t.Errorf("found %q", got)
			case tc.want != "" && (len(got) != 1 || !strings.Contains(got[0], tc.want)):
				t.Errorf("found %q, want %q", got, tc.want)
			}
		})
	}
}

func TestWhatRightsNobodyUses(t *testing.T) {
	u := uses{given: map[string]bool{}, used: map[string]bool{}}
	u.grant([]rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods", "nodes"}, Verbs: []string{"list", "watch"}},
		{APIGroups: []string{"loadstone.dev"}, Resources: []string{"trials/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{"loadstone.dev"}, Resources: []string{"trials/finalizers"}, Verbs: []string{"update"}},
	})
	for _, what := range []string{"list pods", "patch trials.loadstone.dev/status", "get secrets"} {
		u.use(what)
	}
	if got, want := u.unused(), []string{"list nodes", "watch nodes", "watch pods"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTheChartIsInstalledForANamespace(t *testing.T) {
	need(t, "helm")
	objects, err := operator.chart("../..", "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, o := range objects {
		names[o.GetObjectKind().GroupVersionKind().Kind+" "+o.GetNamespace()+"/"+o.GetName()] = true
	}
	for _, want := range []string{"ClusterRole /loadstone-one", "ClusterRoleBinding /loadstone-one", "Role one/loadstone", "Lease one/loadstone", "Secret one/loadstone-run-tokens"} {
		if !names[want] {
			t.Errorf("%s is not installed: %v", want, names)
		}
	}
	objects, err = pages.chart("../..", "one", []string{"ui.enabled=true"})
	if err != nil || len(objects) != 3 {
		t.Errorf("of the pages are installed %v, %v, want an account, a role and its binding", objects, err)
	}
}
