package stats

import "slices"

// find is the first element that fits, nil if there is none.
func find[T any](list []T, fits func(*T) bool) *T {
	for i := range list {
		if fits(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// distinct are the values in their order, each once.
func distinct(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}
