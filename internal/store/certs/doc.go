// Package certs holds the certificate authorities for the object store: the machine's or, if an image has none, compiled-in public ones, and
// an installation's private ones.
package certs
