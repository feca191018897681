package report

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIndentedIsWhatMarshalIndentPrints(t *testing.T) {
	type Inner struct {
		Names []string `json:"names"`
		More  *int     `json:"more,omitempty"`
	}
	type Embedded struct {
		List  []Inner        `json:"list"`
		None  []Inner        `json:"none,omitempty"`
		Empty []Inner        `json:"empty"`
		Map   map[string]int `json:"map,omitempty"`
		Inner Inner          `json:"inner,omitzero"`
	}
	type whole struct {
		First string `json:"first,omitempty"`
		Embedded
		Last any `json:"last,omitempty"`
	}
	more := 3
	for name, tc := range map[string]any{
		"nothing": struct{}{},
		"no fields": struct {
			A int `json:"a,omitempty"`
		}{},
		"zeroes": whole{},
		"one field": struct {
			A []int `json:"a"`
		}{[]int{1, 2}},
		"all fields": whole{"<a & b>", Embedded{List: []Inner{{Names: []string{"x", "y"}}, {More: &more}}, Empty: []Inner{}, Map: map[string]int{"k": 1}, Inner: Inner{More: &more}}, "é"},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := json.MarshalIndent(tc, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got, err := indented(tc)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want)+"\n", string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := indented(struct{ F func() }{func() {}}); err == nil {
		t.Error("a function was printed")
	}
}
