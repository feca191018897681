package doctor

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestMissingNamespacesAreReported(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-c"}},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "loadstone-runs"}},
	).Build()
	for name, tc := range map[string]struct {
		args, missing, locked []string
	}{
		"one is gone":           {args: []string{"--agent-image=a", "--namespaces=team-a,team-b"}, missing: []string{"team-b"}},
		"one was made again":    {args: []string{"--namespaces=team-a,team-c"}, locked: []string{"team-c"}},
		"all are there":         {args: []string{"--namespaces=team-a"}},
		"all of the cluster":    {args: []string{"--agent-image=a"}},
		"what is no argument":   {args: []string{"--namespaces=A B"}},
		"one is gone, one bare": {args: []string{"--namespaces=team-b,team-c"}, missing: []string{"team-b"}, locked: []string{"team-c"}},
	} {
		missing, locked := lookForNamespaces(t.Context(), c, []corev1.Container{{Args: tc.args}})
		if !slices.Equal(missing, tc.missing) || !slices.Equal(locked, tc.locked) {
			t.Errorf("%s: missing are %q, locked %q, want %q, %q", name, missing, locked, tc.missing, tc.locked)
		}
	}
}
