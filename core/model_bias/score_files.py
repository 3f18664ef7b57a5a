"""Score files read and checked: one row per sentence and model, every column typed, undefined as NaN.

The columns are those that the command `score` writes. A file of an earlier version or of a user's script may lack
columns that can be computed from the others: the side, the mask width, the pair mass, the natural logarithm.

Models of a score file are named so that numbers of different methods never share a name or an axis.
"""

import math
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd

from evenhand.core.errors import N_, BadFile, NotFound
from evenhand.core.files.csv_out import is_guarded, restored
from evenhand.core.resources import keyword_pairs
from evenhand.core.sentence_bias.bias import LN10, NO_ANSWER, whole_sentences
from evenhand.core.text.keywords import unspaced
from evenhand.core.types import Signature

USUAL = ("", "masked", "independent", "sum")  # values that are not added to a name


def labels(frame: pd.DataFrame) -> pd.Series:
    """Return for each row the label of its model.

    One name with several ways of scoring becomes several models, named by the parts of the signature that differ.
    Where the models of a file were scored by different methods or joins, the label names the way: gpt2 (pair-sum). Only
    masking of each character by itself is not named.
    """
    unlike_ways = _unlike_ways(frame)
    kinds = pd.DataFrame({"model": unlike_ways, "signature": frame["signature"]}).drop_duplicates()
    ways = {
        label: _scoring_methods(group) for label, group in kinds[kinds["signature"] != ""].groupby("model", sort=False)
    }
    if len(set().union(*ways.values())) < 2:
        return unlike_ways
    values = {label: ", ".join(w for w in sorted(way)[0] if w not in USUAL) for label, way in ways.items() if way}
    names = {label: f"{label} ({word})" for label, word in values.items() if word and word not in str(label)}
    return unlike_ways.replace(names) if names else unlike_ways


def _scoring_methods(kinds: pd.DataFrame) -> set[tuple[str, str]]:
    """Return the pairs (method, joint) of the signatures that can be parsed."""
    parts = [Signature.parse(str(text)) for text in kinds["signature"]]
    return {(part.method, part.joint) for part in parts if part is not None}


def plain_names(frame: pd.DataFrame) -> dict[str, str]:
    """Return for each model of a frame its name in the file; its label where several models share that name."""
    pairs = frame[["model", "named"]].drop_duplicates()
    single = ~pairs["named"].duplicated(keep=False)
    return {
        str(label): str(name if alone else label)
        for label, name, alone in zip(pairs["model"], pairs["named"], single, strict=True)
    }


def _unlike_ways(frame: pd.DataFrame) -> pd.Series:
    """Return for each row the model; a name with several ways of scoring becomes several models."""
    mask = frame["model"].copy()
    kinds = frame[["model", "signature"]].drop_duplicates()
    for model, group in kinds[kinds["signature"] != ""].groupby("model", sort=False):
        parts = [_parts_of(str(signature)) for signature in group["signature"]]
        differing = [at for at, values in enumerate(zip(*parts, strict=True)) if len(set(values)) > 1]
        if not differing:
            continue
        for signature, part in zip(group["signature"], parts, strict=True):
            shown = ", ".join(part[at] for at in differing if part[at])
            mask = mask.mask((frame["model"] == model) & (frame["signature"] == signature), f"{model} ({shown})")
    return mask


def _parts_of(text: str) -> tuple[str, ...]:
    """Return what may differ between two ways of scoring; of a signature of another form the whole text.

    The precision is left out: older runs in bf16 hold some rows of fp32.
    """
    parts = Signature.parse(text)
    if parts is None:
        return (text, "", "", "", "")
    return (parts.method, parts.model, f"weights:{parts.weights}", parts.joint, f"v{parts.version}")


NEEDED = ("row", "sentence", "pair", "keyword", "model", "p_male", "p_female", "bias_log10", "signature")
NUMBERS = ("p_male", "p_female", "pair_mass", "bias_log10", "bias_ln", "logp_male", "logp_female")
WHOLE = ("masks", "start", "end")
WORDS = ("sentence", "pair", "keyword", "model", "status", "signature", "side", "source", "group")
SIDES = ("male", "female")
REFERENCES = ("random-zh",)  # the demo model's architecture, untrained: what no training at all looks like


def read_scores(scores: "str | PathLike[str] | pd.DataFrame") -> pd.DataFrame:
    """Return the rows of a score file (or of a frame of the same columns), checked and typed.

    Text columns are str, `row` is kept as it is, `masks` is the mask width (0 where unknown), `side` is the side of
    the word in the source (male, female or ""), `bias_log10` is NaN where undefined and keeps +-inf. If the signatures
    of a model differ in more than the precision, the model becomes several models, named by the parts that differ.
    Raises NotFound for a missing file, BadFile for a missing column, a cell that is not a number, a file without rows,
    or a sentence scored twice by one model.
    """
    name, frame = _frame(scores)
    if missing := [column for column in NEEDED if column not in frame.columns]:
        message = N_("{file} is not a score file: it lacks the columns {columns}. Create one with the command score.")
        raise BadFile(message, file=name, columns=", ".join(missing))
    if frame.empty:
        raise BadFile(N_("{file} has a header but no rows."), file=name)
    for column in (*NUMBERS, *WHOLE):
        if column in frame.columns:
            frame[column] = _numbers(frame[column], name)
    for column in WORDS:
        if column in frame.columns:
            frame[column] = frame[column].fillna("").astype(str)
    if not isinstance(scores, pd.DataFrame):  # a frame has no apostrophes that a file guards its cells with
        frame = _restored(frame)
    _check(frame, name)
    frame = _with_all_columns(frame)
    if "named" not in frame.columns:
        frame["named"] = frame["model"]
    frame["model"] = labels(frame)
    twice = frame.duplicated(["model", "row", "sentence"])
    if twice.any():
        first = frame.loc[twice].iloc[0]
        message = N_("{file}: row {row} of the model {model} appears twice. Remove the duplicate.")
        raise BadFile(message, file=name, model=first["model"], row=first["row"])
    return frame


def is_reference(model: str) -> bool:
    """Tell if a model is the random-weights reference (docs/ruler.md), the untrained model of the same architecture."""
    return model.split(" (")[0] in REFERENCES


def models_of(frame: pd.DataFrame) -> list[str]:
    """Return the models of a frame in the order of their first row; never sorted by a value."""
    return [str(model) for model in frame["model"].drop_duplicates()]


def rows_of(frame: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return the rows of one model, by its label or its name in the file. Raises NotFound without rows."""
    rows = frame[frame["model"] == label_of(frame, model)]
    if rows.empty:
        message = N_("These scores do not contain the model {model}. Available: {models}.")
        raise NotFound(message, model=model, models=", ".join(models_of(frame)))
    return rows


def label_of(frame: pd.DataFrame, model: str) -> str:
    """Return the label of a model by its name in the file, where that is unique; else the name itself."""
    if (frame["model"] == model).any() or "named" not in frame.columns:
        return model
    result = frame.loc[frame["named"] == model, "model"].drop_duplicates()
    return str(result.iloc[0]) if len(result) == 1 else model


def finite_bias(rows: pd.DataFrame) -> pd.Series:
    """Return Bias_c in log10 for means, correlations and tests, with NaN in place of infinite values."""
    values: pd.Series = rows["bias_log10"].where(np.isfinite(rows["bias_log10"]))
    return values


def _frame(scores: "str | PathLike[str] | pd.DataFrame") -> tuple[str, pd.DataFrame]:
    if isinstance(scores, pd.DataFrame):
        return N_("this table"), scores.reset_index(drop=True)
    path = Path(scores)
    if not path.is_file():
        raise NotFound(N_("The score file {path} does not exist."), path=str(path))
    if (frame := _read_at_once(path)) is not None:
        return path.name, frame
    try:
        # Everything as text first: "NA" may be a sentence, and a wrong number needs its line.
        return path.name, pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    except pd.errors.EmptyDataError:
        raise BadFile(N_("{file} is empty."), file=path.name) from None
    except UnicodeDecodeError as error:
        message = N_("{file} is not UTF-8 (byte {byte}). Score files must be UTF-8.")
        raise BadFile(message, file=path.name, byte=error.start) from None
    except pd.errors.ParserError as error:
        message = N_("{file} cannot be read as CSV: {problem}")
        raise BadFile(message, file=path.name, problem=str(error).strip().splitlines()[-1]) from None


def _read_at_once(path: Path) -> pd.DataFrame | None:
    """Read a file without errors, numbers as numbers: five times as fast. Return None if the slow way is needed.

    Unusual files (a cell that is not a number, a short row, bytes that are not UTF-8) are left to the slow way, which
    reports the error with its line.
    """
    import pyarrow as pa
    from pyarrow import csv

    try:
        with csv.open_csv(path) as begun:
            names = begun.schema.names
        if len(set(names)) < len(names):
            return None
        types = {name: pa.float64() if name in (*NUMBERS, *WHOLE) else pa.string() for name in names}
        convert = csv.ConvertOptions(column_types=types, null_values=["", "nan", "NaN"], strings_can_be_null=False)
        table = csv.read_csv(path, parse_options=csv.ParseOptions(newlines_in_values=True), convert_options=convert)
    except (pa.ArrowException, UnicodeDecodeError):
        return None
    result: pd.DataFrame = table.to_pandas()
    return result


def _numbers(column: pd.Series, file: str) -> pd.Series:
    text = column if column.dtype.kind in "fiub" else column.replace("", None)
    numbers = pd.to_numeric(text, errors="coerce").astype(float)
    wrong = numbers.isna() & text.notna()
    if column.dtype.kind not in "fiub":
        wrong &= text.astype(str).str.lower() != "nan"
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        message = N_("{file}, line {line}: {cell} in the column {column} is not a number.")
        raise BadFile(message, file=file, line=place + 2, cell=str(column.iloc[place])[:40], column=column.name)
    return numbers


def _restored(frame: pd.DataFrame) -> pd.DataFrame:
    """Return *frame* without the apostrophes with which an earlier version guarded cells against spreadsheet programs.

    If a row has the place of its keyword, the place distinguishes an apostrophe of the sentence from a guard.
    """
    words = [column for column in WORDS if column in frame.columns]
    suspects = {column: frame[column].str.startswith("'") for column in words}
    suspects = {column: suspect for column, suspect in suspects.items() if suspect.any()}
    if not suspects or not is_guarded(cell for column in words for cell in frame[column]):
        return frame
    exact = _in_place(frame)
    for column, suspect in suspects.items():
        change = suspect & ~exact if column == "sentence" else suspect
        frame[column] = frame[column].where(~change, frame[column].map(restored))
    return frame


def _in_place(frame: pd.DataFrame) -> "pd.Series[bool]":
    """Return True for each row whose keyword is at `start` of the sentence as written."""
    if "start" not in frame.columns:
        return pd.Series(data=False, index=frame.index)
    rows = zip(frame["sentence"], frame["start"], frame["keyword"], strict=True)
    result = [not math.isnan(start) and text.startswith(word, int(start)) and bool(word) for text, start, word in rows]
    return pd.Series(result, index=frame.index)


def _check(frame: pd.DataFrame, file: str) -> None:
    """Refuse what no scoring can have written: it would be counted, or drawn, as if it were a number."""
    for column in (name for name in ("p_male", "p_female", *WHOLE) if name in frame.columns):
        values = frame[column].to_numpy(float, na_value=np.nan)
        if column in WHOLE:
            bad = ~np.isnan(values) & ~(np.isfinite(values) & (values >= 0) & (np.floor(values) == values))
            message = N_("{file}, line {line}: {cell} in the column {column} is not a whole number.")
        else:
            bad = (values < 0) | (values > 1 + 1e-6)
            message = N_("{file}, line {line}: {cell} in the column {column} is not a probability.")
        if bad.any():
            place = int(np.flatnonzero(bad)[0])
            raise BadFile(message, file=file, line=place + 2, cell=f"{values[place]:g}", column=column)
    if (bad := (frame["model"] == "").to_numpy()).any():
        message = N_("{file}, line {line}: the column {column} is empty. Is the file truncated?")
        raise BadFile(message, file=file, line=int(np.flatnonzero(bad)[0]) + 2, column="model")


def _with_all_columns(frame: pd.DataFrame) -> pd.DataFrame:
    missing = frame["bias_log10"].isna()
    with np.errstate(divide="ignore"):
        derived: dict[str, object] = {
            "pair_mass": (frame["p_male"] + frame["p_female"]).clip(upper=1.0),
            "bias_ln": frame["bias_log10"] * LN10,
            "logp_male": np.log(frame["p_male"]),
            "logp_female": np.log(frame["p_female"]),
            "status": np.where(missing, NO_ANSWER, "ok"),
            "source": "",
            "group": "",
            "side": "",
            "masks": math.nan,
            "start": math.nan,
            "end": math.nan,
        }
    added = {column: values for column, values in derived.items() if column not in frame.columns}
    frame = frame.assign(**added)
    frame["pair_mass"] = frame["pair_mass"].mask(frame["signature"].map(whole_sentences).astype(bool))
    words = {pair: (*pair.split("/", 1), None)[:2] for pair in frame["pair"].drop_duplicates()}
    male, female = (frame["pair"].map({pair: both[side] for pair, both in words.items()}) for side in (0, 1))
    known = np.select([frame["keyword"] == male, frame["keyword"] == female], SIDES, default="")
    frame["side"] = np.where(frame["side"].isin(SIDES), frame["side"], known)
    widths = {pair: float(mask_width(pair)) for pair in frame["pair"].drop_duplicates()}
    frame["masks"] = frame["masks"].fillna(frame["pair"].map(widths)).astype(int)
    for column in ("start", "end"):
        frame[column] = frame[column].astype("Int64")
    return frame


def mask_width(pair: str) -> int:
    """Return the number of masks in which the words of a pair ("男孩/女孩") differ.

    It comes from the pair table, else from comparing the words. 0 where unknown: words of different length, or words
    of letters, whose tokens only the model knows.
    """
    for known in keyword_pairs():
        if known.name == pair:
            return len(known.stems[0])
    male, _, female = pair.partition("/")
    if len(male) != len(female) or not unspaced(male + female):
        return 0
    different = [i for i, (a, b) in enumerate(zip(male, female, strict=True)) if a != b]
    return different[-1] - different[0] + 1 if different else 0
