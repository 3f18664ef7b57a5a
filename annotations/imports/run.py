"""The import of a file of any format into a project, new or existing."""

from collections.abc import Sequence

from evenhand.annotations.accounts.accounts import take_over_roles
from evenhand.annotations.database.store import Store
from evenhand.annotations.files import label_files
from evenhand.annotations.files.detect import task_format, text_key
from evenhand.annotations.files.import_items import Examined, check_file, import_examined
from evenhand.annotations.files.import_labels import LabelImport
from evenhand.annotations.files.open_upload import examine_tables, tables_in
from evenhand.annotations.files.other_tools.import_tasks import TaskImport, import_tasks
from evenhand.annotations.files.other_tools.tasks import TASKS
from evenhand.annotations.files.package import write_package
from evenhand.annotations.imports.report import Counts, LabelsReport, Outcome
from evenhand.annotations.imports.settings import Settings
from evenhand.annotations.mining.candidates import PATIENCE_S
from evenhand.annotations.projects.projects import create_project, named_project
from evenhand.annotations.types import Kind, Project
from evenhand.core.errors import NotFound
from evenhand.core.files.archives import Member
from evenhand.core.files.readers import open_source
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.typed_json import from_json

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
            found, created = _project_for(store, settings, examined)
            if found is None:
                return Outcome(check_file(examined))
            # Candidates wait for another import into the project; a person at the terminal gets an error at once.
            patience_s = PATIENCE_S if examined[0].layout.format == "candidates" else 0.0
            report = import_examined(
                store, found, examined, progress=place.progress, patience_s=patience_s, file=settings.file.name
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
        found, created = _project_for(store, settings, examined)
        if found is None:
            return Outcome(TaskImport(check_file(examined)))
        report = import_tasks(
            store, found, examined, names, file=settings.file.name, known=settings.known, progress=place.progress
        )
        return Outcome(report, created)


def _import_labels(settings: Settings, place: Place, members: Sequence[Member]) -> Outcome:
    """Import labels into an existing project, or a package into a new or existing one."""
    if settings.layout == "package" or write_package.is_package(members):
        with Store.open(place.database) as store:
            return _import_package(store, settings, members)
    with Store.open_existing(place.database) as store:
        found, labels = named_project(store, settings.name, settings.uid), LabelImport()
        for member in members:
            file = settings.file.name if len(members) == 1 else member.name
            labels.add(write_package.import_package_labels(store, found, member, file))
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
