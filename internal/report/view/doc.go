// Package view has what the sections of a report share: a table in one language, with names of levels, looks, places
// of comparisons, findings in words, and links to stored objects. It makes no section.
package view
