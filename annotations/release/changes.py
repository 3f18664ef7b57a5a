"""Differences between two releases: items, gold, labels, guideline, agreement."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from annotations.database.store import Store
from annotations.papers.blocks import Block, Heading, Points, Table, Text
from annotations.papers.markdown import Say
from annotations.papers.paper import estimate
from annotations.release.content_hash import Contents, Entry, contents_of
from annotations.release.records import Release, release_file
from core.errors import N_
from core.files.paths import without_folders
from core.language import Language

PARTS = ("items.jsonl", "gold.jsonl", "labels.jsonl", "records.jsonl")
LISTED = 50  # items of each kind that the text lists; the JSON has all
KEPT = "accepted"
MEASURES = (
    (N_("Items on which everybody agreed"), "percent"),
    (N_("Two annotators agree"), "pairwise_percent"),
    (N_("Fleiss' kappa"), "fleiss_kappa"),
    (N_("Krippendorff's alpha"), "krippendorff_alpha"),
    (N_("Gwet's AC1"), "gwet_ac1"),
)


def frozen_contents(store: Store, release: Release) -> Contents:
    """The contents of a release from its package, for the comparison with another.

    Folders in sources are removed, as in later releases, so that they do not count as differences.
    """
    items, *others = (json_rows(release_file(store, release, f"package/{name}")) for name in PARTS)
    return contents_of(map(without_folders, items), *others)


def changes(store: Store, old: Release, new: Release) -> dict[str, Any]:
    """The `differences` of any two releases, from their frozen files."""
    before, after = frozen_contents(store, old).entries, frozen_contents(store, new).entries
    return differences(before, after, old.facts, new.facts)


def json_rows(data: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return (json.loads(line) for line in data.decode().split("\n") if line)


def differences(
    old: Mapping[str, Entry], new: Mapping[str, Entry], before: Mapping[str, Any] | None, after: Mapping[str, Any]
) -> dict[str, Any]:
    """All differences, items by public ids; *before* and *after* are the facts (None: first release).

    `kept`: items added to the set and removed from it; `reviewed`: the same of reviewed items; `gold`: reviewed in
    both, with another gold label; `labels`: how many labels (item and annotator) were added, changed or removed, and on
    which items.
    """
    kept_before = {uid for uid, entry in old.items() if entry.status == KEPT}
    kept_after = {uid for uid, entry in new.items() if entry.status == KEPT}
    both = sorted(old.keys() & new.keys())
    gold = [
        {"item": uid, "before": old[uid].gold, "after": new[uid].gold}
        for uid in both
        if (old[uid].gold, old[uid].status) != (new[uid].gold, new[uid].status)
    ]
    return {
        "from": None if before is None else before["release"]["version"],
        "to": after["release"]["version"],
        "kept": {"added": sorted(kept_after - kept_before), "removed": sorted(kept_before - kept_after)},
        "reviewed": {"added": sorted(new.keys() - old.keys()), "removed": sorted(old.keys() - new.keys())},
        "gold": gold,
        "texts": [uid for uid in both if old[uid].item != new[uid].item],
        "labels": _labels(old, new),
        "guideline": {"before": _version(before), "after": _version(after)},
        "agreement": {"before": _agreement(before), "after": _agreement(after)},
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
    names = ("items", "labels", *(key for _, key in MEASURES), "on", "signature")
    return {name: facts["agreement"][name] for name in names}


def described(changes: Mapping[str, Any], facts: Mapping[str, Any], language: Language) -> list[Block]:
    """The changes in words."""
    say = Say(language)
    title = Heading(
        say(N_("Changes of {project} in release {version}"), project=facts["project"]["name"], version=changes["to"]), 1
    )
    if changes["from"] is None:
        return [title, Text(say(N_("This is the first release.")))]
    kept, reviewed, labels = changes["kept"], changes["reviewed"], changes["labels"]
    rows = (
        (say(N_("Items that came into the set")), len(kept["added"])),
        (say(N_("Items that left the set")), len(kept["removed"])),
        (say(N_("Items reviewed for the first time")), len(reviewed["added"])),
        (say(N_("Items that are no longer judged")), len(reviewed["removed"])),
        (say(N_("Items with another gold label")), len(changes["gold"])),
        (say(N_("New labels")), labels["added"]),
        (say(N_("Changed labels")), labels["changed"]),
        (say(N_("Labels taken back")), labels["removed"]),
    )
    blocks: list[Block] = [
        title,
        Text(say(N_("Compared with release {version}."), version=changes["from"])),
        Table((say(N_("What is counted")), say(N_("Number"))), rows),
        *_guideline(changes, facts, say),
        *_agreement_table(changes, say),
    ]
    return [*blocks, *_items(changes, say)]


def _guideline(changes: Mapping[str, Any], facts: Mapping[str, Any], say: Say) -> list[Block]:
    before, after = changes["guideline"]["before"], changes["guideline"]["after"]
    if before == after:
        return [Text(say(N_("The guideline is the same (version {version})."), version=after))]
    told = [f"{one['version']}: {one['changes']}" for one in facts["guidelines"] if one["version"] > before]
    head = Text(say(N_("The guideline went from version {before} to version {after}."), before=before, after=after))
    return [head, Points(tuple(told))]


def _agreement_table(changes: Mapping[str, Any], say: Say) -> list[Block]:
    before, after = changes["agreement"]["before"], changes["agreement"]["after"]
    heads = (say(N_("Measure")), str(changes["from"]), str(changes["to"]))
    rows = tuple((say(name), estimate(before[key], say), estimate(after[key], say)) for name, key in MEASURES)
    return [Heading(say(N_("Agreement before filtering"))), Table(heads, rows)]


def _items(changes: Mapping[str, Any], say: Say) -> list[Block]:
    gold = [f"{one['item']}: {one['before'] or '—'} → {one['after'] or '—'}" for one in changes["gold"]]
    lists = (
        (N_("Items that came into the set"), changes["kept"]["added"]),
        (N_("Items that left the set"), changes["kept"]["removed"]),
        (N_("Items with another gold label"), gold),
    )
    blocks: list[Block] = []
    for head, found in lists:
        if found:
            blocks += [Heading(say(head), 3), Points(tuple(found[:LISTED]))]
        if len(found) > LISTED:
            text = N_("and {number} more; changes.json names them all.")
            blocks.append(Text(say(text, number=f"{len(found) - LISTED:,}")))
    return blocks
