package render

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
)

// Labels and annotations that keep service meshes out of measured pods: a proxy would be measured with the server.
var (
	meshLabels      = map[string]string{"sidecar.istio.io/inject": "false", "istio.io/dataplane-mode": "none"}
	meshAnnotations = map[string]string{"sidecar.istio.io/inject": "false", "linkerd.io/inject": "disabled"}
)

// Settings joins a run's pod settings with those of the installation.
func Settings(installation, own v1alpha1.PodSettings) v1alpha1.PodSettings {
	all := *own.DeepCopy()
	all.Labels = with(installation.Labels, own.Labels)
	all.Annotations = with(installation.Annotations, own.Annotations)
	all.NodeSelector = with(installation.NodeSelector, own.NodeSelector)
	all.Tolerations = slices.Concat(installation.Tolerations, own.Tolerations)
	if own.Affinity.NodeAffinity == nil {
		all.Affinity = *installation.Affinity.DeepCopy()
	}
	all.PriorityClassName = cmp.Or(own.PriorityClassName, installation.PriorityClassName)
	all.RuntimeClassName = cmp.Or(own.RuntimeClassName, installation.RuntimeClassName)
	all.ServiceAccountName = cmp.Or(own.ServiceAccountName, installation.ServiceAccountName)
	if reflect.ValueOf(own.SecurityContext).IsZero() {
		all.SecurityContext = *installation.SecurityContext.DeepCopy()
	}
	return all
}

// with joins maps; the last value of a key counts. Nil if all are empty.
func with(list ...map[string]string) map[string]string {
	var all map[string]string
	for _, m := range list {
		if all == nil {
			all = maps.Clone(m)
			continue
		}
		maps.Copy(all, m)
	}
	return all
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// podSecurity meets Pod Security restricted, whatever the settings are.
func podSecurity(s v1alpha1.PodSecurity) *corev1.PodSecurityContext {
	c := &corev1.PodSecurityContext{
		RunAsNonRoot: ptr(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}, SupplementalGroups: s.SupplementalGroups,
	}
	if s.SELinuxOptions != (v1alpha1.SELinuxOptions{}) {
		c.SELinuxOptions = &corev1.SELinuxOptions{Type: s.SELinuxOptions.Type, Level: s.SELinuxOptions.Level}
	}
	if s.IDs == v1alpha1.ChooserPlatform {
		return c
	}
	id := func(own int64) *int64 { return ptr(cmp.Or(own, record.OwnUser)) }
	c.RunAsUser, c.RunAsGroup, c.FSGroup = id(s.RunAsUser), id(s.RunAsGroup), id(s.FSGroup)
	return c
}
