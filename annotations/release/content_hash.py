"""The contents of a release independent of its files: their hash, and differences between two releases.

The hash covers every labelled item, its gold label and its valid labels, in any order. It leaves out public ids, files,
lines, moments, seconds and the version of the app, so the same labels of the same texts in another database give the
same hash.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

HEAD = b"evenhand-content-1\n"  # raise the number when the same contents would give another hash
PLACES = ("item", "file", "line", "status")  # of an item: its place and name, not its content
PLAIN = ("choice", "extraneous", "form_shown", "guideline", "after_reveal")
FIELDS = ("choice", "reasons", "extraneous", "spans", "tags", "note", "form_shown", "guideline", "after_reveal")
HASHED = {"has_gold": "accepted"}  # of a generation, which packages called accepted until their version 1
Row = Mapping[str, Any]
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))  # made once


@dataclass(slots=True)
class Entry:
    """One labelled item: its hash, its gold label, and the valid labels of each annotator."""

    item: str
    status: str = ""
    gold: str | None = None
    labels: dict[str, str] = field(default_factory=dict)

    def digest(self) -> bytes:
        """The hash of the entry."""
        parts = (self.item, self.status, self.gold, sorted(self.labels.items()))
        return hashlib.sha256(_canonical(parts).encode()).digest()


@dataclass(slots=True)
class Standing:
    """The result of the operations of one annotator on one item: the valid label and the last blind label."""

    latest: str = ""
    blind: str = ""

    def take(self, row: Row, content: str) -> None:
        """Apply the next operation in the order of time; a superseded one changes nothing."""
        if row.get("superseded"):
            return
        self.latest = content
        if not row.get("after_reveal"):
            self.blind = content

    def content(self) -> str:
        """Both labels as text; "" if there is none."""
        return sys.intern(f"{self.latest}\n{self.blind}") if self.latest or self.blind else ""


def _content_of(row: Row) -> str:
    """The content of an operation as text; "" for an undo.

    Equal ones share their text, because most labels are alike.
    """
    if row.get("choice") is None:
        return ""
    if row.get("form_shown") is None:  # not known: as of the original, so that releases of before have the same hash
        row = {**row, "form_shown": "original"}
    if any(row.get(key) for key in ("reasons", "tags", "spans", "note")):
        values = [sorted(row.get(key) or []) if key in ("reasons", "tags") else row.get(key) for key in FIELDS]
        return sys.intern(_canonical(values))
    return _plain(*(row.get(key) for key in PLAIN))


@lru_cache(maxsize=1_000)
def _plain(
    choice: str, extraneous: bool | None, form_shown: str | None, guideline: int | None, after_reveal: bool | None
) -> str:
    """The same for a label without reasons, marks, tags and note."""
    row = dict(zip(PLAIN, (choice, extraneous, form_shown, guideline, after_reveal), strict=True))
    empty: dict[str, Any] = {"reasons": [], "tags": [], "spans": [], "note": ""}
    return sys.intern(_canonical([(row | empty)[key] for key in FIELDS]))


def _canonical(value: Any) -> str:
    return _CANONICAL.encode(value)


class Contents:
    """Collects the labelled items of a project or release from the rows of a package.

    The rows are those of `items.jsonl`, `gold.jsonl`, `records.jsonl` (only kind "standing") and `labels.jsonl` (every
    operation, oldest first for each item and annotator).
    """

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._items: dict[str, bytes] = {}
        self._standing: dict[str, dict[str, Standing]] = {}  # by item, then annotator: each id is held once
        self._corrected: dict[tuple[str, str], dict[str, Any]] = {}
        self._operations: dict[str, str] = {}
        self._gold: dict[str, tuple[str, str | None]] = {}
        self._states: dict[tuple[str, str | None], tuple[str, str | None]] = {}  # equal ones share their tuple

    def add_item(self, row: Row) -> None:
        """Add an item; a line with only the canary is ignored."""
        if "item" in row:
            kept = {key: value for key, value in row.items() if key not in PLACES}
            self._items[row["item"]] = hashlib.sha256(_canonical(kept).encode()).digest()

    def add_gold(self, row: Row) -> None:
        """Add the gold label of an item."""
        state = str(HASHED.get(row["status"], row["status"])), row["gold"]
        self._gold[row["item"]] = self._states.setdefault(state, state)

    def add_record(self, row: Row) -> None:
        """Add which operations are valid where that cannot be derived from them; call it before the labels."""
        if row.get("kind") == "standing":
            self._corrected[row["item"], row["annotator"]] = {key: row.get(key) for key in ("latest", "blind")}

    def add_label(self, row: Row) -> None:
        """Add an operation."""
        if "item" not in row:
            return
        item, who, content = row["item"], row["annotator"], _content_of(row)
        if (item, who) in self._corrected:
            self._operations[row["op_id"]] = content
        of_item = self._standing.setdefault(item, {})
        if who not in of_item:
            of_item[sys.intern(who)] = Standing()
        of_item[who].take(row, content)

    def join(self, other: "Contents") -> None:
        """Take over the items and gold labels that *other* has collected."""
        self._items |= other._items
        self._gold |= other._gold

    def finish(self) -> dict[str, Entry]:
        """Public id -> entry of every item with a label or a gold label."""
        for (item, annotator), found in self._corrected.items():
            by = {key: self._operations.get(op_id or "", "") for key, op_id in found.items()}
            self._standing.setdefault(item, {})[annotator] = Standing(by["latest"], by["blind"])
        while self._standing:
            item, of_item = self._standing.popitem()
            said = {who: content for who, one in of_item.items() if (content := one.content())}
            if said and item in self._items:
                self._entry(item).labels = said
        for item, (status, gold) in self._gold.items():
            if item in self._items:
                entry = self._entry(item)
                entry.status, entry.gold = status, gold
        return self.entries

    def _entry(self, item: str) -> Entry:
        return self.entries.setdefault(item, Entry(self._items[item].hex(), "pending"))


def content_hash(entries: Iterable[Entry]) -> str:
    """The hash of the contents, 64 hexadecimal digits; the order of *entries* does not matter."""
    whole = hashlib.sha256(HEAD)
    for one in sorted(entry.digest() for entry in entries):
        whole.update(one)
    return whole.hexdigest()


def contents_of(items: Iterable[Row], gold: Iterable[Row], labels: Iterable[Row], records: Iterable[Row]) -> Contents:
    """The contents from the parts of a package."""
    found = Contents()
    for row in items:
        found.add_item(row)
    for row in gold:
        found.add_gold(row)
    for row in records:
        found.add_record(row)
    for row in labels:
        found.add_label(row)
    found.finish()
    return found
