package runfile

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// farthest is how many letters a name may differ from the one that is meant.
const farthest = 2

// instead is the way out for a field that does not exist.
func instead(structural *schema.Structural, path string) string {
	all := steps(path)
	parent, name := all[:len(all)-1], all[len(all)-1]
	for _, step := range parent {
		next, ok := structural.Properties[step]
		switch {
		case ok:
			structural = &next
		case structural.Items != nil:
			structural = structural.Items
		}
	}
	best, nearest := "", farthest+1
	for known := range structural.Properties {
		if d := distance(name, known); d < nearest || d == nearest && known < best {
			best, nearest = known, d
		}
	}
	if best == "" {
		return "correct its name or its place, or remove it"
	}
	return fmt.Sprintf("did you mean %s?", best)
}

// distance is the number of letters by which two words differ: changed, inserted or left out.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0]++
		for j := range len(b) {
			changed := corner
			if a[i] != b[j] {
				changed++
			}
			corner = row[j+1]
			row[j+1] = slices.Min([]int{changed, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
