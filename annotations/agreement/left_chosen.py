"""How often the text on the left was chosen: of a comparison, whose order is drawn, half of the time if only the texts
count."""

from collections import defaultdict
from dataclasses import dataclass

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.scheme import TIE
from evenhand.annotations.labels.generation_labels import generations
from evenhand.annotations.labels.read import each_label_row
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.posterior import share_of_rows

NO_SIDE = Note(N_("No label that chooses a text says which one was on the left."))


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
    """How often the left text was chosen in a project of comparisons."""
    known = generations(store, project)
    context = dict(zip(known["item"], known["cluster"], strict=True))
    said: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    ties = unknown = 0
    for row in each_label_row(store, project, which="blind"):
        if row["choice"] == TIE:
            ties += 1
        elif row["left"] is None:
            unknown += 1
        else:
            said[row["annotator"]].append((row["choice"] == row["left"], context[row["item"]]))
    everybody = [one for rows in said.values() for one in rows]
    return LeftChosen(
        _share(everybody), tuple((name, _share(rows)) for name, rows in sorted(said.items())), ties, unknown
    )


def _share(rows: list[tuple[bool, str]]) -> Estimate:
    return share_of_rows([hit for hit, _ in rows], [context for _, context in rows], nothing=NO_SIDE)
