#!/usr/bin/env bash
# Races the commit that is checked out against its base, and writes the report into the job's summary. It runs anywhere else as well:
#   RACE_BASE=main bash path/to/action/race.sh
# Of a pull request, GitHub checks out a merge into the base as it is now: its first parent. The base of the event may be older, and what others merged
# since would count as the pull request's.
set -euo pipefail

startgrid=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
output=$(mktemp -d)
base=${RACE_BASE:-}
if [ -z "$base" ] || [ "$base" = "${RACE_EVENT_BASE:-}" ]; then
  merged=$(git rev-parse --quiet --verify HEAD^2 || true)
  if [ -n "$merged" ] && [ "$merged" = "${RACE_EVENT_HEAD:-$merged}" ]; then base=$(git rev-parse HEAD^1)
  else base=$(git merge-base HEAD "${RACE_EVENT_BASE:-HEAD^1}"); fi || {
    echo 'The base of this commit is not here: give actions/checkout fetch-depth: 0, or name a base that is.' >&2
    exit 2
  }
fi
words=(--git "$base" --git HEAD --twin --name A=base --name B=head --max-time "${RACE_MAX_TIME:-5m}" --output "$output")
option() { [ -z "$2" ] || words+=("--$1" "$2"); }
option command "${RACE_COMMAND:-}"
option install "${RACE_INSTALL:-}"
option build "${RACE_BUILD:-}"
option method "${RACE_METHOD:-}"
option body "${RACE_BODY:-}"
option ready-path "${RACE_READY_PATH:-}"
option cores "${RACE_CORES:-}"
option within "${RACE_WITHIN:-}"
[ "${RACE_FAIL:-}" != true ] || words+=(--fail-if-slower --why)
while IFS= read -r header; do option header "$header"; done <<< "${RACE_HEADERS:-}"
for path in ${RACE_PATH:-/}; do words+=(--path "$path"); done

(cd "$startgrid" && npx --yes pnpm@12 install --frozen-lockfile >&2)
code=0
STARTGRID_DIRECTORY=$PWD npx --yes pnpm@12 --dir "$startgrid" bench race "${words[@]}" || code=$?
[ ! -f "$output/report.md" ] || cat "$output/report.md" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
[ ! -f "$output/result.json" ] || echo "result=$output/result.json" >> "${GITHUB_OUTPUT:-/dev/stderr}"
exit "$code"
