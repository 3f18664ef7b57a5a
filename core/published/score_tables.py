"""Published scores of models as the rows of a score file (docs/model_bias.md#published-scores).

Every page and command that reads a score file then works on them. The values are log-ratios of two words; the
probabilities themselves are not known, so that the pair mass is undefined.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.runs.loop import made_now, open_table
from evenhand.core.runs.records import write_record
from evenhand.core.scoring.rows import COLUMNS, OK
from evenhand.core.sentence_bias.bias import LN10
from evenhand.core.types import JsonObject

Numbers = NDArray[np.float64]
BASES = {"10": 1.0, "e": 1 / LN10, "2": math.log10(2)}  # base of the logarithm -> factor to log10
NO_VALUE = N_("No value was published.")
NEEDED = ("sentence", "model", "log_ratio")
MEAN = "mean"  # the name of the mean over the templates of a model


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """A model with its values in log10 by template, one per sentence in their order, NaN where there is none.

    *signature*: that of a model that was scored here; "" for a published one.
    """

    name: str
    templates: Mapping[str, Numbers]
    kind: str = ""
    signature: str = ""

    @property
    def mean(self) -> Numbers:
        """The mean over the templates, NaN where a template has no value."""
        return np.asarray(np.mean(list(self.templates.values()), axis=0), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class PublishedScores:
    """Sentences, each with its group ("" for none) and its word pair (male/female), and the models that scored them.

    *source*: a short name of where they come from, the first part of each signature.
    """

    sentences: tuple[str, ...]
    groups: tuple[str, ...]
    pairs: tuple[str, ...]
    source: str
    models: tuple[PublishedModel, ...]

    def series(self, *, by_template: bool) -> Iterator[tuple[str, str, Numbers]]:
        """Yield name, signature and values of each model: the mean over its templates, or one entry per template."""
        for model in self.models:
            if by_template and len(model.templates) > 1:
                for template, values in model.templates.items():
                    yield f"{model.name} · {template}", self._signature(model, template), values
            else:
                yield model.name, self._signature(model, "+".join(model.templates)), model.mean

    def _signature(self, model: PublishedModel, templates: str) -> str:
        return model.signature or "|".join(
            filter(None, (self.source, model.name, templates and f"templates:{templates}", "log-ratio"))
        )

    def rows(self, name: str, signature: str, values: Numbers) -> Iterator[list[Any]]:
        """Yield the rows of a score file, in the order of COLUMNS and the group."""
        texts = zip(self.sentences, self.pairs, self.groups, values.tolist(), strict=True)
        for number, (sentence, pair, group, value) in enumerate(texts, 1):
            known = not math.isnan(value)
            cells = {
                "row": number, "sentence": sentence, "pair": pair, "model": name, "signature": signature,
                "bias_log10": value if known else "", "bias_ln": value * LN10 if known else "",
                "status": OK if known else NO_VALUE,
            }  # fmt: skip
            yield [*(cells.get(column, "") for column in COLUMNS), group]


def write_scores(scores: PublishedScores, out: Path, *, by_template: bool, listed: bool, source: JsonObject) -> int:
    """Write *scores* as the score file *out*, with the record of a run if *listed*; return the number of models."""
    models = []
    with open_table(out, (*COLUMNS, "group")) as write_row:
        for name, signature, values in scores.series(by_template=by_template):
            for row in scores.rows(name, signature, values):
                write_row(row)
            scored = int(np.isfinite(values).sum())
            models.append({"model": name, "rows": len(values), "scored": scored, "signature": signature})
    if listed:
        sentences = len(scores.sentences)
        write_record(out, {"sentences": sentences, "models": models, "source": source, **made_now()})
    return len(models)


def read_table(path: Path, *, base: str, pair: str, source: str) -> PublishedScores:
    """Read a table (CSV or TSV) with a row per sentence, model and template.

    Columns: `sentence`, `model`, `log_ratio` (logarithm to *base* of the probability of the male word over that of the
    female word), and where there are any `template`, `group`, `pair`; *pair* is that of all sentences without one.
    Raises NotFound for a missing file, BadFile for a missing column, a cell that is not a number, or a value twice.
    """
    if not path.is_file():
        raise NotFound(N_("There is no file or folder {path}."), path=str(path))
    tabs = "\t" if path.suffix.lower() in (".tsv", ".tab") else ","
    try:
        frame = pd.read_csv(path, sep=tabs, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        message = N_("{file} cannot be read as CSV: {problem}")
        raise BadFile(message, file=path.name, problem=str(error).strip().splitlines()[-1]) from None
    if missing := [column for column in NEEDED if column not in frame.columns]:
        message = N_("{file} lacks the columns {columns}.")
        raise BadFile(message, file=path.name, columns=", ".join(missing))
    for column in ("template", "group", "pair"):
        if column not in frame.columns:
            frame[column] = ""
    frame["pair"] = frame["pair"].replace("", pair)
    frame["value"] = _values(frame["log_ratio"], path.name) * BASES[base]
    if (twice := frame.duplicated([*NEEDED[:2], "template", "pair"]).to_numpy()).any():
        message = N_("{file}, line {line}: this sentence has a value of this model and template already.")
        raise BadFile(message, file=path.name, line=int(np.flatnonzero(twice)[0]) + 2)
    return _scores(frame, source)


def _values(column: "pd.Series[str]", file: str) -> "pd.Series[float]":
    numbers = pd.to_numeric(column.replace("", None), errors="coerce").astype(float)
    if (wrong := (numbers.isna() & (column != "")).to_numpy()).any():
        place = int(np.flatnonzero(wrong)[0])
        message = N_("{file}, line {line}: {cell} in the column {column} is not a number.")
        raise BadFile(message, file=file, line=place + 2, cell=str(column.iloc[place])[:40], column="log_ratio")
    return numbers


def _scores(frame: pd.DataFrame, source: str) -> PublishedScores:
    items = frame.drop_duplicates(["sentence", "pair"])[["sentence", "pair", "group"]]
    index = pd.MultiIndex.from_frame(items[["sentence", "pair"]])
    models = []
    for name, rows in frame.groupby("model", sort=False):
        templates = {
            str(template): part.set_index(["sentence", "pair"])["value"].reindex(index).to_numpy(float)
            for template, part in rows.groupby("template", sort=False)
        }
        models.append(PublishedModel(str(name), templates))
    texts, pairs, groups = (tuple(map(str, items[column])) for column in ("sentence", "pair", "group"))
    return PublishedScores(texts, groups, pairs, source, tuple(models))
