package suites

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"loadstone.dev/loadstone/api/v1alpha1"
	"loadstone.dev/loadstone/internal/suite/webhook"
)

// deniesTheWebhook denies runs that answer the webhook, and takes them when nothing is to be created, as a quota does that is filled in between.
func deniesTheWebhook(ctx context.Context, c client.WithWatch, o client.Object, how ...client.CreateOption) error {
	var asked client.CreateOptions
	asked.ApplyOptions(how)
	if len(asked.DryRun) == 0 && strings.Contains(o.GetAnnotations()[v1alpha1.AnnotationRound], `"trigger":"Webhook"`) {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "benchmarkruns"}, o.GetName(), errors.New("exceeded quota: runs"))
	}
	return c.Create(ctx, o, how...)
}

// A manual round that replaces a denied one is created: an answered request is not repeated.
func TestWhatTakesThePlaceOfADeniedRoundIsMade(t *testing.T) {
	s := &v1alpha1.BenchmarkSuite{ObjectMeta: metav1.ObjectMeta{Namespace: "perf", Name: "checkout", UID: "0c9f", Generation: 1}}
	s.Spec.Parameters = []v1alpha1.Parameter{{Name: "image", Default: "shop/checkout:main"}}
	s.Spec.Runs = []v1alpha1.SuiteRun{{Name: "r0", Template: v1alpha1.RunTemplate{Spec: apiextensionsv1.JSON{Raw: []byte(strings.Replace(template, "%d", "10", 1))}}}}
	s.Spec.Triggers.Webhook = v1alpha1.WebhookTrigger{
		SecretRef: v1alpha1.KeyReference{Name: "hook", Key: "key"}, Parameters: []v1alpha1.PickedParameter{{Name: "image", Value: "body.image"}},
	}
	s.Spec.Concurrency = v1alpha1.ConcurrencyReplace
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	values := []v1alpha1.ParameterValue{{Name: "image", Value: "shop/checkout:1"}}
	s.Annotations = map[string]string{
		v1alpha1.AnnotationRequestedAt: "1", v1alpha1.AnnotationWebhook: webhook.Request{}.Then(strings.Repeat("a", 64), values, now.Add(webhook.Tolerance), now).Text(),
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(s).WithStatusSubresource(s).
		WithInterceptorFuncs(interceptor.Funcs{Create: deniesTheWebhook}).Build()
	r := &Reconciler{Client: c, Live: c, Recorder: events.NewFakeRecorder(10), Now: func() time.Time { return now }}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	var list v1alpha1.BenchmarkRunList
	if err := c.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 1 || list.Items[0].Spec.Implementations[0].Image != "shop/checkout:main" {
		t.Errorf("there are the runs %+v", list.Items)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		t.Fatal(err)
	}
	if st := s.Status; st.LastHandledRequest != "1" || st.LastHandledWebhook != "" || st.Current.Round != 1 || len(st.History) > 0 {
		t.Errorf("the status is %+v", st)
	}
}
