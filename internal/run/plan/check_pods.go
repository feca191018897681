package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// ownPrefix begins labels and annotations of Loadstone. The lists have its others on measured pods; the API's rules have them, too.
const ownPrefix = "loadstone.dev/"

var (
	ownLabels      = []string{"app.kubernetes.io/name", "app.kubernetes.io/component", "sidecar.istio.io/inject", "istio.io/dataplane-mode"}
	ownAnnotations = []string{"cluster-autoscaler.kubernetes.io/safe-to-evict", "karpenter.sh/do-not-disrupt", "sidecar.istio.io/inject", "linkerd.io/inject"}
)

// CheckPods refuses pod settings that contradict Loadstone's own, or that no pod can have. field is where they are.
func CheckPods(field string, s v1alpha1.PodSettings) *Violation {
	var found []*Violation
	for _, names := range []named{{".priorityClassName", s.PriorityClassName}, {".runtimeClassName", s.RuntimeClassName}, {".serviceAccountName", s.ServiceAccountName}} {
		found = append(found, CheckName(field+names.field, names.name))
	}
	if strings.HasPrefix(s.PriorityClassName, "system-") {
		found = append(found, kind.Invalid("%s.priorityClassName is %s, and classes that begin with system- are for the cluster's own pods: choose another", field, s.PriorityClassName))
	}
	found = append(found, checkPairs(field+".labels", s.Labels, ownLabels, true), checkPairs(field+".annotations", s.Annotations, ownAnnotations, false),
		checkPairs(field+".nodeSelector", s.NodeSelector, nil, true), checkTolerations(field, s.Tolerations), checkSecurity(field+".securityContext", s.SecurityContext))
	return kind.Join(found...)
}

// checkPairs checks labels, or annotations, whose values are free.
func checkPairs(field string, pairs map[string]string, own []string, labels bool) *Violation {
	return kind.Each(slices.Sorted(maps.Keys(pairs)), func(_ int, key string) *Violation {
		if strings.HasPrefix(key, ownPrefix) || slices.Contains(own, key) {
			return kind.Invalid("%s has %s, which Loadstone sets itself: remove it", field, key)
		}
		if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
			return kind.Invalid("%s has the key %q, which no object can have: %s", field, key, wrong[0])
		}
		if wrong := validation.IsValidLabelValue(pairs[key]); labels && len(wrong) > 0 {
			return kind.Invalid("%s has the value %q for %s, which no label can have: %s", field, pairs[key], key, wrong[0])
		}
		return nil
	})
}

func checkTolerations(field string, list []corev1.Toleration) *Violation {
	return kind.Each(list, func(i int, t corev1.Toleration) *Violation {
		at := fmt.Sprintf("%s.tolerations[%d]", field, i)
		switch {
		case t.TolerationSeconds != nil:
			return kind.Invalid("%s.tolerationSeconds would evict pods while they measure: remove it", at)
		case t.Operator == corev1.TolerationOpExists && t.Value != "":
			return kind.Invalid("%s has operator Exists and a value: remove one of them", at)
		case t.Key == "" && t.Operator != corev1.TolerationOpExists:
			return kind.Invalid("%s has no key: set it, or operator Exists for all taints", at)
		}
		return nil
	})
}

// checkSecurity repeats the API's bounds, which no API server checks in a chart or a suite.
func checkSecurity(field string, s v1alpha1.PodSecurity) *Violation {
	ids := map[string]int64{".runAsUser": cmp.Or(s.RunAsUser, 1), ".runAsGroup": cmp.Or(s.RunAsGroup, 1), ".fsGroup": cmp.Or(s.FSGroup, 1)}
	for i, id := range s.SupplementalGroups {
		ids[fmt.Sprintf(".supplementalGroups[%d]", i)] = id
	}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		if ids[name] < 1 {
			return kind.Invalid("%s%s is %d: give 1 or more, since measured pods are restricted", field, name, ids[name])
		}
	}
	switch {
	case s.IDs == v1alpha1.ChooserPlatform && (s.RunAsUser != 0 || s.RunAsGroup != 0 || s.FSGroup != 0):
		return kind.Invalid("%s has ids Platform, so the cluster assigns runAsUser, runAsGroup and fsGroup: remove them, or ids", field)
	case s.IDs != "" && s.IDs != v1alpha1.ChooserPlatform && s.IDs != v1alpha1.ChooserLoadstone:
		return kind.Invalid("%s.ids is %q: write Loadstone or Platform", field, s.IDs)
	case !slices.Contains([]string{"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}, s.SELinuxOptions.Type):
		return kind.Invalid("%s.seLinuxOptions.type is %q, which Pod Security restricted forbids: use container_t, container_init_t, container_kvm_t or container_engine_t", field, s.SELinuxOptions.Type)
	}
	return nil
}
