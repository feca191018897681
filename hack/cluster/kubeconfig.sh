#!/usr/bin/env bash
# Prints the lines that point kubectl and helm at the cluster: eval "$(hack/cluster/kubeconfig.sh)"
set -euo pipefail
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

all_alive || die "no cluster is up; hack/cluster/up.sh starts one."
print_exports
