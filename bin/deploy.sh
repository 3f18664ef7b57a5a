#!/bin/sh
# sh bin/deploy.sh NAME: make the secrets, build the image, start app, proxy and backups for https://NAME.
set -eu
cd "$(dirname "$0")/.."
[ "$#" = 1 ] || { echo "Say under which name people reach this server: sh bin/deploy.sh evenhand.example.org" >&2; exit 2; }
command -v docker >/dev/null 2>&1 || { echo "Docker with its compose plugin is missing: install it, then run this again." >&2; exit 1; }
umask 077
mkdir -p secrets
for name in metrics_token backup_key; do
    [ -s "secrets/$name" ] || od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"secrets/$name"
done
# The folder is for its owner only; the user of the containers reads the files through their mounts.
chmod 0444 secrets/metrics_token secrets/backup_key
grep -q "^EVENHAND_HOST=" .env 2>/dev/null || printf 'EVENHAND_HOST=%s\n' "$1" >>.env
# The images that it stands on, by digest as the registry shows them today. Delete these lines for those of tomorrow.
pin() {
    grep -q "^$1=" .env && return
    docker pull --quiet "$2" >/dev/null
    digest=$(docker image inspect --format '{{index .RepoDigests 0}}' "$2")
    case "$digest" in
        *@sha256:*) printf '%s=%s\n' "$1" "$digest" >>.env ;;
        *) echo "Docker names no digest of $2: write one into .env as $1." >&2; exit 1 ;;
    esac
}
pin EVENHAND_BASE python:3.11-slim-bookworm
pin EVENHAND_CADDY caddy:2
docker compose up --detach --build --wait
docker compose logs app --no-log-prefix | grep "account/link" | tail -1 || true
echo "Keep a copy of secrets/backup_key elsewhere: without it no backup can be opened."
