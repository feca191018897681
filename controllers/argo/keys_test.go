package argo

import (
	"bytes"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestTheSigningKeyIsMadeOnce(t *testing.T) {
	shipped := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: KeySecret}}
	c := fake.NewClientBuilder().WithObjects(shipped).Build()
	first, err := SigningKey(t.Context(), c, "system")
	if err != nil {
		t.Fatal(err)
	}
	second, err := SigningKey(t.Context(), c, "system")
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("an operator that starts anew has another key, %v", err)
	}
	if Token(first, "a") == Token(first, "b") || Token(first, "a") != Token(second, "a") {
		t.Error("a token is not one run's")
	}
}

func TestASigningKeyThatCannotBeIsNamed(t *testing.T) {
	short := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "short", Name: KeySecret}, Data: map[string][]byte{keyField: []byte("x")}}
	c := fake.NewClientBuilder().WithObjects(short).Build()
	for namespace, want := range map[string]string{
		"short":  "has 1 bytes instead of 32: remove the field and restart the operator",
		"absent": "reading Secret absent/loadstone-signing-key, which the chart creates",
	} {
		if _, err := SigningKey(t.Context(), c, namespace); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
