#!/usr/bin/env bash
# Checks what needs neither cluster nor linter: generated files are current, modules tidy, shell scripts clean, chart and config/ equal.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '== %s\n' "$1"; }

say "generated files are current"
git diff --exit-code -- api config charts docs/reference/api.md docs/reference/cli.md docs/man docs/explanation/workloads.md 'workloads/*/README.md' || { echo "run 'make generate' and commit the result" >&2; exit 1; }

say "chart and config/ are equal, restricted, and as reviewed"
go run ./hack/charts -check

say "modules are tidy"
go mod tidy -diff

say "shell scripts"
mapfile -t scripts < <(git ls-files '*.sh' .ci/run)
shellcheck "${scripts[@]}"

say "no old words where users read"
go run ./hack/words

say "no name of a place outside the project"
if git grep -nE '\.\./shared|/work/|go_style' -- . ':!hack/verify.sh'; then
  echo "the project speaks of itself alone" >&2; exit 1
fi

say "no private key and no token of a well-known shape"
secrets='-----BEGIN [A-Z ]*PRIVATE KEY-----|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22}|glpat-[A-Za-z0-9_-]{20}|xox[abprs]-[A-Za-z0-9-]{10}|AIza[A-Za-z0-9_-]{35}|eyJ[A-Za-z0-9_-]{10,}\.eyJ'
if git grep -nIE -e "$secrets" -- .; then
  echo "what has been committed is known: withdraw it where it is valid, and draw what tests need when they run" >&2; exit 1
fi
