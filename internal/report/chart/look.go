package chart

import "fmt"

// shapes tell implementations apart where colours cannot.
var shapes = []string{"circle", "square", "triangle", "diamond"}

// colours is the number of colours in the style sheet.
const colours = 8

// Look is how an implementation is drawn.
type Look struct{ Class, Shape string }

// ReferenceClass is the class of what a reference is drawn in.
const ReferenceClass = "creference"

// LookOf is the look of the implementation of an index, and that of a reference.
func LookOf(index int, reference bool) Look {
	if reference {
		return Look{Class: ReferenceClass, Shape: "diamond"}
	}
	return Look{Class: fmt.Sprintf("c%d", index%colours), Shape: shapes[index%len(shapes)]}
}

// Legend is one implementation's mark.
type Legend struct {
	Name string
	Note string
	Look Look
}
