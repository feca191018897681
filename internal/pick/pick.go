// Package pick finds elements of lists.
package pick

import "slices"

// First is the first element that fits, nil if there is none.
func First[T any](list []T, fits func(*T) bool) *T {
	for i := range list {
		if fits(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Distinct are the values in their order, each once.
func Distinct(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}
