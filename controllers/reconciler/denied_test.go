package reconciler

import (
	"errors"
	"testing"
)

func TestWhatAClusterDenies(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":           {nil, false},
		"a webhook":         {errors.New(`admission webhook "runs.example" denied the request: not on Fridays`), true},
		"a policy":          {errors.New("ValidatingAdmissionPolicy 'runs' with binding 'runs' denied request: not on Fridays"), true},
		"something else":    {errors.New("connection refused"), false},
		"a quota's refusal": {errors.New("forbidden: exceeded quota: runs"), false},
	} {
		if got := Denied(tc.err); got != tc.want {
			t.Errorf("%s: got %t, want %t", name, got, tc.want)
		}
	}
}
