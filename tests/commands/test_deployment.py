"""`doctor` on a server: every wrong setting has a sentence of its own, and a right one has none."""

import os
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.annotations.accounts.accounts import add_account
from evenhand.annotations.database.backup import back_up_to
from evenhand.annotations.database.store import Store
from evenhand.commands.maintenance import deployment
from evenhand.commands.maintenance.deployment import examine_deployment

ROOT = Path(__file__).resolve().parents[2]
NAME = "evenhand.example"


@pytest.fixture
def server(fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a server as docs/deploying.md has it."""
    add_account(fresh_store, "Ada")
    place = tmp_path / "backups"
    back_up_to(fresh_store, str(place))
    settings = {"EVENHAND_HOSTS": NAME, "EVENHAND_PROXY": "172.30.77.2", "EVENHAND_BACKUPS": str(place)}
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "0.0.0.0")
    monkeypatch.delenv("EVENHAND_GUESTS", raising=False)
    monkeypatch.setattr(deployment.os, "geteuid", lambda: fresh_store.path.stat().st_uid)
    yield fresh_store.path


def findings(path: Path) -> dict[str, tuple[str, str]]:
    return {entry.name: (entry.state, entry.text) for entry in examine_deployment(path)}


def test_a_server_set_up_as_documented_has_no_findings(server: Path) -> None:
    assert {name: state for name, (state, _) in findings(server).items() if name != "user"} == {
        "access": "ok", "rights": "ok", "backups": "ok", "proxy": "ok",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("setting", "value", "name", "state", "text"),
    [
        (
            "EVENHAND_HOSTS",
            "",
            "access",
            "problem",
            "EVENHAND_HOSTS is empty: requests from outside are refused.",
        ),
        ("EVENHAND_GUESTS", "1", "access", "warning", ": anyone who knows the address can try the built-in models"),
        (
            "EVENHAND_PROXY",
            "",
            "proxy",
            "warning",
            (
                "EVENHAND_PROXY is empty: behind a proxy, all visitors share its address and its sign-in "
                "attempts, and the cookie is not Secure."
            ),
        ),
        ("EVENHAND_PROXY", "127.0.0.1, caddy", "proxy", "problem", "caddy is not an address"),
        (
            "EVENHAND_BACKUPS",
            "",
            "backups",
            "warning",
            "EVENHAND_BACKUPS is empty, so backups cannot be checked: see backup --every.",
        ),
        ("EVENHAND_BACKUPS", "memory://empty", "backups", "problem", "no backup"),
        ("EVENHAND_BACKUPS", "nowhere://a:hunter2@b/c", "backups", "problem", "could not be reached"),
        ("EVENHAND_METRICS_TOKEN", "short", "metrics", "warning", "short"),
        ("EVENHAND_METRICS_TOKEN_FILE", "/nowhere/token", "metrics", "problem", "cannot be read"),
    ],
)
def test_every_wrong_setting_is_reported(
    server: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: str, name: str, state: str, text: str
) -> None:
    monkeypatch.setenv(setting, value)
    assert findings(server)[name][0] == state
    assert text in findings(server)[name][1]
    assert "hunter2" not in str(findings(server))


def test_a_public_server_without_an_account_is_a_problem(
    server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(tmp_path / "empty.db"):
        pass
    for path in (tmp_path / "empty.db", tmp_path / "none.db"):
        assert findings(path)["access"][0] == "problem"
        assert ", but there are no accounts, so no one can sign in. Run: accounts first." in findings(path)["access"][1]
    monkeypatch.setenv("EVENHAND_HOSTS", "")
    monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", "127.0.0.1")
    assert findings(tmp_path / "empty.db")["access"][0] == "ok"  # the open mode, on this machine


def test_a_database_readable_by_others_is_a_problem(server: Path) -> None:
    server.chmod(0o644)
    assert findings(server)["rights"] == ("problem", f"{server} can be read or written by other users of this machine "
                                                  "(mode 644): chmod go-rwx.")  # fmt: skip
    server.chmod(0o600)
    server.parent.chmod(0o770)
    assert findings(server)["rights"][0] == "problem"
    server.parent.chmod(0o700)
    assert findings(server)["rights"][0] == "ok"


def test_an_old_backup_is_a_problem(server: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = Path(os.environ["EVENHAND_BACKUPS"]).iterdir()
    old = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() - 50 * 3600))
    path.rename(path.with_name(f"evenhand-{old}-0000.db"))
    assert findings(server)["backups"] == ("problem", "The newest backup is 50 hours old. Is backup --every running?")


def test_few_file_descriptors_and_root_are_reported(server: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployment.resource, "getrlimit", lambda _: (256, 256))
    assert "about 27 users" in findings(server)["limits"][1]
    monkeypatch.setattr(deployment.resource, "getrlimit", lambda _: (1024, resource.RLIM_INFINITY))
    assert "limits" not in findings(server)
    monkeypatch.setattr(deployment.os, "geteuid", lambda: 0)
    assert findings(server)["user"][0] == "warning"


def test_doctor_changes_nothing(server: Path) -> None:
    before = server.read_bytes()
    findings(server)
    assert server.read_bytes() == before


DOCKER = """#!/bin/sh
echo "$*" >>calls
case "$1 $2" in "image inspect") echo "${5%%:*}@sha256:%s" ;; esac
"""


@pytest.mark.parametrize("digest", ["ab12", ""])
def test_deploy_pins_the_images_once(tmp_path: Path, digest: str) -> None:
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / "bin" / "deploy.sh", tmp_path / "bin")
    fake = DOCKER % digest if digest else DOCKER.replace("@sha256:%s", "")
    (tmp_path / "bin" / "docker").write_text(fake, encoding="utf-8")
    (tmp_path / "bin" / "docker").chmod(0o755)
    run = ["sh", "bin/deploy.sh", "evenhand.example.org"]
    paths = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    done = [subprocess.run(run, cwd=tmp_path, env=paths, capture_output=True, text=True) for _ in range(2)]
    if not digest:
        assert done[0].returncode == 1 and "Docker names no digest of python:3.11-slim-bookworm" in done[0].stderr
        return
    assert [entry.returncode for entry in done] == [0, 0], done[0].stderr
    assert (tmp_path / ".env").read_text(encoding="utf-8").splitlines() == [
        "EVENHAND_HOST=evenhand.example.org", "EVENHAND_BASE=python@sha256:ab12", "EVENHAND_CADDY=caddy@sha256:ab12",
    ]  # fmt: skip
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert sum(call.startswith("pull") for call in calls) == 2
    assert sum(call.startswith("compose up") for call in calls) == 2
    assert (tmp_path / "secrets" / "backup_key").stat().st_mode & 0o777 == 0o444
