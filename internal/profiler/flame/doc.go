// Package flame draws where a program spends its time: a flame graph, in which a box is a function, lies on its caller, and is as wide as its
// share of the cost. The graph is a picture with titles, and needs no script. The package is pure.
package flame
