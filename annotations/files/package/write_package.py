"""A whole project as one archive: settings, guideline, items, every label, decisions; and its import."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from evenhand.annotations.database.events import PACKAGE_BEGUN, PACKAGE_DONE
from evenhand.annotations.database.snapshot import trial
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.files.import_items import ImportReport, examine, import_examined
from evenhand.annotations.files.import_labels import LabelImport, store_labels
from evenhand.annotations.files.item_lines import item_objects
from evenhand.annotations.files.label_tables import LABELS, OPERATION
from evenhand.annotations.files.package.gold_labels import GoldLabels, import_gold_labels, left_out_of
from evenhand.annotations.files.package.import_decisions import each_decision, store_decisions
from evenhand.annotations.files.package.import_records import is_bare, store_records
from evenhand.annotations.files.package.new_ids import FILES, with_new_ids
from evenhand.annotations.files.package.project import (
    BEGUN,
    CURATION,
    MARK,
    SETTINGS,
    VERSION_OF,
    begun_at,
    make_project,
    mark,
    read_description,
    stage,
)
from evenhand.annotations.files.package.records import author_codes, each_record, holds_any, project_with_item
from evenhand.annotations.files.read_labels import label_rows_in, open_labels
from evenhand.annotations.files.rejections import english_problem
from evenhand.annotations.guideline.scheme import more_out
from evenhand.annotations.items.batch import items as stored_items
from evenhand.annotations.items.gold import generation_status
from evenhand.annotations.items.imported_gold import PART as GOLD_PART
from evenhand.annotations.labels.read import OF_FILE, each_label_row
from evenhand.annotations.papers.datasheet import datasheets
from evenhand.annotations.papers.markdown import Form, rendered
from evenhand.annotations.projects.projects import (
    annotators,
    archive,
    change_project,
    counts,
    guidelines,
    projects,
    remove_annotator,
)
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.projects.pseudonyms import coded_file, pseudonyms
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, BadFile, NotFound, Refused
from evenhand.core.files.archives import Member
from evenhand.core.files.csv_out import json_line
from evenhand.core.files.readers import file_sha256, open_source, rows

NO_ITEMS = N_("{file} is not a project package: its items.jsonl is missing.")
ELSEWHERE = N_(
    "Items of {file} are already in this database, in the project {project}. Import the file as a separate"
    " project under a name that is not taken."
)
AT_ONCE = 1_000  # labels whose items one query looks up


@dataclass(frozen=True, slots=True)
class PackageImport:
    """The report of an import of a package."""

    project: Project
    items: ImportReport | None
    labels: LabelImport
    gold: GoldLabels = field(default_factory=GoldLabels)


def package_files(store: Store, project: Project, wish: ExportOptions) -> dict[str, str]:
    """File name -> text: project.json, items.jsonl, labels.jsonl, decisions.jsonl, records.jsonl, gold.jsonl,
    datasheet.md, datasheet.tex."""
    codes = {} if wish.names else author_codes(store, project, pseudonyms(store, project))
    parts = package_parts(store, project, codes, with_text=wish.with_text(project))
    texts = {name: "".join(map(json_line, rows)) for name, rows in parts.items()}
    described = json.dumps(project_description(store, project, codes), ensure_ascii=False) + "\n"
    forms: tuple[Form, ...] = ("md", "tex")
    sheet = datasheets(store, project, (wish.language,))[wish.language]
    sheets = {f"datasheet.{form}": rendered(sheet, form, wish.language) for form in forms}
    return {"project.json": described} | texts | sheets


def package_parts(
    store: Store, project: Project, codes: Mapping[str, str], *, with_text: bool = True, private: bool = True
) -> dict[str, Iterator[dict[str, Any]]]:
    """File name -> its rows, read lazily from the database.

    `codes`: name -> code, {} to write names. `with_text`: notes too. `private`: drafts of the lead and private threads
    too. Parts with texts, or notes that may quote them, begin with the canary line if the project has one.
    """
    canary = canary_lines(project)
    every = each_label_row(store, project, which="all")
    return {
        "items.jsonl": item_objects(store, project),
        "labels.jsonl": chain(canary if with_text else [], label_objects(every, codes, with_text=with_text)),
        "decisions.jsonl": chain(canary, each_decision(store, project, codes, private=private)),
        "records.jsonl": chain(canary, each_record(store, project, codes, private=private)),
        GOLD_PART: _gold_objects(store, project),
    }


def canary_lines(project: Project) -> list[dict[str, Any]]:
    """The first line of a part with texts, if the project needs it."""
    return [{CANARY_KEY: CANARY}] if needs_canary(project) else []


def label_objects(
    rows: Iterable[dict[str, Any]], codes: Mapping[str, str], *, with_text: bool
) -> Iterator[dict[str, Any]]:
    """The lines of labels.jsonl, of rows of `each_label_row` for "all"."""
    kept = [key for key in (*LABELS, *OPERATION) if key != "text" and (with_text or key != "note")]
    for row in rows:
        came = {"imported": OF_FILE, "here": ("app",)}.get(row["origin"], ())
        shown = ("left",) if row["left"] is not None else ()
        said = {key: row[key] for key in (*kept, "origin", *came, *shown)}
        if codes and said.get("label_file") is not None:
            said["label_file"] = coded_file(said["label_file"], codes)
        yield said | {"annotator": codes.get(row["annotator"], row["annotator"])}


def _gold_objects(store: Store, project: Project) -> Iterator[dict[str, Any]]:
    yield from filter(None, (gold_object(project, item) for item in stored_items(store, project)))


def gold_object(project: Project, item: Item) -> dict[str, Any] | None:
    """The line of gold.jsonl of an item; None if it has no gold label and waits for labels."""
    if item.gold is None and item.status == "pending":
        return None
    written = project.kind == "generations"
    status = generation_status(item.status, split=False) if written else item.status
    return {"item": item.uid, "status": status, "gold": item.gold}


def project_description(store: Store, project: Project, codes: Mapping[str, str]) -> dict[str, Any]:
    """The content of project.json: settings, annotators, quotas, every version of the guideline."""
    everybody, active = annotators(store, project, active=False), annotators(store, project)
    left = {one.name for one in everybody} - {one.name for one in active}
    quotas = [[one.pair, one.side, one.quota] for one in counts(store, project).cells if one.quota is not None]
    return {
        "format": MARK,
        "v": VERSION_OF[project.kind],
        "project": {key: getattr(project, key) for key in ("name", *BEGUN, *SETTINGS, *CURATION)},
        "annotators": [codes.get(one.name, one.name) for one in everybody],
        "left": sorted(codes.get(name, name) for name in left),
        "quotas": quotas,
        "guidelines": [
            {"version": one.version, "text": one.text, "choices": [asdict(c) for c in one.choices],
             "reasons": [asdict(r) for r in one.reasons], "created": one.created, "changes": one.changes}
            | ({} if one.scheme is None else {"scheme": more_out(one.scheme)})
            for one in guidelines(store, project)
        ],
    }  # fmt: skip


def is_package(members: Sequence[Member]) -> bool:
    """Return whether an archive is a package, or holds one in a folder: a project.json with another part of it."""
    parts = _parts(members).keys()
    return "project.json" in parts and not parts.isdisjoint(FILES)


def import_package(store: Store, name: str, members: Sequence[Member], file: str) -> PackageImport:
    """Create the project *name* of a package, or add to an existing one; then import items, labels, decisions.

    A project of that name in which nothing was done yet makes room: it is archived under another name, because the
    package has its own guideline versions. A package whose items are in another project of this database already gives
    its items and labels new ids (`new_ids`). A repeated import adds nothing, or continues an interrupted one.

    All of it is tried in a copy of the database first, so that nothing is stored where a part is refused. Raises
    BadFile if a part of the package is missing or invalid, or if it is to make a project and one of its lines cannot be
    used. Raises Refused if items of its labels belong to another project here and are to be added to one that exists.
    """
    parts = _parts(members)
    described = read_description(parts, file)
    if "items.jsonl" not in parts:
        raise BadFile(NO_ITEMS, file=file)
    _try_import(store, name, described, parts, file)
    return _import(store, name, described, parts, file)


def _try_import(store: Store, name: str, described: Mapping[str, Any], parts: Mapping[str, Member], file: str) -> None:
    with trial(store) as copy:
        _import(copy, name, described, parts, file)


def _import(
    store: Store, name: str, described: Mapping[str, Any], parts: Mapping[str, Member], file: str
) -> PackageImport:
    found = _existing_project(store, name)
    if found is not None and is_unused(store, found):
        _make_room(store, found)
        found = None
    # Labels say whose items they are; a project that the package makes needs ids of its own without labels, too.
    makes = found is None or stage(store, found, described) == "made"
    told = [parts[part] for part in ("labels.jsonl", *(("items.jsonl",) if makes else ())) if part in parts]
    elsewhere = next(filter(None, (_project_with_items(store, found, one, file) for one in told)), None)
    if elsewhere is not None and found is not None and stage(store, found, described) == "new":
        raise Refused(ELSEWHERE, file=file, project=elsewhere)
    project = found or make_project(store, name, described, file)
    with TemporaryDirectory() as folder:
        if elsewhere is not None:
            parts = with_new_ids(parts, project, Path(folder))
        report = _import_parts(store, project, described, parts, file)
    if found is None:
        _refuse_lines(report, file)
    return report


def _import_parts(
    store: Store, project: Project, described: Mapping[str, Any], parts: Mapping[str, Member], file: str
) -> PackageImport:
    stood = stage(store, project, described)
    items = examine(parts["items.jsonl"].path, format="auto", name=f"{file}: items.jsonl")
    report = import_examined(store, project, items, file=file) if items.rows else None
    records = list(_objects(parts["records.jsonl"], file)) if "records.jsonl" in parts else []
    rebuilt = stood == "made"  # what the package says of its labels is all that is known of the project
    own = stood in ("made", "begun") or (stood == "new" and is_bare(store, project))
    if own:
        if stood == "new":
            mark(store, project, described, PACKAGE_BEGUN)
        store_records(store, project, records, early=True)
    labels = LabelImport()
    if "labels.jsonl" in parts:
        since = begun_at(store, project, described)
        name = f"{file}: labels.jsonl"
        labels = import_package_labels(store, project, parts["labels.jsonl"], name, since=since, rebuilt=rebuilt)
    if "decisions.jsonl" in parts:
        labels.decisions = store_decisions(store, project, _objects(parts["decisions.jsonl"], file))
    if own:
        store_records(store, project, records, early=False, rebuilt=rebuilt)
    if stood == "made":  # only now: during the import of labels everybody is an annotator
        left = set(map(str, described.get("left") or ()))
        for person in [one for one in annotators(store, project) if one.name in left]:
            remove_annotator(store, project, person)
    gold = GoldLabels()
    if GOLD_PART in parts:
        gold = import_gold_labels(store, project, parts[GOLD_PART], file, rebuilt=rebuilt)
    gold.left_out = left_out_of(described)
    if own:
        mark(store, project, described, PACKAGE_DONE)
    return PackageImport(project, report, labels, gold)


def _refuse_lines(report: PackageImport, file: str) -> None:
    """Raise BadFile for a line that could not be used: a project that lacks it is not the one that was packed."""
    items = report.items.errors if report.items is not None else ()
    for problem in [*items, *report.labels.errors, *report.gold.errors]:
        message = N_(
            "{file} is a damaged package: line {line} of {part} cannot be used ({why}). None of it was stored."
        )
        part = PurePosixPath(problem.file.removeprefix(f"{file}: ")).name
        raise BadFile(message, file=file, line=problem.line, part=part, why=english_problem(problem))


def _existing_project(store: Store, name: str) -> Project | None:
    try:
        return find_project(store, name)
    except NotFound:
        return None


def is_unused(store: Store, project: Project) -> bool:
    """Whether nothing was done in a project yet but to make it: no item, no release, one version of the guideline."""
    return len(guidelines(store, project)) == 1 and not holds_any(store, project, "batch", "label", "pilot", "release")


def _make_room(store: Store, project: Project) -> None:
    """Archive an unused project under a name that is free."""
    number = 1
    while _existing_project(store, name := f"{project.name[:60]} (empty {number})") is not None:
        number += 1
    archive(store, change_project(store, project, name=name))


def _project_with_items(store: Store, project: Project | None, part: Member, file: str) -> str | None:
    """The name of another project that holds the items of a part of a package, or None."""
    own = 0 if project is None else project.id
    if not any(one.id != own for one in (*projects(store), *projects(store, archived=True))):
        return None
    source = rows(open_source(part.path, f"{file}: {part.name}"))
    named = (str(row.values.get("item")) for row in source if row.problem is None)
    while some := list(islice(named, AT_ONCE)):
        if (other := project_with_item(store, some, own)) is not None:
            return other
    return None


def _parts(members: Sequence[Member]) -> dict[str, Member]:
    """The files of the package by name; a release has other files beside the folder of its package."""
    homes = [PurePosixPath(one.name).parent for one in members if PurePosixPath(one.name).name == "project.json"]
    home = homes[0] if homes else PurePosixPath()
    return {PurePosixPath(one.name).name: one for one in members if PurePosixPath(one.name).parent == home}


def import_package_labels(
    store: Store, project: Project, member: Member, name: str, *, since: str | None = None, rebuilt: bool = False
) -> LabelImport:
    """Append the labels of one file; as `store_labels`. Raises BadFile if it is no file of labels."""
    found = label_rows_in(open_labels(member.path, name))
    sha256 = file_sha256(member.path)
    return store_labels(store, project, name, found, since=since, program="Evenhand", sha256=sha256, rebuilt=rebuilt)


def _objects(member: Member, file: str) -> Iterator[dict[str, Any]]:
    for row in rows(open_source(member.path, f"{file}: {member.name}")):
        if row.problem is not None:
            raise row.problem
        yield row.values
