package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"loadstone.dev/loadstone/internal/store/artifact"
)

func TestTheStoresKeyIsDrawnOnce(t *testing.T) {
	shipped := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: "loadstone-s3"}}
	c := fake.NewClientBuilder().WithObjects(shipped).Build()
	first := options{namespace: "system", storeSecret: "loadstone-s3"}
	second := first
	for _, o := range []*options{&first, &second} {
		if err := storeKey(t.Context(), c, o); err != nil {
			t.Fatal(err)
		}
	}
	if len(first.store.SecretKey) < 40 || first.store.AccessKey == "" || first.store != second.store {
		t.Errorf("the first start has the key %+v, the second %+v", first.store, second.store)
	}
	given := options{namespace: "none", storeSecret: "none", store: artifact.Config{AccessKey: "a", SecretKey: "s"}}
	if err := storeKey(t.Context(), c, &given); err != nil || given.store.AccessKey != "a" {
		t.Errorf("a key of the environment became %+v, %v", given.store, err)
	}
	lost := options{namespace: "system", storeSecret: "lost"}
	if err := storeKey(t.Context(), c, &lost); err == nil || !strings.Contains(err.Error(), "reading Secret system/lost, which the chart installs") {
		t.Errorf("got %v", err)
	}
}

func TestTheLogIsAsItIsAskedFor(t *testing.T) {
	var out bytes.Buffer
	quiet := logs{level: "error", format: "text"}
	handler, err := quiet.handler(&out)
	if err != nil || handler.Enabled(t.Context(), 0) {
		t.Errorf("a log of errors takes all, %v", err)
	}
	for _, format := range []string{"json", "text"} {
		out.Reset()
		if handler, err = (&logs{level: "info", format: format}).handler(&out); err != nil {
			t.Fatal(err)
		}
		slog.New(handler).Error("an agent says \u009b2J", "err", errors.New("\x7f\u202e"), "reason", "\u009b")
		if text := out.String(); strings.ContainsAny(text, "\u009b\x7f\u202e") || !strings.Contains(text, "u009b2J") || format == "json" && !json.Valid(out.Bytes()) {
			t.Errorf("the log in %s is %q", format, text)
		}
	}
	for want, wrong := range map[string]logs{`-log-level is "loud"`: {"loud", "json"}, `-log-format is "xml"`: {"info", "xml"}} {
		if _, err := wrong.handler(&out); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
