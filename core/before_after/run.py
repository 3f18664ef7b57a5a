"""A run of before and after: the items through every model, held-out text, differences, the verdict, a record."""

import tempfile
from collections.abc import Mapping, Sequence
from itertools import islice
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
    finding,
)
from evenhand.core.before_after.settings import Settings
from evenhand.core.errors import N_, Notice, Refused
from evenhand.core.files.csv_out import data_line
from evenhand.core.model_bias.score_files import read_scores, rows_of
from evenhand.core.models.catalogue import known_models
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.loop import LapTimer, check_models, open_table
from evenhand.core.runs.records import target_or_none, write_record
from evenhand.core.scoring.run import score_input
from evenhand.core.scoring.settings import ScoreInput
from evenhand.core.scoring.settings import Settings as ScoreSettings
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.resampling import Numbers
from evenhand.core.tune.report import TrainingReport, tuned_model
from evenhand.core.tune.texts import file_texts
from evenhand.core.typed_json import fields_of, to_json

if TYPE_CHECKING:
    import pandas as pd

MOST_TEXTS = 400
LENGTH = 128
EXTREMES = 10
NO_BUILT_IN = N_("There are no built-in neutral sentences in {language}, only in {known}.")
OTHER_TOKENS = N_(
    "{model} and {before} tokenize text differently, so their token probabilities cannot be compared; no cost is given."
)

BUILT_IN = "built-in"  # in place of a file: neutral sentences with every keyword pair; built-in:en are the English ones
BUILT_IN_LANGUAGES = ("zh", "en")


def built_in_name(language: str) -> str:
    """Return the name of a language's built-in neutral sentences, used in place of a file; no suffix for Chinese."""
    return BUILT_IN if language == "zh" else f"{BUILT_IN}:{language}"


def built_in_language(items: str, before: str, language: str | None = None) -> str | None:
    """Return the language of the built-in sentences that *items* names; None where it names something else.

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
    """Return the language of a built-in or known model, or of the base of a tuned folder; "" where unknown."""
    report = tuned_model(model) if Path(model).is_absolute() else None
    if report is not None:
        return model_language(report.base.name) if report.base.name != model else ""
    return next((known.language for known in known_models(None) if known.name == model), "")


def built_in_source(language: str = "zh") -> ScoreInput:
    """Return the keyword pairs of a language (Chinese: the 19) in their neutral sentences as items."""
    import hashlib

    from evenhand.core.ruler.own_model import built_in_items, pack_items

    items = built_in_items() if language == "zh" else pack_items(language)
    digest = hashlib.sha256("\n".join(item.sentence for item in items).encode()).hexdigest()
    return ScoreInput("built-in", built_in_name(language), "sentences", len(items), digest, lambda: iter(items))


def before_and_after(settings: Settings, source: ScoreInput, place: Place) -> ModelsReport:
    """Compare the models on the items of *source*, and on held-out text. A named run or a file gets a row an item with
    the Bias_c (log10) of every model.

    Raises ModelUnavailable where one of the models is not available: all of them are needed.
    """
    out, is_run = target_or_none(place.database, "comparisons", settings.out, settings.run_name)
    for model in settings.models:
        check_models([model])
    texts = list(islice(file_texts(settings.text), MOST_TEXTS)) if settings.text else []
    lap = LapTimer()
    frame, signatures = _scored(settings, source, place)
    values = _values(frame, settings.models)
    base = rows_of(frame, settings.before).reset_index(drop=True)
    clusters = clusters_of_pairs(base["pair"])
    compared = {model: compare(values[settings.before], values[model], clusters) for model in settings.models[1:]}
    costs, notices = _costs(settings, texts) if texts else ({}, [])
    effect, beyond = _effect(settings, values, clusters)
    found = finding(
        effect, [costs[model] for model in settings.after if model in costs], margin=settings.margin or None,
        cost_margin=settings.cost_margin, placebo=bool(settings.placebo), seeds=len(settings.after),
    )  # fmt: skip
    changed = {model: _changed(model, compared[model], costs, signatures) for model in compared}
    report = ModelsReport(
        **fields_of(found), before=MeasuredModel(settings.before, signatures.get(settings.before, "")),
        after=[changed[model] for model in settings.after], placebo=[changed[model] for model in settings.placebo],
        beyond=beyond, effect=effect, cost_margin=settings.cost_margin, source=to_json(source), sentences=source.rows,
        models=tuple(MeasuredModel(model, signatures.get(model, "")) for model in dict.fromkeys(settings.models)),
        by_pair=_by_pair(base, values, settings), left_out=_left_out(base, values, settings),
        moved=_moved(base, values, settings), notices=tuple(notices), seconds=round(lap(), 3),
        text={"name": settings.text.name, "texts": len(texts)} if settings.text and texts else None,
    )  # fmt: skip
    if out is not None:
        _write(out, base, values, settings)
        if is_run:
            write_record(out, report)
    return report


def _changed(
    model: str, compared: Comparison, costs: Mapping[str, Cost], signatures: Mapping[str, str]
) -> ChangedModel:
    signature, way = signatures.get(model, ""), _way_of(model)
    return ChangedModel(**fields_of(compared), model=model, signature=signature, way=way, cost=costs.get(model))


def _scored(settings: Settings, source: ScoreInput, place: Place) -> tuple["pd.DataFrame", dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "scores.csv"
        models = tuple(dict.fromkeys(settings.models))
        report = score_input(source, ScoreSettings("", models, table, no_cache=settings.no_cache), place)
        if report.failed:
            raise Refused(report.failed[0].error, **report.failed[0].values)
        return read_scores(table), {model.model: model.signature for model in report.models}


def _values(frame: "pd.DataFrame", models: Sequence[str]) -> dict[str, Numbers]:
    return {
        model: rows_of(frame, model)["bias_log10"].where(lambda one: np.isfinite(one)).to_numpy(float)
        for model in dict.fromkeys(models)
    }


def _effect(settings: Settings, values: dict[str, Numbers], clusters: Any) -> tuple[Estimate, list[Comparison]]:
    """Return the effect for the verdict, and for each seed its excess over its placebo (or over the model before).

    One seed: over the stems of the items. More: over the seeds, the unit of that comparison (docs/before_after.md),
    against the seeds of the placebo. All models are compared on the items that every model answered.
    """
    starts = [values[text] for text in settings.placebo] or [values[settings.before]] * len(settings.after)
    beyond = [
        compare(values[settings.before], values[model], clusters, less=start)
        for model, start in zip(settings.after, starts, strict=True)
    ]
    if len(beyond) == 1:
        return beyond[0].size, beyond
    return over_seeds(settings, values, np.ones(clusters.codes.shape, dtype=bool)), beyond


def over_seeds(settings: Settings, values: dict[str, Numbers], rows: Any) -> Estimate:
    """Return the change of size over the seeds of *settings*, against placebos if any, on some *rows*."""
    known = rows & np.all([np.isfinite(values[model]) for model in settings.models], axis=0)
    if not known.any():
        return Estimate.undefined(NOTHING, len(settings.after))
    sizes = {model: float(np.abs(values[model][known]).mean()) for model in settings.models}
    after, placebo = (
        [sizes[text] - sizes[settings.before] for text in some] for some in (settings.after, settings.placebo)
    )
    return against_placebos(after, placebo) if placebo else over_runs(after)


def _costs(settings: Settings, texts: list[str]) -> tuple[dict[str, Cost], list[Notice]]:
    """Return the cost of each model against the one before; a notice where its tokens differ."""
    from evenhand.core.models.tuning.training import Changeable

    first = Changeable(settings.before, device="cpu")
    rows = first.rows(texts, LENGTH)
    before = first.held_out(rows)
    result, notices = {}, []
    for model in dict.fromkeys(settings.models[1:]):
        other = Changeable(model, device="cpu")
        if other.task != first.task or other.rows(texts, LENGTH) != rows:
            notices.append(Notice(OTHER_TOKENS, {"model": model, "before": settings.before}))
        elif rows:
            result[model] = cost(before.per_text, other.held_out(rows).per_text)
    return result, notices


def _by_pair(base: "pd.DataFrame", values: dict[str, Numbers], settings: Settings) -> list[PairMeans]:
    pair_means = []
    for pair in dict.fromkeys(base["pair"]):
        here = (base["pair"] == pair).to_numpy()
        if not pair:
            continue
        means = {}
        for model in dict.fromkeys(settings.models):
            known = values[model][here][np.isfinite(values[model][here])]
            means[model] = {"mean": float(known.mean()), "size": float(np.abs(known).mean())} if len(known) else None
        pair_means.append(PairMeans(str(pair), int(here.sum()), means))
    return pair_means


def _left_out(base: "pd.DataFrame", values: dict[str, Numbers], settings: Settings) -> LeftOut | None:
    """Return the effect on pairs that were left out of the swap in training, and the effect on the other pairs.

    None where the models name no such pairs (`tune --leave-out`). Few stems: values without an interval.
    """
    pairs = set.union(*({*_unswapped(model)} for model in settings.after))
    here = base["pair"].isin(pairs).to_numpy()
    if not here.any() or here.all():
        return None
    starts, parts = settings.placebo or (settings.before,) * len(settings.after), []
    for chosen in (here, ~here):
        clusters = clusters_of_pairs(base["pair"][chosen].reset_index(drop=True))
        if len(settings.after) == 1:
            first, last = values[settings.before][chosen], values[settings.after[0]][chosen]
            effect = compare(first, last, clusters, less=values[starts[0]][chosen]).size
        else:
            effect = over_seeds(settings, values, chosen)
        parts.append(PartEffect(**fields_of(effect), items=int(chosen.sum())))
    return LeftOut(sorted(pairs & set(base["pair"])), *parts)


def _unswapped(model: str) -> tuple[str, ...]:
    """Return the pairs that were left out of the swap by the record of a tuned model."""
    report = tuned_model(model)
    return report.source.swap.left_out if report else ()


def _way_of(model: str) -> str:
    """Return how a tuned model was made, by its record; "" for a model that was not tuned."""
    report = tuned_model(model)
    signature = report.tuning.signature if isinstance(report, TrainingReport) else ""
    return "; ".join(filter(None, (report.method_text if report else "", signature)))


def _moved(base: "pd.DataFrame", values: dict[str, Numbers], settings: Settings) -> list[MovedItem]:
    """Return the items that moved most, in either direction, by the mean of the models after."""
    after = np.mean([values[model] for model in settings.after], axis=0)
    change = after - values[settings.before]
    order = [int(i) for i in np.argsort(np.where(np.isfinite(change), change, np.inf)) if np.isfinite(change[i])]
    chosen = dict.fromkeys([*order[:EXTREMES], *order[-EXTREMES:]])
    return [
        MovedItem(
            str(base["row"][i]), str(base["sentence"][i]), str(base["pair"][i]), float(values[settings.before][i]),
            float(after[i]), float(change[i]),
        )
        for i in chosen
    ]  # fmt: skip


def columns(settings: Settings) -> list[str]:
    """Return the columns of the table."""
    after, placebo = (
        [f"{name}_{i}" for i in range(1, len(models) + 1)]
        for name, models in (("after", settings.after), ("placebo", settings.placebo))
    )
    return ["row", "sentence", "pair", "side", "source", "before", *after, *placebo]


def _write(out: Path, base: "pd.DataFrame", values: dict[str, Numbers], settings: Settings) -> None:
    shown = [values[model] for model in settings.models]
    with open_table(out, columns(settings), data_line) as write:
        for i in range(len(base)):
            numbers = [float(entry[i]) if np.isfinite(entry[i]) else None for entry in shown]
            write([*(base[name][i] for name in ("row", "sentence", "pair", "side", "source")), *numbers])
