#!/usr/bin/env bash
# The same in a shell, for any CI, a cron job or a person: climb, render every format, compare with a git ref if one is given.
#
#   docs/ci/ladder.sh              climb and report
#   docs/ci/ladder.sh origin/main  and compare with that ref
#
# PLAN (smoke) is the plan, OUT (runs/ci-TIME) the run folder, ENVLADDER the program. The exit code is envladder's own, the climb's before
# the comparison's: 0 good, 4 INVALID, 5 objective missed, 6 regression; docs/exit-codes.md has all of them.
set -euo pipefail

base=${1:-}
plan=${PLAN:-smoke}
out=${OUT:-runs/ci-$(date -u +%Y%m%d-%H%M%S)}
read -r -a envladder <<<"${ENVLADDER:-node dist/harness/cli/main.js}"

climbed=0
"${envladder[@]}" ladder --plan "$plan" --out "$out" || climbed=$?
# 4 and 5 leave a whole record, which is worth a report; anything else ended before one, or was interrupted.
case $climbed in
  0 | 4 | 5) ;;
  *) exit "$climbed" ;;
esac

"${envladder[@]}" report "$out" --format all >/dev/null
echo "report: $out/report.html, $out/junit.xml"

compared=0
if [ -n "$base" ]; then
  "${envladder[@]}" compare --base "$base" --plan "$plan" --markdown "$out/comparison.md" || compared=$?
fi

if [ "$climbed" -ne 0 ]; then exit "$climbed"; fi
exit "$compared"
