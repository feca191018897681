package survey

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestNamespacesThatAreNotThereAreNamed(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}).Build()
	for name, tc := range map[string]struct {
		args, want []string
	}{
		"one is gone":         {[]string{"--agent-image=a", "--namespaces=team-a,team-b"}, []string{"team-b"}},
		"all are there":       {[]string{"--namespaces=team-a"}, nil},
		"all of the cluster":  {[]string{"--agent-image=a"}, nil},
		"what is no argument": {[]string{"--namespaces=A B"}, nil},
	} {
		if got := lookForNamespaces(t.Context(), c, []corev1.Container{{Args: tc.args}}); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
