"""People's judgements of what a model wrote before and after: the difference with its interval over contexts.

Both models continued the same contexts, and the same annotators judged both without knowing which is which. A
generation counts as the share of its labels that say so; the difference is that of the means over generations, t on the
jackknife over contexts, each of which is left out of both sides at once. Annotators are taken as they are: each judged
both sides, so what is their own falls out; the difference of each stands beside.
"""

from typing import TYPE_CHECKING

import numpy as np

from evenhand.core.before_after.report import Measure, MeasuredModel, RunsReport
from evenhand.core.before_after.two_runs import VERDICTS
from evenhand.core.before_after.verdict import Finding, verdict_of
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.equivalence import MARGINS
from evenhand.core.statistics.intervals import over_clusters
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.statistics.units import Clusters, codes_of
from evenhand.core.typed_json import fields_of

if TYPE_CHECKING:
    import pandas as pd

CHOICES = {  # of generations; the first is what the verdict is on
    "misgendering": N_("judged as misgendering"),
    "correct": N_("judged as correct"),
    "no_pronoun": N_("judged to have no pronoun"),
    "plural_they": N_("judged to have a plural they"),
}
NOTHING_YET = Note(N_("No context has a judged generation by each model yet."))
NO_RESULT = N_("no result yet")
ONE_OF_EACH = Note(N_("One model each, without a placebo: a retrained model would differ too, by an unknown amount."))
WAITING = N_("{waiting} generations are still awaiting labels and are excluded.")
SIDES = ("before", "after")


def judged(labels: "pd.DataFrame", waiting: int, *, margin: float | None = MARGINS["share"]) -> RunsReport:
    """Return what people said of both sides; the models are named by their side.

    *labels*: a row a blind label, with the columns item, side (before, after), context, annotator, choice. *waiting*:
    generations without all their labels. *margin*: up to which size a difference of shares counts as none.
    """
    both = labels.groupby("context")["side"].transform("nunique") == len(SIDES) if len(labels) else []
    rows = labels[both] if len(labels) else labels
    found = [_measure((words,), rows, choice) for choice, words in CHOICES.items()]
    people = sorted(map(str, rows["annotator"].unique())) if len(rows) else []
    for who in people if len(people) > 1 else ():
        own = rows[rows["annotator"] == who]
        found.append(_measure((CHOICES["misgendering"], who), own, "misgendering"))
    change = found[0].change
    verdict = verdict_of(change, VERDICTS["misgendering"][::-1]) if change.value is not None else NO_RESULT
    notes = [ONE_OF_EACH, *([Note(WAITING, {"waiting": f"{waiting:,}"})] if waiting else [])]
    models = tuple(MeasuredModel(side) for side in SIDES)
    return RunsReport(
        **fields_of(Finding.of(change, verdict, notes, margin)), kind="people", scale="share", unit="context",
        measures=found, before=models[0], after=models[1], models=models,
        items=int(rows["item"].nunique()) if len(rows) else 0, annotators=len(people),
        contexts=int(rows["context"].nunique()) if len(rows) else 0,
    )  # fmt: skip


def _measure(label: tuple[str, ...], rows: "pd.DataFrame", choice: str) -> Measure:
    """The share of *choice* before and after, and the difference."""
    nothing = Measure(label, None, None, Estimate.undefined(NOTHING_YET), 0)
    if not len(rows):
        return nothing
    said = rows.assign(said=(rows["choice"] == choice).astype(float))
    items = said.groupby(["context", "side", "item"], sort=True)["said"].mean().reset_index()
    after = (items["side"] == "after").to_numpy(float)
    value = items["said"].to_numpy(float)
    if not 0 < after.sum() < len(after):
        return nothing
    columns = np.stack([value * after, after, value * (1 - after), 1 - after], axis=1)
    clusters = Clusters(("context",), (codes_of(items["context"].tolist())[0],))

    def difference(sums: Numbers) -> dict[str, Numbers]:
        with np.errstate(all="ignore"):
            return {"change": sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]}

    change = over_clusters(difference, columns, clusters)["change"]
    means = [float(value[after == side].mean()) for side in (0, 1)]
    return Measure(label, means[0], means[1], change, len(items))
