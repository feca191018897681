// Command loadstone measures on this machine, follows runs on a cluster, and judges what others measured. Called kubectl-loadstone, it is a
// plugin of kubectl.
package main

import (
	"os"

	"loadstone.dev/loadstone/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args)) }
