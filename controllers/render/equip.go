package render

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/record"
	"loadstone.dev/loadstone/internal/run/plan"
	"loadstone.dev/loadstone/internal/trial/kind"
)

// ScratchVolume is the name prefix of volumes for scratch folders.
const ScratchVolume = "scratch-"

// Scratch is the volume name of a process's scratch folder.
func Scratch(p kind.Process, place int) string {
	return ScratchVolume + ofDependency(p) + strconv.Itoa(place)
}

func ofDependency(p kind.Process) string {
	if p.Dependency == "" {
		return ""
	}
	return p.Dependency + "-"
}

func equip(pod *corev1.Pod, c *corev1.Container, p kind.Process, users v1alpha1.PodSecurity) {
	own := p.Container
	if p.Dependency != "" {
		dependencyUser(c, own, podSecurity(users))
	}
	for _, v := range own.Env {
		c.Env = append(c.Env, variable(v))
	}
	for _, e := range own.EnvFrom {
		source := corev1.EnvFromSource{Prefix: e.Prefix}
		if e.Kind == string(v1alpha1.KindSecret) {
			source.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: named(e.Name)}
		} else {
			source.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: named(e.Name)}
		}
		c.EnvFrom = append(c.EnvFrom, source)
	}
	for i, f := range own.Files {
		mount(pod, c, "files-"+ofDependency(p)+strconv.Itoa(i), f.Path, objectVolume(f.From))
	}
	for i, s := range own.Scratch {
		size := resource.NewQuantity(s.Bytes, resource.BinarySI)
		// Files written there count against the sum of the containers' limits, too.
		disk := c.Resources.Limits[corev1.ResourceEphemeralStorage]
		disk.Add(*size)
		c.Resources.Limits[corev1.ResourceEphemeralStorage] = disk
		mount(pod, c, Scratch(p, i), s.Path, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: size}})
	}
	for _, r := range own.Resources {
		amount := *resource.NewQuantity(r.Amount, resource.BinarySI)
		c.Resources.Requests[corev1.ResourceName(r.Name)], c.Resources.Limits[corev1.ResourceName(r.Name)] = amount, amount
		if r.Huge() {
			// Huge pages in files are for programs that open them there; anonymous mappings need no file.
			medium := corev1.StorageMediumHugePagesPrefix + corev1.StorageMedium(strings.TrimPrefix(r.Name, record.HugePages))
			mount(pod, c, ofDependency(p)+strings.ToLower(r.Name), plan.HugePagesFolder+r.Name, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}})
		}
	}
	for _, name := range own.PullSecrets {
		if secret := named(name); !slices.Contains(pod.Spec.ImagePullSecrets, secret) {
			pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, secret)
		}
	}
}

// podUser gives a pod its server's user: the observer needs the same user to read the process.
func podUser(pod *corev1.Pod, own record.Container) {
	if own.User != nil {
		pod.Spec.SecurityContext.RunAsUser = ptr(*own.User)
	}
	if own.Group != nil {
		pod.Spec.SecurityContext.RunAsGroup, pod.Spec.SecurityContext.FSGroup = ptr(*own.Group), ptr(*own.Group)
	}
}

// dependencyUser gives a dependency its own user, or the default of all pods.
func dependencyUser(c *corev1.Container, own record.Container, usual *corev1.PodSecurityContext) {
	c.SecurityContext.RunAsUser, c.SecurityContext.RunAsGroup = usual.RunAsUser, usual.RunAsGroup
	if own.User != nil {
		c.SecurityContext.RunAsUser = ptr(*own.User)
		if *own.User == 0 {
			c.SecurityContext.RunAsNonRoot = ptr(false)
		}
	}
	if own.Group != nil {
		c.SecurityContext.RunAsGroup = ptr(*own.Group)
	}
}

func mount(pod *corev1.Pod, c *corev1.Container, name, path string, from corev1.VolumeSource) {
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: from})
	readOnly := from.EmptyDir == nil
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path, ReadOnly: readOnly})
}

func objectVolume(o record.Object) corev1.VolumeSource {
	if o.Secret != "" {
		return corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: o.Secret}}
	}
	return corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named(o.ConfigMap)}}
}

func variable(v record.Variable) corev1.EnvVar {
	switch {
	case v.From.Secret != "":
		return corev1.EnvVar{Name: v.Name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: named(v.From.Secret), Key: v.Key}}}
	case v.From.ConfigMap != "":
		return corev1.EnvVar{Name: v.Name, ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: named(v.From.ConfigMap), Key: v.Key}}}
	}
	return corev1.EnvVar{Name: v.Name, Value: literal(v.Value)}
}

func named(object string) corev1.LocalObjectReference {
	return corev1.LocalObjectReference{Name: object}
}

// literal escapes a text so that the kubelet expands no variables in it.
func literal(text string) string { return strings.ReplaceAll(text, "$", "$$") }

func literals(list []string) []string {
	var out []string
	for _, text := range list {
		out = append(out, literal(text))
	}
	return out
}

// asRoot allows root, if the namespace admits it.
func asRoot(pod *corev1.Pod) {
	pod.Spec.SecurityContext.RunAsNonRoot = nil
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if as := list[i].SecurityContext.RunAsUser; as == nil || *as == 0 {
				list[i].SecurityContext.RunAsNonRoot = nil
			}
		}
	}
}
