package chart

import "fmt"

// shapes tell implementations apart where colours cannot.
var shapes = []string{"circle", "square", "triangle", "diamond"}

// colours is the number of colours in the style sheet.
const colours = 8

// Look is how an implementation is drawn.
type Look struct{ Class, Shape string }

// LimitClass is the class of what a limit is drawn in.
const LimitClass = "climit"

// LookOf is the look of the implementation of an index, and that of a limit.
func LookOf(index int, limit bool) Look {
	if limit {
		return Look{Class: LimitClass, Shape: "diamond"}
	}
	return Look{Class: fmt.Sprintf("c%d", index%colours), Shape: shapes[index%len(shapes)]}
}

// Legend is one implementation's mark.
type Legend struct {
	Name string
	Note string
	Look Look
}
