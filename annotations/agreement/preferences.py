"""Which model do people prefer, or a judge: strengths from the comparisons of a project, all of them or by group.

The blind labels of all published comparisons count, finished or not. A label whose two models have no name, or the same
one, says nothing of models and is left out. Contexts are the units (as in `generations`). Also: how often each
annotator chose the text on the left.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.annotations.database.store import Store, consistent_read
from evenhand.annotations.guideline.scheme import FIRST, SECOND, TIE
from evenhand.annotations.guideline.versions import compares
from evenhand.annotations.labels.generation_labels import generations
from evenhand.annotations.labels.read import LEFT, each_label_row
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Refused
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.bradley_terry import Comparisons, Preferences, bradley_terry
from evenhand.core.statistics.posterior import share_of_rows

if TYPE_CHECKING:
    import pandas as pd

GROUPS = ("dataset", "pronoun", "setting")
NO_COMPARISONS = N_("{project} has no comparisons: each of its items has one text.")
_PEOPLE = f"SELECT item_uid, annotator, choice, {LEFT.format(label='blind_label')} FROM blind_label WHERE project = ?"
_JUDGE = """
SELECT item.uid, 0, judge_label.choice, judge_order.place FROM judge_label
JOIN published_item AS item ON item.id = judge_label.item
LEFT JOIN judge_order ON judge_order.label = judge_label.id
WHERE item.project = ? AND judge_label.judge = ? AND judge_label.round = 0
"""
_MODELS = "SELECT uid, extra ->> 'model', extra ->> 'second_model' FROM published_item WHERE project = ?"
_OUTCOMES = {FIRST: 0, SECOND: 1, TIE: 2}
_SIDES = {FIRST: 1, SECOND: -1}


@dataclass(frozen=True, slots=True)
class ModelPreferences:
    """The preferences between models that comparisons show.

    `items`, `labels`, `annotators`: how many count; `left_out`: labels without two different named models. `groups`:
    the preferences within each value of the requested grouping, in the order of values.
    """

    comparisons: Comparisons
    found: Preferences
    items: int
    labels: int
    annotators: int
    left_out: int
    groups: Mapping[str, Preferences]
    offered: tuple[str, ...]

    @property
    def contexts(self) -> int:
        """The number of contexts that the comparisons are from."""
        return int(self.comparisons.context.max(initial=-1)) + 1

    @property
    def counts(self) -> list[tuple[int, int, int]]:
        """For each model how often it was compared, preferred and tied."""
        won, tied = self.comparisons.wins()
        wins, losses, ties = won.sum(axis=1), won.sum(axis=0), tied.sum(axis=1)
        return [(int(a + b + c), int(a), int(c)) for a, b, c in zip(wins, losses, ties, strict=True)]


@consistent_read
def preferences(
    store: Store, project: Project, *, judge: int | None = None, by: str | None = None, without: Sequence[str] = ()
) -> ModelPreferences:
    """Fit the preferences of people, or of one *judge* (row id).

    *by*: one of GROUPS; *without*: models that are left out. Raises Refused for a project without comparisons.
    """
    if not compares(store, project):
        raise Refused(NO_COMPARISONS, project=project.name)
    if judge is None:
        rows = store.db.execute(_PEOPLE, (project.id,)).fetchall()
    else:
        rows = store.db.execute(_JUDGE, (project.id, judge)).fetchall()
    names = {uid: pair for uid, *pair in store.db.execute(_MODELS, (project.id,))}
    named = [row for row in rows if row[2] in _OUTCOMES and _differ(names[row[0]], without)]
    facts = generations(store, project).set_index("item")
    comparisons = _comparisons(named, names, facts)
    groups = {}
    if by is not None:
        values = np.array([str(facts.at[row[0], by]) for row in named], dtype=object)
        for value in sorted(set(values.tolist())):
            groups[value] = bradley_terry(comparisons.only(values == value))
    return ModelPreferences(
        comparisons, bradley_terry(comparisons), len({row[0] for row in named}), len(named),
        len({row[1] for row in named}), len(rows) - len(named), groups,
        tuple(name for name in GROUPS if facts[name].nunique() > 1),
    )  # fmt: skip


def _differ(pair: Sequence[str | None], without: Sequence[str]) -> bool:
    return bool(pair[0] and pair[1]) and pair[0] != pair[1] and not set(pair) & set(without)


def _comparisons(
    rows: Sequence[Sequence[Any]], names: Mapping[str, Sequence[str]], facts: "pd.DataFrame"
) -> Comparisons:
    models = sorted({str(name) for row in rows for name in names[row[0]]})
    place = {name: at for at, name in enumerate(models)}
    contexts = {uid: facts.at[uid, "cluster"] for uid, *_ in rows}

    def codes(values: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
        number = {value: at for at, value in enumerate(dict.fromkeys(values))}
        return np.array([number[value] for value in values], dtype=np.int64)

    def column(values: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.array(values, dtype=np.int64)

    return Comparisons(
        tuple(models),
        column([place[str(names[row[0]][0])] for row in rows]),
        column([place[str(names[row[0]][1])] for row in rows]),
        column([_OUTCOMES[row[2]] for row in rows]),
        column([_SIDES.get(row[3], 0) for row in rows]),
        codes([contexts[row[0]] for row in rows]),
        codes([row[1] for row in rows]),
    )


NO_SIDE = Note(N_("No label that chooses a text records which text was on the left."))


@dataclass(frozen=True)
class LeftChosen:
    """The share of labels that choose the left text, among blind labels that choose one, 0 to 1.

    Its interval is over contexts. `by_annotator`: the same of each, by name. `ties`: labels that choose neither;
    `unknown`: those whose file does not say which text was on the left.
    """

    share: Estimate
    by_annotator: tuple[tuple[str, Estimate], ...]
    ties: int
    unknown: int


def left_chosen(store: Store, project: Project) -> LeftChosen:
    """Return how often annotators chose the left text in a project of comparisons."""
    known = generations(store, project)
    context = dict(zip(known["item"], known["cluster"], strict=True))
    values: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    ties = unknown = 0
    for row in each_label_row(store, project, which="blind"):
        if row["choice"] == TIE:
            ties += 1
        elif row["left"] is None:
            unknown += 1
        else:
            values[row["annotator"]].append((row["choice"] == row["left"], context[row["item"]]))
    everybody = [row for rows in values.values() for row in rows]
    return LeftChosen(
        _share(everybody), tuple((name, _share(rows)) for name, rows in sorted(values.items())), ties, unknown
    )


def _share(rows: list[tuple[bool, str]]) -> Estimate:
    return share_of_rows([hit for hit, _ in rows], [context for _, context in rows], nothing=NO_SIDE)
