"""What a release says, apart from how it is written: the hash of its contents, and what differs between two of them.

The hash covers every item that somebody judged, its gold label and the labels that stand, in any order. It leaves out
public ids, files, lines, moments, seconds and the version of the app, so the same judgements of the same texts in
another database give the same hash.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

HEAD = b"evenhand-content-1\n"  # another number once the same contents would give another hash
PLACES = ("item", "file", "line", "status")  # of an item: where it stands and how it is called, not what it is
PLAIN = ("choice", "extraneous", "form_shown", "guideline", "after_reveal")
FIELDS = ("choice", "reasons", "extraneous", "spans", "tags", "note", "form_shown", "guideline", "after_reveal")
Row = Mapping[str, Any]


@dataclass(slots=True)
class Entry:
    """One judged item: what it is, its gold label, and per annotator what the labels that stand say."""

    item: str
    status: str = ""
    gold: str | None = None
    labels: dict[str, str] = field(default_factory=dict)

    def digest(self) -> bytes:
        """A hash of all of it."""
        parts = (self.item, self.status, self.gold, sorted(self.labels.items()))
        return hashlib.sha256(_canonical(parts).encode()).digest()


@dataclass(slots=True)
class Standing:
    """What the operations of one annotator on one item come to: what stands, and the last blind label."""

    latest: str = ""
    blind: str = ""

    def take(self, row: Row, content: str) -> None:
        """The next operation, in the order they were made; one that came too late changes nothing."""
        if row.get("superseded"):
            return
        self.latest = content
        if not row.get("after_reveal"):
            self.blind = content

    def content(self) -> str:
        """What counts, as text; "" where nothing does."""
        return f"{self.latest}\n{self.blind}" if self.latest or self.blind else ""


def _content_of(row: Row) -> str:
    """What one operation says; "" where it takes a label back. Equal ones share their text: most labels are alike."""
    if row.get("choice") is None:
        return ""
    if any(row.get(key) for key in ("reasons", "tags", "spans", "note")):
        values = [sorted(row.get(key) or []) if key in ("reasons", "tags") else row.get(key) for key in FIELDS]
        return sys.intern(_canonical(values))
    return _plain(*(row.get(key) for key in PLAIN))


@lru_cache(maxsize=1_000)
def _plain(
    choice: str, extraneous: bool | None, form_shown: str | None, guideline: int | None, after_reveal: bool | None
) -> str:
    """The same of a label with nothing but a choice."""
    row = dict(zip(PLAIN, (choice, extraneous, form_shown, guideline, after_reveal), strict=True))
    empty: dict[str, Any] = {"reasons": [], "tags": [], "spans": [], "note": ""}
    return sys.intern(_canonical([(row | empty)[key] for key in FIELDS]))


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


class Contents:
    """The judged items of one project or release; feed it the rows of a package, then ask for `entries` and `hash`.

    Rows are those of `items.jsonl`, `gold.jsonl`, `labels.jsonl` (every operation, oldest first for each item and
    annotator) and `records.jsonl` (of which those of kind "standing" count).
    """

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._items: dict[str, str] = {}
        self._standing: dict[tuple[str, str], Standing] = {}
        self._corrected: dict[tuple[str, str], dict[str, Any]] = {}
        self._operations: dict[str, str] = {}
        self._gold: dict[str, tuple[str, str | None]] = {}

    def add_item(self, row: Row) -> None:
        """An item; a line that only holds the canary is none."""
        if "item" in row:
            kept = {key: value for key, value in row.items() if key not in PLACES}
            self._items[row["item"]] = hashlib.sha256(_canonical(kept).encode()).hexdigest()

    def add_gold(self, row: Row) -> None:
        """What counts for an item."""
        self._gold[row["item"]] = (row["status"], row["gold"])

    def add_record(self, row: Row) -> None:
        """Which operations stand where that is not what the operations alone say; before the labels."""
        if row.get("kind") == "standing":
            self._corrected[row["item"], row["annotator"]] = {key: row.get(key) for key in ("latest", "blind")}

    def add_label(self, row: Row) -> None:
        """One operation."""
        if "item" not in row:
            return
        place, content = (row["item"], row["annotator"]), _content_of(row)
        if place in self._corrected:
            self._operations[row["op_id"]] = content
        self._standing.setdefault(place, Standing()).take(row, content)

    def finish(self) -> dict[str, Entry]:
        """Public id -> entry of every item that somebody judged or that has a gold label."""
        for place, found in self._corrected.items():
            by = {key: self._operations.get(op_id or "", "") for key, op_id in found.items()}
            self._standing[place] = Standing(by["latest"], by["blind"])
        for (item, annotator), standing in self._standing.items():
            if (content := standing.content()) and item in self._items:
                self._entry(item).labels[annotator] = content
        for item, (status, gold) in self._gold.items():
            if item in self._items:
                entry = self._entry(item)
                entry.status, entry.gold = status, gold
        return self.entries

    def _entry(self, item: str) -> Entry:
        return self.entries.setdefault(item, Entry(self._items[item], "pending"))


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
