// Package rounds is what a pipeline shows of a round of a suite that has ended: its tests, those of all its runs among them, and a page of Markdown.
package rounds
