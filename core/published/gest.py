"""Published scores of GEST: real models on sentences of 16 gender stereotypes, read from a copy of its repository.

GEST (Pikuliak et al., EMNLP Findings 2024) publishes a number per sentence, model and template: the log10 of the
probability of the male word over that of the female word. Positive leans towards the male word. Its printed means are
exp of the mean of these log10 values, and are compared as printed.

The project ships means and correlations (`core/data/gest_*.tsv`), no sentence: `Gest.means` and `Gest.correlations`
make these files again from a copy.
"""

import csv
import gzip
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.language import Language
from evenhand.core.model_bias.score_files import finite_bias
from evenhand.core.published.claims import agrees
from evenhand.core.published.score_tables import MEAN, PublishedModel, PublishedScores
from evenhand.core.resources import read_table, table
from evenhand.core.statistics import Estimate, Note
from evenhand.core.statistics.estimate import DASH
from evenhand.core.statistics.intervals import by_t

Numbers = NDArray[np.float64]
SENTENCES, PRINTED = "gest.csv", "printed_means.tsv"
SCORES = re.compile(r"(?P<kind>[a-z]+)__(?P<model>.+)_template-(?P<template>\w+)\.txt(\.gz)?")
PAIR = "he/she"
QUOTED = r"[\"“”„«](.+)[\"”“»]"
ALONE = Note(N_("One sentence: no interval."))
# Names of the printed table that are shorter than those of the score files.
SHORT = {
    "albert-base": "albert-base-v2",
    "bert-base": "bert-base-uncased",
    "bert-base-multi": "bert-base-multilingual-cased",
    "distilbert-base": "distilbert-base-uncased",
    "electra-base": "electra-base-generator",
    "electra-large": "electra-large-generator",
}


@dataclass(frozen=True, slots=True)
class PrintedMean:
    """A printed mean and its recalculation from the scores, None where the scores of the model are not there."""

    model: str
    template: str
    stereotype: int
    printed: str
    recalculated: float | None

    @property
    def equal(self) -> bool:
        """True if both agree in the printed digits."""
        return self.recalculated is not None and agrees(self.printed, self.recalculated, self.recalculated)


@dataclass(frozen=True, slots=True)
class Standing:
    """The mean of a model (log10, its t interval over sentences), and how many of the published models are higher."""

    model: str
    mean: Estimate
    higher: int
    published: int


@dataclass(frozen=True, slots=True)
class Gest:
    """A copy of GEST: its scores, with the stereotype (1 to 16) of each sentence, and its printed means."""

    scores: PublishedScores
    stereotypes: NDArray[np.int64]
    printed: tuple[PrintedMean, ...]

    def means(self) -> Iterator[list[str]]:
        """Yield a line per model, template (and the mean over them) and stereotype: mean and t interval in log10."""
        yield ["kind", "model", "template", "stereotype", "value", "low", "high", "printed"]
        printed = {(one.model, one.template, one.stereotype): one.printed for one in self.printed}
        for model in self.scores.models:
            for template, values in (*model.templates.items(), (MEAN, model.mean)):
                for number in stereotypes():
                    mean = mean_of(values[self.stereotypes == number])
                    ends = [DASH if end is None else f"{end:.4f}" for end in (mean.value, mean.low, mean.high)]
                    text = printed.get((model.name, template, number), DASH)
                    yield [model.kind, model.name, template, str(number), *ends, text]

    def correlations(self) -> Iterator[list[str]]:
        """Yield a line per two models: Pearson's correlation of their values, each the mean over its templates."""
        yield ["a", "b", "value"]
        names = [model.name for model in self.scores.models]
        matrix = np.corrcoef([model.mean for model in self.scores.models])
        for one, other in combinations(range(len(names)), 2):
            yield [names[one], names[other], f"{matrix[one, other]:.3f}"]

    def placed(self, rows: pd.DataFrame) -> list[PublishedModel]:
        """Return the models of a score file on those of its rows whose sentence is, or quotes, one of GEST's.

        A model is asked with a template around the sentence; of several templates it has the mean.
        """
        quoted = rows["sentence"].str.extract(QUOTED)[0].str.strip()
        known = rows.assign(sentence=rows["sentence"].where(rows["sentence"].isin(self.scores.sentences), quoted))
        models = []
        for name, part in known[known["sentence"].isin(self.scores.sentences)].groupby("model", sort=False):
            means = finite_bias(part).groupby(part["sentence"]).mean()
            values = means.reindex(list(self.scores.sentences)).to_numpy(float)
            models.append(PublishedModel(str(name), {"": values}, signature=str(part["signature"].iloc[0])))
        return models

    def standing(self, model: PublishedModel) -> Standing:
        """Return the place of *model* among the published models, on the sentences that it has scored."""
        scored = np.isfinite(model.mean)
        means = {other.name: float(other.mean[scored].mean()) for other in self.scores.models} if scored.any() else {}
        mean = mean_of(model.mean)
        higher = [name for name, value in means.items() if mean.value is not None and value > mean.value]
        return Standing(model.name, mean, len(higher), len(means))


@cache
def stereotypes(language: Language = "en") -> dict[int, str]:
    """Return the name of each stereotype by its number, in an order that sorts: "09 men: self-confident"."""
    about = {"women": "女性：", "men": "男性："} if language == "zh" else {"women": "women: ", "men": "men: "}
    name = "name_zh" if language == "zh" else "name"
    return {
        number: f"{number:02} {about[row['about']]}{row[name]}"
        for number, row in enumerate(table("gest_stereotypes"), 1)
    }


def read_gest(folder: Path) -> Gest:
    """Read `gest.csv`, the score files and, where it is there, `printed_means.tsv` of *folder*.

    Raises NotFound without sentences or score files, BadFile with file and line for a cell that cannot be read and
    for a score file with more or fewer lines than there are sentences.
    """
    path = folder / SENTENCES
    if not path.is_file():
        raise NotFound(N_("{folder} is not a copy of GEST: {file} is missing."), folder=str(folder), file=SENTENCES)
    sentences, numbers = _sentences(path)
    models = _models(folder, len(sentences))
    if not models:
        raise NotFound(N_("{folder} holds no score files (MODEL_template-0.txt.gz)."), folder=str(folder))
    names = stereotypes()
    groups = tuple(names.get(number, f"{number:02}") for number in numbers)
    scores = PublishedScores(tuple(sentences), groups, (PAIR,) * len(sentences), "gest", tuple(models))
    codes = np.array(numbers, dtype=np.int64)
    return Gest(scores, codes, tuple(_printed(folder / PRINTED, models, codes)))


def mean_of(values: Numbers) -> Estimate:
    """Return the mean of finite *values* with its t interval over them."""
    values = values[np.isfinite(values)]
    if not len(values):
        return Estimate.undefined(Note(N_("There are no sentences.")))
    estimate = Estimate(float(values.mean()), units=len(values))
    if len(values) == 1:
        return Estimate(estimate.value, units=1, note=ALONE)
    return by_t(estimate, float(values.std(ddof=1) / math.sqrt(len(values))), len(values))


def _sentences(path: Path) -> tuple[list[str], list[int]]:
    sentences, numbers = list[str](), list[int]()
    with path.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines)
        if not {"sentence", "stereotype"} <= set(rows.fieldnames or ()):
            raise BadFile(N_("{file} needs the columns sentence and stereotype."), file=path.name)
        for row in rows:
            cell = str(row["stereotype"])
            if not cell.isdecimal():
                message = N_("{file}, line {line}: {cell} in the column {column} is not a whole number.")
                raise BadFile(message, file=path.name, line=rows.line_num, cell=cell[:40], column="stereotype")
            sentences.append(str(row["sentence"]))
            numbers.append(int(cell))
    return sentences, numbers


def _models(folder: Path, sentences: int) -> list[PublishedModel]:
    """Return the models of all score files, masked models first, each kind in the order of its names."""
    files = [(match, path) for path in folder.rglob("*_template-*.txt*") if (match := SCORES.fullmatch(path.name))]
    models: dict[tuple[str, str], dict[str, Numbers]] = {}
    for match, path in sorted(
        files, key=lambda file: (file[0]["kind"] != "mlm", file[0]["model"].lower(), file[0]["template"])
    ):
        values = _values(path)
        if len(values) != sentences:
            message = N_("{file} holds {found} values, but there are {expected} sentences.")
            raise BadFile(message, file=path.name, found=len(values), expected=sentences)
        models.setdefault((match["kind"], match["model"]), {})[match["template"]] = values
    return [PublishedModel(name, templates, kind) for (kind, name), templates in models.items()]


def _values(path: Path) -> Numbers:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8") as lines:
            cells = list(lines)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BadFile(N_("{file} cannot be read: {problem}."), file=path.name, problem=str(error)) from None
    values = np.empty(len(cells))
    for place, cell in enumerate(cells):
        try:
            values[place] = float(cell)
        except ValueError:
            message = N_("{file}, line {line}: {cell} is not a number.")
            raise BadFile(message, file=path.name, line=place + 1, cell=cell.strip()[:40]) from None
    return values


def _printed(path: Path, models: Iterable[PublishedModel], stereotypes: NDArray[np.int64]) -> Iterator[PrintedMean]:
    if not path.is_file():
        return
    known = {(model.kind, model.name): model.templates for model in models}
    for row in read_table(path):
        name, number = SHORT.get(row["model"], row["model"]), int(row["stereotype"])
        values = known.get((row["kind"], name), {}).get(row["template"])
        mean = None if values is None else math.exp(float(values[stereotypes == number].mean()))
        yield PrintedMean(name, row["template"], number, row["printed_mean"], mean)


@cache
def packaged_means() -> pd.DataFrame:
    """Return the packaged means: kind, model, template, stereotype (1 to 16), value, low, high (log10), printed."""
    frame = pd.DataFrame(table("gest_means")).replace(DASH, "")
    return frame.astype({"stereotype": int, **dict.fromkeys(("value", "low", "high"), float)})


@cache
def packaged_correlations() -> pd.DataFrame:
    """Return the packaged correlations of every two models in both orders, with the diagonal: a, b, value."""
    half = pd.DataFrame(table("gest_correlations")).astype({"value": float})
    names = list(dict.fromkeys([*half["a"], *half["b"]]))
    both = pd.concat(
        [half, half.rename(columns={"a": "b", "b": "a"}), pd.DataFrame({"a": names, "b": names, "value": 1.0})]
    )
    place = {name: number for number, name in enumerate(names)}
    return both.sort_values(["a", "b"], key=lambda column: column.map(place), ignore_index=True)


def stereotyped(means: pd.DataFrame) -> tuple[int, int]:
    """Return how many models lean more to the male word on stereotypes of men than of women, and how many there are.

    *means*: rows of `packaged_means` of one template, or of the mean over templates.
    """
    about = means["stereotype"].map(lambda number: table("gest_stereotypes")[number - 1]["about"])
    sides = means.groupby(["model", about])["value"].mean().unstack()
    return int((sides["men"] > sides["women"]).sum()), len(sides)
