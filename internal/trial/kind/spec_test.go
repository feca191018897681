package kind

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"loadstone.dev/loadstone/api/v1alpha1"
)

// filler gives every field a unique value, so that lost or mixed-up fields show.
type filler struct{ next int64 }

func (f *filler) fill(v reflect.Value) {
	f.next++
	if v.Type() == reflect.TypeFor[resource.Quantity]() {
		v.Set(reflect.ValueOf(*resource.NewQuantity(f.next, resource.DecimalSI)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text-%d", f.next))
	case reflect.Int32, reflect.Int64:
		v.SetInt(f.next)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	default: // What is left unset is found by unset.
	}
}

func filled[T any](f *filler) T {
	var v T
	f.fill(reflect.ValueOf(&v).Elem())
	return v
}

func unset(v reflect.Value, path string) []string {
	if v.IsZero() {
		return []string{path}
	}
	var out []string
	switch v.Kind() {
	case reflect.Pointer:
		return unset(v.Elem(), path)
	case reflect.Slice:
		for i := range v.Len() {
			out = append(out, unset(v.Index(i), fmt.Sprintf("%s[%d]", path, i))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out = append(out, unset(v.Field(i), path+"."+v.Type().Field(i).Name)...)
		}
	default: // Any other kind was set, since it is not zero.
	}
	return out
}

// A field of the API that is not read is a broken promise to users.
func TestEveryFieldOfAnImplementationIsRead(t *testing.T) {
	got := unset(reflect.ValueOf(ReadImplementation(filled[v1alpha1.Implementation](&filler{}))), "implementation")
	want := []string{"implementation.Claims[0].Absent", "implementation.Claims[1].Absent"} // No text that the filler writes is Absent.
	if !slices.Equal(got, want) {
		t.Errorf("not read are %q, want %q", got, want)
	}
}

func TestEveryFieldOfARequestIsRead(t *testing.T) {
	got := unset(reflect.ValueOf(ReadRequest(filled[v1alpha1.Request](&filler{}))), "request")
	if want := []string{"request.Protocol", "request.Expect.AnyBody"}; !slices.Equal(got, want) { // A load has the one, and no text of the filler is Any.
		t.Errorf("not read are %q, want %q", got, want)
	}
}
