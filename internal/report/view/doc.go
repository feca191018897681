// Package view has common parts of a report's sections: a table in one language, names of levels, looks, findings in words, and links to stored
// objects. It makes no section.
package view
