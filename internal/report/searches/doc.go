// Package searches makes the section on what searches for a capacity have found: a table of sustained rates, and a picture of the steps.
package searches
