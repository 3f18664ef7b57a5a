"""Differences between two releases: items, gold, labels, guideline, agreement."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.full_agreement import name_of_labels
from evenhand.annotations.papers.blocks import Block
from evenhand.annotations.papers.paper import paper_blocks
from evenhand.annotations.release.content_hash import Contents, Entry, contents_of
from evenhand.annotations.release.records import Release, assignment_changes, log_head_of, release_lines
from evenhand.annotations.types import Project
from evenhand.core.files.paths import without_folders
from evenhand.core.language import Language

PARTS = ("items.jsonl", "gold.jsonl", "labels.jsonl", "records.jsonl")
LISTED = 50  # items of each kind that the text lists; the JSON has all
KEPT = "accepted"
MEASURES = ("percent", "pairwise_percent", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")
TEMPLATES = Path(__file__).parent / "templates"


def frozen_contents(store: Store, release: Release) -> Contents:
    """The contents of a release from its package, for the comparison with another.

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
    """The `differences` of any two releases, from their frozen files."""
    before, after = frozen_contents(store, old).entries, frozen_contents(store, new).entries
    return differences(before, after, old.facts, new.facts)


def differences(
    old: Mapping[str, Entry], new: Mapping[str, Entry], before: Mapping[str, Any] | None, after: Mapping[str, Any]
) -> dict[str, Any]:
    """All differences, items by public ids; *before* and *after* are the facts (None: first release).

    `kept`: items added to the set and removed from it; `reviewed`: the same of reviewed items; `gold`: reviewed in
    both, whose gold label or status changed; `gold_states`: of the items that had a gold label, how many have the
    `same`, `another`, or `none_now`, and how many others have their `first`; `labels`: how many published labels (item
    and annotator) were added, changed or removed, and on which items.
    """
    return facts_compared(content_differences(old, new), before, after)


def facts_compared(
    found: Mapping[str, Any], before: Mapping[str, Any] | None, after: Mapping[str, Any]
) -> dict[str, Any]:
    """`differences`, of those of the contents and the facts."""
    return {
        "from": None if before is None else before["release"]["version"],
        "to": after["release"]["version"],
        **found,
        "guideline": {"before": _version(before), "after": _version(after)},
        "agreement": {"before": _agreement(before), "after": _agreement(after)},
    }


def content_differences(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> dict[str, Any]:
    """Those of the `differences` that are found without the facts."""
    kept_before = {uid for uid, entry in old.items() if entry.status == KEPT}
    kept_after = {uid for uid, entry in new.items() if entry.status == KEPT}
    both = sorted(old.keys() & new.keys())
    gold = [
        {"item": uid, "before": old[uid].gold, "after": new[uid].gold}
        for uid in both
        if (old[uid].gold, old[uid].status) != (new[uid].gold, new[uid].status)
    ]
    return {
        "kept": {"added": sorted(kept_after - kept_before), "removed": sorted(kept_before - kept_after)},
        "reviewed": {"added": sorted(new.keys() - old.keys()), "removed": sorted(old.keys() - new.keys())},
        "gold": gold,
        "gold_states": _gold_states(old, new),
        "texts": [uid for uid in both if old[uid].item != new[uid].item],
        "labels": _labels(old, new),
    }


def _gold_states(old: Mapping[str, Entry], new: Mapping[str, Entry]) -> dict[str, int]:
    nothing = Entry("")
    pairs = [(old.get(uid, nothing).gold, new.get(uid, nothing).gold) for uid in old.keys() | new.keys()]
    return {
        "same": sum(was is not None and was == now for was, now in pairs),
        "another": sum(was is not None and now is not None and was != now for was, now in pairs),
        "none_now": sum(was is not None and now is None for was, now in pairs),
        "first": sum(was is None and now is not None for was, now in pairs),
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


def _version(facts: Mapping[str, Any] | None) -> int | None:
    return None if facts is None else facts["guidelines"][-1]["version"]


def _agreement(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if facts is None:
        return None
    names = ("items", "labels", *MEASURES, "on", "signature")
    return {name: facts["agreement"][name] for name in names}


def described(changes: Mapping[str, Any], facts: Mapping[str, Any], language: Language) -> list[Block]:
    """The changes in words: templates/LANGUAGE/changes.md.jinja."""
    gold = [f"{one['item']}: {one['before'] or '—'} → {one['after'] or '—'}" for one in changes["gold"]]
    found = {
        "changes": changes,
        "before": changes["agreement"]["before"],
        "after": changes["agreement"]["after"],
        "gold": gold,
        "most_items": LISTED,
        "project": facts["project"],
        "guidelines": facts["guidelines"],
        "labels_name": name_of_labels(facts["provenance"]),
    }
    return paper_blocks(TEMPLATES, "changes", language, found)
