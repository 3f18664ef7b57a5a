#!/bin/sh
# A demonstration for a Hugging Face Space (or any container that is thrown away): guests only, nothing is kept.
# The only account is one that nobody has a password or a link for.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
export EVENHAND_DB="$folder/evenhand.db" EVENHAND_GUESTS=1 EVENHAND_HOSTS="${SPACE_HOST:-localhost}" HF_HOME="$folder/hf"
python cli.py demo >/dev/null
python cli.py accounts add keeper --role owner >/dev/null
exec python -m streamlit run app.py --server.address "${ADDRESS:-0.0.0.0}" --server.port "${PORT:-7860}"
