#!/usr/bin/env bash
# Makes the pictures of README and docs: docs/demo.svg, a recording of "make demo", and docs/report-light.png and docs/report-dark.png, the top of the
# report of this run. Run it when the machine has nothing else to do: the pictures show what was measured.
#
# The recorder, termtosvg, comes from PyPI (BSD-3-Clause) into $LOADSTONE_CACHE/termtosvg.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR source=cluster/lib.sh
. hack/cluster/lib.sh

need_commands chromium:chromium script:bsdutils
dir=$LOADSTONE_CACHE/termtosvg
if ! cmp -s hack/pictures.txt "$dir/requirements.txt"; then
  from_pypi "$dir" --requirement=hack/pictures.txt
  cp hack/pictures.txt "$dir/"
fi
# The recorder ends with its input, and needs a terminal.
exec 3< <(exec sleep 600)
open=$!
script --quiet --return --command "$dir/bin/termtosvg docs/demo.svg --command 'make demo' --screen-geometry 110x24 --max-frame-duration 2000 --template window_frame" /dev/null <&3
kill $open
# Users have another folder. Its name has another length, which the text elements would keep.
sed -i -e 's/ textLength="[0-9]*"//g' -e "s,$PWD,/home/you/loadstone,g" docs/demo.svg

report=$(find loadstone-results -path '*/demo-*/report.html' -printf '%T@ %p\n' | sort -rn | head -n 1 | cut -d' ' -f2-)
[ -f "$report" ] || die "make demo left no report"
# The value is an index of Chromium's: 0 is dark, 1 is light. Chromium refuses to have a sandbox as root; it reads one file of ours.
for scheme in dark:0 light:1; do
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,1445 --blink-settings="preferredColorScheme=${scheme#*:}" \
    --screenshot="$PWD/docs/report-${scheme%:*}.png" "file://$(realpath "$report")" >"$LOADSTONE_CACHE/pictures.log" 2>&1 ||
    die "chromium failed: see $LOADSTONE_CACHE/pictures.log"
done
