"""The labels of generations in the ways in which people are compared, and their marks.

See docs/human_vs_rule.md#labels-of-generations.

The published 96% do not name the number of categories. So there are four labels, three (plural they counts as no
pronoun), two (misgendering or not), and the flag for extraneous gendered language. Under a scheme of one's own there
are its choices, which take the place of the four labels, each of its flags, and each of its scales, whose points have
an order.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guideline, guidelines
from evenhand.annotations.labels.blind_labels import BlindLabels, Numbers, blind_labels
from evenhand.annotations.labels.checks import mark_kinds
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.types import Choice, Guideline, Project
from evenhand.core.human_vs_rule.apply_rule import CHOICES, FLAG, NAMES, SCHEMES, merged
from evenhand.core.human_vs_rule.apply_rule import Scheme as Merged
from evenhand.core.human_vs_rule.means_over_contexts import MarkAgreement
from evenhand.core.human_vs_rule.means_over_contexts import agreement as agreement_of_marks
from evenhand.core.language import translate
from evenhand.core.statistics import Resampling

Way = str  # one of WAYS, or FLAG_OF or SCALE_OF and the code of a flag or question
WAYS: tuple[Way, ...] = ("four", "three", "two", "flag")
FLAG_OF, SCALE_OF = "flag:", "scale:"

Groups = dict[tuple[str, str], Numbers]


def merged_rows(
    store: Store, project: Project, rows: Sequence[tuple[Any, ...]], choices: tuple[Choice, ...], way: Way
) -> tuple[BlindLabels, tuple[Choice, ...], Groups]:
    """Return labels under *way* with the context of each, the categories, and the items of each model and pronoun set.

    *rows*: `blind_label_rows` with the flag, the item's public id and the reasons; *choices*: those of the guideline,
    which are the categories of the four labels. Some labels are left out: of "flag" those without a flag; of an own
    flag those of versions without it; of a scale those without an answer; of "three" and "two" those that are none of
    the four labels.
    """
    if way.startswith(FLAG_OF):
        code = way.removeprefix(FLAG_OF)
        versions = {
            stored_guideline.id: reason
            for stored_guideline in guidelines(store, project)
            for reason in stored_guideline.reasons
            if reason.code == code
        }
        offered: tuple[Choice, ...] = _with_and_without(code, list(versions.values()))
        asked = versions.keys()
        said = [(*row[:2], offered[code not in json.loads(row[8])].code, *row[3:]) for row in rows if row[4] in asked]
    elif way.startswith(SCALE_OF):
        offered = _points(guidelines(store, project), way.removeprefix(SCALE_OF))
        points = {choice.code for choice in offered}
        answers = [points & set(json.loads(row[8])) for row in rows]
        said = [(*row[:2], *answer, *row[3:]) for row, answer in zip(rows, answers, strict=True) if len(answer) == 1]
    elif way == "flag":
        offered = tuple(_choice(code) for code in FLAG)
        said = [(*row[:2], FLAG[1 - row[6]], *row[3:]) for row in rows if row[6] is not None]
    elif way == "four":
        offered, said = choices, list(rows)
    else:
        scheme: Merged = "three" if way == "three" else "two"
        offered = tuple(_choice(code) for code in SCHEMES[scheme])
        said = [(*row[:2], merged(row[2], scheme), *row[3:]) for row in rows if row[2] in CHOICES]
    made = blind_labels(said, [choice.code for choice in offered])
    uids = [row[7] for row in said]
    contexts, groups = _contexts_and_groups(store, project, uids, made)
    return replace(made, cluster=contexts), offered, groups


def _points(versions: Sequence[Guideline], code: str) -> tuple[Choice, ...]:
    """Return the points of a scale in any version, in their order, in the newest wording."""
    result = {
        point.code: point
        for version in versions
        for question in (version.scheme.scales if version.scheme else ())
        for point in question.points
        if question.code == code
    }
    return tuple(sorted(result.values(), key=lambda one: int(one.code.rpartition(":")[2])))


def _with_and_without(code: str, wordings: Sequence[Choice]) -> tuple[Choice, Choice]:
    """Return two categories: labels with an own flag, in its newest wording, and those without it."""
    absent = _choice(FLAG[1])
    name = wordings[-1] if wordings else Choice(code, "", code, code)
    present = Choice(f"{code}:{FLAG[0]}", "", name.zh or name.en, name.en or name.zh)
    return present, replace(absent, code=f"{code}:{FLAG[1]}")


def mark_agreement(store: Store, project: Project, resampling: Resampling | None = None) -> tuple[MarkAgreement, ...]:
    """Return how far annotators marked the same characters, for each kind of mark.

    Every two annotators of every generation are compared.
    """
    labels = labels_of_generations(store, project)
    marks = {item: list(rows["spans"]) for item, rows in labels.groupby("item", sort=False)}
    clusters = dict(zip(labels["item"], labels["cluster"], strict=True))
    kinds = mark_kinds(guideline(store, project))
    return tuple(agreement_of_marks(marks, clusters, kind, resampling) for kind in kinds)


def ways_of(store: Store, project: Project) -> dict[Way, Choice | None]:
    """Return the ways of comparing labels of this project, with their own flag or scale; None for built-in ways."""
    newest = guideline(store, project)
    if newest.scheme is None:
        return dict.fromkeys(WAYS)
    scales = [Choice(scale.code, scale.key, scale.zh, scale.en) for scale in newest.scheme.scales]
    return {"four": None} | {
        f"{what}{option.code}": option
        for what, options in ((FLAG_OF, newest.reasons), (SCALE_OF, scales))
        for option in options
    }


def _choice(code: str) -> Choice:
    return Choice(code, "", translate(NAMES[code], "zh"), NAMES[code])


def _contexts_and_groups(store: Store, project: Project, uids: list[str], made: BlindLabels) -> tuple[Numbers, Groups]:
    """Return the number of each label's context, and the items of each model and pronoun set in the order of import."""
    known = generations(store, project).set_index("item")
    number: dict[str, int] = {}
    clusters, model, pronoun = known["cluster"].to_dict(), known["model"].to_dict(), known["pronoun"].to_dict()
    contexts = np.array([number.setdefault(clusters[uid], len(number)) for uid in uids], dtype=np.int64)
    groups: dict[tuple[str, str], list[int]] = {
        key: [] for key in dict.fromkeys(zip(known["model"], known["pronoun"], strict=True))
    }
    for uid, item in zip(uids, made.item.tolist(), strict=True):
        groups[model[uid], pronoun[uid]].append(item)
    result = {key: np.unique(np.array(items, dtype=np.int64)) for key, items in groups.items() if items}
    return contexts, result
