package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACalibrationMeasuresOneThingUnderTwoNames(t *testing.T) {
	for name, tc := range map[string]struct {
		what    twice
		image   string
		command []string
	}{
		"the sample":    {twice{name: "aa"}, "gohttp", []string{"/usr/local/bin/gohttp", "--port=8080"}},
		"another image": {twice{name: "aa", image: "zco:1", port: 9090, command: []string{"/zco"}}, "zco:1", []string{"/zco"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := tc.what.run()
			if err != nil {
				t.Fatal(err)
			}
			a, b := r.Spec.Implementations[0], r.Spec.Implementations[1]
			if a.Name == b.Name || !strings.Contains(a.Image, tc.image) || cmp.Diff(tc.command, a.Command) != "" || r.Name != "aa" {
				t.Errorf("run %+v", r)
			}
			b.Name = a.Name
			if diff := cmp.Diff(a, b); diff != "" {
				t.Errorf("the two differ:\n%s", diff)
			}
		})
	}
	if _, err := (twice{command: []string{"/zco"}}).run(); err == nil {
		t.Error("a command without an image is taken")
	}
}
