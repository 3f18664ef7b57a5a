#!/bin/sh
# Makes .venv ready and starts what was asked for: app, test, long, rehearsals, lint, docs, coverage, bench or site. POSIX sh; used by the Makefile.
# Whatever goes wrong ends in one sentence that says what to do.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*"; }
stop() { printf '%s\n' "$*" >&2; exit 1; }

AGAIN="then run \`make ${1:-app}\` again"

# Python 3.11 first, which the whole suite runs on, then 3.12 and 3.13; EVENHAND_PYTHON names one outright.
fits() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' >/dev/null 2>&1
}

find_python() {
    for name in ${EVENHAND_PYTHON:+"$EVENHAND_PYTHON"} python3.11 python3.12 python3.13 python3 python; do
        if fits "$name"; then
            say "$name"
            return 0
        fi
    done
    return 1
}

make_environment() {
    if [ -n "${EVENHAND_PYTHON:-}" ] && ! fits "$EVENHAND_PYTHON"; then
        stop "EVENHAND_PYTHON names $EVENHAND_PYTHON, which is no Python 3.11, 3.12 or 3.13 that runs: correct it or leave it out, $AGAIN."
    fi
    if [ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1; then
        fits .venv/bin/python ||
            stop "The folder .venv holds $(.venv/bin/python --version 2>&1), but Evenhand needs Python 3.11, 3.12 or 3.13: delete .venv, $AGAIN."
        return 0
    fi
    python=$(find_python) || {
        found=$(python3 --version 2>/dev/null || python --version 2>/dev/null || say "none")
        stop "Evenhand needs Python 3.11, 3.12 or 3.13 (found: $found): install one, for example \`apt install python3 python3-venv\`, $AGAIN."
    }
    if ! "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        stop "The venv module of Python $version is missing: install it, for example \`apt install python$version-venv\`, $AGAIN."
    fi
    say "Making .venv with $python ..."
    rm -rf .venv
    "$python" -m venv .venv >/dev/null 2>&1 || {
        rm -rf .venv
        stop "The folder .venv could not be made: check that this folder can be written and the disk is not full, $AGAIN."
    }
}

# install FILE: what FILE pins, once; again only when a requirements file or the Python has changed.
install() {
    mark=".venv/installed-$1"
    want=$(cat requirements*.txt .venv/pyvenv.cfg | cksum)
    if [ -f "$mark" ] && [ "$(cat "$mark")" = "$want" ]; then
        return 0
    fi
    say "Installing $1 (the first time this downloads several hundred megabytes) ..."
    log=.venv/install.log
    rm -f .venv/installed-now
    # The names of the packages go to the screen, everything else to the log.
    {
        .venv/bin/python -m pip install --disable-pip-version-check --no-input -r "$1" \
            ${EVENHAND_TORCH_INDEX:+--extra-index-url "$EVENHAND_TORCH_INDEX"} 2>&1 && : >.venv/installed-now
    } | tee "$log" | sed -n 's/^Collecting \([^ ]*\).*/  \1/p'
    [ -f .venv/installed-now ] ||
        stop "The requirements could not be downloaded (details: $log): check the network, proxy and disk space, $AGAIN; nothing is downloaded twice."
    rm -f .venv/installed-now
    say "$want" >"$mark"
}

# Programs that read sources without running them (mypy, mkdocstrings) look for a package in one folder:
# build/types/evenhand links to where its parts are in a checkout.
link_package() {
    mkdir -p build/types/evenhand
    for part in annotations commands core pages web evenhand/*; do
        ln -sfn "../../../$part" "build/types/evenhand/${part#evenhand/}"
    done
    rm -f build/types/evenhand/__pycache__
}

check_port() {
    case $port in
        '' | *[!0-9]* | ??????* | 0*) stop "EVENHAND_PORT is \"$port\", which is not a port: use a number from 1 to 65535, for example EVENHAND_PORT=8502 make app." ;;
    esac
    .venv/bin/python - "$port" 2>/dev/null <<'PYTHON' || stop "Port $port is in use or not allowed: stop the other program, or choose another port with EVENHAND_PORT=8502 make app."
import socket, sys
with socket.socket() as probe:
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    probe.bind(("127.0.0.1", int(sys.argv[1])))
PYTHON
}

case ${1:-app} in
    app)
        port=${EVENHAND_PORT:-8501}
        make_environment
        install requirements.txt
        check_port
        if [ ! -e "${EVENHAND_DB:-evenhand.db}" ]; then
            say "Making the demo project ..."
            .venv/bin/python cli.py demo || stop "The demo project could not be made: check that the folder of ${EVENHAND_DB:-evenhand.db} can be written, $AGAIN."
        fi
        say "Evenhand opens at http://127.0.0.1:$port (Ctrl+C ends it)"
        exec .venv/bin/python -m streamlit run app.py --server.port "$port"
        ;;
    test | long | rehearsals)
        make_environment
        install requirements-dev.txt
        case $1 in
            long)
                kind="long or hypothesis" # the properties with examples that nobody has drawn yet
                export EVENHAND_TEST_EXAMPLES="${EVENHAND_TEST_EXAMPLES:-new}"
                ;;
            rehearsals) kind="rehearsal and not long" ;;
            *) kind="not long and not scan and not rehearsal" ;;
        esac
        shift
        # Tests start Python a hundred times. Where bytecode is not kept, each of them compiles every module anew.
        unset PYTHONDONTWRITEBYTECODE
        # And each of the processes of the suite would compile every module of a new checkout.
        .venv/bin/python -m compileall -q -j 2 annotations commands core docs evenhand pages web tests/support
        exec .venv/bin/python -m pytest -m "$kind" -n "${EVENHAND_TEST_PROCESSES:-3}" \
            --dist loadfile --no-loadscope-reorder "$@" # which files go where: tests/conftest.py
        ;;
    lint)
        make_environment
        install requirements-dev.txt
        .venv/bin/python -m ruff check .
        .venv/bin/python -m ruff format --check .
        link_package
        .venv/bin/python -m mypy
        .venv/bin/python -m pytest -q -m scan tests/project
        # cffconvert needs an old jsonschema, so it has an environment of its own.
        [ -x build/cffconvert/bin/cffconvert ] || {
            .venv/bin/python -m venv build/cffconvert
            build/cffconvert/bin/python -m pip install --quiet --disable-pip-version-check cffconvert==2.0.0
        }
        build/cffconvert/bin/cffconvert --validate
        ;;
    docs)
        make_environment
        install requirements-dev.txt
        .venv/bin/python -m docs.cli_reference
        .venv/bin/python -m docs.permission_tables
        .venv/bin/python -m docs.methods_map
        .venv/bin/python -m docs.quantities
        exec .venv/bin/python -m docs.screenshots --readme
        ;;
    coverage)
        make_environment
        install requirements.txt
        exec .venv/bin/python -m benchmarks.coverage --out docs/coverage.md
        ;;
    bench)
        make_environment
        install requirements-dev.txt
        exec .venv/bin/python -m benchmarks.ratios
        ;;
    site)
        make_environment
        install requirements-docs.txt
        link_package
        exec .venv/bin/python -m mkdocs build
        ;;
    *) stop "bin/start.sh knows app, test, long, rehearsals, lint, docs, coverage, bench and site, not \"$1\"." ;;
esac
