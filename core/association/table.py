"""Reading a table of associations, with checks."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from evenhand.core.association.run import COLUMNS, OK, Associated
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.csv_out import is_guarded, restored

NUMBERS = ("women", "logp_target", "logp_prior", "association")
NEEDED = ("template", "person", "person_key", "pair", "person_gender", "profession_key", "class", "association")
TEXTS = tuple(name for name in COLUMNS if name not in (*NUMBERS, "row", "p_target", "p_prior", "pieces", "masks"))


def frame_of(found: Sequence[Associated]) -> pd.DataFrame:
    """The rows of a run as a table with the columns of COLUMNS; undefined is NaN."""
    return _typed(pd.DataFrame([one.values() for one in found], columns=list(COLUMNS)))


def read_associations(path: Path | str) -> pd.DataFrame:
    """A table that `association --out` wrote (CSV, or TSV by its ending). Raises BadFile with what is missing."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            tabs = b"\t" in opened.readline()
        frame = pd.read_csv(file, sep="\t" if tabs else ",", dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except OSError as error:
        message = N_("{file} cannot be read: {why}.")
        raise BadFile(message, file=file.name, why=error.strerror or error) from None
    except (ValueError, pd.errors.ParserError):
        raise BadFile(N_("{file} is not a table of associations. Create one with: {command}"), file=file.name,
                      command="python cli.py association --out FILE") from None  # fmt: skip
    missing = [name for name in NEEDED if name not in frame.columns]
    if missing:
        message = N_("{file} lacks the columns {missing}; the command association did not write it.")
        raise BadFile(message, file=file.name, missing=", ".join(missing))
    for name in (name for name in COLUMNS if name not in frame.columns):
        frame[name] = ""
    texts = frame[list(TEXTS)]
    frame[list(TEXTS)] = texts.map(restored) if is_guarded(texts.to_numpy().ravel()) else texts
    return _checked(_typed(frame), file.name)


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    for name in (*NUMBERS, "p_target", "p_prior", "pieces", "masks"):
        frame[name] = pd.to_numeric(frame[name], errors="coerce").astype(float)
    frame.loc[~np.isfinite(frame["association"]), "association"] = np.nan
    return frame


def _checked(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    wrong = ~frame["person_gender"].isin(["male", "female", "neutral"])
    if wrong.any():
        line = int(np.flatnonzero(wrong)[0]) + 2
        message = N_("{file}, line {line}: gender is {found}; it must be male, female or neutral.")
        raise BadFile(message, file=file, line=line, found=repr(str(frame.loc[line - 2, "person_gender"])))
    if frame.empty:
        raise BadFile(N_("{file} contains no rows."), file=file)
    return frame


def models_of(frame: pd.DataFrame) -> list[str]:
    """The models in the order of the table."""
    return [str(name) for name in dict.fromkeys(frame["model"])]


def rows_of(frame: pd.DataFrame, model: str) -> pd.DataFrame:
    """The rows of one model."""
    return frame[frame["model"] == model].reset_index(drop=True)


def undefined_of(frame: pd.DataFrame) -> dict[str, int]:
    """How many sentences have no association, by reason."""
    lost = frame[frame["association"].isna()]
    return {str(reason) or OK: int(count) for reason, count in lost["status"].value_counts().items()}


def has_equal_pairs(frame: pd.DataFrame) -> bool:
    """Whether some pair has the same word for both genders (Basque bera)."""
    return bool(_equal(frame))


def without_equal_pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows without pairs whose two words are the same: their difference is 0 by construction."""
    return frame[~frame["pair"].isin(_equal(frame))].reset_index(drop=True)


def _equal(frame: pd.DataFrame) -> list[str]:
    words = (
        frame[frame["pair"] != ""]
        .groupby("pair")
        .agg(genders=("person_gender", "nunique"), keys=("person_key", "nunique"))
    )
    return [str(pair) for pair, row in words.iterrows() if row["genders"] == 2 and row["keys"] == 1]
