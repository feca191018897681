package util

import (
	"cmp"
	"slices"
)

// First returns the first matching element, or nil.
func First[T any](list []T, fits func(*T) bool) *T {
	for i := range list {
		if fits(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// Distinct sorts values in place and removes duplicates.
func Distinct[T cmp.Ordered](values []T) []T {
	slices.Sort(values)
	return slices.Compact(values)
}
