"""Items and labels as lines of files.

Items are JSON lines with all their data: importing them gives the same items with the same ids. Labels are one row per
item and annotator (long, CSV or JSON lines) or one per item (wide). Labels to publish are the shares of each choice by
item, and one row a label of those who consented: both of blind labels only, the last one of each annotator before any
opinion was shown, without texts, notes, times and names.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, cast

from evenhand.annotations.adjudication.decisions import decisions_in_force
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import DECISION, GENERATION_KEYS, GOLD_KEYS, ITEM_KEYS, SPAN_KEYS
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.guideline.versions import compares, guidelines
from evenhand.annotations.items.batch import items as stored_items
from evenhand.annotations.items.gold import generation_statuses
from evenhand.annotations.labels.read import LabelRow, each_label_row
from evenhand.annotations.projects.annotators import coded_file, pseudonyms
from evenhand.annotations.projects.consent import Use, consenting
from evenhand.annotations.sampling.samples import drawn_items
from evenhand.annotations.text_policy import CANARY, CANARY_ID, CANARY_KEY, needs_canary
from evenhand.annotations.types import Item, Project
from evenhand.core.files.csv_out import data_line, json_line
from evenhand.core.files.display_paths import short_path, without_folders
from evenhand.core.types import JsonObject, TableRow

LABELS = (
    *("item", "annotator", "choice", "reasons", "extraneous", "spans", "note", "seconds", "guideline"),
    *("after_reveal", "form_shown", "text", "op_id", "created", "tags"),
)
HISTORY = (*LABELS, "base", "superseded")
# The last columns: where a label comes from (annotations.labels.read).
ORIGIN = ("origin", "app", "program", "label_file", "label_file_sha256")
TEXTS = ("text", "second", "note", "tags")  # notes and tags may quote the text, so the same policy holds for all
SAMPLED = ("sample", "inclusion_probability")  # of an item that a sample drew, in a project with samples
FACTS = ("model", "dataset", "pronouns", "setting", "index")  # of a generation; none of them holds its text
SECOND_MODEL = "second_model"
SHOWN = ("second", "left")  # of a label of a comparison: the other text, and which one was on the left
OPERATION = ("desk", "revision", "base", "superseded")
SAID = ("choice", "reasons", "extraneous", "spans", "note", "seconds", "tags")  # of each annotator, in a wide sheet
ANSWER = "answer_"
LONGEST_FACT = 80
# What `cell_text` writes in another way than a CSV does by itself.
NOT_AS_IT_IS = ("reasons", "tags", "spans", "extraneous", "after_reveal", "superseded")

Rows = Iterable[LabelRow]


def _stored_rows(store: Store, project: Project, wish: ExportOptions) -> Rows:
    return each_label_row(store, project, which="all" if wish.history else "latest")


def _selected(store: Store, project: Project, wish: ExportOptions) -> Callable[[Rows], Iterator[LabelRow]]:
    codes = {} if wish.names else pseudonyms(store, project)
    accepted: set[str] | None = None
    if wish.items == "accepted":
        accepted = {item.uid for item in stored_items(store, project, accepted_only=True)}
    left_out = {} if wish.with_text(project) else dict.fromkeys(TEXTS)
    named: dict[str | None, str | None] = {}  # files that labels came with, by their names

    def selected(rows: Rows) -> Iterator[LabelRow]:
        for row in rows:
            if accepted is None or row["item"] in accepted:
                row = cast(LabelRow, {**row, **left_out})
                if not wish.names:
                    row["annotator"] = codes.setdefault(row["annotator"], f"A{len(codes) + 1}")
                    if row["label_file"] not in named:
                        named[row["label_file"]] = coded_file(row["label_file"], codes)
                    row["label_file"] = named[row["label_file"]]
                yield row

    return selected


def item_facts(item: Item) -> TableRow:
    """Return the facts of a generation, without its text; a value too long to be a fact is left out."""
    result = {key: item.extra.get(key) for key in (*FACTS, *((SECOND_MODEL,) if item.second is not None else ()))}
    result["pronouns"] = ";".join(result["pronouns"] or []) if isinstance(result["pronouns"], list) else None
    return {k: None if isinstance(v, str) and len(v) > LONGEST_FACT else v for k, v in result.items()}


def facts_of(store: Store, project: Project) -> tuple[str, ...]:
    """Return the columns of the facts of generations; of comparisons the model of each text."""
    if project.kind != "generations":
        return ()
    return (FACTS[0], SECOND_MODEL, *FACTS[1:]) if compares(store, project) else FACTS


def _facts_by_item(store: Store, project: Project) -> tuple[tuple[str, ...], dict[str, TableRow]]:
    """Return the columns of the facts of items, and their values by public id."""
    result: dict[str, TableRow] = {}
    if project.kind == "generations":
        result = {item.uid: item_facts(item) for item in stored_items(store, project)}
    columns = facts_of(store, project)
    drawn = drawn_items(store, project)
    if drawn is None:
        return columns, result
    for uid, values in drawn.items():
        result[uid] = result.get(uid, {}) | dict(zip(SAMPLED, values, strict=True))
    return (*columns, *SAMPLED), result


def _scales(store: Store, project: Project) -> tuple[str, ...]:
    """Return the columns for the answers of scales, one for each scale of any version: answer_CODE."""
    if project.kind != "generations":
        return ()
    schemes = [guideline.scheme for guideline in guidelines(store, project) if guideline.scheme is not None]
    return tuple(dict.fromkeys(f"{ANSWER}{scale.code}" for scheme in schemes for scale in scheme.scales))


def _answers(row: LabelRow, columns: Sequence[str]) -> dict[str, int | None]:
    """Return the answers of a label to scales, which are among its reasons too, as numbers; None for missing ones."""
    given = dict(entry.split(":", 1) for entry in row["reasons"] if ":" in entry) if columns else {}
    answers = {name: given.get(name.removeprefix(ANSWER)) for name in columns}
    return {name: None if value is None else int(value) for name, value in answers.items()}


def columns_of(row: LabelRow, keys: Iterable[str]) -> JsonObject:
    """Return some columns of a label, by name."""
    cells: Mapping[str, Any] = row
    return {key: cells[key] for key in keys}


def _canary(project: Project, wish: ExportOptions) -> bool:
    return needs_canary(project) and wish.with_text(project)


def long_lines(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    """Yield CSV, one row per item and annotator (with `history`: per operation)."""
    tables = LabelTables(store, project, wish)
    yield tables.header(history=wish.history)
    yield from tables.lines(_stored_rows(store, project, wish))


class LabelTables:
    """The same in parts, and both tables of rows that are read once."""

    def __init__(self, store: Store, project: Project, wish: ExportOptions) -> None:
        self.wish = wish
        columns, self.about = _facts_by_item(store, project)
        self.scales = _scales(store, project)
        self.more = (*(SHOWN if compares(store, project) else ()), *columns, *self.scales)
        self.mark = {CANARY_KEY: CANARY_ID} if _canary(project, wish) else {}
        self._selected = _selected(store, project, wish)
        self._written = [key for key in (*NOT_AS_IT_IS, *self.more) if key in self._columns(history=True)]
        self._cells = {history: itemgetter(*self._columns(history=history)) for history in (False, True)}

    def _columns(self, *, history: bool) -> tuple[str, ...]:
        return (*(HISTORY if history else LABELS), *self.more, *self.mark, *ORIGIN)

    def header(self, *, history: bool) -> str:
        """Return the first line."""
        return data_line(self._columns(history=history))

    def lines(self, rows: Rows) -> Iterator[str]:
        """Yield the lines of rows of `each_label_row`."""
        yield from (data_line(self._cells[self.wish.history](row)) for row in self._as_written(rows))

    def both(self, every: Sequence[LabelRow], latest: Rows) -> tuple[list[str], list[str]]:
        """Return the lines of both tables, with history and without: *latest* are some rows of *every*, all items."""
        written = list(self._as_written(every))
        result = {id(row): text for row, text in zip(every, written, strict=True)}
        cells = self._cells[False]
        history = [data_line(self._cells[True](row)) for row in written]
        return history, [data_line(cells(result[id(row)])) for row in latest]

    def _as_written(self, rows: Rows) -> Iterator[Mapping[str, object]]:
        for row in self._selected(rows):
            cells = {**row}
            if self.more or self.mark:
                beside = self.about.get(row["item"], {}) | self.mark | _answers(row, self.scales)
                cells = {**dict.fromkeys(self.more), **row, **beside}
            for key in self._written:
                cells[key] = cell_text(key, cells[key])
            yield cells


def json_lines(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    """Yield JSON lines, one object per label with all columns; texts that may not be exported are left out."""
    (_columns, about), scales = _facts_by_item(store, project), _scales(store, project)
    with_text = wish.with_text(project)
    keys = [key for key in (*LABELS, *OPERATION) if with_text or key not in TEXTS]
    shown = SHOWN if with_text else SHOWN[1:]
    if _canary(project, wish):
        yield json_line({CANARY_KEY: CANARY})
    for row in _selected(store, project, wish)(_stored_rows(store, project, wish)):
        facts = about.get(row["item"], {}) | _answers(row, scales)
        texts = columns_of(row, shown) if row["left"] is not None or row["second"] is not None else {}
        yield json_line({**columns_of(row, keys), **facts, **texts, **columns_of(row, ORIGIN)})


def wide_lines(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    """Yield CSV, one row per item, with a set of columns for each annotator: choice_A1, reasons_A1, ..."""
    with_text = wish.with_text(project)
    latest = ExportOptions("labels", wish.items, wish.names, False, wish.locked)
    values: dict[str, dict[str, Mapping[str, Any]]] = {}
    scales, pairs = _scales(store, project), compares(store, project)
    keys = [key for key in (*SAID, *(SHOWN[1:] if pairs else ()), *scales) if with_text or key not in TEXTS]
    for row in _selected(store, project, latest)(_stored_rows(store, project, latest)):
        values.setdefault(row["item"], {})[row["annotator"]] = {**row, **_answers(row, scales)}
    codes = pseudonyms(store, project)
    people = list(codes) if wish.names else list(codes.values())
    about = facts_of(store, project) or ("pair", "side", "keyword", "counterpart")
    texts: tuple[str, ...] = ("context", "text") if project.kind == "generations" else ("text",)
    texts += ("second",) if pairs else ()
    mark = (CANARY_KEY,) if _canary(project, wish) else ()
    settled, states = decisions_in_force(store, project), generation_statuses(store, project)
    decision = DECISION if project.kind == "generations" else DECISION[:1]
    each = [f"{key}_{person}" for person in people for key in keys]
    yield data_line(("item", *about, "status", "gold", *decision, *each, *(texts if with_text else ()), *mark))
    for item in stored_items(store, project, accepted_only=wish.items == "accepted"):
        cells: JsonObject = {name: getattr(item, name) for name in ("pair", "side", "keyword", "counterpart", "gold")}
        cells |= {"item": item.uid, "status": states.get(item.uid, item.status)} | settled.get(item.uid, {})
        cells |= item_facts(item) if project.kind == "generations" else {}
        row_cells = [cell_text(key, cells.get(key)) for key in ("item", *about, "status", "gold", *decision)]
        for person in people:
            label = values.get(item.uid, {}).get(person, {})
            row_cells += [cell_text(key, label.get(key)) for key in keys]
        written = {"context": item.context or "", "text": item.text, "second": item.second or ""}
        row_cells += [written[key] for key in texts] if with_text else []
        yield data_line([*row_cells, *([CANARY_ID] if mark else [])])


def cell_text(key: str, value: Any) -> str:
    """Return a value as the cell of a CSV: undefined is empty, truth is 0 or 1, codes are joined by semicolons."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if key in ("reasons", "tags"):
        return ";".join(value)
    return json.dumps(value) if isinstance(value, list | tuple) else str(value)


PAGE = 500  # items whose labels are read at once
MADE = ("op_id", "guideline", "form_shown", "after_reveal", "desk", "revision")  # how a label was made


def origin_columns(row: LabelRow) -> JsonObject:
    """Return data of a row of `labelled_items` for which other programs have no field.

    They are its annotator and how it was made, and the label too, so that an import can tell whether it was changed
    there.
    """
    values = {"said": [row["choice"], *row["reasons"]], "note": row["note"], "spans": row["spans"]}
    keys = ("annotator", *MADE, "extraneous", "seconds", "created", *(("left",) if row["left"] is not None else ()))
    return {**columns_of(row, keys), **values}


def labelled_items(
    store: Store, project: Project, wish: ExportOptions, people: Collection[str] | None = None
) -> Iterator[tuple[Item, list[LabelRow]]]:
    """Yield every item that *wish* selects with its valid labels, one per annotator, as dicts; *people*: only of these.

    `annotator` is a code (A1, A2, ...) unless names are asked for; `note` is "" if texts may not be exported.
    """
    codes = {} if wish.names else pseudonyms(store, project)
    with_notes = wish.with_text(project)
    source = stored_items(store, project, accepted_only=wish.items == "accepted")
    while some := list(islice(source, PAGE)):
        values: dict[str, list[LabelRow]] = {}
        for row in each_label_row(store, project, which="latest", among=[item.id for item in some]):
            if people is None or row["annotator"] in people:
                row["annotator"] = row["annotator"] if wish.names else codes.get(row["annotator"], "A?")
                row["note"] = row["note"] if with_notes else ""
                values.setdefault(row["item"], []).append(row)
        for item in some:
            yield item, values.get(item.uid, [])


def item_lines_with_gold(store: Store, project: Project, wish: ExportOptions) -> Iterator[str]:
    """Yield one object per item; a file of generations begins with the canary line, which an import skips.

    A generation also has its gold label, whether the adjudicator decided it, and that flag and marks.
    """
    if project.kind != "generations":
        yield from map(json_line, item_objects(store, project, accepted_only=wish.items == "accepted"))
        return
    if needs_canary(project):
        yield json_line({CANARY_KEY: CANARY})
    states, decided = generation_statuses(store, project), decisions_in_force(store, project)
    for item in stored_items(store, project, accepted_only=wish.items == "accepted"):
        values = item_object(item)
        clashing = {name: values.pop(name) for name in GOLD_KEYS if name in values}
        gold = {"status": states[item.uid], "gold": item.gold} | dict.fromkeys(GOLD_KEYS[1:]) | {"adjudicated": False}
        values |= gold | decided.get(item.uid, {})
        yield json_line(values | ({"extra": values.get("extra", {}) | clashing} if clashing else {}))


def item_objects(store: Store, project: Project, *, accepted_only: bool = False) -> Iterator[JsonObject]:
    """Yield one object per item, as for the export as JSON lines; the canary comes first where it is needed."""
    if needs_canary(project):
        yield {CANARY_KEY: CANARY}
    for item in stored_items(store, project, accepted_only=accepted_only):
        yield item_object(item)


def item_object(item: Item) -> JsonObject:
    """Return an item as a flat object; an imported column with one of these names is in `extra`.

    Absolute paths are shortened here too: old items still hold some.
    """
    place = {"status": item.status, "file": short_path(item.file), "line": item.line}
    columns = without_folders(item.extra)
    if item.word is None or item.stem is None:
        own: JsonObject = {"item": item.uid, "context": item.context, "completion": item.text}
        own |= ({} if item.second is None else {"second": item.second}) | place
    else:
        spans = (*item.word, *item.stem, item.keyword, item.counterpart, item.pair)
        own = {"item": item.uid, "sentence": item.text, **dict(zip(SPAN_KEYS, spans, strict=True)), "side": item.side}
        own |= place
    reserved = GENERATION_KEYS if item.word is None else ITEM_KEYS
    clashing = {name: value for name, value in columns.items() if name in reserved}
    free = {name: value for name, value in columns.items() if name not in reserved}
    return own | free | ({"extra": clashing} if clashing else {})


ONE_BY_ONE = ("item", "annotator", "choice", "reasons", "extraneous", "spans", "guideline", "form_shown")
USE_OF: dict[str, Use] = {"disaggregated": "disaggregated", "disaggregated-training": "training"}  # by format


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Labels and annotators whose labels a disaggregated file does not hold, since they have not consented."""

    labels: int
    annotators: int


def soft_label_lines(store: Store, project: Project) -> Iterator[str]:
    """Yield CSV, one row per item with a blind label: its number of labels, and the share of each choice (0 to 1).

    Of generations also the share flagged for extraneous gendered language, empty if no label could be flagged.
    """
    codes = _codes(store, project)
    flagged = project.kind == "generations"
    more = ("share_extraneous",) if flagged else ()
    yield data_line(("item", "labels", *(f"share_{code}" for code in codes), *more))
    for item, rows in groupby(each_label_row(store, project, which="blind"), key=lambda row: row["item"]):
        said = list(rows)
        shares = [_share(row["choice"] == code for row in said) for code in codes]
        flags = [row["extraneous"] for row in said if row["extraneous"] is not None]
        yield data_line((item, len(said), *shares, *([_share(flags)] if flagged else [])))


def disaggregated_lines(store: Store, project: Project, use: Use) -> Iterator[str]:
    """Yield CSV, one row per blind label of an annotator who consented to *use*, under the code of every file."""
    may, names = consenting(store, project, use), pseudonyms(store, project)
    yield data_line(ONE_BY_ONE)
    for row in each_label_row(store, project, which="blind"):
        if row["annotator"] in may:
            cells = {**row, "annotator": names[row["annotator"]]}
            yield data_line([cell_text(key, cells[key]) for key in ONE_BY_ONE])


def left_out(store: Store, project: Project, use: Use) -> LeftOut:
    """Count the labels and annotators that `disaggregated_lines` leaves out."""
    may = consenting(store, project, use)
    without = [row["annotator"] for row in each_label_row(store, project, which="blind") if row["annotator"] not in may]
    return LeftOut(len(without), len(set(without)))


def publishable_row_count(store: Store, project: Project, format: str) -> int:
    """Return how many rows the file has, without its header."""
    use = USE_OF.get(format)
    lines = soft_label_lines(store, project) if use is None else disaggregated_lines(store, project, use)
    return sum(1 for _ in lines) - 1


def _codes(store: Store, project: Project) -> list[str]:
    """Return the choices of every version of the guideline, the newest first, then other choices in labels."""
    versions = sorted(guidelines(store, project), key=lambda one: -one.version)
    offered = dict.fromkeys(choice.code for version in versions for choice in version.choices)
    chosen = {row["choice"] for row in each_label_row(store, project, which="blind") if row["choice"]}
    return list(offered | dict.fromkeys(sorted(chosen - offered.keys())))


def _share(said: Iterable[bool]) -> str:
    answers = list(said)
    return f"{sum(answers) / len(answers):.6g}" if answers else ""
