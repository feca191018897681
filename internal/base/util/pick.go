package util

import (
	"cmp"
	"slices"
)

// First is the first element that fits, nil if there is none.
func First[T any](list []T, fits func(*T) bool) *T {
	for i := range list {
		if fits(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Distinct sorts values in place, and returns each of them once.
func Distinct[T cmp.Ordered](values []T) []T {
	slices.Sort(values)
	return slices.Compact(values)
}
