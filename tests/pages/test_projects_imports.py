"""The page Projects: tasks of another program are imported, an import is undone, conflicts of files are decided."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.files.undo_import import Settings
from evenhand.annotations.jobs import jobs
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import annotators, counts, create_project, project
from evenhand.annotations.types import Project
from evenhand.core.errors import BadFile
from evenhand.core.files.sandbox import TOO_LONG
from evenhand.pages.projects.import_ import imports as _projects_imports
from evenhand.pages.ui import uploads
from tests.support.packages import bring
from tests.support.pages import open_page, open_section, text_of, without_exception
from tests.support.task_files import HE, SHE, chosen, task

BOLD = "**粗**<b>x</b> $y$"


@pytest.fixture
def imported(fresh_store: Store, tmp_path: Path) -> Project:
    path = tmp_path / f"{BOLD.replace('/', '')}.txt"
    path.write_text(f"{HE}\n{SHE}\n", encoding="utf-8")
    made = create_project(fresh_store, "p", annotators=("Ada",), per_item=1)
    import_file(fresh_store, made, path)
    return made


def upload(app: Any, name: str, content: Any) -> Any:
    data = json.dumps(content, ensure_ascii=False).encode()
    return without_exception(app.get("file_uploader")[0].set_value((name, data, "application/json")).run())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_tasks_are_mapped_and_imported(fresh_store: Store, language: str) -> None:
    create_project(fresh_store, "p")
    app = open_page("projects", project="p", lang=language)
    content = [task(HE, chosen("Keep"), chosen(BOLD, completed_by={"email": "bo@x.org"})), task(SHE, chosen("Drop"))]
    app = upload(app, "project-1.json", content)
    assert app.selectbox(key="task-choice-Keep").value == "accept"
    assert app.selectbox(key="task-choice-Drop").value == "reject"
    assert app.selectbox(key=f"task-choice-{BOLD}").value == "?"
    app.selectbox(key=f"task-choice-{BOLD}").set_value("reject")
    app.text_input(key="task-person-3").set_value("An")
    app = without_exception(app.button(key="import").click().run())
    made = project(fresh_store, "p")
    assert [annotator.name for annotator in annotators(fresh_store, made)] == ["An", "bo@x.org"]
    rows = label_rows(fresh_store, made)
    assert sorted((row["text"], row["annotator"], row["choice"]) for row in rows) == sorted(
        [(HE, "An", "accept"), (HE, "bo@x.org", "reject"), (SHE, "An", "reject")]
    )
    assert [metric.value for metric in app.metric][:4] == ["2", "2", "0", "0"]


def test_a_package_with_a_damaged_part_leaves_nothing(fresh_store: Store, imported: Project, tmp_path: Path) -> None:
    export_file(fresh_store, imported, tmp_path / "set.zip", format="package")
    with zipfile.ZipFile(tmp_path / "set.zip", "a") as packed, pytest.warns(UserWarning, match="Duplicate name"):
        packed.writestr(next(name for name in packed.namelist() if name.endswith("records.jsonl")), '{"kind": "pilot"}')
    create_project(fresh_store, "q")
    before = "\n".join(fresh_store.db.iterdump())
    app = open_page("projects", project="q")
    content = ("set.zip", (tmp_path / "set.zip").read_bytes(), "application/zip")
    app = without_exception(app.get("file_uploader")[0].set_value(content).run())
    app = without_exception(app.button(key="import").click().run())
    assert "The database rejected record" in app.error[0].value
    assert "\n".join(fresh_store.db.iterdump()) == before


def test_a_file_too_costly_to_read_is_refused_once(
    fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_project(fresh_store, "p")
    questions: list[str] = []

    def refuse(path: Path, name: str) -> None:
        questions.append(name)
        raise BadFile(TOO_LONG, file=name, seconds=120)

    monkeypatch.setattr(uploads, "read_first_elsewhere", refuse)
    app = open_page("projects", project="p")
    app = without_exception(app.get("file_uploader")[0].set_value(("a.csv", b"text\nx\n", "text/csv")).run())
    for _ in range(2):
        assert "a.csv takes more than 120 seconds to read" in app.error[0].value.replace("\\", "")
        app = without_exception(app.run())
    assert questions == ["a.csv"]
    assert list(tmp_path.rglob("a.csv")) == []


def test_a_large_file_of_tasks_becomes_a_job(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    create_project(fresh_store, "p")
    started: list[Any] = []
    monkeypatch.setattr(jobs, "is_large", lambda data: True)
    monkeypatch.setattr(jobs, "start", lambda store, kind, settings, title, **_: started.append(settings))
    app = upload(open_page("projects", project="p"), "project-1.json", [task(HE, chosen("maybe"))])
    app.selectbox(key="task-choice-maybe").set_value("")
    without_exception(app.button(key="import").click().run())
    (settings,) = started
    assert (settings.layout, settings.name) == ("label-studio", "p")
    assert settings.named == ("maybe=",) and "3=user 3" in settings.people


def test_an_import_is_listed_and_undone(fresh_store: Store, imported: Project) -> None:
    app = open_section(open_page("projects", project="p"), "imports")
    assert "2 untouched items are deleted" in text_of(app).replace("\\", "")
    app = without_exception(app.button(key="undo").click().run())
    assert counts(fresh_store, imported).items == 0
    assert "are deleted" in app.success[0].value.replace("\\", "")
    assert not [button for button in app.button if button.key == "undo"]
    assert [event.action for event in events(fresh_store, imported)][-1] == "import_undone"


def test_a_large_import_is_undone_by_a_job(
    fresh_store: Store, imported: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(_projects_imports, "AS_A_JOB", 1)
    monkeypatch.setattr(jobs, "start", lambda store, kind, settings, title, **_: started.append(settings))
    app = open_section(open_page("projects", project="p"), "imports")
    without_exception(app.button(key="undo").click().run())
    assert started == [Settings("p", "items-1", yes=True, uid=imported.uid)]
    assert counts(fresh_store, imported).items == 2


@pytest.mark.parametrize(("button", "stands"), [("keep", "accept"), ("take", "reject")])
def test_conflicts_between_files_are_decided(
    fresh_store: Store, imported: Project, tmp_path: Path, button: str, stands: str
) -> None:
    from evenhand.annotations.items.batch import items

    uid = next(iter(items(fresh_store, imported))).uid
    bring(fresh_store, imported, tmp_path / "one.csv", (uid, "Ada", "accept"))
    bring(fresh_store, imported, tmp_path / "two.csv", (uid, "Ada", "reject"))
    app = open_section(open_page("projects", project="p"), "imports")
    shown = text_of(app)
    assert HE in shown and "labels\\-1" in shown
    without_exception(app.button(key=f"{button}-label-2").click().run())
    assert [row["choice"] for row in label_rows(fresh_store, imported)] == [stands]
    assert [event.action for event in events(fresh_store, imported)][-1] == "conflict_settled"


def test_a_project_without_imports_explains_what_to_do(fresh_store: Store) -> None:
    create_project(fresh_store, "p")
    app = open_section(open_page("projects", project="p"), "imports")
    assert "No file has been imported yet" in app.info[0].value
