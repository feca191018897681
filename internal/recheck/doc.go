// Package recheck looks at the pods of an attempt once more before a server is blamed for what may have been done to it.
package recheck
