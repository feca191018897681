// Package tool is what every load generator program looks like to an agent: an argument vector to start it with, and a parser
// for what it printed. A new tool is a new implementation of Tool in a folder of its own.
//
// The package and its implementations are pure: they start no process, open no file and read no clock.
package tool
