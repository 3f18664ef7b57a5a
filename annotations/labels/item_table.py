"""What people say of the items of a project, as tables that a rate is worked out from.

Only items that people have finished have people's labels here: until then nothing of them may be shown.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.types import Kind, Project

if TYPE_CHECKING:
    import pandas as pd

# What a rate is of, by kind of project: the measure and the choice that it counts; "" for the flag.
MEASURES: dict[Kind, dict[str, str]] = {
    "generations": {"misgendering": "misgendering", "extraneous": ""},
    "sentences": {"accept": "accept"},
}
_LANGUAGES = "SELECT uid, extra ->> 'language' FROM published_item WHERE project = ? AND extra LIKE '%\"language\"%'"


def measures_of(store: Store, project: Project) -> dict[str, str]:
    """The rates of a project: the measure and the choice that it counts. Of an own scheme, one for each choice."""
    newest = guideline(store, project)
    return MEASURES[project.kind] if newest.scheme is None else {one.code: one.code for one in newest.choices}


def item_table(store: Store, project: Project) -> "pd.DataFrame":
    """One row per item with the columns of `generations`, its `language`, and people_<measure>: the share of its blind
    labels that say so (NaN: not finished, or nobody said)."""
    table = generations(store, project)
    table["language"] = _languages(store, project, table["item"])
    said = people_labels(store, project)
    for measure, choice in measures_of(store, project).items():
        values = (said["choice"] == choice).astype(float) if choice else _flags(said["extraneous"])
        table[f"people_{measure}"] = table["item"].map(values.groupby(said["item"]).mean()).astype(float)
    return table


def people_labels(store: Store, project: Project) -> "pd.DataFrame":
    """One row per blind label of a finished item, with the columns of `generations` beside it and its `language`."""
    said = labels_of_generations(store, project)
    said = said[said["finished"].astype(bool)].reset_index(drop=True)
    return said.assign(language=_languages(store, project, said["item"]))


def _languages(store: Store, project: Project, items: Iterable[str]) -> list[str]:
    """The language that each item names, else that of the project."""
    named = dict(store.db.execute(_LANGUAGES, (project.id,)).fetchall())
    return [named.get(uid) or project.language for uid in items]


def _flags(said: "pd.Series[Any]") -> "pd.Series[float]":
    return said.map({True: 1.0, False: 0.0}).astype(float)
