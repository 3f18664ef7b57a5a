"""What the files of a release state one by one: labels, decisions and gold labels, read as anyone can read them.

A file that is missing is `locked` (encrypted) or `left_out` (the package); see `Published.missing`.
"""

import csv
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import BufferedIOBase
from sys import intern
from typing import Any, NamedTuple

Opener = Callable[[], BufferedIOBase]
Row = Mapping[str, Any]
Key = tuple[str, str]  # item, annotator
STATUS = {"has_gold": "accepted", "awaiting_labels": "pending", "awaiting_adjudication": "pending"}
COMPARED = ("choice", "reasons", "extraneous", "guideline", "after_reveal")  # of a label in two files
DASH = "—"
PENDING: tuple[str | None, str] = (None, "pending")


class UnstatedError(KeyError):
    """A release of an earlier version does not state a fact."""


class Stated(dict[str, Any]):
    """An object of release.json, which raises UnstatedError for a fact that it does not state."""

    def __missing__(self, key: str) -> Any:
        raise UnstatedError(key)


@dataclass(frozen=True, slots=True)
class Published:
    """The files of a release and the facts of its release.json."""

    files: Mapping[str, Opener]
    facts: Mapping[str, Any]
    locked: bool

    def missing(self, *names: str) -> str:
        """Return why one of the files cannot be read ("locked" or "left_out"); "" if all can."""
        absent = [name for name in names if name not in self.files]
        if not absent:
            return ""
        return "locked" if self.locked and any(name in self.facts["text_in"] for name in absent) else "left_out"

    def rows(self, name: str) -> Iterator[Row]:
        """Yield the objects of a file of JSON lines that are about an item or of a kind (not the canary)."""
        with self.files[name]() as file:
            for line in file:
                row = json.loads(line)
                if "item" in row or "kind" in row:
                    yield row

    def table(self, name: str) -> Iterator[dict[str, str]]:
        """Yield the rows of a CSV, one line in memory; a column that it lacks is not stated."""
        with self.files[name]() as file:
            yield from map(Stated, csv.DictReader(line.decode("utf-8") for line in file))


def label_cells(row: Row) -> tuple[str, ...]:
    """Return what is compared of a label, as the cells of a CSV."""
    return _equal_once(tuple(_cell(row.get(name)) for name in COMPARED))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return "" if value is None else ";".join(value) if isinstance(value, list) else str(value)


class ValidLabel(NamedTuple):
    """A row of labels.csv: the operation that stored it, its choice, and what is compared of it."""

    operation: str
    choice: str
    after_reveal: bool
    cells: tuple[str, ...]


class LastOperations(NamedTuple):
    """The last operation of an annotator on an item that is not superseded, and the last blind one, with its choice."""

    operation: str
    choice: str
    blind: str


class Labels:
    """The labels of labels.csv, and the blind choices that follow from them.

    `valid`: the label of each item and annotator. `blind`: the last choice of each annotator before a reveal, by item.
    `texts`: the sentences of labelled items, where the plan needs them. `unclear`: items of which no readable file
    tells which label is blind.
    """

    def __init__(self, published: Published) -> None:
        self.valid: dict[Key, ValidLabel] = {}
        self.blind: dict[str, dict[str, str]] = {}
        self.texts: dict[str, str] = {}
        self.unclear: set[str] = set()
        stops = published.facts["project"]["plan"] == "stop"
        for row in published.table("labels.csv"):
            key, choice = _key(row), intern(row["choice"])
            self.valid[key] = ValidLabel(row["op_id"], choice, row["after_reveal"] == "1", label_cells(row))
            if stops and row.get("text"):
                self.texts[key[0]] = row["text"]
        standing = self._standing(published)
        last, named = self._history(published, set((standing or {}).values()))
        for key in self.valid.keys() | last.keys():
            choice = self._blind(key, last.get(key), standing, named)
            if choice:
                self.blind.setdefault(key[0], {})[key[1]] = choice

    def _history(self, published: Published, wanted: Collection[str]) -> (
        tuple[dict[Key, LastOperations], dict[str, str]]
    ):  # fmt: skip
        """Return the last operations by item and annotator, and the choices of the operations *wanted*."""
        last: dict[Key, LastOperations] = {}
        named: dict[str, str] = {}
        for row in published.table("labels_history.csv"):
            key, choice = _key(row), intern(row["choice"])
            if row["op_id"] in wanted:
                named[row["op_id"]] = choice
            if row["superseded"] != "1":
                before = last[key].blind if key in last and row["after_reveal"] == "1" else ""
                last[key] = LastOperations(row["op_id"], choice, before if row["after_reveal"] == "1" else choice)
        return last, named

    def _standing(self, published: Published) -> dict[Key, str] | None:
        """Return the blind operation of labels for which it does not follow from the others; None if locked."""
        if published.missing("package/records.jsonl"):
            return None
        rows = published.rows("package/records.jsonl")
        return {_key(row): row["blind"] or "" for row in rows if row["kind"] == "standing"}

    def _blind(
        self, key: Key, last: LastOperations | None, standing: Mapping[Key, str] | None, named: Mapping[str, str]
    ) -> str:
        label = self.valid.get(key)
        if standing is not None and key in standing:
            same = label is not None and label.operation == standing[key]
            return label.choice if same and label else named.get(standing[key], "")
        if standing is None and last and (label.operation if label else "") != (last.operation if last.choice else ""):
            self.unclear.add(key[0])
        if label is None:
            return ""
        return label.choice if not label.after_reveal else last.blind if last else ""


def _key(row: Row) -> Key:
    return intern(row["item"]), intern(row["annotator"])


@lru_cache(maxsize=1_000)
def _equal_once(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Return one tuple for all that are equal, because most labels are alike."""
    return cells


class GoldLabels:
    """The gold labels and decisions that the files state.

    `of`: gold label and status by item (absent: pending). `cases`: hard cases by item. `whole`: whether all items that
    are not pending are in `of`; `missing`: why not.
    """

    def __init__(self, published: Published) -> None:
        self.of: dict[str, tuple[str | None, str]] = {}
        self.cases = {row["item"]: row for row in published.rows("hard_cases.jsonl")}
        self.missing = ""
        if not published.missing("package/gold.jsonl"):
            for row in published.rows("package/gold.jsonl"):
                self.of[row["item"]] = _state(row)
            return
        self.of = {item: _state(row) for item, row in self.cases.items()}
        self.missing = published.missing("kept.jsonl")
        if not self.missing and published.facts["project"]["kind"] == "sentences":
            self.of |= {row["item"]: ("accept", "accepted") for row in published.rows("kept.jsonl")}
        else:
            self.missing = self.missing or "left_out"  # kept.jsonl does not name the gold label of a generation

    def decision(self, item: str) -> str | None:
        """Return the choice that an adjudicator decided for an item; None without one in force."""
        act = self.cases[item]["settlement"] if item in self.cases else None
        choice: str | None = act["choice"] if act and act["action"] == "decide" else None
        return choice


def _state(row: Row) -> tuple[str | None, str]:
    status: str = row["status"]
    return row["gold"], STATUS.get(status, status)


class Release:
    """The files of a release, and what several checks read, once."""

    def __init__(self, published: Published) -> None:
        self.published, self.facts = published, published.facts

    @cached_property
    def labels(self) -> Labels:
        """The labels."""
        return Labels(self.published)

    @cached_property
    def gold(self) -> GoldLabels:
        """The gold labels."""
        return GoldLabels(self.published)

    @cached_property
    def left_out(self) -> int:
        """The number of valid labels whose annotators did not consent to their release."""
        return int(self.facts["provenance"]["consent"]["left_out"]["labels"])
