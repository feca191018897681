package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// everything installs all components of the chart.
var everything = []string{
	"ui.enabled=true", "webhook.enabled=true", "metrics.enabled=true", "ui.hosts={a.example.com}", "webhook.hosts={b.example.com}",
	"ui.ingress.enabled=true", "webhook.ingress.enabled=true", "ui.from[0].podSelector.matchLabels.app=a",
}

// lookedUp are names that Loadstone's programs look up.
var lookedUp = []string{
	"Lease loadstone", "Service loadstone", "Secret loadstone-signing-key", "Secret loadstone-run-tokens", "Secret loadstone-s3",
	"ServiceAccount loadstone-workflow", "Secret loadstone-workflow.service-account-token", "Role loadstone-workflow", "RoleBinding loadstone-workflow",
	"Role loadstone-runs", "RoleBinding loadstone-runs",
}

func TestObjectsFindEachOtherUnderAnyName(t *testing.T) {
	for name, tc := range map[string]struct {
		setting, prefix string
	}{
		"the default":            {"images.tag=a", "loadstone"},
		"another name":           {"fullnameOverride=acme", "acme"},
		"named by release":       {"nameOverride=bench", "loadstone-bench"},
		"release has the name":   {"nameOverride=load", "loadstone"},
		"some namespaces":        {"fullnameOverride=acme,runs.namespaces={team}", "acme"},
		"other service accounts": {"operator.serviceAccount.name=a,argo.serviceAccount.name=b,minio.serviceAccount.name=c,ui.serviceAccount.name=d,webhook.serviceAccount.name=e", "loadstone"},
	} {
		t.Run(name, func(t *testing.T) {
			list := chart(t, append(slices.Clone(everything), tc.setting)...)
			for _, f := range dangling(t, list) {
				t.Error(f)
			}
			for _, o := range list {
				id := o.text("kind") + " " + o.text("metadata", "name")
				own := strings.HasPrefix(o.text("metadata", "name"), tc.prefix) || o.text("kind") == "ServiceAccount" && name == "other service accounts"
				if !own && !slices.Contains(lookedUp, id) && o.text("kind") != "CustomResourceDefinition" {
					t.Errorf("%s is not called %s", id, tc.prefix)
				}
			}
		})
	}
}

// addressed finds Services and ConfigMaps in arguments.
var addressed = regexp.MustCompile(`^--(service|s3-endpoint|configmap)=(?:http://)?([a-z0-9-]+)`)

// dangling returns references to objects that the chart does not install.
func dangling(t *testing.T, list []object) []string {
	t.Helper()
	have := map[string]bool{}
	for _, o := range list {
		have[o.text("kind")+" "+o.text("metadata", "name")] = true
	}
	var out []string
	need := func(o object, kind, name string) {
		if !have[kind+" "+name] {
			out = append(out, o.key()+" refers to "+kind+" "+name)
		}
	}
	for _, o := range list {
		switch o.text("kind") {
		case "Deployment", "StatefulSet", "Job":
			podRefers(into[corev1.PodSpec](t, o.at("spec", "template", "spec")), func(kind, name string) { need(o, kind, name) })
		case "Pod":
			podRefers(into[corev1.PodSpec](t, o.at("spec")), func(kind, name string) { need(o, kind, name) })
		case "RoleBinding", "ClusterRoleBinding":
			need(o, o.text("roleRef", "kind"), o.text("roleRef", "name"))
			for _, s := range into[[]rbacv1.Subject](t, o.at("subjects")) {
				if s.Kind == rbacv1.ServiceAccountKind {
					need(o, s.Kind, s.Name)
				}
			}
		case "Ingress":
			for _, r := range into[networkingv1.IngressSpec](t, o.at("spec")).Rules {
				for _, p := range r.HTTP.Paths {
					need(o, "Service", p.Backend.Service.Name)
				}
			}
		}
	}
	return out
}

func podRefers(spec corev1.PodSpec, need func(kind, name string)) {
	need("ServiceAccount", spec.ServiceAccountName)
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		for _, arg := range c.Args {
			if m := addressed.FindStringSubmatch(arg); m != nil {
				need(map[string]string{"service": "Service", "s3-endpoint": "Service", "configmap": "ConfigMap"}[m[1]], m[2])
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				need("Secret", e.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
}

func TestDanglingReferencesAreFound(t *testing.T) {
	const pod = "kind: Pod\nmetadata: {name: p}\nspec: {serviceAccountName: a, containers: [{name: c, args: ['--service=http://s.ns.svc:1', '--configmap=m']}]}\n"
	got := dangling(t, mustParse(t, pod+"---\nkind: ServiceAccount\nmetadata: {name: a}\n"))
	if want := []string{"Pod /p refers to Service s", "Pod /p refers to ConfigMap m"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

func TestSwitchesInstallNoRolesAndCRDs(t *testing.T) {
	for setting, kinds := range map[string][]string{
		"rbac.create=false":                         {"Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"},
		"crds.install=false,argo.installCRDs=false": {"CustomResourceDefinition"},
	} {
		for _, o := range chart(t, append(slices.Clone(everything), setting)...) {
			if slices.Contains(kinds, o.text("kind")) {
				t.Errorf("with %s, the chart installs %s", setting, o.key())
			}
		}
	}
	own := 0
	for _, o := range chart(t, "argo.installCRDs=false") {
		if o.text("kind") == "CustomResourceDefinition" {
			own++
		}
	}
	if own != 3 {
		t.Errorf("without Argo's CRDs, the chart installs %d, want 3", own)
	}
}

func TestPagesAnswerToTheirServicesName(t *testing.T) {
	for _, o := range chart(t, "ui.enabled=true", "fullnameOverride=acme") {
		if o.key() != "Deployment loadstone-system/acme-ui" {
			continue
		}
		spec := into[corev1.PodSpec](t, o.at("spec", "template", "spec"))
		const want = "--hosts=acme-ui.loadstone-system,acme-ui.loadstone-system.svc,acme-ui.loadstone-system.svc.cluster.local"
		if !slices.Contains(spec.Containers[0].Args, want) {
			t.Errorf("the pages have the arguments %q, want %s", spec.Containers[0].Args, want)
		}
		return
	}
	t.Error("there are no pages")
}
