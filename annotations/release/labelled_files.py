"""The files of a release with labels: the package, the tables of labels, the hard cases, and the kept items.

Hard cases are items that were rejected, split or adjudicated, with labels and outcome. Kept items are written in every
layout with one line per item, all from one reading.

The labels are read once for all files. In a large project another process does it while the rest of the release is
made; this process writes the items of the package meanwhile, so that both have about the same amount of work.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from evenhand.annotations.database.connections import connect
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import RELEASED_HEADER, released_line
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.files.label_tables import LabelTables, item_object, labelled_items
from evenhand.annotations.files.other_tools.write import gold_line, task
from evenhand.annotations.files.package.records import author_codes
from evenhand.annotations.files.package.write_package import (
    canary_lines,
    gold_object,
    label_objects,
    package_parts,
    project_description,
)
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.read import ItemLabels, LabelRow, count_operations, each_labelled_item
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.projects.consent import consenting, left_out
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.release.changes import Contents, content_differences, content_hash, frozen_contents
from evenhand.annotations.release.dataset_card import DATA, HARD_CASES, data_row
from evenhand.annotations.release.stored_releases import Freezing, FrozenFile, Release, freeze
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary, text_may_leave
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, EvenhandError
from evenhand.core.files.csv_out import has_formula, json_line, spreadsheet_lines
from evenhand.core.processes import end_with_parent

CASES = """
SELECT item.uid, item.status, item.gold, item.split, settlement.action, settlement.choice, settlement.reasons,
       settlement.extraneous, settlement.why, settlement.adjudicator, settlement.created
FROM published_item AS item
     LEFT JOIN settlement ON settlement.id = item.settlement
WHERE item.project = ? AND (item.status = 'rejected' OR item.split = 1 OR item.settlement IS NOT NULL)
"""
ACT = ("action", "choice", "reasons", "extraneous", "why", "adjudicator", "created")
KEPT = ("choice", "reasons", "extraneous", "spans", "note", "form_shown", "guideline")


class HardCases:
    """The hard cases of a project: one object per case, the item, its gold label, why it is here, its blind labels, the
    adjudication (or null). Of annotators who did not consent, `left_out` counts the labels.

    All have the same keys with values of the same kinds, as the `datasets` library wants it (features of the card).
    `why_here`: "rejected_by_all", "split", "rejected" (by the adjudicator, or at a first reject) or "settled". Texts,
    notes and reasons in words are left out unless `with_text`.
    """

    def __init__(
        self, store: Store, project: Project, codes: Mapping[str, str], may: Collection[str], *, with_text: bool
    ) -> None:
        self.project, self.codes, self.may, self.with_text = project, codes, may, with_text
        self.cases = {row[0]: row[1:] for row in store.db.execute(CASES, (project.id,))}
        self.canary = {CANARY_KEY: CANARY} if with_text and needs_canary(project) else {}
        self.made = 0

    def of(self, items: Iterable[ItemLabels]) -> Iterator[dict[str, Any]]:
        """Yield the hard cases among *items* which have blind labels."""
        for item in items:
            if item.blind and item.item in self.cases:
                yield self._object(item.item, item.blind)

    def left(self) -> Iterator[dict[str, Any]]:
        """Yield the hard cases without blind labels: settled, then the labels were undone or sent for relabelling."""
        for uid in list(self.cases):
            yield self._object(uid, [])

    def _object(self, uid: str, labels: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        self.made += 1
        status, gold, split, *act = self.cases.pop(uid)
        sentences, with_text = self.project.kind == "sentences", self.with_text
        names = ["pair", "side", "keyword"] if sentences else ["pair"]
        if with_text:
            names += ["text"] if sentences else ["context", "text"]
        result: dict[str, Any] = {"item": uid} | {name: labels[0][name] if labels else None for name in names}
        result |= {"status": status, "gold": gold, "why_here": _why(status, split, act[0], labels)}
        result["labels"] = [
            {"annotator": self.codes.get(row["annotator"], "")} | {k: row[k] for k in KEPT if with_text or k != "note"}
            | {"spans": [{"start": start, "end": end, "kind": kind} for start, end, kind in row["spans"]]}
            for row in labels if row["annotator"] in self.may
        ]  # fmt: skip
        result["left_out"] = len(labels) - len(result["labels"])
        result["settlement"] = None
        if act[0] is not None:
            settled = dict(zip(ACT, act, strict=True))
            adjudicator = self.codes.get(settled["adjudicator"], "")
            settled |= {"reasons": json.loads(settled["reasons"]), "adjudicator": adjudicator}
            settled["extraneous"] = None if settled["extraneous"] is None else bool(settled["extraneous"])
            result["settlement"] = {key: value for key, value in settled.items() if with_text or key != "why"}
        return result | self.canary


def _why(status: str, split: int, action: str | None, labels: Sequence[Mapping[str, Any]]) -> str:
    if split:
        return "split"
    if status == "rejected" and action is None and len({row["choice"] for row in labels}) == 1 and len(labels) > 1:
        return "rejected_by_all"
    return "rejected" if status == "rejected" else "settled"


SPREADSHEETS, SPANS = "for_spreadsheets/", "spans.jsonld"
URN = "urn:x-evenhand"
HEAD_OF_SPANS = '{"@context": "http://www.w3.org/ns/anno.jsonld", "type": "AnnotationPage", "items": [\n'
LARGE = 20_000  # labels; another process takes two seconds to begin
ITEMS_AT_ONCE = 500
OF_PEOPLE = ("standing", "retest", "told", "comment", "consent")  # rows of a package that are of one annotator
PACKAGE_TEXTS = ("labels.jsonl", "decisions.jsonl", "records.jsonl")
ENDED = N_("A process that wrote the release ended unexpectedly, often for lack of memory. Create the release again.")


class Compared(NamedTuple):
    """The hash of the contents, and what changed from those of the release before."""

    hash: str
    changes: dict[str, Any]


@dataclass(slots=True)
class LabelledFiles:
    """`with_text`: the names of those with texts or notes; `compared`: the contents; `hard_cases`: how many."""

    package: list[FrozenFile] = field(default_factory=list)
    labels: list[FrozenFile] = field(default_factory=list)
    with_text: list[str] = field(default_factory=list)
    compared: Compared = field(default_factory=lambda: Compared("", {}))
    hard_cases: int = 0

    def joined(self, packed: "PackedItems", compared: Compared) -> "LabelledFiles":
        """Add the items of the package and the comparison of the contents; return these files."""
        self.package[1:1] = [packed.items, packed.gold]
        self.with_text.append(packed.items.name)
        self.compared = compared
        return self


@dataclass(frozen=True, slots=True)
class PackedItems:
    """The items and gold labels of a package: their files, and what they say for the hash of the contents."""

    items: FrozenFile
    gold: FrozenFile
    contents: Contents


def packed_items(store: Store, project: Project) -> PackedItems:
    """Return both files, from one reading of the items."""
    contents = Contents()
    lines, gold = Freezing("package/items.jsonl"), Freezing("package/gold.jsonl")
    lines.add(map(json_line, canary_lines(project)))
    source = items(store, project)
    while some := list(islice(source, ITEMS_AT_ONCE)):
        lines.add(map(json_line, _each_taken(map(item_object, some), contents.add_item)))
        found = filter(None, (gold_object(project, item) for item in some))
        gold.add(map(json_line, _each_taken(found, contents.add_gold)))
    return PackedItems(lines.done(), gold.done(), contents)


@contextmanager
def labelled_files(
    store: Store, project: Project, last: Release | None = None
) -> Iterator[Callable[[PackedItems], LabelledFiles]]:
    """Begin to write the files, in another process where there are many labels; the call gives them.

    *store*: a snapshot, which the other process opens too; *last*: the release before, None of the first.
    """
    if count_operations(store, project) < LARGE:
        writer = _Writer(store, project)
        yield lambda packed: writer.written().joined(packed, _compared(store, writer.contents, last, packed.contents))
        return
    pool = ProcessPoolExecutor(1, get_context("spawn"), initializer=end_with_parent)
    try:
        begun = pool.submit(_written_there, store.path, project.uid)

        def joined(packed: PackedItems) -> LabelledFiles:
            compared = pool.submit(_compared_there, store.path, last, packed.contents)
            return begun.result().joined(packed, compared.result())

        yield joined
    except BrokenProcessPool as error:
        raise EvenhandError(ENDED) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


_kept: list[Contents] = []  # in the other process: hundreds of thousands of labels, which would take long to send


def _written_there(path: Path, uid: str) -> LabelledFiles:
    # This process is the longer one: the core of the other packs once that is done.
    with closing(Store(connect(path, read_only=True), path)) as store, ThreadPoolExecutor(1) as beside:
        writer = _Writer(store, project_by_uid(store, uid), beside)
        files = writer.written()
    _kept.append(writer.contents)
    return files


def _compared_there(path: Path, last: Release | None, of_items: Contents) -> Compared:
    with closing(Store(connect(path, read_only=True), path)) as store:
        return _compared(store, _kept.pop(), last, of_items)


def _compared(store: Store, contents: Contents, last: Release | None, of_items: Contents) -> Compared:
    contents.join(of_items)
    entries = contents.finish()
    before = {} if last is None else frozen_contents(store, last).entries
    return Compared(content_hash(entries.values()), content_differences(before, entries))


class Table:
    """A CSV that is being written, and a copy of it for spreadsheet programs where they would run a cell of it."""

    def __init__(self, name: str, beside: ThreadPoolExecutor | None = None) -> None:
        self.file, self.formulas = Freezing(name, beside), False

    def add(self, lines: Iterable[str], *, harmless: bool = False) -> None:
        """Write further rows; *harmless*: known to hold no formula."""
        self.file.add(lines if harmless else self._looked_at(lines))

    def done(self) -> list[FrozenFile]:
        """Return the table, and its copy if it needs one."""
        table = self.file.done()
        if not self.formulas:
            return [table]
        return [table, freeze(SPREADSHEETS + table.name, spreadsheet_lines(table.lines()))]

    def _looked_at(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self.formulas = self.formulas or has_formula(line)
            yield line


class Spans:
    """The marked spans of labels as a page of W3C Web Annotations: places in the text by code points, no text."""

    def __init__(self, codes: Mapping[str, str], beside: ThreadPoolExecutor | None = None) -> None:
        self.file, self.codes, self.number = Freezing(SPANS, beside), codes, 0

    def add(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add the spans of these labels."""
        for row in rows:
            for place in row["spans"]:
                self.number += 1
                head = HEAD_OF_SPANS if self.number == 1 else ",\n"
                self.file.add([head, json.dumps(self._annotation(row, *place), ensure_ascii=False)])

    def done(self) -> list[FrozenFile]:
        """Return the file; none if no label has a span."""
        if not self.number:
            return []
        self.file.add(["\n]}\n"])
        return [self.file.done()]

    def _annotation(self, row: Mapping[str, Any], start: int, end: int, kind: str) -> dict[str, Any]:
        selector = {"type": "TextPositionSelector", "start": start, "end": end}
        return {
            "id": f"{URN}:label:{quote(row['op_id'])}#{start}-{end}-{quote(kind)}",
            "type": "Annotation",
            "motivation": "tagging",
            "creator": {"type": "Person", "nickname": self.codes.get(row["annotator"], "")},
            "created": row["created"],
            "body": {"type": "TextualBody", "value": kind, "purpose": "tagging"},
            "target": {"source": f"{URN}:item:{quote(row['item'])}", "selector": selector},
        }


class _Writer:
    """Writes the files of one release."""

    def __init__(self, store: Store, project: Project, beside: ThreadPoolExecutor | None = None) -> None:
        self.store, self.project, self.beside = store, project, beside
        people = pseudonyms(store, project)
        self.codes = author_codes(store, project, people)
        self.may = consenting(store, project, "release")
        self.silent = {code for name, code in people.items() if name not in self.may}
        self.open = text_may_leave(project)
        self.made = LabelledFiles()
        self.contents = Contents()

    def written(self) -> LabelledFiles:
        """Write and return all files, package first; records come before labels, as `Contents` needs them."""
        described = project_description(self.store, self.project, self.codes)
        described |= {"left_out": left_out(self.store, self.project, self.may)}
        self._package("project.json", [json.dumps(described, ensure_ascii=False) + "\n"])
        parts = package_parts(self.store, self.project, self.codes, private=False)
        records = _of_released(parts["records.jsonl"], self.silent)
        self._package("records.jsonl", map(json_line, _each_taken(records, self.contents.add_record)))
        self._labels()
        self._package("decisions.jsonl", map(json_line, _of_released(parts["decisions.jsonl"], self.silent)))
        return self.made

    def _package(self, name: str, lines: Iterable[str]) -> None:
        self._add(self.made.package, [freeze(f"package/{name}", lines, self.beside)], text=name in PACKAGE_TEXTS)

    def _labels(self) -> None:
        """Add the labels of annotators who consented; outside the package without texts that may not be exported."""
        packed, cases = Freezing("package/labels.jsonl", self.beside), Freezing(HARD_CASES, self.beside)
        packed.add(map(json_line, canary_lines(self.project)))
        hard = HardCases(self.store, self.project, self.codes, self.may, with_text=self.open)
        tables = LabelTables(self.store, self.project, ExportOptions("labels"))
        files = {"every": Table("labels_history.csv", self.beside), "latest": Table("labels.csv", self.beside)}
        for which, table in files.items():
            table.add([tables.header(history=which == "every")])
        spans, labels = Spans(self.codes, self.beside), each_labelled_item(self.store, self.project)
        while some := list(islice(labels, ITEMS_AT_ONCE)):
            rows = {
                which: [
                    row for item_labels in some for row in getattr(item_labels, which) if row["annotator"] in self.may
                ]
                for which in files
            }
            history, latest = tables.both(rows["every"], rows["latest"])
            files["every"].add(history)
            # Its rows are in the history too, with two more cells.
            files["latest"].add(latest, harmless=not files["every"].formulas)
            spans.add(rows["latest"])
            every = label_objects(rows["every"], self.codes, with_text=True)
            packed.add(map(json_line, _each_taken(every, self.contents.add_label)))
            cases.add(map(json_line, hard.of(some)))
        cases.add(map(json_line, hard.left()))
        self.made.hard_cases = hard.made
        self._add(self.made.package, [packed.done()], text=True)
        for which in ("latest", "every"):
            self._add(self.made.labels, files[which].done(), text=self.open)
        self._add(self.made.labels, [cases.done()], text=self.open)
        self._add(self.made.labels, spans.done(), text=False)

    def _add(self, files: list[FrozenFile], made: list[FrozenFile], *, text: bool) -> None:
        files += made
        self.made.with_text += [frozen_file.name for frozen_file in made if text]


def _of_released(rows: Iterable[dict[str, Any]], silent: set[str]) -> Iterator[dict[str, Any]]:
    """Yield *rows* of a package without those of annotators (by code) whose labels are not released."""
    gone = set()
    for row in rows:
        if row.get("kind") in OF_PEOPLE and row.get("annotator") in silent:
            gone.add(row.get("uid"))
        elif row.get("kind") != "retest_label" or row["retest"] not in gone:
            yield row


def _each_taken(rows: Iterable[dict[str, Any]], take: Callable[[dict[str, Any]], None]) -> Iterator[dict[str, Any]]:
    for row in rows:
        take(row)
        yield row


Labelled = tuple[Item, list[LabelRow]]  # an item with its valid labels


class KeptSets:
    """The files of the kept items. `table`: the layout of the published data set, which only sentences have.

    *people*: the names of the annotators whose labels may be in the files one by one.
    """

    def __init__(self, store: Store, project: Project, export_options: ExportOptions, people: Collection[str]) -> None:
        self.project = project
        self.table = Table("slguset.csv")
        self.items, self.data = Freezing("kept.jsonl"), Freezing(DATA)
        self.tasks, self.doccano = Freezing("label_studio.json"), Freezing("doccano.jsonl")
        self.table.add([RELEASED_HEADER])
        self.items.add(map(json_line, canary_lines(project)))
        self.tasks.add(["[\n"])
        self._written = 0
        source = labelled_items(store, project, export_options, people)
        while some := list(islice(source, ITEMS_AT_ONCE)):
            self._add(some)
        self.tasks.add(["\n]\n" if self._written else "]\n"])

    def _add(self, some: list[Labelled]) -> None:
        project = self.project
        objects = [item_object(item) for item, _ in some]  # made once, the longest part of three of the layouts
        if project.kind == "sentences":
            self.table.add(released_line(item) for item, _ in some)
        self.items.add(map(json_line, objects))
        self.data.add(json_line(data_row(project, item)) for item, _ in some)
        for (item, labels), data in zip(some, objects, strict=True):
            self._written += 1
            before = ",\n" if self._written > 1 else ""
            self.tasks.add([before + task(project, item, labels, self._written, data)])
            self.doccano.add([gold_line(project, item, self._written, data)])
