"""bin/start.sh with made-up Pythons: every way a first start can fail ends in one sentence with advice."""

import os
import runpy
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from evenhand.commands import main as cli
from evenhand.core.errors import NOT_INSTALLED
from evenhand.core.worker import process as worker
from tests.support.browser import free_port

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ("sh", "cat", "cksum", "rm", "tee", "sed", "dirname", "mkdir", "chmod", "cp")

# Looks like Python 3.11 to the script. FAIL names the step that fails; CALLS records the calls.
PYTHON = """#!/bin/sh
echo "$@" >>"$CALLS"
case "$*" in
    *"import venv"*) [ "${FAIL:-}" != venv ] ;;
    *"%d.%d"*) echo 3.11 ;;
    *"sys.version_info"*) [ "${FAIL:-}" != version ] ;;
    --version) echo "Python 3.9.2" ;;
    "-m venv .venv")
        [ "${FAIL:-}" != disk ] || exit 1
        mkdir -p .venv/bin
        cp "$0" .venv/bin/python
        echo made >.venv/pyvenv.cfg ;;
    "-m pip install"*) echo "Collecting streamlit==1"; [ "${FAIL:-}" != download ] || { echo "no route"; exit 1; } ;;
    "-m pip --version") ;;
    -\\ *) exec "$REAL_PYTHON" "$@" ;;
    "cli.py demo") [ "${FAIL:-}" != demo ] || exit 2; echo made >evenhand.db ;;
    "-m streamlit"*) echo "STARTED $*" ;;
    "-m compileall"*) ;;
    "-m pytest"*) echo "TESTED $*" ;;
    *) exit 3 ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with the script, requirements, and a PATH with the fake Python and a few tools."""
    folder = tmp_path / "a checkout"
    (folder / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "bin" / "start.sh", folder / "bin")
    (folder / "requirements.txt").write_text("streamlit==1\n")
    (folder / "requirements-dev.txt").write_text("-r requirements.txt\npytest==1\n")
    (folder / "path").mkdir()
    for tool in TOOLS:
        result = shutil.which(tool)
        assert result, tool
        (folder / "path" / tool).symlink_to(result)
    return folder


def add_python(checkout: Path, name: str = "python3.11") -> None:
    file = checkout / "path" / name
    file.write_text(PYTHON)
    file.chmod(0o755)


def start(
    checkout: Path, *words: str, fail: str = "", port: str = "", python: str = ""
) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": str(checkout / "path"),
        "FAIL": fail,
        "CALLS": str(checkout / "calls"),
        "REAL_PYTHON": sys.executable,
        "EVENHAND_PORT": port or str(free_port()),
        "LC_ALL": "C.UTF-8",
        "EVENHAND_PYTHON": python,
    }
    command = ["/bin/sh", str(checkout / "bin" / "start.sh"), *(words or ("app",))]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900, check=False)


def calls(checkout: Path) -> list[str]:
    """Return the calls of Python since the last look."""
    file = checkout / "calls"
    lines = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return lines


def test_a_missing_python_is_one_sentence(checkout: Path) -> None:
    done = start(checkout)
    assert done.returncode == 1
    assert "needs Python 3.11, 3.12 or 3.13 (found: none): install one" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("fail", "says"),
    [
        ("version", "needs Python 3.11, 3.12 or 3.13 (found: Python 3.9.2)"),
        ("venv", "The venv module of Python 3.11 is missing: install it, for example `apt install python3.11-venv`"),
        ("disk", "The folder .venv could not be made"),
        ("download", "The requirements could not be downloaded (details: .venv/install.log)"),
        ("demo", "The demo project could not be made"),
    ],
)
def test_each_failure_is_one_sentence_with_advice(checkout: Path, fail: str, says: str) -> None:
    add_python(checkout, "python3")
    done = start(checkout, fail=fail)
    assert done.returncode == 1
    assert says in done.stderr
    assert "run `make app` again" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "STARTED" not in done.stdout


def test_a_busy_port_is_one_sentence(checkout: Path) -> None:
    add_python(checkout)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        done = start(checkout, port=port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Port {port} is in use")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("port", ["abc", "-1", "80 80", "0", "000", "100000"])
def test_an_invalid_port_is_refused(checkout: Path, port: str) -> None:
    add_python(checkout)
    done = start(checkout, port=port)
    assert done.returncode == 1
    assert "which is not a port" in done.stderr


def test_the_first_start_installs_and_the_second_only_starts(checkout: Path) -> None:
    add_python(checkout)
    port = str(free_port())
    first = start(checkout, port=port)
    assert first.returncode == 0, first.stderr
    assert f"http://127.0.0.1:{port}" in first.stdout
    assert f"STARTED -m streamlit run app.py --server.port {port}" in first.stdout
    assert {"cli.py demo", "-m venv .venv"} <= set(calls(checkout))

    second = start(checkout, port=port)
    assert "STARTED" in second.stdout
    commands = calls(checkout)
    assert not [call for call in commands if "pip install" in call or "demo" in call or "-m venv" in call]


def test_changed_requirements_are_installed_again(checkout: Path) -> None:
    add_python(checkout)
    start(checkout)
    calls(checkout)
    (checkout / "requirements.txt").write_text("streamlit==2\n")
    start(checkout)
    assert [call for call in calls(checkout) if "pip install" in call]


def test_a_failed_download_is_retried_at_the_next_start(checkout: Path) -> None:
    add_python(checkout)
    assert start(checkout, fail="download").returncode == 1
    done = start(checkout)
    assert done.returncode == 0
    assert "STARTED" in done.stdout


def test_an_environment_of_a_wrong_python_is_noticed(checkout: Path) -> None:
    add_python(checkout)
    assert start(checkout).returncode == 0
    done = start(checkout, fail="version")
    assert done.returncode == 1 and "STARTED" not in done.stdout
    assert "The folder .venv holds Python 3.9.2" in done.stderr and "delete .venv, then run `make app`" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("named", ["python3.99", "/no such/python", "cat"])
def test_an_unusable_named_python_is_refused(checkout: Path, named: str) -> None:
    add_python(checkout)
    done = start(checkout, python=named)
    assert done.returncode == 1 and "STARTED" not in done.stdout
    assert done.stderr.startswith(f"EVENHAND_PYTHON names {named}, which is no Python 3.11, 3.12 or 3.13")
    assert len(done.stderr.splitlines()) == 1


def test_a_named_python_is_taken_first(checkout: Path) -> None:
    add_python(checkout)
    add_python(checkout, "my python")
    done = start(checkout, python=str(checkout / "path" / "my python"))
    assert done.returncode == 0, done.stderr
    assert "Making .venv with " + str(checkout / "path" / "my python") in done.stdout


def test_test_installs_the_test_requirements_and_leaves_out_long_cases(checkout: Path) -> None:
    add_python(checkout)
    done = start(checkout, "test", "-k", "word")
    kinds = "-m not long and not scan and not rehearsal"
    assert f"TESTED -m pytest {kinds} -n 3 --dist loadfile --no-loadscope-reorder -k word" in done.stdout
    assert [call for call in calls(checkout) if "-r requirements-dev.txt" in call]


def test_the_makefile_has_the_promised_targets() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    for target in ("app", "test", "test-rehearsals", "test-long", "lint", "docs", "site"):
        shown = subprocess.run(
            [make, "-n", target], cwd=ROOT, capture_output=True, text=True, env=dict(os.environ), check=True
        )
        assert "sh bin/start.sh" in shown.stdout


def test_windows_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing any module of the package first raises the error before fcntl is imported."""
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SystemExit, match=r"Linux and macOS.*WSL"):
        runpy.run_path(str(ROOT / "evenhand" / "__init__.py"))


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lacking = ModuleNotFoundError("No module named 'torch'", name="torch")
    monkeypatch.setattr(cli, "cli", Mock(side_effect=lacking))
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert (left.value.code, "torch is not installed" in capsys.readouterr().err) == (2, True)
    result = worker.reply(Mock(scorer=Mock(side_effect=lacking)), ("score", "demo-zh", "independent", []))
    assert result == ("error", "EvenhandError", NOT_INSTALLED, {"package": "torch"})
