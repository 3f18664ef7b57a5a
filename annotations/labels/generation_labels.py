"""Labels as tables: one row per item, one per blind label, and the rates that they give.

A *blind* label is the last one that an annotator made before seeing anybody's opinion. A generation is *finished* when
no further blind label is expected (docs/architecture.md#at-the-desk). Only then may its labels or the rule's verdict
be shown.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.items.batch import WHOLE_TEXT
from evenhand.annotations.labels.read import FINISHED
from evenhand.annotations.types import Kind, Mark, Project
from evenhand.core.errors import BadFile
from evenhand.core.human_vs_rule.apply_rule import dataset_of, pronouns_of

if TYPE_CHECKING:  # takes a third of a second to import, and the first page does not need it
    import pandas as pd

ITEMS = f"""
SELECT item.id, item.uid, {WHOLE_TEXT}, coalesce(item.context, ''), item.extra, item.labels, item.wanted,
    item.gold, item.status,
    item.labels > 0 AND {FINISHED}
FROM published_item AS item
WHERE item.project = ? ORDER BY item.published, item.id
"""
LABELS = """
SELECT item_uid, annotator.name, choice, extraneous, spans, reasons, note
FROM blind_label JOIN annotator ON annotator.id = blind_label.annotator
WHERE project = ? ORDER BY item, annotator.name
"""
GENERATION_COLUMNS = (
    "item", "text", "context", "cluster", "model", "pronouns", "pronoun", "dataset", "setting", "index", "name",
    "labels", "wanted", "finished", "gold", "status",
)  # fmt: skip
LABEL_COLUMNS = ("item", "annotator", "choice", "extraneous", "spans", "reasons", "note")


def generations(store: Store, project: Project) -> "pd.DataFrame":
    """Return one row per generation, labelled or not, in the order of import; columns as in COLUMNS.

    `cluster`: data set and template of the context (else the context itself, else the item): generations of one cluster
    resemble each other. `pronouns`: tuple of set names, () if unknown; `pronoun`: the same as one word for a table
    ("she", "she + they", ""). `dataset`: one of the data sets of core.text.pronouns. `finished`: see above.
    """
    import pandas as pd

    rows = [_generation(row) for row in store.db.execute(ITEMS, (project.id,))]
    return pd.DataFrame(rows, columns=GENERATION_COLUMNS)


def labels_of_generations(store: Store, project: Project) -> "pd.DataFrame":
    """Return one row per blind label, with the columns of `generations` added.

    `choice`: correct, misgendering, no_pronoun or plural_they; `extraneous`: True, False or None; `spans`: tuple of
    Mark; `reasons`: tuple of tag codes. Rows come in the order of import, then by name of annotator.
    """
    import pandas as pd

    said = [
        (item, who, choice, None if extraneous is None else bool(extraneous), _marks(spans), _codes(reasons), note)
        for item, who, choice, extraneous, spans, reasons, note in store.db.execute(LABELS, (project.id,))
    ]
    labels = pd.DataFrame(said, columns=LABEL_COLUMNS)
    return labels.merge(generations(store, project), on="item", how="inner", validate="many_to_one")


def _generation(row: Sequence[Any]) -> tuple[Any, ...]:
    _id, uid, text, context, extra, labels, wanted, gold, status, finished = row
    values: dict[str, Any] = json.loads(extra)
    dataset = dataset_of(values)
    template = str(values.get("template") or context or uid)
    pronouns = _pronouns(values)
    return (
        uid, text, context, f"{dataset}|{template}", _models(values), pronouns, " + ".join(pronouns), dataset,
        _text(values, "setting"), _text(values, "index"), _text(values, "name"), labels, wanted, bool(finished), gold,
        status,
    )  # fmt: skip


def _models(values: Mapping[str, Any]) -> str:
    """Return the model; of a comparison both models, sorted by name."""
    models = sorted({_text(values, key) for key in ("model", "second_model")} - {""})
    return " vs. ".join(models)


def _text(values: Mapping[str, Any], key: str) -> str:
    return "" if values.get(key) is None else str(values[key])


def _pronouns(values: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        return pronouns_of(values)
    except BadFile:  # imported before pronouns were read: the right ones are unknown
        return ()


def _marks(spans: str) -> tuple[Mark, ...]:
    return tuple(Mark(*mark) for mark in json.loads(spans))


def _codes(reasons: str) -> tuple[str, ...]:
    return tuple(str(code) for code in json.loads(reasons))


# What a rate is of, by kind of project: the measure and the choice that it counts; "" for the flag.
MEASURES: dict[Kind, dict[str, str]] = {
    "generations": {"misgendering": "misgendering", "extraneous": ""},
    "sentences": {"accept": "accept"},
}
_LANGUAGES = "SELECT uid, extra ->> 'language' FROM published_item WHERE project = ? AND extra LIKE '%\"language\"%'"


def measures_of(store: Store, project: Project) -> dict[str, str]:
    """Return the rates of a project: each measure with the choice that it counts.

    Of an own scheme, one for each choice.
    """
    newest = guideline(store, project)
    return MEASURES[project.kind] if newest.scheme is None else {choice.code: choice.code for choice in newest.choices}


def item_table(store: Store, project: Project) -> "pd.DataFrame":
    """Return one row per item with the columns of `generations`, its `language`, and people_<measure>.

    people_<measure> is the share of the item's blind labels with that judgement, 0 to 1 (NaN: the item is not finished,
    or has no judgement).
    """
    table = generations(store, project)
    table["language"] = _languages(store, project, table["item"])
    labels = people_labels(store, project)
    for measure, choice in measures_of(store, project).items():
        values = (labels["choice"] == choice).astype(float) if choice else _flags(labels["extraneous"])
        table[f"people_{measure}"] = table["item"].map(values.groupby(labels["item"]).mean()).astype(float)
    return table


def people_labels(store: Store, project: Project) -> "pd.DataFrame":
    """Return one row per blind label of a finished item, with the columns of `generations` and its `language`."""
    labels = labels_of_generations(store, project)
    labels = labels[labels["finished"].astype(bool)].reset_index(drop=True)
    return labels.assign(language=_languages(store, project, labels["item"]))


def _languages(store: Store, project: Project, items: Iterable[str]) -> list[str]:
    """Return the language that each item names, else that of the project."""
    named = dict(store.db.execute(_LANGUAGES, (project.id,)).fetchall())
    return [named.get(uid) or project.language for uid in items]


def _flags(said: "pd.Series[Any]") -> "pd.Series[float]":
    return said.map({True: 1.0, False: 0.0}).astype(float)
