// Package installation tests how Loadstone comes to a real cluster, is upgraded and goes again. It uninstalls what is there, and so needs a cluster that is
// the tests' own: hack/test.sh runs it last, and on none that was there before.
package installation
