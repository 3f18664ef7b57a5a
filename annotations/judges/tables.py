"""Labels of people and of a judge beside each other: what comparisons and estimates begin with.

Only items that people have finished have people's labels here: until then nothing of them may be shown.
"""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from annotations.database.store import Store
from annotations.guideline.versions import guideline
from annotations.judges.judges import Judge
from annotations.labels.generation_labels import generations, labels_of_generations
from annotations.types import Kind, Project

if TYPE_CHECKING:
    import pandas as pd

# What a rate is of, by kind of project: the measure and the choice that it counts; "" for the flag.
MEASURES: dict[Kind, dict[str, str]] = {
    "generations": {"misgendering": "misgendering", "extraneous": ""},
    "sentences": {"accept": "accept"},
}
_LABELS = """
SELECT item.uid, choice, extraneous, spans, shares, answered FROM judge_label
JOIN published_item AS item ON item.id = judge_label.item WHERE judge = ? AND round = 0
"""
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


def judge_labels(store: Store, found: Judge) -> "pd.DataFrame":
    """One row per label of a judge (not of a later round): item (public id), judge, judge_flag (1, 0, NaN), marks,
    shares, answered."""
    import pandas as pd

    rows = [
        (
            uid,
            choice,
            float("nan") if flag is None else float(flag),
            _marks(spans),
            json.loads(shares or "{}"),
            answered,
        )
        for uid, choice, flag, spans, shares, answered in store.db.execute(_LABELS, (found.id,))
    ]
    return pd.DataFrame(rows, columns=["item", "judge", "judge_flag", "judge_marks", "shares", "answered"])


def with_judge(table: "pd.DataFrame", labels: "pd.DataFrame", measures: Mapping[str, str]) -> "pd.DataFrame":
    """*table* of `item_table` with judge_<measure> beside it: 1, 0, or NaN where the judge says nothing of it."""
    merged = table.merge(labels[["item", "judge", "judge_flag"]], on="item", how="left", validate="one_to_one")
    for measure, choice in measures.items():
        known = merged["judge"].notna()
        values = (merged["judge"] == choice).astype(float).where(known) if choice else merged["judge_flag"]
        merged[f"judge_{measure}"] = values.astype(float)
    return merged


def _flags(said: "pd.Series[Any]") -> "pd.Series[float]":
    return said.map({True: 1.0, False: 0.0}).astype(float)


def _marks(spans: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((int(start), int(end), str(kind)) for start, end, kind in json.loads(spans))
