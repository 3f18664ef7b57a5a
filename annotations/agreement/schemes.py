"""The labels of generations in the four ways in which people are compared (SPEC 4.9), and their marks.

The published 96% do not name the number of categories. So there are four labels, three (plural they counts as no
pronoun), two (misgendering or not), and the flag for extraneous gendered language.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from annotations.database.store import Store
from annotations.labels.blind_labels import BlindLabels, Numbers, blind_labels
from annotations.labels.generation_labels import generations, labels_of_generations
from annotations.types import Choice, Project
from core.human_vs_rule.mark_agreement import KINDS, MarkAgreement
from core.human_vs_rule.mark_agreement import agreement as agreement_of_marks
from core.human_vs_rule.schemes import FLAG, NAMES, SCHEMES, merged
from core.language import translate
from core.statistics import Resampling

Way = Literal["four", "three", "two", "flag"]
WAYS: tuple[Way, ...] = get_args(Way)

Groups = dict[tuple[str, str], Numbers]


def scheme_labels(
    store: Store, project: Project, rows: Sequence[tuple[Any, ...]], choices: tuple[Choice, ...], way: Way
) -> tuple[BlindLabels, tuple[Choice, ...], Groups]:
    """Labels under *way* with the context of each, the categories, and the items of each model and pronoun set.

    *rows*: `blind_label_rows` with the flag and the item's public id; *choices*: those of the guideline, which the four
    labels keep. A label without a flag is left out of "flag".
    """
    if way == "flag":
        offered = tuple(_choice(code) for code in FLAG)
        said = [(*row[:2], FLAG[1 - row[6]], *row[3:]) for row in rows if row[6] is not None]
    elif way == "four":
        offered, said = choices, list(rows)
    else:
        offered = tuple(_choice(code) for code in SCHEMES[way])
        said = [(*row[:2], merged(row[2], way), *row[3:]) for row in rows]
    made = blind_labels(said, [choice.code for choice in offered])
    uids = [row[7] for row in said]
    contexts, groups = _contexts_and_groups(store, project, uids, made)
    return replace(made, cluster=contexts), offered, groups


def mark_agreement(store: Store, project: Project, resampling: Resampling | None = None) -> tuple[MarkAgreement, ...]:
    """How far annotators marked the same characters, per kind of mark; every two annotators of every generation."""
    said = labels_of_generations(store, project)
    marks = {item: list(rows["spans"]) for item, rows in said.groupby("item", sort=False)}
    clusters = dict(zip(said["item"], said["cluster"], strict=True))
    return tuple(agreement_of_marks(marks, clusters, kind, resampling) for kind in KINDS)


def _choice(code: str) -> Choice:
    return Choice(code, "", translate(NAMES[code], "zh"), NAMES[code])


def _contexts_and_groups(store: Store, project: Project, uids: list[str], made: BlindLabels) -> tuple[Numbers, Groups]:
    """Per label the number of its context, and the items of each model and pronoun set in the order of import."""
    known = generations(store, project).set_index("item")
    number: dict[str, int] = {}
    clusters, model, pronoun = known["cluster"].to_dict(), known["model"].to_dict(), known["pronoun"].to_dict()
    contexts = np.array([number.setdefault(clusters[uid], len(number)) for uid in uids], dtype=np.int64)
    groups: dict[tuple[str, str], list[int]] = {
        key: [] for key in dict.fromkeys(zip(known["model"], known["pronoun"], strict=True))
    }
    for uid, item in zip(uids, made.item.tolist(), strict=True):
        groups[model[uid], pronoun[uid]].append(item)
    found = {key: np.unique(np.array(items, dtype=np.int64)) for key, items in groups.items() if items}
    return contexts, found
