"""Sums over the valid labels of a project, for its papers and releases."""

import json
from array import array
from collections import Counter
from dataclasses import dataclass, field

from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project

BREAKS_S = 300.0  # a time this long on one item is a break, as in the pace of the desk

LABELS = """
SELECT guideline.version, label.choice, label.extraneous, label.spans, label.reasons, label.seconds, label.created,
    label.annotator
FROM standing_label AS label JOIN guideline ON guideline.id = label.guideline
WHERE label.project = ?
"""


@dataclass(slots=True)
class LabelTotals:
    """Sums over the valid labels: as rows, a million would take 240 MB.

    `flags`: answers to the flag, and how many of them set it; `tags`: reasons; `seconds`: of those with a time;
    `people`: annotator (row id) -> number of labels, and their seconds without breaks.
    """

    number: int = 0
    versions: Counter[int] = field(default_factory=Counter)
    choices: Counter[str] = field(default_factory=Counter)
    flags: Counter[bool] = field(default_factory=Counter)
    marks: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    first: str = ""
    last: str = ""
    seconds: "array[float]" = field(default_factory=lambda: array("d"))
    people: dict[int, tuple[int, float]] = field(default_factory=dict)


def label_totals(store: Store, project: Project) -> LabelTotals:
    """Return the sums; every label is read once."""
    totals = LabelTotals()
    for version, choice, flag, spans, reasons, seconds, created, who in store.db.execute(LABELS, (project.id,)):
        totals.number += 1
        totals.versions[version] += 1
        totals.choices[choice] += 1
        if flag is not None:
            totals.flags[bool(flag)] += 1
        if spans != "[]":
            totals.marks += len(json.loads(spans))
        if reasons != "[]":
            totals.tags.update(dict.fromkeys(json.loads(reasons), 1))
        totals.first = min(totals.first or created, created)
        totals.last = max(totals.last, created)
        if seconds is not None:
            totals.seconds.append(seconds)
        labels, spent = totals.people.get(who, (0, 0.0))
        totals.people[who] = labels + 1, spent + min(seconds or 0.0, BREAKS_S)
    return totals
