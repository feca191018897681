// Command charts writes the chart's generated files: its definitions, Argo's definitions (also for config/), and its README.
//
//	go run ./hack/charts
//
// Run it in the repository's root. The tests render the chart with helm and compare it with config/, Pod Security and golden files.
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
