"""A whole project as one archive: settings, guideline, items, every label, decisions; and its import.

A release holds the labels of annotators who consented, and every gold label. A gold label that does not follow from
the imported labels and decisions is stored as a record with its origin (`annotations.items.imported_gold`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from evenhand.annotations.database.backup import trial
from evenhand.annotations.database.events import PACKAGE_BEGUN, PACKAGE_DONE
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import Rejections, english_problem, problem_of
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.files.import_items import ImportReport, examine, import_examined
from evenhand.annotations.files.import_labels import LabelImport, store_labels
from evenhand.annotations.files.label_files import (
    CameWith,
    add_to_file,
    insert_label_file,
    is_labelled_here,
    label_files,
    label_rows_in,
    open_labels,
)
from evenhand.annotations.files.label_tables import LABELS, OPERATION, columns_of, item_objects
from evenhand.annotations.files.package.import_records import each_decision, store_decisions, store_records
from evenhand.annotations.files.package.project import (
    BEGUN,
    CURATION,
    FILES,
    MARK,
    SETTINGS,
    VERSION_OF,
    begun_at,
    make_project,
    mark,
    read_description,
    stage,
    with_new_ids,
)
from evenhand.annotations.files.package.records import author_codes, each_record, holds_any, project_with_item
from evenhand.annotations.guideline.scheme import more_out
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.items.batch import item, items
from evenhand.annotations.items.batch import items as stored_items
from evenhand.annotations.items.gold import PART as GOLD_PART
from evenhand.annotations.items.gold import generation_status, store_gold
from evenhand.annotations.labels.read import OF_FILE, LabelRow, each_label_row
from evenhand.annotations.papers.blocks import Form, rendered
from evenhand.annotations.papers.datasheet import datasheets
from evenhand.annotations.projects.annotators import coded_file, pseudonyms
from evenhand.annotations.projects.projects import (
    annotators,
    archive,
    change_project,
    counts,
    projects,
    remove_annotator,
)
from evenhand.annotations.projects.projects import project as find_project
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, BadFile, BadLine, NotFound, Refused
from evenhand.core.files.archives import Member
from evenhand.core.files.csv_out import json_line
from evenhand.core.files.readers import Row, file_sha256, open_source, rows
from evenhand.core.files.timestamps import timestamp
from evenhand.core.typed_json import with_reasons
from evenhand.core.types import JsonObject

CHUNK = 500  # gold labels per transaction
LEFT_OUT = ("annotators", "labels", "comments", "open_cases")
NOT_STATED = N_("The package does not state which labels it leaves out.")


@dataclass(slots=True)
class GoldLabels(Rejections):
    """The report of the gold labels of a package: `rows` = `here` + `imported` + `kept` + `rejected`.

    `here`: they follow from the labels and decisions, or were stored before; `imported`: stored without all of their
    labels; `kept`: the project has another gold label, which stays. `withheld`: items that have no gold label in the
    package, although the labels in it would decide. `left_out`: what the package lacks by its own account: annotators,
    their labels, comments, open cases; None: it does not say.
    """

    rows: int = 0
    here: int = 0
    imported: int = 0
    kept: int = 0
    withheld: int = 0
    left_out: dict[str, int] | None = None

    def as_json(self) -> JsonObject:
        """Return the numbers for `import --json`."""
        numbers = {name: getattr(self, name) for name in ("rows", "here", "imported", "kept", "rejected", "withheld")}
        return numbers | with_reasons({"left_out": self.left_out}, NOT_STATED)


def left_out_of(described: Mapping[str, Any]) -> dict[str, int] | None:
    """Return what a package lacks, as its project.json says; None if it does not say."""
    left_out = described.get("left_out")
    if not isinstance(left_out, dict) or not all(isinstance(left_out.get(name), int) for name in LEFT_OUT):
        return None
    return {name: left_out[name] for name in LEFT_OUT}


class _GoldLabelImport:
    """The import of the gold labels of one package that do not follow from the labels and decisions of the project.

    It comes after the import of labels and decisions. *rebuilt*: the package makes the project, so its gold labels
    override what its labels alone would give; else they fill in where an item has none.
    """

    def __init__(self, store: Store, project: Project, member: Member, name: str, rebuilt: bool) -> None:
        self.store, self.project, self.member, self.name, self.rebuilt = store, project, member, name, rebuilt
        self.codes = {choice.code for version in guidelines(store, project) for choice in version.choices}
        self.report, self.file = GoldLabels(), 0
        self.listed: set[str] = set()  # items with a gold label in the package

    def run(self) -> GoldLabels:
        """Store all of them in short transactions; a repeated import continues."""
        source = iter(rows(open_source(self.member.path, self.name)))
        while some := list(islice(source, CHUNK)):
            with self.store.write():
                for row in some:
                    self._take(row)
        if self.rebuilt:
            self._withhold()
        return self.report

    def _take(self, row: Row) -> None:
        if row.problem is None and row.values.get("gold") is None:
            return  # no gold label
        self.report.rows += 1
        try:
            row_id, gold, here, labelled = self._checked(row)
        except BadLine as error:
            self.report.note(problem_of(error))
            return
        if here == gold:
            self.report.here += 1
        elif here is None or (self.rebuilt and not labelled):
            self._store(row_id, gold)
            self.report.imported += 1
        else:
            self.report.kept += 1

    def _checked(self, row: Row) -> tuple[int, str, str | None, bool]:
        """Return the item, its gold label in the package and here, and whether it was labelled at a desk here."""
        if row.problem is not None:
            raise row.problem
        uid, gold = row.values.get("item"), row.values.get("gold")
        try:
            stored_item = item(self.store, self.project, uid if isinstance(uid, str) else "")
        except NotFound:
            message = N_("This project has no item {item}. Import its items first, as JSON Lines or as a package.")
            raise BadLine(self.name, row.line, "no_item", message, item=str(uid)[:40]) from None
        if not isinstance(gold, str) or gold not in self.codes:
            message = N_("{choice} is not a choice in this guideline.")
            raise BadLine(self.name, row.line, "label", message, choice=str(gold)[:40])
        self.listed.add(str(uid))
        return stored_item.id, gold, stored_item.gold, is_labelled_here(self.store, stored_item.id)

    def _withhold(self) -> None:
        """Store that items have no gold label where the package has none and fewer labels than it knew would decide."""
        every = items(self.store, self.project)
        source = iter(
            [
                stored_item.id
                for stored_item in every
                if stored_item.gold is not None and stored_item.uid not in self.listed
            ]
        )
        while some := list(islice(source, CHUNK)):
            with self.store.write():
                for row_id in some:
                    self._store(row_id, None)
                    self.report.withheld += 1

    def _store(self, row_id: int, gold: str | None) -> None:
        if not self.file:  # that of an interrupted import, or a new one
            came = CameWith("Evenhand", self.name, file_sha256(self.member.path), timestamp())
            same = (file.id for file in label_files(self.store, self.project)
                    if replace(file.came, program=came.program, created=came.created) == came)  # fmt: skip
            self.file = next(same, 0) or insert_label_file(self.store, self.project, came)
        store_gold(self.store, self.project, row_id, self.file, gold)
        add_to_file(self.store, self.file)


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
    """Return texts by file name: project.json, items.jsonl, labels.jsonl, decisions.jsonl, records.jsonl, gold.jsonl,
    datasheet.md, datasheet.tex.
    """
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
) -> dict[str, Iterable[JsonObject]]:
    """Return the rows of each file by its name, read lazily from the database.

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
        GOLD_PART: filter(None, (gold_object(project, item) for item in stored_items(store, project))),
    }


def canary_lines(project: Project) -> list[JsonObject]:
    """Return the first line of a part with texts, if the project needs it."""
    return [{CANARY_KEY: CANARY}] if needs_canary(project) else []


def label_objects(rows: Iterable[LabelRow], codes: Mapping[str, str], *, with_text: bool) -> Iterator[JsonObject]:
    """Yield the lines of labels.jsonl, of rows of `each_label_row` for "all"."""
    keys = [key for key in (*LABELS, *OPERATION) if key != "text" and (with_text or key != "note")]
    for row in rows:
        came = {"imported": OF_FILE, "here": ("app",)}.get(row["origin"], ())
        shown = ("left",) if row["left"] is not None else ()
        values = columns_of(row, (*keys, "origin", *came, *shown))
        if codes and values.get("label_file") is not None:
            values["label_file"] = coded_file(values["label_file"], codes)
        yield values | {"annotator": codes.get(row["annotator"], row["annotator"])}


def gold_object(project: Project, item: Item) -> dict[str, Any] | None:
    """Return the line of gold.jsonl of an item; None if it has no gold label and waits for labels."""
    if item.gold is None and item.status == "pending":
        return None
    written = project.kind == "generations"
    status = generation_status(item.status, split=False) if written else item.status
    return {"item": item.uid, "status": status, "gold": item.gold}


def project_description(store: Store, project: Project, codes: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of project.json: settings, annotators, quotas, every version of the guideline."""
    everybody, active = annotators(store, project, active=False), annotators(store, project)
    left = {annotator.name for annotator in everybody} - {annotator.name for annotator in active}
    quotas = [[cell.pair, cell.side, cell.quota] for cell in counts(store, project).cells if cell.quota is not None]
    return {
        "format": MARK,
        "v": VERSION_OF[project.kind],
        "project": {key: getattr(project, key) for key in ("name", *BEGUN, *SETTINGS, *CURATION)},
        "annotators": [codes.get(annotator.name, annotator.name) for annotator in everybody],
        "left": sorted(codes.get(name, name) for name in left),
        "quotas": quotas,
        "guidelines": [
            {"version": guideline.version, "text": guideline.text, "choices": [asdict(c) for c in guideline.choices],
             "reasons": [asdict(r) for r in guideline.reasons], "created": guideline.created,
             "changes": guideline.changes}
            | ({} if guideline.scheme is None else {"scheme": more_out(guideline.scheme)})
            for guideline in guidelines(store, project)
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
    stored_project = _existing_project(store, name)
    # Nothing was done in a project yet but to make it: no item, no release, one version of the guideline.
    if (
        stored_project
        and len(guidelines(store, stored_project)) == 1
        and not holds_any(store, stored_project, "batch", "label", "pilot", "release")
    ):
        number = 1
        while _existing_project(store, free := f"{stored_project.name[:60]} (empty {number})") is not None:
            number += 1
        archive(store, change_project(store, stored_project, name=free))
        stored_project = None
    # Labels say whose items they are; a project that the package makes needs ids of its own without labels, too.
    makes = stored_project is None or stage(store, stored_project, described) == "made"
    members = [parts[part] for part in ("labels.jsonl", *(("items.jsonl",) if makes else ())) if part in parts]
    elsewhere = next(
        filter(None, (_project_with_items(store, stored_project, member, file) for member in members)), None
    )
    if elsewhere is not None and stored_project is not None and stage(store, stored_project, described) == "new":
        raise Refused(ELSEWHERE, file=file, project=elsewhere)
    project = stored_project or make_project(store, name, described, file)
    with TemporaryDirectory() as folder:
        if elsewhere is not None:
            parts = with_new_ids(parts, project, Path(folder))
        report = _import_parts(store, project, described, parts, file)
    # A project that lacks a line is not the one that was packed.
    items = report.items.errors if report.items is not None else ()
    for problem in [*items, *report.labels.errors, *report.gold.errors] if stored_project is None else ():
        message = N_(
            "{file} is a damaged package: line {line} of {part} cannot be used ({why}). None of it was stored."
        )
        part = PurePosixPath(problem.file.removeprefix(f"{file}: ")).name
        raise BadFile(message, file=file, line=problem.line, part=part, why=english_problem(problem))
    return report


def _import_parts(
    store: Store, project: Project, described: Mapping[str, Any], parts: Mapping[str, Member], file: str
) -> PackageImport:
    stood = stage(store, project, described)
    items = examine(parts["items.jsonl"].path, format="auto", name=f"{file}: items.jsonl")
    report = import_examined(store, project, items, file=file) if items.rows else None
    records = list(_objects(parts["records.jsonl"], file)) if "records.jsonl" in parts else []
    rebuilt = stood == "made"  # what the package says of its labels is all that is known of the project
    # A project without records, as after an interrupted import; events do not count, creating it stores some.
    own = stood in ("made", "begun") or (
        stood == "new" and not holds_any(store, project, "pilot", "sample", "known", "retest")
    )
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
        for person in [annotator for annotator in annotators(store, project) if annotator.name in left]:
            remove_annotator(store, project, person)
    gold = GoldLabels()
    if GOLD_PART in parts:
        gold = _GoldLabelImport(store, project, parts[GOLD_PART], f"{file}: {GOLD_PART}", rebuilt).run()
    gold.left_out = left_out_of(described)
    if own:
        mark(store, project, described, PACKAGE_DONE)
    return PackageImport(project, report, labels, gold)


def _existing_project(store: Store, name: str) -> Project | None:
    try:
        return find_project(store, name)
    except NotFound:
        return None


def _project_with_items(store: Store, project: Project | None, part: Member, file: str) -> str | None:
    """Return the name of another project that holds the items of a part of a package, or None."""
    own = 0 if project is None else project.id
    if not any(stored_project.id != own for stored_project in (*projects(store), *projects(store, archived=True))):
        return None
    source = rows(open_source(part.path, f"{file}: {part.name}"))
    named = (str(row.values.get("item")) for row in source if row.problem is None)
    while some := list(islice(named, AT_ONCE)):
        if (other := project_with_item(store, some, own)) is not None:
            return other
    return None


def _parts(members: Sequence[Member]) -> dict[str, Member]:
    """Return the files of the package by name; a release has other files outside the folder of its package."""
    homes = [
        PurePosixPath(member.name).parent for member in members if PurePosixPath(member.name).name == "project.json"
    ]
    home = homes[0] if homes else PurePosixPath()
    return {PurePosixPath(member.name).name: member for member in members if PurePosixPath(member.name).parent == home}


def import_package_labels(
    store: Store, project: Project, member: Member, name: str, *, since: str | None = None, rebuilt: bool = False
) -> LabelImport:
    """Append the labels of one file, as `store_labels` does. Raises BadFile if the file holds no labels."""
    label_rows = label_rows_in(open_labels(member.path, name))
    sha256 = file_sha256(member.path)
    return store_labels(
        store, project, name, label_rows, since=since, program="Evenhand", sha256=sha256, rebuilt=rebuilt
    )


def _objects(member: Member, file: str) -> Iterator[dict[str, Any]]:
    for row in rows(open_source(member.path, f"{file}: {member.name}")):
        if row.problem is not None:
            raise row.problem
        yield row.values
