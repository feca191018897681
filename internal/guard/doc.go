// Package guard makes an error of a panic, where a pass of the operator would otherwise be tried again for ever.
package guard
