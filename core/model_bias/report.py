"""The results of a score file for its models: the computation of the command `bias`."""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar, Literal

import pandas as pd

from evenhand.core.model_bias.compare_models import (
    against_margins,
    correlation,
    over_seeds,
    paired_differences,
    read_groups,
    seed_groups,
)
from evenhand.core.model_bias.extremes import infinite_rows, undefined_rows
from evenhand.core.model_bias.nulls import ManyIntervals, Null, many_intervals, shuffled_sides
from evenhand.core.model_bias.score_files import models_of, plain_names, read_scores, rows_of
from evenhand.core.model_bias.summary import Grouping, Summary, measures_json, summarise, summarise_by
from evenhand.core.sentence_bias.bias import Denominator
from evenhand.core.statistics import RESAMPLES, Estimate
from evenhand.core.statistics.equivalence import MARGINS, Equivalence, Margins
from evenhand.core.statistics.estimate import NO_INTERVAL
from evenhand.core.statistics.units import UnitChoice, units_of
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the command `bias`. `models`: empty for all of the file, in its order."""

    scores: Path
    models: tuple[str, ...] = ()
    denominator: Denominator = "side"
    unit: UnitChoice = "auto"
    least_mass: float | None = None
    missing_size: float | None = None
    by: Grouping | None = None
    differences: tuple[tuple[str, str], ...] = ()
    margin: float | None = MARGINS["log10"]
    auc_margin: float | None = MARGINS["auc"]
    correlations: bool = False
    seeds: tuple[str, ...] = ()
    no_seed_names: bool = False
    nulls: bool = False
    listed: int = 20
    resamples: int = RESAMPLES
    seed: int = 0

    @property
    def margins(self) -> Margins:
        """The margin of each scale that models are compared on."""
        return {"log10": self.margin, "auc": self.auc_margin}

    @property
    def of_differences(self) -> JsonObject:
        """The arguments for `paired_differences`."""
        return {name: getattr(self, name) for name in ("denominator", "unit", "resamples", "seed")}

    @property
    def of_models(self) -> JsonObject:
        """The arguments for `summarise`."""
        return self.of_differences | {"least_mass": self.least_mass, "missing_size": self.missing_size}


@dataclass(frozen=True, slots=True)
class UndefinedRow:
    """A sentence without a Bias_c, and why."""

    row: str
    sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class InfiniteRow:
    """A sentence of whose two words one has probability 0, and the side of the other word."""

    row: str
    sentence: str
    leans: Literal["male", "female"]


@dataclass(frozen=True, slots=True)
class ModelResult:
    """One model: its summary, its first rows without a finite value, its groups and nulls if requested."""

    summary: Summary
    undefined_rows: tuple[UndefinedRow, ...]
    infinite_rows: tuple[InfiniteRow, ...]
    by: Grouping | None
    groups: tuple[Summary, ...]
    nulls: dict[str, Null]

    @property
    def several(self) -> ManyIntervals:
        """The joint summary of the signed means of the groups."""
        return many_intervals([group.signed_mean for group in self.groups])

    def to_json(self) -> JsonObject:
        """Return the summary with rows, groups and nulls."""
        data = self.summary.to_json()
        data |= {"undefined_rows": to_json(self.undefined_rows), "infinite_rows": to_json(self.infinite_rows)}
        if self.by:
            rows = [{"name": group.group, **group.to_json()} for group in self.groups]
            data["by"] = {"group": self.by, "rows": rows, "several": self.several.to_json()}
        return data | ({"nulls": to_json(self.nulls)} if self.nulls else {})


@dataclass(frozen=True, slots=True)
class SeedResult:
    """The measures of a model over its seeds."""

    models: tuple[str, ...]
    measures: dict[str, Estimate]

    def to_json(self) -> JsonObject:
        """Return the seeds and each measure by its name."""
        return {"models": list(self.models), **measures_json(self.measures)}


@dataclass(frozen=True, slots=True)
class DifferenceResult:
    """Model *a* minus model *b* in every measure; `fixed_pairs`: with intervals that hold for these word pairs only."""

    a: str
    b: str
    measures: dict[str, Estimate]
    fixed_pairs: dict[str, Estimate]
    tested: dict[str, Equivalence]

    def to_json(self) -> JsonObject:
        """Return each measure by its name, with its answer against the margin."""
        named = measures_json(self.measures)
        for name, answer in self.tested.items():
            named[name]["equivalence"] = answer.data
        units = max(estimate.units for estimate in self.measures.values())
        return {"a": self.a, "b": self.b, **named, "units": units, "fixed_pairs": measures_json(self.fixed_pairs)}


@dataclass(frozen=True, slots=True)
class CorrelationResult:
    """The correlation of two models: prior-corrected, with the null band (see `correlation`), and raw."""

    a: str
    b: str
    kind: str
    n: int
    stems: int
    value: float | None
    low: float | None
    high: float | None
    band: float | None
    raw: float | None
    reason: str
    raw_reason: str | None
    explained_by: ClassVar = "reason"


@dataclass(frozen=True, slots=True)
class BiasReport:
    """The results of a score file, with models by their labels. None: not requested."""

    models: dict[str, ModelResult]
    names: dict[str, str]
    seeds: dict[str, SeedResult]
    differences: tuple[DifferenceResult, ...] | None
    correlations: tuple[CorrelationResult, ...] | None

    def to_json(self) -> JsonObject:
        """Return the models by their names in the file, and the further requested results."""
        data = {"models": {self.names[label]: result for label, result in self.models.items()}}
        values = {"differences": self.differences, "correlations": self.correlations, "seeds": self.seeds or None}
        found: JsonObject = to_json(data | {name: part for name, part in values.items() if part is not None})
        return found


def bias_report(settings: Settings) -> BiasReport:
    """Measure every model of a score file. Raises BadFile, and NotFound for a model that is not there."""
    frame = read_scores(settings.scores)
    for name in (*settings.models, *chain(*settings.differences)):
        rows_of(frame, name)  # refuse an unknown name before the work
    wanted = list(settings.models or models_of(frame))
    groups = seed_groups(models_of(frame), read_groups(settings.seeds), by_name=not settings.no_seed_names)
    results = {name: _of_model(rows_of(frame, name), settings) for name in wanted}
    models = {result.summary.model: result for result in results.values()}
    return BiasReport(
        models,
        plain_names(frame),
        {name: _of_seeds(frame, seeds, settings) for name, seeds in groups.items() if set(seeds) <= set(wanted)},
        tuple(_less(frame, a, b, settings) for a, b in settings.differences) or None,
        _correlations(frame[frame["model"].isin(list(models))], settings.seed) if settings.correlations else None,
    )


def _of_model(rows: pd.DataFrame, settings: Settings) -> ModelResult:
    undefined, infinite = (odd(rows).head(settings.listed) for odd in (undefined_rows, infinite_rows))
    nulls = {}
    if settings.nulls:
        nulls = shuffled_sides(rows, unit=settings.unit, shuffles=settings.resamples, seed=settings.seed)
    return ModelResult(
        summarise(rows, **settings.of_models),
        tuple(UndefinedRow(row.row, row.sentence, row.status) for row in undefined.itertuples()),
        tuple(
            InfiniteRow(row.row, row.sentence, "male" if row.bias_log10 > 0 else "female")
            for row in infinite.itertuples()
        ),
        settings.by,
        tuple(summarise_by(rows, settings.by, **settings.of_models)) if settings.by else (),
        nulls,
    )


def _of_seeds(frame: pd.DataFrame, seeds: tuple[str, ...], settings: Settings) -> SeedResult:
    return SeedResult(seeds, over_seeds([summarise(rows_of(frame, seed), **settings.of_models) for seed in seeds]))


def _less(frame: pd.DataFrame, a: str, b: str, settings: Settings) -> DifferenceResult:
    fixed = units_of(frame).kind if settings.unit == "auto" else settings.unit
    measures = paired_differences(frame, a, b, **settings.of_differences)
    of_these_pairs = paired_differences(frame, a, b, **settings.of_differences | {"unit": fixed})
    return DifferenceResult(a, b, measures, of_these_pairs, against_margins(measures, settings.margins))


def _correlations(frame: pd.DataFrame, seed: int) -> tuple[CorrelationResult, ...]:
    """Return the correlations of every two models once."""
    corrected, raw = (correlation(frame, corrected=way, seed=seed) for way in (True, False))
    place = {name: n for n, name in enumerate(dict.fromkeys(corrected["a"]))}
    pairs = zip(corrected.to_dict("records"), raw.to_dict("records"), strict=True)
    return tuple(
        CorrelationResult(
            row["a"], row["b"], row["kind"], row["n"], row["stems"], _known(row["value"]), _known(row["low"]),
            _known(row["high"]), _known(row["band"]), _known(other["value"]),
            reason=str(row["reason"] or row["note"] or NO_INTERVAL), raw_reason=other["reason"] or None,
        )
        for row, other in pairs
        if place[row["a"]] < place[row["b"]]
    )  # fmt: skip


def _known(value: float) -> float | None:
    return None if pd.isna(value) else float(value)
