"""`import` of tasks of Label Studio, doccano and Argilla."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.columns import FIXED, KEYS, Columns
from evenhand.annotations.files.import_items import Examined, check_file
from evenhand.annotations.files.open_upload import examine_tables
from evenhand.annotations.files.other_tools.choice_names import Names
from evenhand.annotations.files.other_tools.detect import task_format, text_key
from evenhand.annotations.files.other_tools.import_tasks import LEFT, TaskImport
from evenhand.annotations.files.other_tools.import_tasks import import_tasks as bring
from evenhand.annotations.files.other_tools.tasks import TASKS
from evenhand.annotations.files.package.write_package import is_package
from evenhand.annotations.jobs.process import progress
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.types import Kind
from evenhand.commands.files.labels_and_packages import (
    answer_import,
    beside_summary,
    import_summary,
    labels_summary,
    pairs,
    project_for,
)
from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import open_source

LEFT_IN_WORDS = {
    "skipped": "skipped", "empty": "without a choice", "drafts": "drafts", "predictions": "predictions",
    "ground_truth": "ground truth", "without_item": "on texts that could not be used",
    "other": "answers of other kinds",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TasksWish:
    """The options for a file of tasks."""

    format: str
    column: str | None
    named: tuple[str, ...]
    fixed: tuple[str, ...]
    people: tuple[str, ...]
    known: bool

    def names(self) -> Names:
        """Choices and annotators. Raises BadFile for a choice without a sign of equality."""
        choices = [text.rpartition("=") for text in self.named if text.partition("=")[0].strip() not in KEYS]
        if any(not sign for _name, sign, _code in choices):
            message = N_("{option} takes NAME=VALUE: the choice in the file and its name in this project.")
            raise BadFile(message, option="--map")
        people = [text.rpartition("=") for text in self.people]
        return Names(
            {name.strip(): code.strip() for name, _sign, code in choices},
            {who.strip(): name.strip() for who, _sign, name in people},
        )

    def columns(self, kind: Kind | None) -> Columns | None:
        """The columns of generations; None for sentences."""
        named = pairs([text for text in self.named if text.partition("=")[0].strip() in KEYS], "--map", KEYS)
        fixed = pairs(self.fixed, "--set", FIXED)
        return Columns(named, fixed) if kind == "generations" or named or fixed else None


def task_format_of(members: Sequence[Member], layout: str) -> str | None:
    """The program of these tasks, by the option or the first file; None for any other file."""
    if layout in TASKS:
        return layout
    if layout != "auto" or is_package(members):  # a release holds tasks too, beside its package
        return None
    return task_format(open_source(members[0].path, members[0].name))


def bring_tasks(
    name: str, members: list[Member], file: str, wish: TasksWish, *, uid: str | None, db: str, as_json: bool
) -> None:
    """Import the tasks into a new or existing project, and print the report."""
    names = wish.names()
    examined = _examined(members, wish, _kind(name, uid, db))
    with Store.open(db) as store:
        found = project_by_uid(store, uid) if uid else project_for(store, name, examined)
        if found is None:
            report = TaskImport(check_file(examined))
        else:
            report = bring(store, found, examined, names, file=file, known=wish.known, progress=progress())
    problems = report.items.errors + report.labels.errors
    answer_import(report.as_json(), _summary(report), report.items, problems, as_json=as_json)


def _kind(name: str, uid: str | None, db: str) -> Kind | None:
    """The kind of the project, if it exists: it decides before the keys of a file."""
    if not Path(db).is_file():
        return None
    with Store.open(db) as store:
        try:
            return (project_by_uid(store, uid) if uid else find_project(store, name)).kind
        except NotFound:
            return None


def _examined(members: list[Member], wish: TasksWish, kind: Kind | None) -> list[Examined]:
    column = wish.column
    if kind == "sentences" and column is None:
        column = text_key(open_source(members[0].path, members[0].name), wish.format)
    return examine_tables(members, format=wish.format, column=column, wished=wish.columns(kind))


def _summary(report: TaskImport) -> list[str]:
    labels = labels_summary(report.labels) + beside_summary(report.labels)
    left = [f"{report.left[key]} {LEFT_IN_WORDS[key]}" for key in LEFT if report.left[key]]
    return [import_summary(report.items), labels, f"counted: {', '.join(left)}" if left else ""]
