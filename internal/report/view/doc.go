// Package view is what the sections of a report have in common: one table seen through one language, with names of levels, looks of
// implementations, places of comparisons, findings in words, and links to what is stored. It makes no section of its own.
package view
