"""`backup`, `restore`, `doctor` as a person calls them."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database import migrations
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.plan.recount import correct_derived
from evenhand.annotations.queue.leases import claim
from evenhand.commands.maintenance import doctor
from evenhand.core.errors import EvenhandError
from tests.support.projects import decide, filled_project
from tests.support.tampering import changed_outside, forget_comparison


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, list(arguments))
    if isinstance(result.exception, EvenhandError):
        return 2, str(result.exception)  # cli.main prints the sentence
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout


def test_a_backup_is_restored(fresh_store: Store, tmp_path: Path) -> None:
    filled_project(fresh_store, 4)
    out, new = str(tmp_path / "out.db"), str(tmp_path / "new.db")
    code, text = run("backup", out, "--json")
    saved = json.loads(text)
    assert code == 0 and (saved["path"], saved["projects"], saved["items"], saved["labels"]) == (out, 1, 4, 0)
    assert run("backup", out)[0] == 2
    assert run("restore", out, "--db", new) == (
        0,
        f"Restored {new}: 1 projects, 4 items, 0 labels, {saved['bytes'] / 1e6:.1f} MB.\n",
    )
    assert run("restore", out, "--db", new)[0] == 2
    assert run("restore", out, "--db", new, "--force")[0] == 0


def test_a_backup_of_a_missing_database_creates_no_file(tmp_path: Path) -> None:
    code, text = run("backup", str(tmp_path / "out.db"), "--db", str(tmp_path / "none.db"))
    assert code == 2 and "no database" in text
    assert list(tmp_path.iterdir()) == []


def test_backups_are_made_on_a_schedule(fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled_project(fresh_store, 4)
    (tmp_path / "key").write_text("0123456789abcdef0123456789abcdef\n", encoding="utf-8")
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.commands.maintenance.command.time.sleep", sleep)
    options = ["--every", "0.5", "--keep", "2", "--key-file", str(tmp_path / "key")]
    result = CliRunner().invoke(cli, ["backup", f"{tmp_path / 'b'}/", *options])
    assert slept == [1800.0] * 4
    assert result.stdout.count("Saved evenhand-") == 4
    names = sorted(path.name for path in (tmp_path / "b").iterdir())
    assert len(names) == 2 and all(name.endswith(".db.zip") for name in names)
    new = str(tmp_path / "new.db")
    assert run("restore", str(tmp_path / "b" / names[1]), "--db", new)[0] == 2  # without the key
    assert run("restore", str(tmp_path / "b" / names[1]), "--db", new, "--key-file", str(tmp_path / "key"))[0] == 0
    assert run("backup", str(tmp_path / "file.db"), "--keep", "2")[0] == 2


def findings(*arguments: str) -> tuple[int, dict[str, tuple[str, str]]]:
    code, text = run("doctor", "--no-worker", "--json", *arguments)
    data = json.loads(text)
    assert (code == 0) == data["ok"]
    return code, {finding["name"]: (finding["state"], finding["message"]) for finding in data["findings"]}


def test_doctor_reports_on_every_area(fresh_store: Store) -> None:
    filled_project(fresh_store, 4)
    _, checks = findings()
    own = {"access", "rights"}  # of a server; a local machine has no further findings
    records = {"triggers", "log", "gold"}
    assert set(checks) == {"python", "packages", "database", "disk", "models", "fonts", "browser"} | own | records
    assert {checks[name][0] for name in records} == {"ok"}
    assert checks["database"][0] == "ok" and "1 projects, 4 items, 0 labels" in checks["database"][1]
    assert checks["python"][0] == "ok"


def test_doctor_finds_a_broken_database(tmp_path: Path) -> None:
    bad = tmp_path / "bad.db"
    bad.write_bytes(b"garbage" * 1_000)
    code, checks = findings("--db", str(bad))
    assert code == 1 and checks["database"][0] == "problem"


def test_doctor_finds_changes_made_outside_the_app(fresh_store: Store) -> None:
    project, people = filled_project(fresh_store, 4, per_item=1)
    for item in claim(fresh_store, project, people[0], want=2):
        store_operations(fresh_store, project, people[0], [decide(item, "reject")])
    changed_outside(fresh_store, "UPDATE item SET gold = 'accept', status = 'accepted' WHERE status = 'rejected'")
    code, checks = findings()
    assert code == 1 and checks["gold"][0] == "problem" and checks["gold"][1].startswith("In 2 items")
    assert checks["log"][0] == checks["triggers"][0] == "ok"
    correct_derived(fresh_store, project)
    changed_outside(fresh_store, "UPDATE census SET items = items + 1")
    assert findings()[1]["gold"] == (
        "problem", f"Derived counts of these projects are wrong: {project.name}. Run `project recount` for each.",
    )  # fmt: skip
    correct_derived(fresh_store, project)
    changed_outside(fresh_store, "UPDATE label SET choice = 'accept' WHERE id = 1")
    assert findings()[1]["log"][0] == "problem"


def test_doctor_reports_missing_triggers_without_restoring_them(fresh_store: Store) -> None:
    fresh_store.db.execute("DROP TRIGGER log_label")
    for _ in range(2):
        code, checks = findings()
        assert code == 1 and checks["triggers"][0] == "problem" and "(log_label)" in checks["triggers"][1]
    fresh_store.db.execute("CREATE TRIGGER own AFTER INSERT ON label BEGIN SELECT 1; END")
    forget_comparison(fresh_store.path)
    Store.open(fresh_store.path).close()
    checks = findings()[1]
    assert "do not belong to Evenhand (own)" in checks["triggers"][1]
    assert checks["log"][0] == "warning" and "(log_label)" in checks["log"][1]


def test_doctor_leaves_an_older_database_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "older.db"
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:8])
        Store.open(path).close()
    before = path.read_bytes()
    result = findings("--db", str(path))[1]
    assert result["log"][0] == "warning" and "older version" in result["log"][1] and "gold" not in result
    assert path.read_bytes() == before


def test_doctor_creates_no_database(tmp_path: Path) -> None:
    _, checks = findings("--db", str(tmp_path / "none.db"))
    assert checks["database"][0] == "ok" and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("free", "state"), [(50_000_000, "problem"), (1_000_000_000, "warning"), (50_000_000_000, "ok")]
)
def test_doctor_checks_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _path: type("Usage", (), {"free": free}))
    assert findings("--db", str(tmp_path / "a.db"))[1]["disk"][0] == state


def test_doctor_reports_a_missing_folder(tmp_path: Path) -> None:
    code, checks = findings("--db", str(tmp_path / "nowhere" / "a.db"))
    assert code == 1 and checks["disk"][0] == "problem"


def test_doctor_reports_wrong_package_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor.metadata.version
    monkeypatch.setattr(doctor.metadata, "version", lambda name: "0.1" if name == "click" else real(name))
    state, message = findings()[1]["packages"]
    assert state == "problem" and "click 0.1" in message


def test_doctor_survives_a_slow_list_of_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(command: list[str], **_: object) -> None:
        raise subprocess.TimeoutExpired(command, 30)

    monkeypatch.setattr(doctor.shutil, "which", lambda _name: "/usr/bin/fc-list")
    monkeypatch.setattr(doctor.subprocess, "run", slow)
    assert doctor._fonts().state in ("ok", "warning")


def test_doctor_warns_of_a_missing_requirements_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    result = {entry.name: entry for entry in doctor.examine(Path("none.db"), worker=False)}["packages"]
    assert (
        result.state == "warning"
        and "requirements.txt is missing, so the packages cannot be compared with the pinned versions." in result.text
    )


def test_doctor_warns_of_a_missing_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVENHAND_CHROMIUM", str(tmp_path / "chromium"))
    assert findings()[1]["browser"][0] == "warning"


@pytest.mark.long
def test_doctor_asks_the_worker() -> None:
    result = {entry.name: entry for entry in doctor.examine(Path("none.db"))}["worker"]
    assert result.state == "ok" and "known" in result.text
