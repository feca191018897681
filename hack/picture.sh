#!/usr/bin/env bash
# Makes docs/report.png from the top of a real report: that of a run on this machine or of a cluster's, never of example data.
# usage: hack/picture.sh [report.html]      (none: the newest in loadstone-results and in reports)
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh

report=${1:-$(find loadstone-results reports -name report.html -printf '%T@ %p\n' 2>/dev/null | sort -rn | head -n 1 | cut -d' ' -f2-)}
[ -f "$report" ] || die "there is no report: make demo makes one"
need_commands chromium:chromium
# chromium refuses to have a sandbox as root; it reads one file of ours.
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,1445 --screenshot="$PWD/docs/report.png" \
  "file://$(realpath "$report")" >"$LOADSTONE_CACHE/picture.log" 2>&1 || die "chromium failed: see $LOADSTONE_CACHE/picture.log"
say "docs/report.png is of $report"
