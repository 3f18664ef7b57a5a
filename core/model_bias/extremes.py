"""Sentences by name: the extremes of each side, and those that no mean can hold."""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from evenhand.core.types import Side


def matching(
    rows: pd.DataFrame,
    *,
    pair: str | None = None,
    word: str | None = None,
    contains: str | Sequence[str] | None = None,
    followed_by: str | None = None,
) -> pd.DataFrame:
    """The rows that a filter keeps; each part narrows it further.

    pair: "男孩/女孩". word: the word that the source had. contains: a text, or several of which any may stand in the
    sentence; read as it is, not as a pattern. followed_by: the text right after the keyword (the papers' case study
    is followed_by "童", SPEC 1.11).
    """
    if pair:
        rows = rows[rows["pair"] == pair]
    if word:
        rows = rows[rows["keyword"] == word]
    texts = [contains] if isinstance(contains, str) else [*(contains or ())]
    if texts := [text for text in texts if text]:
        rows = rows[rows["sentence"].str.contains("|".join(map(re.escape, texts)), regex=True)]
    if followed_by:
        rows = rows[
            [_follows(*row, followed_by) for row in zip(rows["sentence"], rows["keyword"], rows["end"], strict=True)]
        ]
    return rows


def _follows(sentence: str, keyword: str, end: int, text: str) -> bool:
    if pd.isna(end):  # an older file without positions: the keyword stands once
        return keyword + text in sentence
    return sentence.startswith(text, end)


def extremes(
    rows: pd.DataFrame,
    n: int = 5,
    *,
    sign: Side,
    by: str = "bias_log10",
    pair: str | None = None,
    word: str | None = None,
    contains: str | Sequence[str] | None = None,
    followed_by: str | None = None,
) -> pd.DataFrame:
    """The *n* sentences of one model that lean furthest to one side, furthest first (Tables 5, 6, 8, 9 of the paper).

    Only finite values of that sign; of equal ones the earlier row. Filters as in `matching`. `by` may name another
    column of the rows, such as a prior-corrected value.
    """
    rows = matching(rows, pair=pair, word=word, contains=contains, followed_by=followed_by)
    values = rows[by]
    leaning = rows[np.isfinite(values) & ((values > 0) if sign == "male" else (values < 0))]
    return leaning.sort_values(by, ascending=sign == "female", kind="stable").head(n)


def undefined_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The sentences without a Bias_c; the column `status` says why."""
    return rows[rows["bias_log10"].isna()]


def infinite_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The sentences with an infinite Bias_c: one of the two words has probability 0."""
    return rows[np.isinf(rows["bias_log10"])]
