"""People's labels of generations as the third measurement, next to the rule's verdict and a run's.

See docs/human_vs_rule.md#labels-of-generations.
"""

from math import isnan
from typing import TYPE_CHECKING

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import refuse_own_scheme
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.sampling.samples import sample_labels
from evenhand.annotations.types import Project
from evenhand.core.human_vs_rule.apply_rule import with_verdicts
from evenhand.core.human_vs_rule.compare import Design

if TYPE_CHECKING:
    import pandas as pd

WRONG = "misgendering"  # counts as 0; correct, no_pronoun and plural_they count as 1
MATCHED = ("model", "dataset", "template", "name", "pronoun")  # what names one instance of a run


def people(store: Store, project: Project) -> "pd.DataFrame":
    """Return one row per generation that people have finished: columns model, pronoun, dataset, setting, template,
    name, people, rule, labels.

    `people`: 1 right, 0 misgendered: the gold label if there is one, else the majority of the blind labels; NaN for a
    tie. `rule`: the first-pronoun rule's verdict on the same text, NaN if the pronouns are unknown. Generations that
    still need blind labels are left out, because none of their labels may be shown. Raises Refused under an own scheme.
    """
    import numpy as np

    refuse_own_scheme(store, project)
    rows = generations(store, project)
    rows = rows[rows["finished"]].reset_index(drop=True)  # also with a settlement: more labels may be needed since
    labels = labels_of_generations(store, project)
    share = (labels["choice"] != WRONG).groupby(labels["item"]).mean() if len(labels) else labels["item"]
    mean = rows["item"].map(share) if len(labels) else rows["labels"].astype(float) * np.nan
    settled = rows["gold"].notna()
    most = np.select([mean > 0.5, mean < 0.5], [1.0, 0.0], np.nan)
    rows["people"] = np.where(settled, (rows["gold"] != WRONG).astype(float), most)
    rows["rule"] = with_verdicts(rows)["rule_correct"]
    rows["template"] = [cluster.partition("|")[2] for cluster in rows["cluster"]]
    return rows[["model", "pronoun", "dataset", "setting", "template", "name", "people", "rule", "labels"]]


def design_of(store: Store, project: Project, rows: "pd.DataFrame") -> Design | None:
    """Return the design of a project's samples for the generations *rows*; None for a project without samples."""
    drawn = sample_labels(store, project)
    if drawn is None:
        return None
    names = rows["item"].tolist()
    weights, strata = drawn.weights(names, rows["finished"].astype(bool).tolist())
    result = {
        item: (weight, stratum)
        for item, weight, stratum in zip(names, weights, strata, strict=True)
        if not isnan(weight)
    }
    return Design(drawn.items, result, drawn.signatures)


def with_run(rows: "pd.DataFrame", run: "pd.DataFrame") -> "pd.DataFrame":
    """Return *rows* of `people` with the column `prob` of the same instance in a table of verdicts; NaN if it has none.

    Instances match by model, data set, template, name and pronouns, as far as the run has these. In a run without
    templates no instance matches.
    """
    keys = [key for key in MATCHED if key in run]
    if "template" not in keys:
        return rows.assign(prob=float("nan"))
    mine = run.assign(pronoun=run["pronoun"].str.replace(";", " + ")) if "pronoun" in run else run
    prob = mine.drop_duplicates(keys)[[*keys, "prob"]]
    return rows.merge(prob, on=keys, how="left", validate="many_to_one")
