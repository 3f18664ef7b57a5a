#!/bin/sh
# Writes requirements.lock (torch of the usual package index, any Linux processor) and, where EVENHAND_TORCH_INDEX names
# a folder or index with torch's build for processors without a graphics card, requirements-cpu.lock (x86-64).
# Every package stands there with the hashes of its files; the image installs nothing else. Needs uv.
set -eu
cd "$(dirname "$0")/.."
uv=${UV:-uv}
command -v "$uv" >/dev/null 2>&1 || { echo "uv is missing: pip install uv, then run this again." >&2; exit 1; }
compile() {
    "$uv" pip compile requirements.txt --quiet --generate-hashes --no-header --no-annotate --python-version 3.11 "$@"
}
compile --universal --output-file requirements.lock
"$uv" pip compile requirements-build.txt --quiet --generate-hashes --no-header --no-annotate --python-version 3.11 --output-file requirements-build.lock
if [ -n "${EVENHAND_TORCH_INDEX:-}" ]; then
    compile --python-platform x86_64-manylinux_2_28 --find-links "$EVENHAND_TORCH_INDEX" --output-file requirements-cpu.lock
fi
grep -c '^[a-zA-Z]' requirements*.lock
