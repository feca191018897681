// Package compare relates a run to earlier ones, from their records alone. It infers nothing itself: it asks for a Regression of every
// implementation, level or case, and value, as if the later run had such objectives, and package objectives answers, or says why the runs cannot be
// compared.
package compare
