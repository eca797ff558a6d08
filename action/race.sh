#!/usr/bin/env bash
# Races the commit that is checked out against its base, and writes the report into the job's summary. It runs anywhere else as well:
#   RACE_BASE=main bash path/to/action/race.sh
set -euo pipefail

startgrid=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
output=$(mktemp -d)
words=(--git "$RACE_BASE" --git HEAD --twin --name A=base --name B=head --max-time "${RACE_MAX_TIME:-5m}" --output "$output")
[ -z "${RACE_COMMAND:-}" ] || words+=(--command "$RACE_COMMAND")
[ -z "${RACE_BUILD:-}" ] || words+=(--build "$RACE_BUILD")
[ -z "${RACE_LIMIT:-}" ] || words+=(--fail-on-regression "$RACE_LIMIT")
for path in ${RACE_PATH:-/}; do words+=(--path "$path"); done

(cd "$startgrid" && npx --yes pnpm@12 install --frozen-lockfile >&2)
code=0
STARTGRID_DIRECTORY=$PWD npx --yes pnpm@12 --dir "$startgrid" bench race "${words[@]}" || code=$?
[ ! -f "$output/report.md" ] || cat "$output/report.md" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
[ ! -f "$output/result.json" ] || echo "result=$output/result.json" >> "${GITHUB_OUTPUT:-/dev/stderr}"
exit "$code"
