// Package installation tests installing, upgrading and uninstalling on a real cluster. It uninstalls an existing installation, so it needs its own
// cluster: hack/test.sh runs it last, and only on a cluster that it started.
package installation
