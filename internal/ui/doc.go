// Package ui makes the pages of loadstone ui as HTML, with style sheet and script, from API objects and suite histories. It does no I/O, reads
// no clock and decides nothing: states, queue places and change points come from the same packages as the commands'. A verdict is shown only
// for an ended run.
package ui
