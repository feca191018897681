package util

import "encoding/json"

// Within returns the first entries of a list whose JSON has at most so many bytes, but at least one. The list must be encodable.
func Within[T any](list []T, most int) []T {
	size := len("[]")
	for i, entry := range list {
		if size += Size(entry) + len(","); size > most && i > 0 {
			return list[:i]
		}
	}
	return list
}

// Size returns the length of a value's JSON in bytes. The value must be encodable.
func Size(of any) int {
	text, _ := json.Marshal(of) // Callers pass encodable values.
	return len(text)
}
