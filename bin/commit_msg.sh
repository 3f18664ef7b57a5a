#!/bin/sh
# Check the subject of a commit message: `bin/commit_msg.sh FILE`, as a commit-msg hook calls it.
set -eu
subject=$(sed -n '/^#/!{p;q;}' "$1")
if [ "$(printf %s "$subject" | wc -m)" -gt 72 ]; then
    echo "The subject of a commit has at most 72 characters: give the reason in the body." >&2
    exit 1
fi
case $subject in
    "" | *.) echo "The subject of a commit is a command without a full stop: \"Reject labels on unknown items\"." >&2; exit 1 ;;
esac
