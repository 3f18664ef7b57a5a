"""Sentences by name: the extremes of each side, sentences that no mean includes, and named filters.

Named filters are the papers' case study, and what people save next to their runs.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.types import Side


def matching(
    rows: pd.DataFrame,
    *,
    pair: str | None = None,
    word: str | None = None,
    contains: str | Sequence[str] | None = None,
    followed_by: str | None = None,
) -> pd.DataFrame:
    """Return the rows that pass a filter; each part narrows it further.

    pair: "男孩/女孩". word: the word in the source. contains: a text, or several texts of which the sentence has at
    least one; read literally, not as a pattern. followed_by: the text right after the keyword (the case study of the
    papers has followed_by "童", docs/methods.md#released-file).
    """
    if pair:
        rows = rows[rows["pair"] == pair]
    if word:
        rows = rows[rows["keyword"] == word]
    texts = [contains] if isinstance(contains, str) else [*(contains or ())]
    if texts := [text for text in texts if text]:
        rows = rows[rows["sentence"].str.contains("|".join(map(re.escape, texts)), regex=True)]
    if followed_by:
        places = zip(rows["sentence"], rows["keyword"], rows["end"], strict=True)
        # In an older file without positions the keyword occurs once.
        rows = rows[
            [
                keyword + followed_by in text if pd.isna(end) else text.startswith(followed_by, end)
                for text, keyword, end in places
            ]
        ]
    return rows


def extremes(
    rows: pd.DataFrame,
    n: int = 5,
    *,
    sign: Side,
    by: str = "bias_log10",
) -> pd.DataFrame:
    """Return the *n* sentences of a model that lean most to one side, in order (Tables 5, 6, 8, 9 of the paper).

    Only finite values of that sign; of equal ones the earlier row. `by` may name another column of the rows, such as
    a prior-corrected value. `matching` filters rows.
    """
    values = rows[by]
    leaning = rows[np.isfinite(values) & ((values > 0) if sign == "male" else (values < 0))]
    return leaning.sort_values(by, ascending=sign == "female", kind="stable").head(n)


def undefined_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the sentences without a Bias_c; the column `status` says why."""
    return rows[rows["bias_log10"].isna()]


def infinite_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the sentences with an infinite Bias_c: one of the two words has probability 0."""
    return rows[np.isinf(rows["bias_log10"])]


FILE = ".filters.json"  # stored next to the runs; no run's name begins with a dot
LONGEST = 60  # characters of a name
MOST = 200


@dataclass(frozen=True, slots=True)
class SavedFilter:
    """A filter of sentences: each part that is not empty narrows it further, as in `core.model_bias.matching`."""

    name: str
    pair: str = ""
    word: str = ""
    contains: str = ""
    followed_by: str = ""

    @property
    def empty(self) -> bool:
        """True if the filter keeps every sentence."""
        return not (self.pair or self.word or self.contains or self.followed_by)

    def keep(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that the filter keeps."""
        return matching(
            rows,
            pair=self.pair or None,
            word=self.word or None,
            contains=self.contains or None,
            followed_by=self.followed_by or None,
        )


# The case study of the papers (docs/methods.md#released-file): sentences on boys and girls, the keyword 男 or 女
# followed by 童.
CASE_STUDY = SavedFilter("男童/女童", pair="男/女", followed_by="童")
BUILT_IN = (CASE_STUDY,)


def saved_filters(folder: Path) -> list[SavedFilter]:
    """Return the built-in filters, then those saved in *folder*, oldest first. Raises BadFile for a broken file."""
    return [*BUILT_IN, *_file_of(folder)]


def _file_of(folder: Path) -> list[SavedFilter]:
    path = folder / FILE
    if not path.is_file():
        return []
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [SavedFilter(**{key: str(value) for key, value in row.items()}) for row in rows]
    except (OSError, ValueError, TypeError, AttributeError) as error:
        message = N_("The saved filters in {file} cannot be read. Move the file away to start without saved filters.")
        raise BadFile(message, file=str(path)) from error


def save_filter(folder: Path, new: SavedFilter) -> None:
    """Keep a filter under its name; one of that name that was saved before is replaced.

    Raises Refused for an empty filter, an invalid name, or the name of a built-in filter.
    """
    name = new.name.strip()
    if not name or len(name) > LONGEST or not name.isprintable():
        raise Refused(N_("Give the filter a name of at most 60 characters on one line."))
    if new.empty:
        raise Refused(N_("This filter keeps every sentence; choose a pair, a word or a text first."))
    if name in {saved_filter.name for saved_filter in BUILT_IN}:
        raise Refused(N_("{name} is the name of a built-in filter; choose another name."), name=name)
    others = [saved_filter for saved_filter in _file_of(folder) if saved_filter.name != name]
    if len(others) >= MOST:
        raise Refused(N_("There are already {most} saved filters; remove one first."), most=MOST)
    _write(folder, [*others, SavedFilter(name, new.pair, new.word, new.contains, new.followed_by)])


def remove_filter(folder: Path, name: str) -> None:
    """Forget a saved filter; built-in ones stay."""
    _write(folder, [saved_filter for saved_filter in _file_of(folder) if saved_filter.name != name])


def _write(folder: Path, filters: list[SavedFilter]) -> None:
    with whole_file(folder / FILE) as write:
        write(json.dumps([asdict(filter_) for filter_ in filters], ensure_ascii=False, indent=1) + "\n")
