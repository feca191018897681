package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const release = "loadstone-system"

type component struct {
	what, account string
	templates     []string
}

var (
	operator = component{"the operator", "loadstone", []string{"operator", "rbac", "secrets"}}
	pages    = component{"the pages", "loadstone-ui", []string{"ui"}}
)

// Installation holds what a chart component needs in a namespace: its account with rights and, for the operator, its lease and Secrets.
type Installation struct {
	// Config accesses the API server as the component. A forbidden request fails the test.
	Config *rest.Config

	account *recorder
}

// Install installs an operator from the rendered chart with some values; root is the repository's. Objects of earlier tests stay. It returns
// when the rights are in effect.
func Install(t *testing.T, config *rest.Config, root, namespace string, values ...string) *Installation {
	t.Helper()
	i := operator.install(t, config, root, namespace, values)
	i.Config = rest.CopyConfig(config)
	i.Config.Impersonate.UserName = operator.user(namespace)
	i.Config.Wrap(i.account.between)
	return i
}

// InstallPages installs the pages of loadstone ui likewise. They use a token, like a pod, since the operator checks it too.
func InstallPages(t *testing.T, config *rest.Config, root, namespace string, values ...string) *Installation {
	t.Helper()
	i := pages.install(t, config, root, namespace, append(slices.Clone(values), "ui.enabled=true"))
	i.Config = rest.AnonymousClientConfig(config)
	i.Config.BearerToken = token(t, config, namespace, pages.account)
	i.Config.Wrap(i.account.between)
	return i
}

func token(t *testing.T, config *rest.Config, namespace, account string) string {
	t.Helper()
	scheme := runtime.NewScheme()
	err := errors.Join(corev1.AddToScheme(scheme), authenticationv1.AddToScheme(scheme))
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	asked := &authenticationv1.TokenRequest{}
	if err := c.SubResource("token").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}}, asked); err != nil {
		t.Fatalf("asking for a token of %s: %v", account, err)
	}
	return asked.Status.Token
}

func (p component) user(namespace string) string {
	return "system:serviceaccount:" + namespace + ":" + p.account
}

func (p component) install(t *testing.T, config *rest.Config, root, namespace string, values []string) *Installation {
	t.Helper()
	need(t, "helm")
	fail := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatalf("installing the chart in namespace %s: %v", namespace, err)
		}
	}
	objects, err := p.chart(root, namespace, values)
	fail(err)
	scheme := runtime.NewScheme()
	fail(errors.Join(corev1.AddToScheme(scheme), rbacv1.AddToScheme(scheme), authorizationv1.AddToScheme(scheme)))
	c, err := client.New(config, client.Options{Scheme: scheme})
	fail(err)
	for _, o := range append([]client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}}, objects...) {
		if err := c.Create(t.Context(), o); !apierrors.IsAlreadyExists(err) {
			fail(err)
		}
	}
	i := &Installation{account: &recorder{}}
	given, err := p.rights(t.Context(), c, namespace, objects)
	fail(err)
	tally.grant(given)
	i.account.uses.grant(given)
	t.Cleanup(func() {
		for _, f := range i.account.findings() {
			t.Errorf("%s of namespace %s %s", p.what, namespace, f)
		}
	})
	return i
}

// Unused returns rights that the component has not used, such as "get secrets", sorted.
func (i *Installation) Unused() []string { return i.account.uses.unused() }

// Expect declares that the component will be forbidden something, such as "get secrets".
func (i *Installation) Expect(what string) { i.account.expect(what) }

var rendered sync.Map

var installed = []string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Lease", "Secret"}

func (p component) chart(root, namespace string, values []string) ([]client.Object, error) {
	key := p.account + "\n" + strings.Join(values, "\n")
	once, _ := rendered.LoadOrStore(key, sync.OnceValues(func() ([]byte, error) { return p.template(root, values) }))
	text, err := once.(func() ([]byte, error))()
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	for _, document := range strings.Split("\n"+strings.ReplaceAll(string(text), release, namespace), "\n---") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &o.Object); err != nil {
			return nil, fmt.Errorf("reading what helm has rendered: %w", err)
		}
		if !slices.Contains(installed, o.GetKind()) || o.GetAnnotations()["helm.sh/hook"] != "" {
			continue
		}
		if o.GetNamespace() == "" {
			o.SetName(o.GetName() + "-" + namespace)
		}
		if o.GetKind() == "ClusterRoleBinding" {
			name, _, err := unstructured.NestedString(o.Object, "roleRef", "name")
			if err := errors.Join(err, unstructured.SetNestedField(o.Object, name+"-"+namespace, "roleRef", "name")); err != nil {
				return nil, fmt.Errorf("naming the role of %s: %w", o.GetName(), err)
			}
		}
		objects = append(objects, o)
	}
	return objects, nil
}

func (p component) template(root string, values []string) ([]byte, error) {
	// Without a cluster, helm assumes an old Kubernetes version.
	args := []string{"template", "loadstone", filepath.Join(root, "charts", "loadstone"), "--namespace=" + release, "--kube-version=1.34.0"}
	for _, part := range p.templates {
		args = append(args, "--show-only=templates/"+part+".yaml")
	}
	// Tests make their namespaces, unless they name some.
	for _, v := range append([]string{"runs.namespaces={*}"}, values...) {
		args = append(args, "--set="+v)
	}
	c := exec.Command(filepath.Join(Assets(), "helm"), args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("rendering the chart: %w", err)
	}
	return out, nil
}

func (p component) rights(ctx context.Context, c client.Client, namespace string, objects []client.Object) ([]rbacv1.PolicyRule, error) {
	type role struct{ kind, namespace, name string }
	rules := map[role][]rbacv1.PolicyRule{}
	bound := map[role]string{}
	for _, o := range objects {
		var read struct {
			Rules    []rbacv1.PolicyRule `json:"rules"`
			RoleRef  rbacv1.RoleRef      `json:"roleRef"`
			Subjects []rbacv1.Subject    `json:"subjects"`
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.(*unstructured.Unstructured).Object, &read); err != nil {
			return nil, fmt.Errorf("reading %s: %w", o.GetName(), err)
		}
		if read.Rules != nil {
			rules[role{o.GetObjectKind().GroupVersionKind().Kind, o.GetNamespace(), o.GetName()}] = read.Rules
		}
		if slices.Contains(read.Subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: p.account}) {
			of := role{read.RoleRef.Kind, o.GetNamespace(), read.RoleRef.Name}
			if of.kind == "ClusterRole" {
				of.namespace = ""
			}
			bound[of] = o.GetNamespace()
		}
	}
	var all []rbacv1.PolicyRule
	for of, in := range bound {
		if len(rules[of]) == 0 {
			return nil, fmt.Errorf("the %s %s is bound, and not there", of.kind, of.name)
		}
		// A role takes effect with all its rules at once.
		if err := awaitRight(ctx, c, p.user(namespace), in, rules[of][0]); err != nil {
			return nil, fmt.Errorf("waiting for the rights of the %s %s: %w", of.kind, of.name, err)
		}
		all = append(all, rules[of]...)
	}
	return all, nil
}

func awaitRight(ctx context.Context, c client.Client, user, namespace string, rule rbacv1.PolicyRule) error {
	resource, sub, _ := strings.Cut(rule.Resources[0], "/")
	attributes := &authorizationv1.ResourceAttributes{Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: sub, Namespace: namespace}
	if len(rule.ResourceNames) > 0 {
		attributes.Name = rule.ResourceNames[0]
	}
	for deadline := time.Now().Add(Patience); ; time.Sleep(5 * time.Millisecond) {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: attributes}}
		if err := c.Create(ctx, review); err != nil {
			return err
		}
		if review.Status.Allowed {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s may not yet %s %s", user, rule.Verbs[0], rule.Resources[0])
		}
	}
}
