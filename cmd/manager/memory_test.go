package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/controllers/leader"
	"loadstone.dev/loadstone/controllers/render"
	"loadstone.dev/loadstone/internal/cluster/namespaces"
	"loadstone.dev/loadstone/internal/testbed"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "analyze" {
		os.Exit(playAnalysis())
	}
	os.Exit(testbed.Main(m))
}

// The cache waits forever for lists that are forbidden.
func TestWhatTheOperatorKeepsInMemoryIsWhatItsAccountMayList(t *testing.T) {
	config := testbed.Cluster(t, "../..")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: []string{"../../charts/loadstone/files/argo-crds/argoproj.io_workflows.yaml"}, ErrorIfPathMissing: true, MaxTime: testbed.Patience})
	must(err)
	scheme := runtime.NewScheme()
	must(corev1.AddToScheme(scheme))
	must(v1alpha1.AddToScheme(scheme))
	must(rbacv1.AddToScheme(scheme))
	admin, err := client.New(config, client.Options{Scheme: scheme})
	must(err)
	for name, tc := range map[string]struct {
		prefix string
		values []string
		led    string
		gone   string
		// locked is a namespace that has lost the operator's Role, or empty.
		locked string
		want   []string
	}{
		"of all namespaces":           {prefix: "all", want: []string{"all-a", "all-b", "all-system"}},
		"of those that it is told of": {prefix: "some", values: []string{"runs.namespaces={some-a}"}, led: "some-a", want: []string{"some-a", "some-system"}},
		"of those that are there": {
			prefix: "there", values: []string{"runs.namespaces={there-a,there-b}"}, led: "there-a,there-b", gone: "there-b", want: []string{"there-a", "there-system"},
		},
		"of those that it may read": {
			prefix: "open", values: []string{"runs.namespaces={open-a,open-b}"}, led: "open-a,open-b", locked: "open-b", want: []string{"open-a", "open-system"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			system := tc.prefix + "-system"
			for _, n := range []string{tc.prefix + "-a", tc.prefix + "-b"} {
				must(admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n}}))
			}
			t.Setenv("KUBECONFIG", kubeconfig(t, testbed.Install(t, config, "../..", system, tc.values...).Config))
			for _, n := range []string{tc.prefix + "-a", tc.prefix + "-b", system} {
				if n == tc.gone {
					must(removeNamespace(t.Context(), admin, n))
					continue
				}
				must(admin.Create(t.Context(), shortest(n)))
			}
			if tc.locked != "" {
				lockOut(t, admin, tc.locked)
			}
			all, err := namespaces.Parse(tc.led, system)
			must(err)
			o := options{namespace: system, probes: "0", metrics: "0", led: all}
			access, err := newAccess(o)
			must(err)
			m, _, err := newManager(o, leader.NewFence(leaseDuration, time.Now), access)
			must(err)
			lookTwice(t, access)
			testbed.Beside(t, m.Start)
			ctx, cancel := context.WithTimeout(t.Context(), testbed.Patience)
			defer cancel()
			if !m.GetCache().WaitForCacheSync(ctx) {
				t.Fatal("the cache does not start")
			}

			workflows := &unstructured.UnstructuredList{}
			workflows.SetGroupVersionKind(render.WorkflowKind)
			others := []client.ObjectList{&v1alpha1.TrialList{}, &v1alpha1.BenchmarkSuiteList{}, &corev1.PodList{}, &corev1.NodeList{}, workflows}
			for _, list := range others {
				must(m.GetClient().List(ctx, list))
			}
			for where, reader := range map[string]client.Reader{"memory": m.GetClient(), "the API server": access.Reader(m.GetAPIReader(), m.GetClient())} {
				var runs v1alpha1.BenchmarkRunList
				must(reader.List(ctx, &runs))
				var got []string
				for _, r := range runs.Items {
					if strings.HasPrefix(r.Namespace, tc.prefix) {
						got = append(got, r.Namespace)
					}
				}
				if slices.Sort(got); !slices.Equal(got, tc.want) {
					t.Errorf("in %s are runs of the namespaces %q, want %q", where, got, tc.want)
				}
			}
		})
	}
}

// lookTwice lets an Access check its namespaces now and a minute later.
func lookTwice(t *testing.T, a *namespaces.Access) {
	t.Helper()
	now := time.Now()
	a.Look(t.Context(), now)
	a.Look(t.Context(), now.Add(time.Minute))
}

// Whoever administers a namespace can delete its RoleBinding and create it again.
func TestNamespaceWithoutRightsBlocksNoOther(t *testing.T) {
	config := testbed.Cluster(t, "../..")
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: []string{"../../charts/loadstone/files/argo-crds/argoproj.io_workflows.yaml"}, ErrorIfPathMissing: true, MaxTime: testbed.Patience})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	scheme := runtime.NewScheme()
	must(errors.Join(corev1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), rbacv1.AddToScheme(scheme)))
	admin, err := client.New(config, client.Options{Scheme: scheme})
	must(err)
	for _, n := range []string{"lose-a", "lose-b"} {
		must(admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n}}))
	}
	t.Setenv("KUBECONFIG", kubeconfig(t, testbed.Install(t, config, "../..", "lose-system", "runs.namespaces={lose-a,lose-b}").Config))
	led, err := namespaces.Parse("lose-a,lose-b", "lose-system")
	must(err)
	o := options{namespace: "lose-system", probes: "0", metrics: "0", led: led}
	access, err := newAccess(o)
	must(err)
	m, _, err := newManager(o, leader.NewFence(leaseDuration, time.Now), access)
	must(err)
	create := func(namespace, name string) {
		t.Helper()
		run := shortest(namespace)
		run.Name = name
		must(admin.Create(t.Context(), run))
	}
	create("lose-a", "first")
	create("lose-b", "first")
	testbed.Beside(t, m.Start)
	if !m.GetCache().WaitForCacheSync(t.Context()) {
		t.Fatal("the cache does not start")
	}
	live := access.Reader(m.GetAPIReader(), m.GetClient())
	want := func(want ...string) {
		t.Helper()
		for where, reader := range map[string]client.Reader{"memory": m.GetClient(), "the API server": live} {
			var got []string
			testbed.Await(t, fmt.Sprintf("the runs %q in %s", want, where), func() bool {
				var runs v1alpha1.BenchmarkRunList
				must(reader.List(t.Context(), &runs))
				got = nil
				for _, r := range runs.Items {
					got = append(got, r.Namespace+"/"+r.Name)
				}
				slices.Sort(got)
				return slices.Equal(got, want)
			})
		}
	}
	want("lose-a/first", "lose-b/first")
	var rights rbacv1.RoleBinding
	must(admin.Get(t.Context(), client.ObjectKey{Namespace: "lose-b", Name: "loadstone-runs"}, &rights))
	for range 2 { // As often as its administrator likes.
		lockOut(t, admin, "lose-b")
		want("lose-a/first", "lose-b/first") // A run that measures there is not forgotten at one refusal.
		lookTwice(t, access)
		want("lose-a/first")
		create("lose-a", "second")
		create("lose-b", "second")
		want("lose-a/first", "lose-a/second")
		rights.ResourceVersion, rights.UID = "", ""
		must(admin.Create(t.Context(), &rights))
		operator, err := errandClient()
		must(err)
		testbed.Await(t, "the operator to be let in again", func() bool {
			return operator.List(t.Context(), &v1alpha1.BenchmarkRunList{}, client.InNamespace("lose-b")) == nil
		})
		access.Look(t.Context(), time.Now())
		want("lose-a/first", "lose-a/second", "lose-b/first", "lose-b/second")
		for _, n := range []string{"lose-a", "lose-b"} {
			run := shortest(n)
			run.Name = "second"
			must(admin.Delete(t.Context(), run))
		}
		want("lose-a/first", "lose-b/first")
	}
}

// removeNamespace deletes a namespace and its rights, like a real cluster's controllers.
func removeNamespace(ctx context.Context, c client.Client, name string) error {
	rights := metav1.ObjectMeta{Namespace: name, Name: "loadstone-runs"}
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, o := range []client.Object{&rbacv1.RoleBinding{ObjectMeta: rights}, &rbacv1.Role{ObjectMeta: rights}, n} {
		if err := c.Delete(ctx, o); err != nil {
			return err
		}
	}
	return c.SubResource("finalize").Update(ctx, n)
}

// lockOut removes the operator's rights in a namespace, and waits until the API server enforces it. Its environment identifies the operator.
func lockOut(t *testing.T, c client.Client, name string) {
	t.Helper()
	rights := metav1.ObjectMeta{Namespace: name, Name: "loadstone-runs"}
	if err := c.Delete(t.Context(), &rbacv1.RoleBinding{ObjectMeta: rights}); err != nil {
		t.Fatal(err)
	}
	operator, err := errandClient()
	if err != nil {
		t.Fatal(err)
	}
	testbed.Await(t, "the operator to be refused namespace "+name, func() bool {
		return apierrors.IsForbidden(operator.List(t.Context(), &v1alpha1.BenchmarkRunList{}, client.InNamespace(name)))
	})
}

func shortest(namespace string) *v1alpha1.BenchmarkRun {
	return &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shortest"},
		Spec: v1alpha1.BenchmarkRunSpec{
			Implementations: []v1alpha1.Implementation{{Name: "go", Image: "go:1", Port: 8080}},
			Loads:           []v1alpha1.Load{{Name: "sweep", Tool: v1alpha1.ToolWrk, Levels: []v1alpha1.Level{{Connections: 1}}}},
		},
	}
}

func kubeconfig(t *testing.T, of *rest.Config) string {
	t.Helper()
	k := api.NewConfig()
	k.Clusters["test"] = &api.Cluster{Server: of.Host, CertificateAuthorityData: of.CAData}
	k.AuthInfos["test"] = &api.AuthInfo{ClientCertificateData: of.CertData, ClientKeyData: of.KeyData, Impersonate: of.Impersonate.UserName}
	k.Contexts["test"] = &api.Context{Cluster: "test", AuthInfo: "test"}
	k.CurrentContext = "test"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*k, path); err != nil {
		t.Fatal(err)
	}
	return path
}
