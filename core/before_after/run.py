"""A run of before and after: the items through every model, held-out text, differences, the verdict, a record."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.before_after.compare import (
    NOTHING,
    Comparison,
    Cost,
    against_placebos,
    clusters_of_pairs,
    compare,
    cost,
    over_runs,
)
from evenhand.core.before_after.report import (
    ChangedModel,
    LeftOut,
    MeasuredModel,
    ModelsReport,
    MovedItem,
    PairMeans,
    PartEffect,
)
from evenhand.core.before_after.verdict import COST_MARGIN, finding
from evenhand.core.errors import N_, Notice, Refused
from evenhand.core.files.csv_out import data_line
from evenhand.core.model_bias.score_files import read_scores, rows_of
from evenhand.core.models.catalogue import known_models
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.loop import Laps, Watcher, check_models, open_table
from evenhand.core.runs.records import write_record
from evenhand.core.scoring.input import ScoreInput
from evenhand.core.scoring.run import score_input
from evenhand.core.scoring.settings import Settings
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import MARGINS
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.tune.report import TrainingReport, tuned_model
from evenhand.core.typed_json import fields_of

if TYPE_CHECKING:
    import pandas as pd

MOST_TEXTS = 400
LENGTH = 128
EXTREMES = 10
NO_AFTER = N_("Name the model before and at least one model after the change.")
NO_BUILT_IN = N_("There are no built-in neutral sentences in {language}, only in {known}.")
UNEVEN = N_("{after} models after and {placebo} placebos: give one placebo for each seed, in the same order, or none.")
OTHER_TOKENS = N_(
    "{model} and {before} tokenize text differently, so their token probabilities cannot be compared; no cost is given."
)

BUILT_IN = "built-in"  # in place of a file: neutral sentences with every keyword pair; built-in:en are the English ones
BUILT_IN_LANGUAGES = ("zh", "en")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared. `after`: one model, or the seeds of one change; `placebo`: none, or one for each of these.

    `margin`: up to which size (log10) an effect counts as none; `cost_margin`: up to which rise of the held-out loss
    (ln) counts as no cost.
    """

    before: str
    after: tuple[str, ...]
    placebo: tuple[str, ...] = ()
    margin: float | None = MARGINS["log10"]
    cost_margin: float = COST_MARGIN

    def __post_init__(self) -> None:
        if not self.before or not self.after:
            raise Refused(NO_AFTER)
        if self.placebo and len(self.placebo) != len(self.after):
            raise Refused(UNEVEN, after=len(self.after), placebo=len(self.placebo))

    @property
    def models(self) -> tuple[str, ...]:
        """Every model, the one before first."""
        return (self.before, *self.after, *self.placebo)


def built_in_name(language: str) -> str:
    """How the built-in neutral sentences of a language are named where a file could be; Chinese have no suffix."""
    return BUILT_IN if language == "zh" else f"{BUILT_IN}:{language}"


def built_in_language(items: str, before: str, language: str | None = None) -> str | None:
    """The language of the built-in sentences that *items* names, None where it names something else.

    One that is not written there is *language*, else that of the model *before* the change where it is known, else zh.
    Raises Refused for a language without such sentences.
    """
    name, _, written = items.partition(":")
    if name != BUILT_IN:
        return None
    known = model_language(before)
    chosen = written or language or (known if known in BUILT_IN_LANGUAGES else "zh")
    if chosen not in BUILT_IN_LANGUAGES:
        raise Refused(NO_BUILT_IN, language=chosen, known=", ".join(BUILT_IN_LANGUAGES))
    return chosen


def model_language(model: str) -> str:
    """The language of a built-in or known model, or of the one that a tuned folder was made of; "" where unknown."""
    report = tuned_model(model) if Path(model).is_absolute() else None
    if report is not None:
        return model_language(report.base.name) if report.base.name != model else ""
    return next((known.language for known in known_models(None) if known.name == model), "")


def built_in_source(language: str = "zh") -> ScoreInput:
    """The keyword pairs of a language (Chinese: the 19) in their neutral sentences as items."""
    import hashlib

    from evenhand.core.ruler.own_model import built_in_items, pack_items

    items = built_in_items() if language == "zh" else pack_items(language)
    digest = hashlib.sha256("\n".join(one.sentence for one in items).encode()).hexdigest()
    return ScoreInput("built-in", built_in_name(language), "sentences", len(items), digest, lambda: iter(items))


def before_and_after(
    asked: Asked,
    source: ScoreInput,
    texts: Sequence[str] = (),
    *,
    text_name: str = "",
    out: Path | None = None,
    cache: Path | None = None,
    record: bool = False,
    watch: Watcher | None = None,
) -> ModelsReport:
    """Compare the models on the items of *source* and on held-out *texts*, which no change must have seen.

    *out*: the table, a row an item with the Bias_c (log10) of every model. *record*: put the record beside it. Raises
    ModelUnavailable where one of the models cannot be had: without all of them there is nothing to compare.
    """
    for model in asked.models:
        check_models([model])
    lap = Laps()
    frame, signatures = _scored(asked, source, cache, watch)
    values = _values(frame, asked.models)
    base = rows_of(frame, asked.before).reset_index(drop=True)
    clusters = clusters_of_pairs(base["pair"])
    compared = {model: compare(values[asked.before], values[model], clusters) for model in asked.models[1:]}
    costs, notices = _costs(asked, list(texts)[:MOST_TEXTS]) if texts else ({}, [])
    effect, beyond = _effect(asked, values, clusters)
    found = finding(
        effect, [costs[model] for model in asked.after if model in costs], margin=asked.margin,
        cost_margin=asked.cost_margin, placebo=bool(asked.placebo), seeds=len(asked.after),
    )  # fmt: skip
    changed = {model: _changed(model, compared[model], costs, signatures) for model in compared}
    report = ModelsReport(
        **fields_of(found), before=MeasuredModel(asked.before, signatures.get(asked.before, "")),
        after=[changed[model] for model in asked.after], placebo=[changed[model] for model in asked.placebo],
        beyond=beyond, effect=effect, cost_margin=asked.cost_margin, source=source.facts(), sentences=source.rows,
        models=tuple(MeasuredModel(model, signatures.get(model, "")) for model in dict.fromkeys(asked.models)),
        by_pair=_by_pair(base, values, asked), left_out=_left_out(base, values, asked),
        moved=_moved(base, values, asked), notices=tuple(notices), seconds=round(lap(), 3),
        text={"name": text_name, "texts": min(len(texts), MOST_TEXTS)} if texts else None,
    )  # fmt: skip
    if out is not None:
        _write(out, base, values, asked)
        if record:
            write_record(out, report)
    return report


def _changed(
    model: str, compared: Comparison, costs: Mapping[str, Cost], signatures: Mapping[str, str]
) -> ChangedModel:
    signature, way = signatures.get(model, ""), _way_of(model)
    return ChangedModel(**fields_of(compared), model=model, signature=signature, way=way, cost=costs.get(model))


def _scored(
    asked: Asked, source: ScoreInput, cache: Path | None, watch: Watcher | None
) -> tuple["pd.DataFrame", dict[str, str]]:
    names = tuple(dict.fromkeys(asked.models))
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "scores.csv"
        settings = Settings("", names, table, cache=cache, no_cache=cache is None)
        report = score_input(source, settings, Place(table) if watch is None else Place(table, watch))
        if report.failed:
            raise Refused(report.failed[0].error, **report.failed[0].values)
        return read_scores(table), {one.model: one.signature for one in report.models}


def _values(frame: "pd.DataFrame", models: Sequence[str]) -> dict[str, Numbers]:
    return {
        model: rows_of(frame, model)["bias_log10"].where(lambda one: np.isfinite(one)).to_numpy(float)
        for model in dict.fromkeys(models)
    }


def _effect(asked: Asked, values: dict[str, Numbers], clusters: Any) -> tuple[Estimate, list[Comparison]]:
    """The effect that the verdict is on, and what each seed has beyond its placebo (or beyond the model before).

    One seed: over the stems of the items. More: over the seeds, the unit of that comparison (SPEC 9.1), against the
    seeds of the placebo. Every model is asked on the items that all of them answered.
    """
    starts = [values[one] for one in asked.placebo] or [values[asked.before]] * len(asked.after)
    beyond = [
        compare(values[asked.before], values[model], clusters, less=start)
        for model, start in zip(asked.after, starts, strict=True)
    ]
    if len(beyond) == 1:
        return beyond[0].size, beyond
    return over_seeds(asked, values, np.ones(clusters.codes.shape, dtype=bool)), beyond


def over_seeds(asked: Asked, values: dict[str, Numbers], rows: Any) -> Estimate:
    """The change of size over the seeds of *asked*, against its placebos where there are any, on some *rows*."""
    known = rows & np.all([np.isfinite(values[model]) for model in asked.models], axis=0)
    if not known.any():
        return Estimate.undefined(NOTHING, len(asked.after))
    sizes = {model: float(np.abs(values[model][known]).mean()) for model in asked.models}
    after, placebo = ([sizes[one] - sizes[asked.before] for one in some] for some in (asked.after, asked.placebo))
    return against_placebos(after, placebo) if placebo else over_runs(after)


def _costs(asked: Asked, texts: list[str]) -> tuple[dict[str, Cost], list[Notice]]:
    """The cost of each model against the one before; a notice where its tokens are others."""
    from evenhand.core.models.tuning.changing import Changeable

    first = Changeable(asked.before, device="cpu")
    rows = first.rows(texts, LENGTH)
    before = first.held_out(rows)
    found, notices = {}, []
    for model in dict.fromkeys(asked.models[1:]):
        other = Changeable(model, device="cpu")
        if other.task != first.task or other.rows(texts, LENGTH) != rows:
            notices.append(Notice(OTHER_TOKENS, {"model": model, "before": asked.before}))
        elif rows:
            found[model] = cost(before.per_text, other.held_out(rows).per_text)
    return found, notices


def _by_pair(base: "pd.DataFrame", values: dict[str, Numbers], asked: Asked) -> list[PairMeans]:
    found = []
    for pair in dict.fromkeys(base["pair"]):
        here = (base["pair"] == pair).to_numpy()
        if not pair:
            continue
        means = {}
        for model in dict.fromkeys(asked.models):
            known = values[model][here][np.isfinite(values[model][here])]
            means[model] = {"mean": float(known.mean()), "size": float(np.abs(known).mean())} if len(known) else None
        found.append(PairMeans(str(pair), int(here.sum()), means))
    return found


def _left_out(base: "pd.DataFrame", values: dict[str, Numbers], asked: Asked) -> LeftOut | None:
    """The items of pairs that no model after was trained to swap, apart from those of the others; None where the models
    do not say so (`tune --leave-out`). Few stems: values without an interval."""
    pairs = set.union(*({*_unswapped(model)} for model in asked.after))
    here = base["pair"].isin(pairs).to_numpy()
    if not here.any() or here.all():
        return None
    starts, parts = asked.placebo or (asked.before,) * len(asked.after), []
    for chosen in (here, ~here):
        clusters = clusters_of_pairs(base["pair"][chosen].reset_index(drop=True))
        if len(asked.after) == 1:
            first, last = values[asked.before][chosen], values[asked.after[0]][chosen]
            effect = compare(first, last, clusters, less=values[starts[0]][chosen]).size
        else:
            effect = over_seeds(asked, values, chosen)
        parts.append(PartEffect(**fields_of(effect), items=int(chosen.sum())))
    return LeftOut(sorted(pairs & set(base["pair"])), *parts)


def _unswapped(model: str) -> tuple[str, ...]:
    """The pairs that a tuned model's record says were left out of the swap."""
    report = tuned_model(model)
    return report.source.swap.left_out if report else ()


def _way_of(model: str) -> str:
    """How a tuned model was made, by its record; "" for one that is none."""
    report = tuned_model(model)
    signature = report.tuning.signature if isinstance(report, TrainingReport) else ""
    return "; ".join(filter(None, (report.method_text if report else "", signature)))


def _moved(base: "pd.DataFrame", values: dict[str, Numbers], asked: Asked) -> list[MovedItem]:
    """The items that moved most, either way, by the mean of the models after."""
    after = np.mean([values[model] for model in asked.after], axis=0)
    change = after - values[asked.before]
    order = [int(i) for i in np.argsort(np.where(np.isfinite(change), change, np.inf)) if np.isfinite(change[i])]
    chosen = dict.fromkeys([*order[:EXTREMES], *order[-EXTREMES:]])
    return [
        MovedItem(
            str(base["row"][i]), str(base["sentence"][i]), str(base["pair"][i]), float(values[asked.before][i]),
            float(after[i]), float(change[i]),
        )
        for i in chosen
    ]  # fmt: skip


def columns(asked: Asked) -> list[str]:
    """The columns of the table."""
    after, placebo = (
        [f"{name}_{i}" for i in range(1, len(models) + 1)]
        for name, models in (("after", asked.after), ("placebo", asked.placebo))
    )
    return ["row", "sentence", "pair", "side", "source", "before", *after, *placebo]


def _write(out: Path, base: "pd.DataFrame", values: dict[str, Numbers], asked: Asked) -> None:
    shown = [values[model] for model in asked.models]
    with open_table(out, columns(asked), data_line) as write:
        for i in range(len(base)):
            numbers = [float(one[i]) if np.isfinite(one[i]) else None for one in shown]
            write([*(base[name][i] for name in ("row", "sentence", "pair", "side", "source")), *numbers])
