"""The contents of a release independent of its files: their hash, and the differences between two releases.

The hash covers every labelled item, its gold label and its valid labels, in any order. It leaves out public ids, files,
lines, moments, seconds and the version of the app, so the same labels of the same texts in another database give the
same hash. Differences are of items, gold, labels, guideline and agreement.
"""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from evenhand.annotations.agreement.report import Measures
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.blind_labels import name_of_labels
from evenhand.annotations.papers.blocks import Block
from evenhand.annotations.papers.paper import paper_blocks
from evenhand.annotations.quantities.agreement import measure_id
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.changes import change_estimates
from evenhand.annotations.quantities.quantity import counted, estimate_of, quantities_json
from evenhand.annotations.release.stored_releases import Release, assignment_changes, log_head_of, release_lines
from evenhand.annotations.types import Project
from evenhand.core.files.display_paths import without_folders
from evenhand.core.language import Language
from evenhand.core.statistics import Estimate

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
        """Return the hash of the entry."""
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
        """Return both labels as text; "" if there is none."""
        return sys.intern(f"{self.latest}\n{self.blind}") if self.latest or self.blind else ""


def _content_of(row: Row) -> str:
    """Return the content of an operation as text; "" for an undo.

    Equal contents share one string, because most labels are alike.
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
    """Return the content of an operation without reasons, marks, tags and note, as text."""
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
        """Return by public id the entry of every item with a label or a gold label."""
        for (item, annotator), values in self._corrected.items():
            by = {key: self._operations.get(op_id or "", "") for key, op_id in values.items()}
            self._standing.setdefault(item, {})[annotator] = Standing(by["latest"], by["blind"])
        while self._standing:
            item, of_item = self._standing.popitem()
            entries = {who: content for who, standing in of_item.items() if (content := standing.content())}
            if entries and item in self._items:
                self._entry(item).labels = entries
        for item, (status, gold) in self._gold.items():
            if item in self._items:
                entry = self._entry(item)
                entry.status, entry.gold = status, gold
        return self.entries

    def _entry(self, item: str) -> Entry:
        return self.entries.setdefault(item, Entry(self._items[item].hex(), "pending"))


def content_hash(entries: Iterable[Entry]) -> str:
    """Return the hash of the contents, 64 hexadecimal digits; the order of *entries* does not matter."""
    whole = hashlib.sha256(HEAD)
    for data in sorted(entry.digest() for entry in entries):
        whole.update(data)
    return whole.hexdigest()


def contents_of(items: Iterable[Row], gold: Iterable[Row], labels: Iterable[Row], records: Iterable[Row]) -> Contents:
    """Return the contents from the parts of a package."""
    contents = Contents()
    for row in items:
        contents.add_item(row)
    for row in gold:
        contents.add_gold(row)
    for row in records:
        contents.add_record(row)
    for row in labels:
        contents.add_label(row)
    contents.finish()
    return contents


PARTS = ("items.jsonl", "gold.jsonl", "labels.jsonl", "records.jsonl")
LISTED = 50  # items of each kind that the text lists; the JSON has all
KEPT = "accepted"
MEASURES = ("percent", "pairwise_percent", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
TEMPLATES = Path(__file__).parent / "templates"


def frozen_contents(store: Store, release: Release) -> Contents:
    """Return the contents of a release from its package, for the comparison with another.

    Folders in sources are removed, as in later releases, so that they do not count as differences.
    """
    items, *others = (
        (json.loads(line) for line in release_lines(store, release, f"package/{name}") if line) for name in PARTS
    )
    return contents_of(map(without_folders, items), *others)


def label_changes(store: Store, project: Project, old: Release, now: int) -> dict[str, int] | None:
    """Return how many valid labels of all annotators were added, changed and removed since *old*.

    *now*: how many there are. A label that was sent back and made again is changed; one that was sent back only is
    removed. None for a release that is older than the log.
    """
    head = log_head_of(store, old)
    if head is None or head.entry is None:
        return None
    ends: dict[str, tuple[int | None, int | None]] = {}
    for slot, before, after in assignment_changes(store, project, head.entry):
        ends[slot] = (ends[slot][0] if slot in ends else before, after)
    added = sum(was is None and label is not None for was, label in ends.values())
    changed = sum(None not in pair and pair[0] != pair[1] for pair in ends.values())
    # Items that an undone import took away, or brought back, have no entry of their labels.
    removed = old.labels + added - now
    return {"added": added - min(0, removed), "changed": changed, "removed": max(0, removed)}


def changes(store: Store, old: Release, new: Release) -> dict[str, Any]:
    """Return the `facts_compared` of any two releases, from their frozen files."""
    before, after = frozen_contents(store, old).entries, frozen_contents(store, new).entries
    return facts_compared(content_differences(before, after), old.facts, new.facts)


def facts_compared(
    found: Mapping[str, Any], before: Mapping[str, Any] | None, after: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all differences, items by public ids: *found* of contents, and those of facts (*before* None: first)."""
    names = ("items", "labels", *MEASURES, "on", "signature")
    both = {"before": before, "after": after}
    return {
        "from": None if before is None else before["release"]["version"],
        "to": after["release"]["version"],
        **found,
        "guideline": {when: facts and facts["guidelines"][-1]["version"] for when, facts in both.items()},
        "agreement": {
            when: facts and {name: facts["agreement"][name] for name in names} for when, facts in both.items()
        },
        "quantities": {when: facts and measures_stated(facts) for when, facts in both.items()},
    }


def measures_stated(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the measures of agreement that a release states before filtering, by id; older ones have them by name."""
    stated = facts.get("quantities") or {
        measure_id(field, facts["agreement"]["on"]): facts["agreement"][key]
        for field, key in Measures.json_names.items()
        if key in MEASURES
    }
    return {
        id_: found
        for id_, found in stated.items()
        if id_.startswith("agreement.") and ENTRIES[id_].unit != "count" and ENTRIES[id_].population.code != "kept"
    }


def release_estimates(release: Release) -> dict[str, Estimate]:
    """Return the quantities that a release states, by id, with its changes; older ones have them by other names."""
    facts = release.facts
    counts = {"items.kept": release.items, "items.reviewed": facts["total"]["reviewed"], "labels.valid": release.labels}
    older = {id_: counted(number) for id_, number in counts.items()}
    stated = measures_stated(facts) | (facts.get("quantities") or {})
    return older | {id_: estimate_of(found) for id_, found in stated.items()} | change_estimates(facts["changes"])


def content_differences(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> dict[str, Any]:
    """Return the differences that need no facts.

    `kept`: items added to the set and removed from it; `reviewed`: the same of reviewed items; `gold`: reviewed in
    both, whose gold label or status changed; `gold_states`: of the items that had a gold label, how many have the
    `same`, `another`, or `none_now`, and how many others have their `first`; `labels`: how many published labels (item
    and annotator) were added, changed or removed, and on which items.
    """
    kept_before = {uid for uid, entry in old.items() if entry.status == KEPT}
    kept_after = {uid for uid, entry in new.items() if entry.status == KEPT}
    both = sorted(old.keys() & new.keys())
    gold = [
        {"item": uid, "before": old[uid].gold, "after": new[uid].gold}
        for uid in both
        if (old[uid].gold, old[uid].status) != (new[uid].gold, new[uid].status)
    ]
    nothing = Entry("")
    pairs = [(old.get(uid, nothing).gold, new.get(uid, nothing).gold) for uid in old.keys() | new.keys()]
    states = Counter(
        "first" if was is None else "none_now" if now is None else "same" if was == now else "another"
        for was, now in pairs
        if was is not None or now is not None
    )
    return {
        "kept": {"added": sorted(kept_after - kept_before), "removed": sorted(kept_before - kept_after)},
        "reviewed": {"added": sorted(new.keys() - old.keys()), "removed": sorted(old.keys() - new.keys())},
        "gold": gold,
        "gold_states": {state: states[state] for state in ("same", "another", "none_now", "first")},
        "texts": [uid for uid in both if old[uid].item != new[uid].item],
        "labels": _labels(old, new),
    }


def _labels(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> dict[str, Any]:
    counts = {"added": 0, "changed": 0, "removed": 0}
    touched = []
    nothing = Entry("")
    for uid in sorted(old.keys() | new.keys()):
        was, now = old.get(uid, nothing).labels, new.get(uid, nothing).labels
        if was == now:
            continue
        touched.append(uid)
        counts["added"] += len(now.keys() - was.keys())
        counts["removed"] += len(was.keys() - now.keys())
        counts["changed"] += sum(was[who] != now[who] for who in was.keys() & now.keys())
    return counts | {"items": touched}


def described(changes: Mapping[str, Any], facts: Mapping[str, Any], language: Language) -> list[Block]:
    """Describe the changes in words: templates/LANGUAGE/changes.md.jinja."""
    gold = [f"{entry['item']}: {entry['before'] or '—'} → {entry['after'] or '—'}" for entry in changes["gold"]]
    before, after = (changes["quantities"][when] or {} for when in ("before", "after"))
    result = {
        "changes": changes,
        "before": before,
        "after": after,
        "measures": [id_ for id_ in ENTRIES if id_ in before or id_ in after],
        "counts": quantities_json(change_estimates(changes)),
        "gold": gold,
        "most_items": LISTED,
        "project": facts["project"],
        "guidelines": facts["guidelines"],
        "labels_name": name_of_labels(facts["provenance"]),
    }
    return paper_blocks(TEMPLATES, "changes", language, result)
