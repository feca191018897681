// Package figures holds a number against what it should be and prints it as a line: name, value, unit, aim, verdict and note. It also
// makes a ratio with its interval out of ratios that were measured in pairs.
//
// It measures nothing, and knows no figure by name.
package figures
