package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/internal/record"
)

func TestEveryMemberPullsByTheSecretsOfTheInstallation(t *testing.T) {
	o := options()
	o.PullSecrets = []string{"mirror", "registry"}
	for _, name := range []string{record.MemberServer(0), record.MemberGenerator(0)} {
		pod := member(t, trial(t, compiled(t)), name, o)
		if diff := cmp.Diff([]corev1.LocalObjectReference{{Name: "mirror"}, {Name: "registry"}}, pod.Spec.ImagePullSecrets); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
