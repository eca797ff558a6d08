#!/usr/bin/env bash
# Writes the result of a race into one comment of its pull request, or updates that: comment.sh result.json. STARTGRID is the command to read it with.
set -euo pipefail

mark='<!-- race -->'
repository="repos/$GITHUB_REPOSITORY"
[[ "$HEAD_SHA" =~ ^[0-9a-f]{40}$ ]]
read -ra startgrid <<< "$STARTGRID"
text=$("${startgrid[@]}" report "$(realpath "$1")" --comment)

# The event has no number if the branch is in a fork, so the number is that of the pull request whose head this commit is.
number=$(gh api --method GET "$repository/pulls" -f state=open -f head="$HEAD_OWNER:$HEAD_BRANCH" \
  --jq ".[] | select(.head.sha == \"$HEAD_SHA\") | .number" | head -n 1)
if [ -z "$number" ]; then
  echo 'There is a newer commit, or the pull request is closed: no comment.'
  exit 0
fi
comment=$(gh api --paginate "$repository/issues/$number/comments" \
  --jq ".[] | select(.user.login == \"github-actions[bot]\" and (.body | startswith(\"$mark\"))) | .id" | head -n 1)
if [ -z "$comment" ]; then
  gh api --silent "$repository/issues/$number/comments" -f body="$mark"$'\n'"$text"
else
  gh api --silent --method PATCH "$repository/issues/comments/$comment" -f body="$mark"$'\n'"$text"
fi
