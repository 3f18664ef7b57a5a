"""Retest agreement: how far annotators agree with themselves, over the first and the second label of the same item.

Also the report of a project's quality: retests, and the answers to items with a known one.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import NamedTuple

import numpy as np

from evenhand.annotations.database.events import current_project
from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.items.batch import as_item
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.quality.known_answers import SIGNATURE, KnownAnswerScore, KnownItem, known_items, scores
from evenhand.annotations.queue.retests import retest_pairs, retest_states, retest_texts
from evenhand.annotations.types import Choice, Form, Item, Project
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note, Resampling, cohen_kappa, modified_wilson

VERSION = 2  # of the method: raise it when a number may change
DAY_S = 86_400.0

NO_RETEST = Note(N_("No item has been labelled a second time yet."))
NO_FLAG_RETEST = Note(N_("No flag has been judged a second time yet."))


class RetestPair(NamedTuple):
    """The two labels of one item by one annotator; `flags` None: one of them has no flag (sentences have none)."""

    retest: int
    annotator: int
    first: str
    second: str
    flags: tuple[bool, bool] | None
    days: float
    same_guideline: bool


@dataclass(frozen=True, slots=True)
class RetestAgreement:
    """One annotator, or all together (`annotator` "").

    `agreed`: share of items with the same choice both times, modified Wilson interval (all together: over items of
    annotators); `flag` the same of the flag for extraneous gendered language; `kappa` is Cohen's, between first and
    second label. `table[i][j]`: first choice i, second choice j. `days`: least, median and most days between. The other
    fields are counts of retests: waiting, on a desk, left out because the guideline changed in between, left out
    because labels or an opinion were shown before the second label, void because of relabelling or a new draw, and
    `left`: of former annotators, not expected unless they are reactivated.
    """

    annotator: str
    agreed: Estimate
    kappa: Estimate
    flag: Estimate | None
    table: tuple[tuple[int, ...], ...]
    days: tuple[float, float, float] | None
    waiting: int
    handed_out: int
    other_guideline: int
    seen: int
    void: int
    left: int

    @property
    def compared(self) -> int:
        """The number of items that were labelled twice and count."""
        return self.agreed.units


@dataclass(frozen=True, slots=True)
class RetestReport:
    """Every annotator with retests, in the order of joining, and all of them together."""

    annotators: tuple[RetestAgreement, ...]
    together: RetestAgreement
    choices: tuple[Choice, ...]
    share: float
    hours: int
    signature: str


@dataclass(frozen=True, slots=True)
class RetestDifference:
    """An item whose second label differs from the first."""

    item: Item
    annotator: str
    choices: tuple[str, str]
    reasons: tuple[tuple[str, ...], tuple[str, ...]]
    notes: tuple[str, str]
    forms: tuple[Form, Form]
    days: float


@consistent_read
def retest_report(store: Store, project: Project, *, resampling: Resampling | None = None) -> RetestReport:
    """Return the retest agreement of each annotator of a project, and of all together."""
    drawn = resampling or Resampling()
    pairs = list(_pairs(store, project))
    choices = _choices(store, project, pairs)
    states: dict[int, Counter[str]] = {}
    for who, state, number in retest_states(store, project):
        states.setdefault(who, Counter())[state] = number
    flags = project.kind == "generations"
    people = tuple(
        _agreement_of(
            annotator.name,
            [pair for pair in pairs if pair.annotator == annotator.id],
            states[annotator.id],
            choices,
            flags,
            drawn,
        )
        for annotator in annotators(store, project, active=False)
        if annotator.id in states
    )
    together = _agreement_of("", pairs, sum(states.values(), Counter()), choices, flags, drawn)
    now = current_project(store, project)
    return RetestReport(people, together, choices, now.retest, now.retest_hours, _signature(choices, now, drawn))


@consistent_read
def retest_differences(store: Store, project: Project, annotator: str | None = None) -> list[RetestDifference]:
    """Return items whose second label differs from the first, newest first; of one annotator by name, or of all."""
    differences = []
    for pair in _pairs(store, project):
        if pair.first == pair.second or not pair.same_guideline:
            continue
        row = retest_texts(store, pair.retest)
        if row is None:
            continue
        name, first, second, *rest = row[-7:]
        reasons = tuple(json.loads(first)), tuple(json.loads(second))
        notes, forms = (rest[0], rest[1]), (rest[2], rest[3])
        item = as_item(tuple(row[:-7]))
        chosen = pair.first, pair.second
        differences.append(RetestDifference(item, name, chosen, reasons, notes, forms, pair.days))
    return [
        retest_difference
        for retest_difference in reversed(differences)
        if annotator in (None, retest_difference.annotator)
    ]


def _pairs(store: Store, project: Project) -> Iterator[RetestPair]:
    for retest, who, first, second, flag, other, made, again, same in retest_pairs(store, project):
        if second is None:
            continue
        days = (datetime.fromisoformat(again) - datetime.fromisoformat(made)).total_seconds() / DAY_S
        flags = None if flag is None or other is None else (bool(flag), bool(other))
        yield RetestPair(retest, who, first, second, flags, days, bool(same))


def _choices(store: Store, project: Project, pairs: Sequence[RetestPair]) -> tuple[Choice, ...]:
    result = {choice.code: choice for version in guidelines(store, project)[::-1] for choice in version.choices[::-1]}
    for code in sorted({code for pair in pairs for code in (pair.first, pair.second)} - set(result)):
        result[code] = Choice(code, "", code, code)
    newest = [choice.code for choice in guidelines(store, project)[-1].choices]
    return tuple(result[code] for code in [*newest, *(code for code in result if code not in newest)])


def _agreement_of(
    name: str,
    pairs: Sequence[RetestPair],
    states: Counter[str],
    choices: Sequence[Choice],
    with_flag: bool,
    resampling: Resampling,
) -> RetestAgreement:
    place = {choice.code: i for i, choice in enumerate(choices)}
    counted = [pair for pair in pairs if pair.same_guideline]
    table = np.zeros((len(choices), len(choices)), dtype=np.int64)
    for pair in counted:
        table[place[pair.first], place[pair.second]] += 1
    days = [pair.days for pair in counted]
    flags = [pair.flags for pair in counted if pair.flags is not None]
    same_flags = sum(first == second for first, second in flags)
    kappa = cohen_kappa(table, resampling) if counted else Estimate.undefined(NO_RETEST)
    return RetestAgreement(
        annotator=name,
        agreed=modified_wilson(int(np.trace(table)), len(counted), nothing=NO_RETEST),
        kappa=kappa,
        flag=modified_wilson(same_flags, len(flags), nothing=NO_FLAG_RETEST) if with_flag else None,
        table=tuple(map(tuple, table.tolist())),
        days=(min(days), median(days), max(days)) if days else None,
        waiting=states["waiting"],
        handed_out=states["leased"] + states["skipped"],
        other_guideline=len(pairs) - len(counted),
        seen=states["labelled"] - len(pairs),
        void=states["void"],
        left=states["left"],
    )


def _signature(choices: Sequence[Choice], now: Project, resampling: Resampling) -> str:
    codes = "+".join(choice.code for choice in choices)
    kappa = resampling.signature("annotator-item", "dirichlet")
    return (
        f"consistency|labels:blind-first+second|items:drawn-share:{now.retest:g}-seed:{now.seed}-after:{now.retest_hours}h"
        "|guideline:same"
        f"|categories:{codes}|share:modified-wilson|kappa:{kappa}|v{VERSION}"
    )


@dataclass(frozen=True, slots=True)
class Quality:
    """Both measures of a project; `known` is every item with a known answer."""

    consistency: RetestReport
    scores: tuple[KnownAnswerScore, ...]
    known: tuple[KnownItem, ...]
    known_signature: str


@consistent_read
def quality(store: Store, project: Project, *, resampling: Resampling | None = None) -> Quality:
    """Measure retest agreement and agreement with the known answers, each with 95% intervals. For leads only."""
    return Quality(
        retest_report(store, project, resampling=resampling),
        tuple(scores(store, project)),
        tuple(known_items(store, project)),
        SIGNATURE,
    )
