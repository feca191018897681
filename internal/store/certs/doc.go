// Package certs holds the certificate authorities by which the object store is believed: those of the machine or, where an image has
// none, the public ones that are compiled in, and besides them the private ones of an installation.
package certs
