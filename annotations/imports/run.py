"""The import of a file of any format into a project, new or existing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.annotations.accounts.accounts import take_over_roles
from evenhand.annotations.database.store import Store
from evenhand.annotations.files import label_files
from evenhand.annotations.files.detect import FIXED, KEYS, Columns, english_problem, task_format, text_key
from evenhand.annotations.files.import_items import (
    Examined,
    ImportReport,
    check_file,
    examine_tables,
    import_examined,
    tables_in,
)
from evenhand.annotations.files.import_labels import LabelImport
from evenhand.annotations.files.other_tools.import_tasks import Names, TaskImport, import_tasks
from evenhand.annotations.files.other_tools.tasks import TASKS
from evenhand.annotations.files.package import write_package
from evenhand.annotations.files.package.write_package import GoldLabels
from evenhand.annotations.mining.candidates import PATIENCE_S
from evenhand.annotations.projects.projects import create_project, named_project
from evenhand.annotations.types import Kind, Project
from evenhand.core.errors import N_, BadFile, NotFound, Notice
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import open_source
from evenhand.core.runs.kinds import JobKind, Place, UnusableLine
from evenhand.core.typed_json import from_json
from evenhand.core.types import Problem


@dataclass(frozen=True, slots=True)
class LabelsReport:
    """What an import of labels did, or of a package: its items and gold labels."""

    labels: LabelImport
    items: ImportReport | None = None
    gold: GoldLabels | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the report as `import --json` prints it."""
        numbers = ("rows", "imported", "duplicates", "beside", "rejected", "decisions")
        data = {key: getattr(self.labels, key) for key in numbers} | {"errors": self.labels.errors_json()}
        items = {} if self.items is None else {"items": self.items.as_json()}
        return data | items | ({} if self.gold is None else {"gold_labels": self.gold.as_json()})


Report = ImportReport | TaskImport | LabelsReport


@dataclass(frozen=True, slots=True)
class Outcome:
    """The report of an import, and the project that it created."""

    report: Report
    created: Project | None = None

    @property
    def lines(self) -> ImportReport | LabelImport:
        """The report of the lines of the file."""
        if isinstance(self.report, ImportReport):
            return self.report
        return self.report.items if isinstance(self.report, TaskImport) else self.report.labels

    @property
    def problems(self) -> list[Problem]:
        """The lines that could not be used: the first ones."""
        return self.lines.errors + (self.report.labels.errors if isinstance(self.report, TaskImport) else [])

    def refuse_unusable(self, file: str) -> None:
        """Raise BadFile if no line could be used."""
        lines = self.lines
        if lines.rejected and lines.rejected == lines.rows:
            message = N_("None of the {rows} lines of {file} could be used; line {line}: {why}")
            first = lines.errors[0]
            raise BadFile(message, rows=lines.rows, file=first.file, line=first.line, why=english_problem(first))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows of a file were imported, were here already, or could not be used, and the first of these."""

    rows: int
    imported: int
    duplicates: int
    rejected: int
    errors: tuple[UnusableLine, ...] = ()

    @property
    def notices(self) -> Sequence[Notice]:
        """These numbers as a sentence."""
        text = N_("{rows} rows: {imported} imported, {duplicates} duplicates, {rejected} unusable.")
        names = ("rows", "imported", "duplicates", "rejected")
        return (Notice(text, {name: f"{getattr(self, name):,}" for name in names}),)


def pairs(given: Sequence[str], option: str, known: Sequence[str]) -> dict[str, str]:
    """Return the NAME=VALUE of an option as a dictionary. Raises BadFile for anything else."""
    result = [text.partition("=") for text in given]
    for key, sign, _value in result:
        if not sign or key.strip() not in known:
            message = N_("{option} takes NAME=VALUE, where NAME is one of {known}.")
            raise BadFile(message, option=option, known=", ".join(known))
    return {key.strip(): value.strip() for key, _sign, value in result}


@dataclass(frozen=True, slots=True)
class Settings:
    """The parameters of the command `import`.

    `name`: the project, which is created where it does not exist; with `uid` that project. `named`, `fixed`: columns
    and values of generations, as NAME=COLUMN and NAME=VALUE; of tasks, `named` says what choices are called here and
    `people` who annotators are. `known`: ground truth becomes known answers.
    """

    name: str
    file: Path
    layout: str = "auto"
    column: str | None = None
    named: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    known: bool = False
    fixed: tuple[str, ...] = ()
    uid: str | None = None

    def columns(self) -> Columns | None:
        """Return the columns of generations that are named; None if none is. Raises BadFile."""
        if not self.named and not self.fixed:
            return None
        return Columns(pairs(self.named, "--map", KEYS), pairs(self.fixed, "--set", FIXED))

    def columns_of_tasks(self, kind: Kind | None) -> Columns | None:
        """Return the columns of generations in tasks; None for sentences. Raises BadFile."""
        named = pairs([text for text in self.named if _names_column(text)], "--map", KEYS)
        fixed = pairs(self.fixed, "--set", FIXED)
        return Columns(named, fixed) if kind == "generations" or named or fixed else None

    def names(self) -> Names:
        """Return choices and annotators of tasks. Raises BadFile for a choice without a sign of equality."""
        choices = [text.rpartition("=") for text in self.named if not _names_column(text)]
        if any(not sign for _name, sign, _code in choices):
            message = N_("{option} takes NAME=VALUE: the choice in the file and its name in this project.")
            raise BadFile(message, option="--map")
        people = [text.rpartition("=") for text in self.people]
        return Names(
            {name.strip(): code.strip() for name, _sign, code in choices},
            {who.strip(): name.strip() for who, _sign, name in people},
        )


def _names_column(text: str) -> bool:
    return text.partition("=")[0].strip() in KEYS


# The settings of a project that an import creates: models are judged on English.
BEGUN: dict[Kind, dict[str, str]] = {"sentences": {}, "generations": {"language": "en"}}


def run(settings: Settings, place: Place) -> Outcome:
    """Import the file. Lines that cannot be used are in the report.

    Raises BadFile, NeedsPassword for an archive that `place.password` does not open, NotFound.
    """
    with tables_in(settings.file, password=place.password) as members:
        if (program := _program_of(members, settings.layout)) is not None:
            return _import_tasks(settings, place, members, program)
        columns = settings.columns()
        if settings.layout in label_files.FORMATS or (settings.layout == "auto" and _is_export(members)):
            return _import_labels(settings, place, members)
        layout = settings.layout
        if layout == "auto" and _kind(settings, place) == "generations":  # the project decides before the header
            layout = "generations"
        examined = examine_tables(members, format=layout, column=settings.column, wished=columns)
        with Store.open(place.database) as store:
            project, created = _project_for(store, settings, examined)
            if project is None:
                return Outcome(check_file(examined))
            # Candidates wait for another import into the project; a person at the terminal gets an error at once.
            patience_s = PATIENCE_S if examined[0].layout.format == "candidates" else 0.0
            report = import_examined(
                store, project, examined, progress=place.progress, patience_s=patience_s, file=settings.file.name
            )
            return Outcome(report, created)


def _program_of(members: Sequence[Member], layout: str) -> str | None:
    """Return the labelling program of these tasks, by the option or the first file; None for any other file."""
    if layout in TASKS:
        return layout
    if layout != "auto" or write_package.is_package(members):  # a release holds tasks too, next to its package
        return None
    return task_format(open_source(members[0].path, members[0].name))


def _is_export(members: Sequence[Member]) -> bool:
    return write_package.is_package(members) or label_files.is_labels(members[0])


def _kind(settings: Settings, place: Place) -> Kind | None:
    """Return the kind of the project, if it exists; an invalid file must not leave a new database behind."""
    if not place.database.is_file():
        return None
    with Store.open(place.database) as store:
        try:
            return named_project(store, settings.name, settings.uid).kind
        except NotFound:
            return None


def _project_for(
    store: Store, settings: Settings, examined: Sequence[Examined]
) -> tuple[Project | None, Project | None]:
    """Return the project, and the same if it was created; None if it does not exist and the file has no usable row."""
    try:
        return named_project(store, settings.name, settings.uid), None
    except NotFound:
        if settings.uid:
            raise
        if not any(file.usable for file in examined):
            return None, None
        kind = examined[0].layout.kind
        made = create_project(store, settings.name, kind=kind, **BEGUN[kind])  # type: ignore[arg-type]
        return made, made


def _import_tasks(settings: Settings, place: Place, members: list[Member], program: str) -> Outcome:
    names, column, kind = settings.names(), settings.column, _kind(settings, place)
    if kind == "sentences" and column is None:
        column = text_key(open_source(members[0].path, members[0].name), program)
    examined = examine_tables(members, format=program, column=column, wished=settings.columns_of_tasks(kind))
    with Store.open(place.database) as store:
        project, created = _project_for(store, settings, examined)
        if project is None:
            return Outcome(TaskImport(check_file(examined)))
        report = import_tasks(
            store, project, examined, names, file=settings.file.name, known=settings.known, progress=place.progress
        )
        return Outcome(report, created)


def _import_labels(settings: Settings, place: Place, members: Sequence[Member]) -> Outcome:
    """Import labels into an existing project, or a package into a new or existing one."""
    if settings.layout == "package" or write_package.is_package(members):
        with Store.open(place.database) as store:
            return _import_package(store, settings, members)
    with Store.open_existing(place.database) as store:
        project, labels = named_project(store, settings.name, settings.uid), LabelImport()
        for member in members:
            file = settings.file.name if len(members) == 1 else member.name
            labels.add(write_package.import_package_labels(store, project, member, file))
    return Outcome(LabelsReport(labels))


def _import_package(store: Store, settings: Settings, members: Sequence[Member]) -> Outcome:
    try:
        there = named_project(store, settings.name, settings.uid)
    except NotFound:
        if settings.uid:
            raise
        there = None
    name = settings.name if there is None else there.name
    brought = write_package.import_package(store, name, members, settings.file.name)
    if there is not None:
        take_over_roles(store, there, brought.project)
    report = LabelsReport(brought.labels, brought.items, brought.gold)
    return Outcome(report, brought.project if there is None else None)


def _counts(settings: Settings, place: Place) -> Counts:
    outcome = run(settings, place)
    outcome.refuse_unusable(settings.file.name)
    return from_json(Counts, outcome.report.as_json())


IMPORT = JobKind(
    "import",
    Settings,
    Counts,
    _counts,
    lambda counts: counts.notices,
    unusable=lambda counts: (counts.errors, counts.rejected),
)
