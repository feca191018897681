// Package folders reads and writes a local run's folder: the claim of the leading process, progress for a resume, and the report.
package folders
