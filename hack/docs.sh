#!/usr/bin/env bash
# Builds the documentation site into bin/site, and fails at a broken link. MkDocs comes from PyPI once, into $LOADSTONE_CACHE/mkdocs.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh

dir=$LOADSTONE_CACHE/mkdocs
if ! cmp -s docs/requirements.txt "$dir/requirements.txt"; then
  from_pypi "$dir" --requirement=docs/requirements.txt
  cp docs/requirements.txt "$dir/"
fi
NO_MKDOCS_2_WARNING=1 "$dir/bin/mkdocs" build --strict
say "bin/site/index.html"
