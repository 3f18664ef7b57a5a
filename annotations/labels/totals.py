"""Sums over the valid labels of a project: by choice, version, person, with flags, marks and times."""

import json
from array import array
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project

BREAKS_S = 300.0  # a time this long on one item is a break, as in the pace of the desk

STANDING = """
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

    versions: Counter[int] = field(default_factory=Counter)
    choices: Counter[str] = field(default_factory=Counter)
    flags: Counter[bool] = field(default_factory=Counter)
    marks: int = 0
    tags: Counter[str] = field(default_factory=Counter)
    first: str = ""
    last: str = ""
    seconds: "array[float]" = field(default_factory=lambda: array("d"))
    people: dict[int, tuple[int, float]] = field(default_factory=dict)

    @property
    def hours(self) -> float | None:
        """The hours of all labels with a time, of each at most BREAKS_S; None without one."""
        return sum(min(second, BREAKS_S) for second in self.seconds) / 3600 if self.seconds else None

    @property
    def median_seconds(self) -> float | None:
        """The median time of a label; None if none has a time."""
        return float(np.median(np.frombuffer(self.seconds))) if self.seconds else None

    @property
    def breaks(self) -> int:
        """The number of labels whose time is longer than BREAKS_S."""
        return sum(second > BREAKS_S for second in self.seconds)


def label_totals(store: Store, project: Project) -> LabelTotals:
    """Return the sums; every label is read once."""
    totals = LabelTotals()
    for version, choice, flag, spans, reasons, seconds, created, who in store.db.execute(STANDING, (project.id,)):
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
