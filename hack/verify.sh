#!/usr/bin/env bash
# Checks what needs neither cluster nor linter: generated files are current, modules tidy, shell scripts clean, chart and config/ equal. It changes no
# file of the checkout. A check that fails hides no other.
# shellcheck disable=SC2317 # Functions are called through check.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh # It knows where helm is: hack/cluster/build.sh helm

# A copy of the checkout, in which files are generated: other tests may read those of the checkout meanwhile.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

generated() {
  git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ ! -e "$file" ] || printf '%s\0' "$file" # It may have been deleted.
  done | xargs -0 cp --parents --no-dereference --target-directory "$copy"
  git -C "$copy" init --quiet
  git -C "$copy" add --all
  make -s -C "$copy" generate
  git -C "$copy" add --all --intent-to-add
  git -C "$copy" diff --exit-code || { echo "run 'make generate' and commit the result" >&2; return 1; }
}

scripts() {
  local list
  mapfile -t list < <(git ls-files '*.sh' .ci/run)
  shellcheck "${list[@]}"
}

places() {
  if git grep -nE '\.\./shared|/work/|go_style' -- . ':!hack/verify.sh'; then
    echo "the project speaks of itself alone" >&2
    return 1
  fi
}

secrets() {
  local shapes='-----BEGIN [A-Z ]*PRIVATE KEY-----|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22}|glpat-[A-Za-z0-9_-]{20}|xox[abprs]-[A-Za-z0-9-]{10}|AIza[A-Za-z0-9_-]{35}|eyJ[A-Za-z0-9_-]{10,}\.eyJ'
  if git grep -nIE -e "$shapes" -- .; then
    echo "what has been committed is known: withdraw it where it is valid, and draw what tests need when they run" >&2
    return 1
  fi
}

# What a user of macOS needs: all that measures nothing on the own machine.
macos() {
  GOOS=darwin CGO_ENABLED=0 go vet ./cmd/loadstone ./internal/{cli,client,ui,store}/... ./internal/local/folders ./internal/testbed
}

failed=0
# check NAME COMMAND...: runs a check in a shell of its own.
check() {
  local status
  printf '== %s\n' "$1"
  # Not "( ... ) || failed=1": bash ignores errexit in there.
  set +e
  (set -e; "${@:2}")
  status=$?
  set -e
  [ $status = 0 ] || { failed=1 && printf '== FAILED: %s\n' "$1"; }
}

check "generated files are current" generated
check "chart and config/ are equal, restricted, and as reviewed" env CI=true go test -count=1 ./hack/charts # Not a cached result: go test does not know that helm reads the chart.
check "the commands and their tests compile for macOS" macos
check "modules are tidy" go mod tidy -diff
check "shell scripts" scripts
check "no name of a place outside the project" places
check "no private key and no token of a well-known shape" secrets
exit "$failed"
