"""Compare finished runs of different models over the same items: associations, answers of classifiers, misgendering;
and people's judgements of generations before and after a change.

Items are joined row by row; every difference is after - before on the rows that all runs answered. With two runs a
difference has a jackknife t interval over the units of docs/methods.md#intervals: professions x person words,
occupations, templates x names. With several seeds of one change, or with placebos, the seed is the unit. Shares of
right answers also have the counts of what changed either way.

People: both models continued the same contexts, and the same annotators judged both without knowing the model. For a
choice (misgendering, correct ..) the value of a generation is the share of its labels with that choice. The difference
is between the means over generations, with a jackknife t interval over contexts; a context is left out of both sides at
once. Annotators are not resampled: each judged both sides, so habits of an annotator cancel out. The difference of each
annotator is given too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evenhand.core.before_after.compare import against_placebos, over_runs, shares
from evenhand.core.before_after.report import (
    NO_PLACEBO,
    ONE_SEED,
    Finding,
    Measure,
    MeasuredModel,
    MeasureShares,
    MovedRow,
    RunsReport,
    verdict_of,
)
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.csv_out import data_line
from evenhand.core.runs.loop import open_table
from evenhand.core.runs.records import Run, write_record
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.equivalence import MARGINS, Scale
from evenhand.core.statistics.intervals import over_clusters
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.statistics.units import Clusters, clusters_of, codes_of
from evenhand.core.typed_json import fields_of

if TYPE_CHECKING:
    import pandas as pd

RunKind = Literal["associations", "nli", "misgendering"]
SCALES: dict[RunKind, Scale] = {"associations": "ln", "nli": "share", "misgendering": "share"}
VERDICTS: dict[RunKind, tuple[str, str, str]] = {  # the interval below 0, over 0, above 0
    "associations": (N_("leans less"), N_("no difference shown"), N_("leans more")),
    "nli": (N_("follows the stereotype less"), N_("no difference shown"), N_("follows the stereotype more")),
    "misgendering": (N_("misgenders more"), N_("no difference shown"), N_("misgenders less")),
}
GENDERS = {"female": N_("female person words"), "male": N_("male person words")}
CLASSES = {
    "female": N_("professions dominated by women"), "male": N_("professions dominated by men"),
    "balanced": N_("balanced professions"),
}  # fmt: skip
NEUTRAL = N_("neutral answers (the right ones)")
BY_PROBABILITY, BY_WRITING = N_("right by probability"), N_("right in generated text")
SHOWN = 10  # rows on either end that a record shows

NO_MODEL = N_("{file} has several models ({models}). Name one of them.")
OTHER_MODEL = N_("{file} has no model {model}. Available: {models}.")
NOTHING_SHARED = N_("The runs have no row in common, so there is nothing to compare.")
NO_TABLE = N_("{file} lacks the columns {missing}; it is not a table of such a run.")
BOTH = N_("{model} is given both as a model after and as a placebo.")
ALONE = N_("{alone} rows without a value in every run are excluded.")
OTHER_SETTINGS = N_("The runs have different settings ({names}), which may explain the differences.")
ONE_OF_EACH = Note(
    N_(
        "One run per model, without a placebo or another seed: retraining alone would also change the model,"
        " by an unknown amount."
    )
)
NO_COST_HERE = Note(
    N_("These runs do not show whether the model after predicts text worse; held-out text does (before-after).")
)
NOT_COMPARED = ("models", "cache", "threads", "generations", "ray", "workers")


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs: its table, its model, and its record ({} for a table alone)."""

    table: Path
    model: str
    record: Mapping[str, Any]

    @classmethod
    def of(cls, run: Run, model: str = "") -> "Side":
        """Make the side from a finished run."""
        return cls(run.table, model or (run.models[0] if len(run.models) == 1 else ""), run.record)

    @property
    def signature(self) -> str:
        """The signature of the model's numbers, by the record of the run; "" where it is not known."""
        models = self.record.get("models") or ()
        return next((str(model.get("signature") or "") for model in models if model.get("model") == self.model), "")


def _name(side: Side) -> str:
    """Return the name of a model among several: its name, or the last part of its folder."""
    return Path(side.model).name


@dataclass(frozen=True, slots=True)
class Found:
    """The results of a kind of run: measures, of which the first decides the verdict; shares of right and wrong."""

    measures: list[Measure]
    shares: list[MeasureShares]
    unit: str
    moved: list[MovedRow]


def several_runs(
    kind: RunKind, before: Side, afters: Sequence[Side], placebos: Sequence[Side] = (), *,
    margin: float | None = None, out: Path | None = None,
) -> RunsReport:  # fmt: skip
    """Compare runs; *out*: also write a table of the rows. Raises BadFile, Refused where nothing is shared.

    *afters*: the same change, with several seeds; *placebos*: what training alone does. With several runs every change
    is the mean over *afters*, minus that over *placebos*, with the seed as the unit. *margin*: the size
    up to which a change counts as none (ln for associations, else a share); None: not decided.
    """
    read = READ[kind]
    frames, sides = list["pd.DataFrame"](), list[Side]()
    for side in (before, *afters, *placebos):
        frame, model = _of_model(read(side.table), side)
        frames.append(frame)
        sides.append(replace(side, model=model))
    _refuse_both(sides[1 : len(afters) + 1], sides[len(afters) + 1 :])
    rows = _joined(frames)
    changes = [MEASURED[kind](row) for row in rows]
    found = changes[0] if len(changes) == 1 else _over_seeds(changes, sides[1 : len(afters) + 1])
    alone = len(set[str]().union(*(frame["key"] for frame in frames))) - len(rows[0])
    change = found.measures[0].change
    notes = [*_doubts(sides, alone), *_rests(len(afters), len(placebos)), NO_COST_HERE]
    verdict = Finding.of(change, verdict_of(change, VERDICTS[kind]), notes, margin)
    first, *others = (MeasuredModel(side.model, side.signature, side.table.name) for side in sides)
    report = RunsReport(
        **fields_of(verdict), kind=kind, scale=SCALES[kind], unit=found.unit, measures=found.measures,
        items=len(rows[0]), before=first, after=others[0], afters=others[: len(afters)],
        placebos=others[len(afters) :], models=(first, *others), source=_data(sides[0]), shares=found.shares,
        moved=found.moved, alone=alone,
    )  # fmt: skip
    if out is not None:
        _write(out, rows, sides[1:])
        write_record(out, report)
    return report


def _refuse_both(afters: Sequence[Side], placebos: Sequence[Side]) -> None:
    given = {(side.table.resolve(), side.model) for side in afters}
    both = next((side for side in placebos if (side.table.resolve(), side.model) in given), None)
    if both is not None:
        raise Refused(BOTH, model=_name(both))


def _joined(frames: Sequence["pd.DataFrame"]) -> list["pd.DataFrame"]:
    """Return the rows that all runs answered: a table per later run, joined with the first run."""
    kept = set.intersection(*(set(frame["key"][np.isfinite(frame["value"])]) for frame in frames))
    if not kept:
        raise Refused(NOTHING_SHARED)
    first, *others = (frame[frame["key"].isin(kept)] for frame in frames)
    return [first.merge(entry, on="key", suffixes=("", "_after")).reset_index(drop=True) for entry in others]


def _over_seeds(changes: Sequence[Found], after: Sequence[Side]) -> Found:
    """Return one figure of the changes of several runs, of which those after *after* are placebos."""
    by_label = [{measure.label: measure for measure in found.measures} for found in changes]
    seeds = len(after)
    measures = []
    for label in by_label[0]:
        some = [named.get(label) for named in by_label]
        values = [measure.change.value if measure else None for measure in some]
        change = against_placebos(values[:seeds], values[seeds:]) if values[seeds:] else over_runs(values)
        of_seeds = [measure for measure in some[:seeds] if measure]
        means = (_mean_of([of_seed.before for of_seed in of_seeds]), _mean_of([of_seed.after for of_seed in of_seeds]))
        measures.append(Measure(label, *means, change, of_seeds[0].items))
    pairs = [
        replace(pair, model=_name(side) if seeds > 1 else "")
        for found, side in zip(changes, after, strict=False)
        for pair in found.shares
    ]
    return Found(measures, pairs, "seed", changes[0].moved)


def _mean_of(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _rests(afters: int, placebos: int) -> list[Note]:
    """Return notes on what the verdict cannot rule out, by the numbers of seeds and placebos."""
    if afters == 1 and not placebos:
        return [ONE_OF_EACH]
    return ([] if placebos else [NO_PLACEBO]) + ([ONE_SEED] if afters == 1 else [])


def _data(side: Side) -> dict[str, object]:
    """Return the source of a run by its record: name, SHA-256, language and signature, each where known."""
    source = side.record.get("source") or side.record.get("set") or {}
    return {key: source[key] for key in ("name", "sha256", "language", "signature") if source.get(key)}


def _doubts(sides: Sequence[Side], alone: int) -> list[Note]:
    """Return notes on differences between the runs that may explain the result: unshared items, other settings."""
    notes = [Note(ALONE, {"alone": f"{alone:,}"})] if alone else []
    first, *others = (side.record.get("settings") or {} for side in sides)
    names = dict.fromkeys(
        key
        for one in others
        if first and one
        for key in {**first, **one}
        if key not in NOT_COMPARED and first.get(key) != one.get(key)
    )
    if names:
        notes.append(Note(OTHER_SETTINGS, {"names": ", ".join(names)}))
    return notes


def _of_model(frame: "pd.DataFrame", side: Side) -> tuple["pd.DataFrame", str]:
    """Return the rows of the named model, each key once, and its name. Raises BadFile."""
    model = side.model
    if "model" in frame:
        names = [str(name) for name in dict.fromkeys(frame["model"])]
        if not model and len(names) > 1:
            raise BadFile(NO_MODEL, file=side.table.name, models=", ".join(names))
        model = model or names[0]
        if model not in names:
            raise BadFile(OTHER_MODEL, file=side.table.name, model=model, models=", ".join(names))
        frame = frame[frame["model"] == model]
    again = frame.groupby("key").cumcount().astype(str)  # a sentence that a set has twice is two rows
    return frame.assign(key=frame["key"] + "\x1f" + again).reset_index(drop=True), model or side.table.stem


def _key(frame: "pd.DataFrame", columns: Sequence[str]) -> "pd.Series[str]":
    there = [name for name in columns if name in frame]
    return frame[there].fillna("").astype(str).agg("\x1f".join, axis=1)


def _read_associations(path: Path) -> "pd.DataFrame":
    from evenhand.core.association.measures import read_associations

    frame = read_associations(path)
    key = _key(frame, ("template", "sentence", "person_key", "profession_key", "person_gender"))
    return frame.assign(key=key, value=frame["association"], text=frame["sentence"])


def _read_nli(path: Path) -> "pd.DataFrame":
    import pandas as pd

    from evenhand.core.files.csv_out import is_guarded, restored

    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise BadFile(N_("{file} cannot be read: {why}."), file=path.name, why=error) from None
    needed = ("set", "occupation", "premise", "hypothesis", "label")
    if missing := [name for name in needed if name not in frame]:
        raise BadFile(NO_TABLE, file=path.name, missing=", ".join(missing))
    if is_guarded(frame.to_numpy().ravel()):
        frame = frame.map(restored)
    value = np.where(frame["label"] == "", np.nan, (frame["label"] == "neutral").astype(float))
    text = frame["premise"] + " → " + frame["hypothesis"]
    frame = frame.reindex(columns=list(dict.fromkeys([*frame, "gender", "class"])), fill_value="")
    return frame.assign(key=_key(frame, ("set", "premise", "hypothesis", "occupation")), value=value, text=text)


def _read_misgendering(path: Path) -> "pd.DataFrame":
    from evenhand.core.misgendering.verdict_table import generations_of, read_verdicts, row_means, templates_of

    frame = read_verdicts(path, generations=False)
    by_probability, by_writing = row_means(templates_of(frame)), row_means(generations_of(frame))
    key = _key(frame, ("instance", "dataset", "setting", "pronoun", "template", "name"))
    shown = [name for name in ("instance", "name", "pronoun") if name in frame]
    text = frame[shown].fillna("").astype(str).agg(" · ".join, axis=1)
    value = np.where(np.isfinite(by_probability), by_probability, by_writing)
    return frame.assign(key=key, value=value, by_probability=by_probability, by_writing=by_writing, text=text)


def _mean_measure(label: tuple[str, ...], before: Numbers, after: Numbers, clusters: Clusters) -> Measure | None:
    """Return the means over the rows that both sides have, and of their differences; None without such rows."""
    known = np.isfinite(before) & np.isfinite(after)
    if not known.any():
        return None
    columns = np.stack([(after - before)[known], np.ones(int(known.sum()))], axis=1)

    def mean(sums: Numbers) -> dict[str, Numbers]:
        with np.errstate(all="ignore"):
            return {"mean": sums[:, 0] / sums[:, 1]}

    kept = clusters.of(known)
    sides = tuple(codes for codes in kept.codes if codes.max() > 0) or kept.codes[:1]
    change = over_clusters(mean, columns, Clusters(kept.kinds[: len(sides)], sides))["mean"]
    return Measure(label, float(before[known].mean()), float(after[known].mean()), change, int(known.sum()))


def _associations(rows: "pd.DataFrame") -> Found:
    """Return the size (mean of |association|), then the mean association by gender and by class, all in ln.

    Genders are those of person words, classes those of professions.
    """
    before, after = rows["value"].to_numpy(float), rows["value_after"].to_numpy(float)
    alone = rows["pair"].fillna("") == ""
    words = rows["pair"].where(~alone, rows["person_gender"].str.cat(rows["person_key"], sep="~"))
    codes = (codes_of(rows["profession_key"].tolist())[0], codes_of(words.tolist())[0])
    clusters = Clusters(("profession", "word"), codes)
    found = [_mean_measure((N_("magnitude of the association"),), np.abs(before), np.abs(after), clusters)]
    for gender, word in GENDERS.items():
        of = (rows["person_gender"] == gender).to_numpy()
        found.append(_mean_measure((word,), *_only(before, after, of), clusters))
        for kind, profession in CLASSES.items():
            here = of & (rows["class"] == kind).to_numpy()
            found.append(_mean_measure((word, profession), *_only(before, after, here), clusters))
    measures = [measure for measure in found if measure is not None]
    return Found(measures, [], "profession × word", _farthest(rows, after - before))


def _only(before: Numbers, after: Numbers, here: Any) -> tuple[Numbers, Numbers]:
    return np.where(here, before, np.nan), np.where(here, after, np.nan)


def _farthest(rows: "pd.DataFrame", change: Numbers) -> list[MovedRow]:
    order = [int(i) for i in np.argsort(change, kind="stable")]
    return [
        MovedRow(str(rows["text"][i]), float(rows["value"][i]), float(rows["value_after"][i]))
        for i in dict.fromkeys([*order[:SHOWN], *order[-SHOWN:]])
    ]


NLI_MEASURES = {
    "directional": N_("directional component (above 0 follows the stereotype)"),
    "s": N_("bias score s (0: ideal, 1: always the stereotype)"),
    "not_neutral_ns": N_("non-neutral answers on neutral occupations"),
    "one_minus_fn": N_("non-neutral answers over all rows"),
}


def _nli(rows: "pd.DataFrame") -> Found:
    from evenhand.core.nli.measure import changes
    from evenhand.core.nli.types import Prediction, stereotype_of

    stereotypes = [stereotype_of(*row) for row in zip(rows["set"], rows["gender"], rows["class"], strict=True)]
    sides = [
        [Prediction(*row) for row in zip(rows["set"], rows[label], rows["occupation"], stereotypes, strict=True)]
        for label in ("label", "label_after")
    ]
    before, after, values, unit = changes(*sides)
    measures = [
        Measure((words,), before[name].value, after[name].value, values[name], len(rows))
        for name, words in NLI_MEASURES.items()
    ]
    right = _shares(NEUTRAL, rows["value"].to_numpy(float), rows["value_after"].to_numpy(float))
    return Found(measures, [right], unit, _other_answers(rows, "label", "label_after"))


def _misgendering(rows: "pd.DataFrame") -> Found:
    ways = {"by_probability": BY_PROBABILITY, "by_writing": BY_WRITING}
    clusters, measures, pairs = clusters_of(rows), list[Measure](), []
    for column, words in ways.items():
        before, after = rows[column].to_numpy(float), rows[f"{column}_after"].to_numpy(float)
        if (measure := _mean_measure((words,), before, after, clusters)) is None:
            continue
        measures.append(measure)
        if not {*np.unique(before[np.isfinite(before)]), *np.unique(after[np.isfinite(after)])} - {0.0, 1.0}:
            pairs.append(_shares(words, before, after))  # a mean of several verdicts is neither right nor wrong
        for pronoun in dict.fromkeys(rows.get("pronoun", ())):
            here = (rows["pronoun"] == pronoun).to_numpy()
            part = _mean_measure((words, str(pronoun)), *_only(before, after, here), clusters)
            measures += [part] if part is not None and part.items < measure.items else []
    shown = rows.assign(old=rows["value"], new=rows["value_after"])
    return Found(measures, pairs, clusters.unit.replace("+", " × "), _other_answers(shown, "old", "new"))


def _shares(label: str, before: Numbers, after: Numbers) -> MeasureShares:
    return MeasureShares(**fields_of(shares(before, after)), label=label)


def _other_answers(rows: "pd.DataFrame", before: str, after: str) -> list[MovedRow]:
    few = rows[rows[before] != rows[after]].iloc[: 2 * SHOWN]
    return [
        MovedRow(str(text), *pair)
        for text, *pair in zip(few["text"], few[before].tolist(), few[after].tolist(), strict=True)
    ]


def _write(out: Path, rows: Sequence["pd.DataFrame"], sides: Sequence[Side]) -> None:
    heads = ["after"] if len(sides) == 1 else [_name(side) for side in sides]
    with open_table(out, ("item", "before", *heads), data_line) as write:
        columns = [row["value_after"] for row in rows]
        for text, before, *after in zip(rows[0]["text"], rows[0]["value"], *columns, strict=True):
            write([text, float(before), *map(float, after)])


READ: dict[RunKind, Callable[[Path], "pd.DataFrame"]] = {
    "associations": _read_associations, "nli": _read_nli, "misgendering": _read_misgendering,
}  # fmt: skip
MEASURED: dict[RunKind, Callable[["pd.DataFrame"], Found]] = {
    "associations": _associations, "nli": _nli, "misgendering": _misgendering,
}  # fmt: skip


def usual_margin(kind: RunKind) -> float | None:
    """Return the default margin of a comparison of that kind; None: undecided until a user sets one."""
    return MARGINS[SCALES[kind]]


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
ONE_MODEL_EACH = Note(
    N_("One model each, without a placebo: retraining alone would also change the model, by an unknown amount.")
)
WAITING = N_("{waiting} generations are still awaiting labels and are excluded.")
SIDES = ("before", "after")


def judged(labels: "pd.DataFrame", waiting: int, *, margin: float | None = MARGINS["share"]) -> RunsReport:
    """Return what people said of both sides; the models are named by their side.

    *labels*: a row a blind label, with the columns item, side (before, after), context, annotator, choice. *waiting*:
    generations without all their labels. *margin*: up to which size a difference of shares counts as none.
    """
    both = labels.groupby("context")["side"].transform("nunique") == len(SIDES) if len(labels) else []
    rows = labels[both] if len(labels) else labels
    measures = [_measure((words,), rows, choice) for choice, words in CHOICES.items()]
    people = sorted(map(str, rows["annotator"].unique())) if len(rows) else []
    for who in people if len(people) > 1 else ():
        own = rows[rows["annotator"] == who]
        measures.append(_measure((CHOICES["misgendering"], who), own, "misgendering"))
    change = measures[0].change
    verdict = verdict_of(change, VERDICTS["misgendering"][::-1]) if change.value is not None else NO_RESULT
    notes = [ONE_MODEL_EACH, *([Note(WAITING, {"waiting": f"{waiting:,}"})] if waiting else [])]
    models = tuple(MeasuredModel(side) for side in SIDES)
    return RunsReport(
        **fields_of(Finding.of(change, verdict, notes, margin)), kind="people", scale="share", unit="context",
        measures=measures, before=models[0], after=models[1], models=models,
        items=int(rows["item"].nunique()) if len(rows) else 0, annotators=len(people),
        contexts=int(rows["context"].nunique()) if len(rows) else 0,
    )  # fmt: skip


def _measure(label: tuple[str, ...], rows: "pd.DataFrame", choice: str) -> Measure:
    """Return the share of *choice* before and after, and the difference."""
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
