// Command charts keeps the Helm chart and the kustomize folder config/ alike.
//
//	go run ./hack/charts          writes the chart's generated files
//	go run ./hack/charts -check   checks the chart, and exits 1 with a diff if anything is not as it should be
//	go run ./hack/charts -update  writes the golden rendering that -check compares with
//
// It renders with helm and kubectl, which must be in PATH, and talks to no cluster. It does not generate config/: controller-gen and
// people do.
package main
