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

// release is the namespace for which the chart is rendered.
const release = "loadstone-system"

// component is a part of the chart that acts by an account of its own, by the name of that and of the templates in which all stands that it needs.
type component struct {
	what, account string
	templates     []string
}

var (
	operator = component{"the operator", "loadstone", []string{"operator", "rbac", "secrets"}}
	pages    = component{"the pages", "loadstone-ui", []string{"ui"}}
)

// Installation is what of the chart one of its components needs to act, in a namespace: its account with its rights and, of the operator, its lease and
// the Secrets that it fills.
type Installation struct {
	// Config is how the component reaches the API server. Whatever its account may not do fails the test.
	Config *rest.Config

	account *recorder
}

// Install installs an operator into an API server, as helm renders the chart with some values; root is the repository's. What an earlier test has left
// there stays. It returns when the API server knows the rights of the account.
func Install(t *testing.T, config *rest.Config, root, namespace string, values ...string) *Installation {
	t.Helper()
	i := operator.install(t, config, root, namespace, values)
	i.Config = rest.CopyConfig(config)
	i.Config.Impersonate.UserName = operator.user(namespace)
	i.Config.Wrap(i.account.between)
	return i
}

// InstallPages installs the pages of loadstone ui likewise. They show the API server a token, as a pod does, since they show it to the operator, too.
func InstallPages(t *testing.T, config *rest.Config, root, namespace string, values ...string) *Installation {
	t.Helper()
	i := pages.install(t, config, root, namespace, append(slices.Clone(values), "ui.enabled=true"))
	i.Config = rest.AnonymousClientConfig(config)
	i.Config.BearerToken = token(t, config, namespace, pages.account)
	i.Config.Wrap(i.account.between)
	return i
}

// token is one of an account.
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

// user is the account of the component in a namespace, as the API server calls it.
func (p component) user(namespace string) string {
	return "system:serviceaccount:" + namespace + ":" + p.account
}

// install makes the objects of the component, and waits for its rights.
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

// Unused are the rights of which the component has made no use so far, such as "get secrets", in alphabetical order.
func (i *Installation) Unused() []string { return i.account.uses.unused() }

// Expect says that the component will be refused something for want of a right, such as "get secrets", and that this is meant.
func (i *Installation) Expect(what string) { i.account.expect(what) }

// rendered is what helm has printed, by the component and the values.
var rendered sync.Map

// installed are the kinds of which an installation of tests consists.
var installed = []string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "Lease", "Secret"}

// chart is the component's part of the chart in a namespace. What is the cluster's has a name of the namespace's own, so that several installations
// stand side by side.
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

// template is the component's part of the chart as helm renders it.
func (p component) template(root string, values []string) ([]byte, error) {
	// This helm knows of no cluster, and takes itself for an old one.
	args := []string{"template", "loadstone", filepath.Join(root, "charts", "loadstone"), "--namespace=" + release, "--kube-version=1.34.0"}
	for _, part := range p.templates {
		args = append(args, "--show-only=templates/"+part+".yaml")
	}
	for _, v := range values {
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

// rights are the rules of the roles that some objects bind to the component's account in a namespace. They hold when it returns.
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
		// A role is known with all its rules or not at all.
		if err := awaitRight(ctx, c, p.user(namespace), in, rules[of][0]); err != nil {
			return nil, fmt.Errorf("waiting for the rights of the %s %s: %w", of.kind, of.name, err)
		}
		all = append(all, rules[of]...)
	}
	return all, nil
}

// awaitRight waits until a user may do what a rule says, in a namespace or, without one, in all.
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
