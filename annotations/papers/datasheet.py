"""The data sheet of a project: what the database knows, as Markdown or LaTeX, in Chinese or English.

Facts that only people know (why, under which licence, who may be harmed) are marked as to be filled in. The sentences
are in templates/LANGUAGE/datasheet.md.jinja.

`evidence` is what the records prove about how the labels of a project were made: the evidence for the sentences of its
papers. A label was made at a desk of this database, came with a file, or is of unknown origin. What a file says of its
labels (form shown, order, who saw what) was not observed here, so no sentence is derived from it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

from evenhand.annotations.audit.follow_up import follow_up_facts
from evenhand.annotations.database.events import PACKAGE_BEGUN, Event, events
from evenhand.annotations.database.hash_chain import Head, head
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.guideline.versions import guideline, guidelines
from evenhand.annotations.items.batch import items as stored_items
from evenhand.annotations.items.gold import gold_by_package
from evenhand.annotations.labels.blind_labels import name_of_labels
from evenhand.annotations.labels.read import label_origins, origins_of_blind_labels
from evenhand.annotations.papers.blocks import Block, Form, rendered
from evenhand.annotations.papers.paper import paper_blocks
from evenhand.annotations.progress.cells import funnel_steps
from evenhand.annotations.projects.annotators import coded_file, pseudonyms
from evenhand.annotations.projects.consent import sharing
from evenhand.annotations.quantities.catalogue import estimates, funnel_ids
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.annotations.queue.retests import origins_of_retests
from evenhand.annotations.text_policy import CANARY, needs_canary, text_may_leave
from evenhand.annotations.types import Guideline, Item, Project
from evenhand.core.guidelines import recognise
from evenhand.core.language import Language
from evenhand.core.statistics import Estimate
from evenhand.core.typed_json import fields_of
from evenhand.core.version import VERSION

HERE, IMPORTED, UNKNOWN = "here", "imported", "unknown"
ORIGINS = (HERE, IMPORTED, UNKNOWN)
PLAN = ("per_item", "plan", "share", "doubled")  # which labels are wanted
RETEST = ("retest", "retest_hours")
MOST_FILES = 20  # that a paper names

Row = Mapping[str, Any]  # labels that differ in their moment alone: `labels` of them, from `first` to `last`
NAMES = ("origin", "app", "program", "file", "sha256", "version", "older", "form", "revealed", "undated", "timed",
         "packed", "stored")  # fmt: skip


def evidence(store: Store, project: Project) -> dict[str, Any]:
    """Return the evidence as JSON values: counts of labels in force, and the settings under which they were made.

    `consent`: the annotators whose labels are in a release one by one.
    `package`: how many came with the package that made the project and also states their origin; None: made here.
    `gold_labels`: by package, gold labels in force that came without all the labels they were made of.
    `here`: made at a desk of this database, by the form that it showed (`masked`, `original`), before or after an
    opinion was shown (`before_reveal`, `after_reveal`), by version of Evenhand (`apps`, "" if not recorded).
    `imported`: by file (`files`: program, name, hash, labels); `dated`: with a date of their own. `versions`: labels
    under each version of the guideline by origin, and how many are `older` than it. `counted`: labels that agreement
    and gold use, by origin.
    `plans`: the settings in force while labels were made here, oldest first, with the number of labels. `tag_criteria`:
    criteria that free tags were assigned to, by version. `gold_changes`, `rescue_changes`: since when another rule
    makes gold of labels, or adjudication may accept what they reject; only changes after the first label in force.
    `retests`: second labels made `here`, and `others` (of a package, or of unknown origin).
    `retest_plan`: the settings of all retests made here; None if they differ.
    """
    made = next((event for event in events(store, project, action=PACKAGE_BEGUN) if event.data.get("made")), None)
    rows, made_here, stored = _read(store, project, made.created if made else "")
    packed = _number(rows, lambda row: bool(row["packed"]))
    by = {origin: [row for row in rows if row["origin"] == origin] for origin in ORIGINS}
    changes, others = (_changes(store, project, action) for action in ("plan", "settings"))
    counted = origins_of_blind_labels(store, project)
    retested = origins_of_retests(store, project)
    retests = {tuple(_settings_at(project, changes, moment, RETEST).items()) for moment, here in retested if here}
    return {
        "labels": _number(rows),
        "consent": sharing(store, project),
        "package": {"labels": packed, "of": _number(rows), "sha256": made.data["package"]} if made and packed else None,
        "gold_labels": _gold_labels(store, project),
        HERE: _here(by[HERE]),
        IMPORTED: _imported(by[IMPORTED], pseudonyms(store, project)),
        UNKNOWN: {"labels": _number(by[UNKNOWN])},
        "versions": _versions(rows),
        "older": _number(rows, lambda row: bool(row["older"])),
        "counted": {origin: counted.get(origin, 0) for origin in ORIGINS},
        "plans": _plans(project, changes, made_here),
        "gold_changes": _rule_changes(changes, "gold", stored),
        "rescue_changes": _rule_changes(others, "rescue", stored),
        "tag_criteria": _tag_criteria(store, project),
        "retests": {"here": sum(here for _, here in retested), "others": sum(not here for _, here in retested)},
        "retest_plan": dict(next(iter(retests))) if len(retests) == 1 else None,
    }


def _read(store: Store, project: Project, begun: str) -> tuple[list[Row], list[str], list[str]]:
    """Return the labels in force, grouped if alike, the sorted times of labels made here and of all storing.

    There may be a million labels, so a group holds only its first and last timestamp.
    """
    values: dict[tuple[Any, ...], list[Any]] = {}
    here, stored = list[str](), list[str]()
    for *alike, created in label_origins(store, project, begun):
        one = values.setdefault(tuple(alike), [0, created, created])
        one[0], one[1], one[2] = one[0] + 1, min(one[1], created), max(one[2], created)
        stored.append(alike[-1] or created)
        if alike[0] == HERE:
            here.append(created)
    rows: list[Row] = [
        dict(zip((*NAMES, "labels", "first", "last"), (*alike, *counted), strict=True))
        for alike, counted in values.items()
    ]
    return rows, sorted(here), sorted(stored)


def _number(rows: Sequence[Row], which: Callable[[Row], bool] = lambda _: True) -> int:
    return sum(int(row["labels"]) for row in rows if which(row))


def _counter(rows: Sequence[Row], key: Callable[[Row], Any]) -> Counter[Any]:
    counter: Counter[Any] = Counter()
    for row in rows:
        counter[key(row)] += row["labels"]
    return counter


def _gold_labels(store: Store, project: Project) -> list[dict[str, Any]]:
    codes = pseudonyms(store, project)
    return [
        {"file": coded_file(file, codes), "sha256": sha256, "labels": number}
        for file, sha256, number in gold_by_package(store, project)
    ]


def _here(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "labels": _number(rows),
        "masked": _number(rows, lambda row: row["form"] == "masked"),
        "original": _number(rows, lambda row: row["form"] == "original"),
        "before_reveal": _number(rows, lambda row: not row["revealed"]),
        "after_reveal": _number(rows, lambda row: bool(row["revealed"])),
        "apps": dict(sorted(_counter(rows, lambda row: row["app"]).items())),
        "timed": _number(rows, lambda row: bool(row["timed"])),
        **_days(rows),
    }


def _imported(rows: Sequence[Row], codes: Mapping[str, str]) -> dict[str, Any]:
    dated = [row for row in rows if not row["undated"]]
    files = _counter(rows, lambda row: (row["program"], row["file"], row["sha256"]))
    return {
        "labels": _number(rows),
        "dated": _number(dated),
        "timed": _number(rows, lambda row: bool(row["timed"])),
        **_days(dated),
        "files": [
            {"program": program, "file": coded_file(file, codes), "sha256": sha256, "labels": number}
            for (program, file, sha256), number in files.most_common()
        ],
    }


def _days(rows: Sequence[Row]) -> dict[str, str]:
    return {
        "first_day": min((row["first"] for row in rows), default="")[:10],
        "last_day": max((row["last"] for row in rows), default="")[:10],
    }


def _versions(rows: Sequence[Row]) -> list[dict[str, int]]:
    result: dict[int, Counter[str]] = {}
    for row in rows:
        one = result.setdefault(row["version"], Counter())
        one[row["origin"]] += row["labels"]
        one["older"] += row["older"] * row["labels"]
    return [{"version": version} | {key: one[key] for key in (*ORIGINS, "older")}
            for version, one in sorted(result.items())]  # fmt: skip


def _settings_at(project: Project, changes: list[Any], moment: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings in force at *moment*: those of today, with every later change undone."""
    settings = {name: getattr(project, name) for name in names}
    for change in reversed(changes):
        if change.created <= moment:
            break
        settings |= {name: value for name, value in change.data["old"].items() if name in settings}
    return settings


def _plans(project: Project, changes: list[Any], made: list[str]) -> list[dict[str, Any]]:
    """Return the plans at *made* (sorted timestamps); between two changes the settings are the same."""
    bounds = sorted({0, len(made), *(bisect_left(made, change.created) for change in changes)})
    parts = [(made[start:end], _settings_at(project, changes, made[start], PLAN)) for start, end in pairwise(bounds)]
    plans = []
    for settings, group in groupby(parts, key=lambda one: one[1]):
        moments = [moment for part, _ in group for moment in part]
        plans.append(settings | {"labels": len(moments), "first": moments[0][:10], "last": moments[-1][:10]})
    return plans


def _changes(store: Store, project: Project, action: str) -> list[Event]:
    """Return changes of settings, oldest first; the changes of a package come in later than they happened."""
    result = [event for event in events(store, project, action=action) if isinstance(event.data.get("old"), dict)]
    return sorted(result, key=lambda one: one.created)


def _rule_changes(changes: list[Event], rule: str, stored: list[str]) -> list[dict[str, Any]]:
    rule_changes = []
    for change in changes:
        older = bisect_left(stored, change.created)
        if older and rule in change.data["old"]:
            rules = {"old": change.data["old"][rule], "new": change.data["new"][rule]}
            rule_changes.append({"changed": change.created, **rules, "labels": len(stored), "older": older})
    return rule_changes


def _tag_criteria(store: Store, project: Project) -> list[dict[str, Any]]:
    """Return, for each guideline version written from free tags, its criteria and how many tags each covers."""
    tag_criteria = []
    for event in events(store, project, action="new_version"):
        tags = event.data.get("tags")
        codes = Counter(str(code) for code in tags.values() if code) if isinstance(tags, dict) else Counter()
        if codes:
            tag_criteria.append({"version": event.data.get("version"), "criteria": dict(sorted(codes.items()))})
    return tag_criteria


TEMPLATES = Path(__file__).parent / "templates"
MOST_ROWS = 200  # of the table of cells


@consistent_read
def datasheet(store: Store, project: Project, language: Language, form: Form = "md") -> str:
    """Return the data sheet as one file, without the text of an item or the name of an annotator."""
    return rendered(datasheets(store, project, (language,))[language], form, language)


@consistent_read
def datasheets(
    store: Store,
    project: Project,
    languages: Iterable[Language],
    *,
    released: bool = False,
    reason: str = "",
    checks: Sequence[Any] = (),
    known: "Known | None" = None,
) -> dict[Language, list[Block]]:
    """Return the data sheet in several languages, as blocks; the database is read once.

    *released*: the sheet is part of a release, which also holds the heads of the log; the sheet then names the head.
    *checks*: what speaks against a release, as messages with values. *reason*: why the set is released all the same;
    "" if nothing speaks against it. *known*: the facts, if they were read already.
    """
    known = known or read_known(store, project)
    if not released:
        known = replace(known, log=None)
    return {
        language: paper_blocks(TEMPLATES, "datasheet", language, _facts(known, language, reason, checks))
        for language in languages
    }


@dataclass(slots=True)
class Held:
    """Counts over the items, taken one by one: a list of 100,000 with their labels would need a gigabyte.

    `cells`: (pair, side) of sentences, (model, data set, pronouns, setting) of generations -> items.
    """

    files: set[str] = field(default_factory=set)
    cells: Counter[tuple[str, ...]] = field(default_factory=Counter)
    contexts: set[str | None] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Known:
    """The facts of the data sheet, read once for all languages and formats.

    `held`, `kept`: counts over all items and over the kept ones, by cell. `way`: of `mining`; `guideline`: the newest
    of `versions`; `provenance`: how the labels were made; `log`: its last entry, None if the sheet is of no release;
    `quantities`: the estimates of all that the catalogue has for this project, by id.
    """

    project: Project
    held: Held
    kept: Held
    snapshot: Snapshot
    way: dict[str, Any]
    guideline: Guideline
    versions: int
    provenance: dict[str, Any]
    follow_ups: list[dict[str, Any]]
    log: Head | None
    quantities: dict[str, Estimate]


def read_known(store: Store, project: Project) -> Known:
    """Read the facts of the data sheet of *project*."""
    snapshot = Snapshot(store, project)
    held, kept = _held(store, project)
    return Known(
        project=project,
        held=held,
        kept=kept,
        snapshot=snapshot,
        way=snapshot.mining,
        guideline=guideline(store, project),
        versions=len(guidelines(store, project)),
        provenance=evidence(store, project),
        follow_ups=follow_up_facts(store, project),
        log=head(store.db),
        quantities=estimates(snapshot),
    )


def _held(store: Store, project: Project) -> tuple[Held, Held]:
    """Return counts over all items, and over the kept ones."""
    held, kept, sentences = Held(), Held(), project.kind == "sentences"
    for item in stored_items(store, project):
        for counted in (held, kept) if item.status == "accepted" else (held,):
            counted.files.add(item.file)
            counted.cells[(item.pair, str(item.side)) if sentences else _origin(item)] += 1
            if not sentences:
                counted.contexts.add(item.context)
    return held, kept


def _origin(item: Item) -> tuple[str, ...]:
    sets = item.extra.get("pronouns")
    pronouns = ", ".join(map(str, sets)) if isinstance(sets, list) else ""
    model, dataset, setting = (str(item.extra.get(key, "")) for key in ("model", "dataset", "setting"))
    return model, dataset, pronouns, setting


def _facts(known: Known, language: Language, reason: str = "", checks: Sequence[Any] = ()) -> dict[str, Any]:
    """Return the variables of the template: the facts, and their consequences."""
    project, reasons, snapshot = known.project, known.guideline.beside, known.snapshot
    labels = snapshot.label_totals
    return fields_of(known) | {
        "app": VERSION,
        "project": asdict(project),
        "release_reason": reason,
        "release_checks": checks,
        "sentences": snapshot.sentences,
        "kept_cells": sorted(known.kept.cells.items()),
        "labels": labels,
        "cells": sorted(known.held.cells.items()),
        "most_rows": MOST_ROWS,
        "steps": funnel_steps(known.way),
        "step_ids": funnel_ids(snapshot.sentences),
        "agreement": snapshot.agreement if len(labels.people) > 1 else None,
        "quantities": quantities_json(known.quantities, messages=True),
        "signatures": list(dict.fromkeys(run["signature"] for run in known.way["runs"])),
        "built_in": recognise(known.guideline.text),
        "reasons": {choice.code: (choice.zh if language == "zh" else choice.en) or choice.code for choice in reasons},
        "labels_name": name_of_labels(known.provenance),
        "locked": not snapshot.sentences and not text_may_leave(project),
        "canary": CANARY if needs_canary(project) else None,
    }
