// Package ui is what the pages of loadstone ui show: objects of the API and the history of a suite become pages, as HTML, with the style sheet and
// the script that they need. It reads nothing itself, looks at no clock and decides nothing: states, places in the queue and change points are those
// of the commands, from the same packages, and a verdict is shown of a run that has ended.
package ui
