package namespaces

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestTheNamesOfNamespaces(t *testing.T) {
	for name, tc := range map[string]struct {
		text, own string
		want      Led
		refused   string
	}{
		"none are all":                       {own: "system"},
		"the operator's own is among them":   {text: "b,a", own: "system", want: Led{"a", "b", "system"}},
		"each is there once":                 {text: "a,system,a", own: "system", want: Led{"a", "system"}},
		"where nobody knows the operator's":  {text: "a", want: Led{"a"}},
		"commas alone are none":              {text: ",,", own: "system"},
		"what is no name is refused":         {text: "a,B_c", own: "system", refused: `"B_c" is not the name of a namespace`},
		"a list as people write it, refused": {text: "a, b", own: "system", refused: `" b" is not the name of a namespace`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(tc.text, tc.own)
			if tc.refused != "" {
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("got %v, want %q", err, tc.refused)
				}
				return
			}
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %q, %v, want %q", got, err, tc.want)
			}
		})
	}
}

// refusing is a client that refuses lists of all namespaces, like an API server without that right, and of one namespace.
type refusing struct {
	client.Client
	namespace string
}

var errRefused = errors.New("refused")

func (r refusing) List(ctx context.Context, list client.ObjectList, how ...client.ListOption) error {
	var o client.ListOptions
	if o.ApplyOptions(how).Namespace == "" || o.Namespace == r.namespace {
		return errRefused
	}
	return r.Client.List(ctx, list, how...)
}

func TestListsOfAllNamespacesAreListsOfEach(t *testing.T) {
	pod := func(namespace, name, team string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"team": team}}}
	}
	c := fake.NewClientBuilder().WithObjects(pod("a", "1", "x"), pod("a", "2", "y"), pod("b", "3", "x"), pod("elsewhere", "4", "x")).Build()
	for name, tc := range map[string]struct {
		led     Led
		refuses string
		how     []client.ListOption
		want    []string
		fails   bool
	}{
		"all":                               {led: Led{"a", "b"}, want: []string{"1", "2", "3"}},
		"all with a label":                  {led: Led{"a", "b"}, how: []client.ListOption{client.MatchingLabels{"team": "x"}}, want: []string{"1", "3"}},
		"those of one, as they are":         {led: Led{"a", "b"}, how: []client.ListOption{client.InNamespace("b")}, want: []string{"3"}},
		"a namespace without any":           {led: Led{"a", "empty"}, want: []string{"1", "2"}},
		"one that cannot be read fails all": {led: Led{"a", "b"}, refuses: "b", fails: true},
		"who leads all asks for all":        {fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			below := refusing{c, tc.refuses}
			for _, r := range []client.Reader{tc.led.Reader(below), tc.led.Client(below)} {
				var list corev1.PodList
				err := r.List(t.Context(), &list, tc.how...)
				if tc.fails {
					if !errors.Is(err, errRefused) {
						t.Errorf("got %v, want a refusal", err)
					}
					continue
				}
				var got []string
				for _, p := range list.Items {
					got = append(got, p.Name)
				}
				if err != nil || !slices.Equal(got, tc.want) {
					t.Errorf("got %q, %v, want %q", got, err, tc.want)
				}
			}
		})
	}
}

// without is a client with rights in some namespaces. In others it may not list, and perhaps not check their existence.
type without struct {
	client.Client
	listable []string
	asks     bool
}

func (w without) List(ctx context.Context, list client.ObjectList, how ...client.ListOption) error {
	var o client.ListOptions
	if !slices.Contains(w.listable, o.ApplyOptions(how).Namespace) {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errRefused)
	}
	return w.Client.List(ctx, list, how...)
}

func (w without) Get(ctx context.Context, key client.ObjectKey, o client.Object, how ...client.GetOption) error {
	if !w.asks {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, key.Name, errRefused)
	}
	return w.Client.Get(ctx, key, o, how...)
}

// A deleted namespace blocks nothing; an existing unreadable one blocks everything.
func TestANamespaceThatIsGoneIsLeftOut(t *testing.T) {
	namespace := func(name string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "1"}}
	c := fake.NewClientBuilder().WithObjects(pod, namespace("a"), namespace("locked")).Build()
	for name, tc := range map[string]struct {
		led            Led
		asks           bool
		there, missing Led
		fails          bool
	}{
		"one that is gone":                   {led: Led{"a", "gone"}, asks: true, there: Led{"a"}, missing: Led{"gone"}},
		"one that is there, and locked":      {led: Led{"a", "locked"}, asks: true, there: Led{"a", "locked"}, fails: true},
		"one of which nobody may know":       {led: Led{"a", "gone"}, there: Led{"a", "gone"}, fails: true},
		"one that is there and may be read":  {led: Led{"a"}, asks: true, there: Led{"a"}},
		"both, and what is there is decided": {led: Led{"a", "gone", "locked"}, asks: true, there: Led{"a", "locked"}, missing: Led{"gone"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			below := without{c, []string{"a"}, tc.asks}
			there, missing, err := tc.led.Split(t.Context(), below)
			if err != nil || !slices.Equal(there, tc.there) || !slices.Equal(missing, tc.missing) {
				t.Errorf("there are %q, missing %q, %v", there, missing, err)
			}
			var list corev1.PodList
			err = tc.led.Reader(below).List(t.Context(), &list)
			if tc.fails != apierrors.IsForbidden(err) || !tc.fails && (err != nil || len(list.Items) != 1) {
				t.Errorf("got %d pods, %v", len(list.Items), err)
			}
		})
	}
}

func TestWhichNamespacesAreLed(t *testing.T) {
	if all := Led(nil); !all.Has("a") || all.Cache() != nil {
		t.Error("who names none leads not all")
	}
	some := Led{"a"}
	if !some.Has("a") || some.Has("b") {
		t.Error("who names some leads others")
	}
	if _, ok := some.Cache()["a"]; !ok || len(some.Cache()) != 1 {
		t.Errorf("in memory are the namespaces %v", some.Cache())
	}
}
