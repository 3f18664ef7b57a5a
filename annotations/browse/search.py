"""Searching the items of a project by cell, status, marks, annotator and text, page by page.

Every search reads the items of the project once, in the order of import (docs/browse.md has the timings and the reason
for not using a full-text index). Conditions are fixed texts; user input is always a bound value.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import ITEM_COLUMNS, ITEM_TABLES, as_item, item_id
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.queue.assignments import OF_MEMBERS
from evenhand.annotations.types import Annotator, Form, Item, Project, Status
from evenhand.core.types import Side

PAGE = 20  # items on one page
CHUNK = 500  # items read at once for a file

Flag = str


def _found_in(table: str, more: str = "") -> str:
    return f"item.id IN (SELECT item FROM {table} WHERE project = :project{more})"


# Flags of an item and the condition of each; `:project` is bound, and `:reader` in those for annotators.
FLAGS: dict[Flag, str] = {
    "unlabelled": "item.labels = 0",
    "partial": "item.labels > 0 AND item.labels < item.wanted",
    "aside": "item.aside = 1",
    "skipped": _found_in("assignment", f" AND state = 'skipped' AND {OF_MEMBERS}"),
    "split": "item.split = 1",
    "settled": "item.settlement IS NOT NULL",
    "imported_gold": _found_in("gold_in_force"),
    "comments": _found_in("comment"),
    "notes": _found_in("label", " AND note <> ''"),
    "changed": "item.id IN (SELECT item FROM label GROUP BY item, annotator HAVING count(*) > 1)",
    "sent_back": _found_in("assignment", " AND kept = 1"),
    "released": "item.id IN (SELECT item FROM release_item WHERE release IN"
    " (SELECT id FROM frozen_release WHERE project = :project))",
    "pilot": "item.pilot IS NOT NULL",
    "known": "item.known IS NOT NULL",
    "shared": "item.shared = 1",
    "retest": _found_in("retest"),
    # `items.Batch` writes `extra` with json.dumps; this is how a list that is not empty begins in it.
    "mined": """instr(item.extra, '"flags": ["') AND json_array_length(item.extra, '$.flags') > 0""",
}
MINED = "mined:"  # and the code of a filter: flagged by this one
_MINED_BY = (
    "instr(item.extra, json_quote(:code)) AND EXISTS"
    " (SELECT 1 FROM json_each(item.extra, '$.flags') WHERE json_each.value = :code)"
)
# Flags that an annotator may filter by (only own comments and notes). The others reveal other labels or the plan.
READER_FLAGS: dict[Flag, str] = {
    "comments": _found_in("comment", " AND (thread = :reader OR thread IS NULL AND item.labels >= item.wanted)"),
    "talk": _found_in("comment", " AND thread = :reader"),
    "notes": _found_in("label", " AND annotator = :reader AND note <> ''"),
    "mined": FLAGS["mined"],
}
_OWN = _found_in("assignment", " AND annotator = :reader AND state = 'labelled'")
_ANNOTATOR = "(SELECT id FROM annotator WHERE name = :annotator)"
_BY = _OWN.replace(":reader", _ANNOTATOR)
# Conditions on a label, by the field of `Filters`.
_OF_LABEL = {
    "annotator": f"label.annotator = {_ANNOTATOR}",
    "choice": "label.choice = :choice",
    "form": "label.form_shown = :form",
    "version": "label.guideline = (SELECT id FROM guideline WHERE project = :project AND version = :version)",
}
# The index on labels covers these columns in the order of items, which is the order of the search.
_LABELLED = (
    "EXISTS (SELECT 1 FROM label CROSS JOIN assignment ON assignment.item = label.item"
    " AND assignment.annotator = label.annotator AND assignment.latest = label.id WHERE label.item = item.id {how})"
)
_TEXT = "instr(item.text, :{name}) OR instr(item.context, :{name}) OR instr(item.second, :{name})"
_TEXT_ANY_CASE = " OR ".join(rf"item.{one} LIKE :{{name}} ESCAPE '\'" for one in ("text", "context", "second"))
_SIGNS, _ESCAPED = re.compile(r"([%_\\])"), r"\\\1"  # what LIKE gives a meaning
_QUOTED = re.compile(r"[\"“”]([^\"“”]*)[\"“”]?|([^\s\"“”]+)")


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions on items, joined by AND; None or empty: no condition.

    `flag`: a key of FLAGS, or MINED with the code of a filter. `annotator`: the name of an annotator with a valid
    label. `choice`, `version` (of the guideline) and `form` must match one valid label, of this annotator if one is
    named. A `choice` is matched only on items with all labels, unless `unfinished`: it would influence annotators who
    still label. `file`: its name at the import. `text`: words that must all occur in the text or the context, quoted
    ones as a phrase; lower-case words without accents match either case. A public id finds its item. `reader`: only
    items that this annotator has labelled. `among`: only items with these row ids.
    """

    pair: str | None = None
    side: Side | Literal[""] | None = None
    status: Status | None = None
    flag: Flag | None = None
    annotator: str | None = None
    choice: str | None = None
    version: int | None = None
    form: Form | None = None
    file: str | None = None
    text: str = ""
    unfinished: bool = False
    reader: Annotator | None = None
    among: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Where:
    """A condition on `item` in SQL, with its values."""

    sql: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchRow:
    """An item in a list: how many blind labels it has of how many, and its marks."""

    item: Item
    labels: int
    wanted: int
    aside: bool
    split: bool
    settled: bool
    pilot: bool
    known: str | None
    shared: bool
    imported_gold: bool = False


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of results. `number` counts from 1; a page beyond the end gives the last one."""

    rows: tuple[SearchRow, ...]
    total: int
    number: int
    pages: int


def search_items(store: Store, project: Project, filters: Filters, page: int = 1, *, size: int = PAGE) -> SearchPage:
    """Return the items that match *filters*, in the order of import; *page* counts from 1."""
    ids = search_ids(store, project, filters)
    pages = max(1, -(-len(ids) // size))
    number = min(max(1, page), pages)
    return SearchPage(tuple(rows(store, ids[(number - 1) * size : number * size])), len(ids), number, pages)


def search_ids(store: Store, project: Project, filters: Filters) -> list[int]:
    """Return the row ids of all items that match *filters*, in the order of import."""
    reach = _file_range(store, project, filters.file)
    if reach is None:
        return []
    conditions = list(_conditions(store, project, filters))
    first, last, batches = reach
    # A scan in row order: an index would read the table in another order.
    query = (
        "SELECT group_concat(item.id) FROM item WHERE item.id BETWEEN :first AND :last AND +item.project = :project"
        f" AND +item.batch IN ({', '.join(map(str, batches))}) {''.join(f' AND {where.sql}' for where in conditions)}"
    )
    values: dict[str, object] = {"first": first, "last": last, "project": project.id}
    for where in conditions:
        values |= where.values
    # Reading one long string of numbers takes a third of the time of as many rows.
    line = store.value(query, values)
    return sorted(map(int, line.split(","))) if line else []


def neighbours(ids: Sequence[int], item: int) -> tuple[int | None, int | None, int]:
    """Return the row ids before and after *item* in a list of `search_ids`, and its place from 1 (0: not in it)."""
    if item not in ids:
        return None, None, 0
    at = ids.index(item)
    return (ids[at - 1] if at else None), (ids[at + 1] if at + 1 < len(ids) else None), at + 1


def rows(store: Store, ids: Sequence[int]) -> Iterator[SearchRow]:
    """Yield items by row id, in the order of *ids*."""
    for start in range(0, len(ids), CHUNK):
        chunk = ids[start : start + CHUNK]
        query = (
            f"SELECT {ITEM_COLUMNS}, item.labels, item.wanted, item.aside, item.split, item.settlement IS NOT NULL,"
            f" item.pilot IS NOT NULL, item.known, item.shared,"
            f" EXISTS (SELECT 1 FROM gold_in_force WHERE gold_in_force.item = item.id) FROM {ITEM_TABLES}"
            f" WHERE item.id IN ({', '.join('?' * len(chunk))}) ORDER BY item.id"
        )
        by_id = {row[0]: row for row in store.db.execute(query, chunk)}
        for number in chunk:
            if number in by_id:
                yield _row(by_id[number])


def _row(row: tuple[Any, ...]) -> SearchRow:
    *item, labels, wanted, aside, split, settled, pilot, known, shared, brought = row
    marks = bool(aside), bool(split), bool(settled), bool(pilot), known, bool(shared), bool(brought)
    return SearchRow(as_item(tuple(item)), labels, wanted, *marks)


def uid_of(store: Store, item: int) -> str:
    """Return the public id of an item by its row id."""
    return str(store.value("SELECT uid FROM item WHERE id = ?", (item,)))


def imported_files(store: Store, project: Project) -> list[str]:
    """Return the names of the imported files, in the order of import, each once."""
    query = "SELECT file FROM published_batch WHERE project = ? GROUP BY file ORDER BY min(published)"
    return store.column(query, (project.id,))


def pairs_of(store: Store, project: Project) -> list[str]:
    """Return the pairs (of generations: the strata) that have items, in the order in which they came."""
    return list(dict.fromkeys(cell.pair for cell in counts(store, project).cells if cell.items))


def search_words(text: str) -> list[str]:
    """Return the words and quoted phrases of a search, each once."""
    result = [quoted or word for quoted, word in _QUOTED.findall(text)]
    return list(dict.fromkeys(word for word in result if word.strip()))


def _file_range(store: Store, project: Project, file: str | None) -> tuple[int, int, list[int]] | None:
    """Return first and last row id of the published files (those named *file*), and the files; None without files."""
    named = "" if file is None else "AND file = :file"
    query = (
        "SELECT id, (SELECT min(id) FROM item WHERE item.batch = batch.id), (SELECT max(id) FROM item"
        f" WHERE item.batch = batch.id) FROM published_batch AS batch WHERE project = :project {named}"
    )
    values = {"project": project.id} | ({} if file is None else {"file": file})
    batches = [row for row in store.db.execute(query, values) if row[1] is not None]
    if not batches:
        return None
    return min(row[1] for row in batches), max(row[2] for row in batches), [row[0] for row in batches]


def _conditions(store: Store, project: Project, filters: Filters) -> Iterator[Where]:
    """Yield the conditions of a search; all must hold."""
    reader = filters.reader.id if filters.reader else None
    if filters.reader is not None:
        yield Where(_OWN, {"reader": reader})
    if filters.among is not None:
        yield Where("item.id IN (SELECT value FROM json_each(:among))", {"among": json.dumps(filters.among)})
    if filters.pair is not None or filters.side is not None:
        yield _in_cells(filters)
    if filters.status is not None:
        yield Where("item.status = :status", {"status": filters.status})
    if filters.flag is not None and filters.flag.startswith(MINED):
        yield Where(_MINED_BY, {"code": filters.flag.removeprefix(MINED)})
    elif filters.flag is not None:
        yield Where((FLAGS if filters.reader is None else READER_FLAGS)[filters.flag], {"reader": reader})
    if (itself := item_id(store, project, filters.text.strip())) is not None:
        yield Where("item.id = :itself", {"itself": itself})
    else:
        yield from (_has_word(number, word) for number, word in enumerate(search_words(filters.text)))
    if filters.annotator is not None or filters.choice or filters.version is not None or filters.form:
        yield _has_label(filters)
    if filters.choice is not None and not filters.unfinished:
        yield Where("item.labels >= item.wanted")


def _in_cells(filters: Filters) -> Where:
    values = {name: getattr(filters, name) for name in ("pair", "side") if getattr(filters, name) is not None}
    named = " AND ".join(f"{name} = :{name}" for name in values)
    return Where(f"item.cell IN (SELECT id FROM cell WHERE project = :project AND {named})", values)


def _has_word(number: int, word: str) -> Where:
    """Match *word* in a text of the item, in either case if it has Latin letters."""
    name = f"word{number}"
    if re.search("[A-Za-z]", word):
        return Where(f"({_TEXT_ANY_CASE.format(name=name)})", {name: f"%{_SIGNS.sub(_ESCAPED, word)}%"})
    return Where(f"({_TEXT.format(name=name)})", {name: word})


def _has_label(filters: Filters) -> Where:
    """Match items with one valid label that meets all the conditions on labels."""
    values = {name: getattr(filters, name) for name in _OF_LABEL if getattr(filters, name) is not None}
    if values.keys() == {"annotator"}:
        return Where(_BY, values)
    return Where(_LABELLED.format(how="".join(f" AND {_OF_LABEL[name]}" for name in values)), values)
