// Package inputs pins what a run takes from ConfigMaps. Scripts and request bodies are copied into the store once, before the
// first trial. ConfigMaps of implementations are read before each trial and after it, and their digests are compared.
package inputs
