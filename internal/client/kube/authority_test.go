package kube

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestCABundleIsReadFromOperatorMounts(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "system", Name: "bundle"}
	c := fake.NewClientBuilder().WithObjects(
		&corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"own.pem": "of a ConfigMap"}},
		&corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"ca.crt": []byte("of a Secret")}},
	).Build()
	items := []corev1.KeyToPath{{Key: "own.pem", Path: "ca.crt"}}
	for name, tc := range map[string]struct {
		source          corev1.VolumeSource
		want, wantError string
	}{
		"a ConfigMap under another key": {
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "bundle"}, Items: items}},
			"of a ConfigMap", "",
		},
		"a Secret":                {corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "bundle"}}, "of a Secret", ""},
		"a Secret that is absent": {corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none"}}, "", `"none" not found`},
		"neither of them":         {corev1.VolumeSource{}, "", "mounts no ConfigMap or Secret for /etc/ca/ca.crt"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "system"}}
			d.Spec.Template.Spec = corev1.PodSpec{
				Volumes:    []corev1.Volume{{Name: "ca", VolumeSource: tc.source}},
				Containers: []corev1.Container{{VolumeMounts: []corev1.VolumeMount{{Name: "ca", MountPath: "/etc/ca"}}}},
			}
			got, err := fromVolume(t.Context(), c, d, "/etc/ca/ca.crt")
			if got != tc.want || tc.wantError == "" && err != nil || tc.wantError != "" && (err == nil || !strings.Contains(err.Error(), tc.wantError)) {
				t.Errorf("got %q, %v; want %q, %q", got, err, tc.want, tc.wantError)
			}
		})
	}
}
