// Command charts writes the chart's generated files: its definitions, those of Argo's pinned release, and its README.
//
//	go run ./hack/charts
//
// Run it at the repository's root. It does not generate config/: controller-gen and people do. The tests of this package render the chart with helm
// and hold it against config/, Pod Security and the golden renderings.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := (repository{root: "."}).generate(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "charts:", err)
		os.Exit(1)
	}
}
