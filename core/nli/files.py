"""Files of the inference measure: predictions, own or released sets, words and templates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, BadFile, BadLine
from evenhand.core.files.readers import Row, Source, open_source, rows
from evenhand.core.nli.measure import Inference, measured
from evenhand.core.nli.sets import ProbeSet, built
from evenhand.core.nli.types import (
    LABELS,
    SETS,
    Gender,
    Kind,
    Label,
    Language,
    Occupation,
    Prediction,
    SetName,
    Texts,
    stereotype_of,
)
from evenhand.core.nli.types import Row as Probe

OCCUPATION = ("occupation", "occ_word")
KIND = ("class", "occ_type")
ANSWER = ("predicted", "prediction", "predicted_label", "label")
PREMISE, HYPOTHESIS = ("premise", "sentence1"), ("hypothesis", "sentence2")
KINDS: tuple[Kind, ...] = ("male-stereo", "female-stereo", "neutral")
GENDERS: tuple[Gender, ...] = ("woman", "man")
SHORT = {"e": "entailment", "c": "contradiction", "n": "neutral"}
SLOTS = ("{x}", "{a}", "{A}")

NO_SET = N_(
    "{file} has no column named set. Add one with PS, AS or NS, or name the set with the file, as in PS={file}."
)
GOLD = N_(
    "{file} has the layout of the released sets, whose label is the correct answer (always neutral)."
    " Put the model's answers into a column named predicted."
)


@dataclass(slots=True)
class Predictions:
    """Predictions that were read, and the lines that were not."""

    rows: list[Prediction] = field(default_factory=list)
    errors: list[BadLine] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)


def read_predictions(named: Sequence[str]) -> Predictions:
    """Read predictions from CSV, TSV or JSON lines; each file may be given as SET=PATH.

    Needs the columns set (PS, AS, NS) and label, or predicted. Reads occupation (occ_word), and gender or class
    (occ_type), which tell the stereotype of the occupation, where they are there. The table of a run of this app is
    read as well. A line that cannot be used is among the errors. Raises BadFile where a column is missing or no line
    can be used.
    """
    predictions = Predictions()
    for text in named:
        _add_predictions(text, predictions)
    if not predictions.rows:
        if predictions.errors:
            raise predictions.errors[0]
        raise BadFile(N_("{file} has no rows."), file=", ".join(Path(_split(text)[1]).name for text in named))
    return predictions


def _add_predictions(named: str, predictions: Predictions) -> None:
    fixed, path = _split(named)
    source = open_source(path)
    columns = _lower(source)
    if fixed is None and "set" not in columns:
        raise BadFile(NO_SET, file=source.name)
    answer = _column(source, ANSWER, "label")
    if answer == columns.get("label") and "sentence1" in columns:
        raise BadFile(GOLD, file=source.name)
    word = next((columns[name] for name in OCCUPATION if name in columns), "")
    kind = next((columns[name] for name in KIND if name in columns), "")
    for row in rows(source):
        if columns.get("status") and str(row.values.get(columns["status"]) or "ok") != "ok":
            continue  # a row of a run without an answer; the file has the reason
        try:
            set_name = fixed or set_of(row.values.get(columns.get("set", "")), source, row)
            label = label_of(row.values.get(answer), source, row)
        except BadLine as error:
            predictions.errors.append(error)
            continue
        gender = _gender(row.values.get(columns.get("gender", "")))
        stereotype = stereotype_of(set_name, gender, _kind(row.values.get(kind)))
        predictions.rows.append(Prediction(set_name, label, _text(row.values.get(word)), stereotype))
        signature = _text(row.values.get(columns.get("signature", "")))
        if signature and signature not in predictions.signatures:
            predictions.signatures.append(signature)


def set_of(value: Any, source: Source, row: Row) -> SetName:
    """Return PS, AS or NS in any case. Raises BadLine for anything else."""
    _refuse_broken(row)
    if (result := next((name for name in SETS if str(value or "").strip().upper() == name), None)) is not None:
        return result
    raise _bad_value("set", N_("{name}, line {number}: {value} is not a set; use PS, AS or NS."), value, source, row)


def label_of(value: Any, source: Source, row: Row) -> Label:
    """Return a label by its name or first letter, in any case. Raises BadLine for anything else."""
    text = str(value if value is not None else "").strip().lower()
    if (result := next((label for label in LABELS if SHORT.get(text, text) == label), None)) is not None:
        return result
    message = N_("{name}, line {number}: {value} is not a label; use entailment, contradiction or neutral.")
    raise _bad_value("label", message, value, source, row)


def read_probes(named: Sequence[str], language: Language) -> ProbeSet:
    """Read an own set or a copy of the released files: premise (sentence1), hypothesis (sentence2), set.

    Each file may be given as SET=PATH, as the release has one file a set; a class column never decides the set.
    Raises BadFile where a column is missing, BadLine for the first row that cannot be used.
    """
    probes: list[Probe] = []
    for text in named:
        fixed, path = _split(text)
        source = open_source(path)
        probes += _probes(source, fixed)
    if not probes:
        raise BadFile(N_("{file} has no rows."), file=", ".join(Path(_split(one)[1]).name for one in named))
    return ProbeSet("files", language, tuple(probes))


def _probes(source: Source, fixed: SetName | None) -> Iterator[Probe]:
    columns = _lower(source)
    if fixed is None and "set" not in columns:
        raise BadFile(NO_SET, file=source.name)
    premise, hypothesis = _column(source, PREMISE, "premise"), _column(source, HYPOTHESIS, "hypothesis")
    word = next((columns[name] for name in OCCUPATION if name in columns), "")
    kind = next((columns[name] for name in KIND if name in columns), "")
    for row in rows(source):
        set_name = fixed or set_of(row.values.get(columns.get("set", "")), source, row)
        texts = _text(row.values.get(premise)), _text(row.values.get(hypothesis))
        if not all(texts):
            message = N_("{name}, line {number}: premise or hypothesis is empty.")
            raise BadLine(source.name, row.line, "no_text", message, name=source.name, number=row.line)
        yield Probe(
            set_name, *texts, occupation=_text(row.values.get(word)), kind=_kind(row.values.get(kind)),
            gender=_gender(row.values.get(columns.get("gender", ""))),
            template=_text(row.values.get(columns.get("template", ""))),
        )  # fmt: skip


def read_words(words: str, templates: str, gender_words: tuple[str, str], language: Language) -> ProbeSet:
    """Read a set from the user's words and templates.

    *words*: a table with the columns word and class (male-stereo, female-stereo, neutral). *templates*: one template
    per line, or a table with a column template, with {x} for the word ({a}, {A}: with its English article).
    *gender_words*: woman, man. Raises BadFile, BadLine, Refused.
    """
    parts = Texts(tuple(_occupations(open_source(words))), tuple(_templates(open_source(templates))), *gender_words)
    return ProbeSet("own-words", language, tuple(built(parts)))


def _occupations(source: Source) -> Iterator[Occupation]:
    word = _column(source, ("word", *OCCUPATION), "word")
    kind = _column(source, KIND, "class")
    for row in rows(source):
        _refuse_broken(row)
        told, name = _kind(row.values.get(kind)), _text(row.values.get(word))
        if not told or not name:
            message = N_("{name}, line {number}: give a word and one of male-stereo, female-stereo, neutral.")
            raise BadLine(source.name, row.line, "class", message, name=source.name, number=row.line)
        yield Occupation(name, told)


def _templates(source: Source) -> Iterator[str]:
    column = "sentence" if source.shape == "text" else _column(source, ("template", "text", "sentence"), "template")
    for row in rows(source):
        _refuse_broken(row)
        text = _text(row.values.get(column))
        if not any(slot in text for slot in SLOTS):
            message = N_("{name}, line {number}: the slot {slot} for the word is missing.")
            raise BadLine(source.name, row.line, "template", message, name=source.name, number=row.line, slot="{x}")
        yield text


def _split(named: str) -> tuple[SetName | None, str]:
    for name in SETS:
        if named.upper().startswith(f"{name}="):
            return name, named[len(name) + 1 :]
    return None, named


def _lower(source: Source) -> dict[str, str]:
    return {name.strip().lower(): name for name in source.columns}


def _column(source: Source, names: Sequence[str], wanted: str) -> str:
    columns = _lower(source)
    for name in names:
        if name in columns:
            return columns[name]
    message = N_("{file} has no column named {wanted}; it has: {columns}")
    raise BadFile(message, file=source.name, wanted=wanted, columns=", ".join(source.columns)[:200] or "—")


def _refuse_broken(row: Row) -> None:
    if row.problem is not None:
        raise row.problem


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)


def _kind(value: Any) -> Kind:
    return next((kind for kind in KINDS if _text(value).lower() == kind), "")


def _gender(value: Any) -> Gender:
    return next((gender for gender in GENDERS if _text(value).lower() == gender), "")


def _bad_value(column: str, message: str, value: Any, source: Source, row: Row) -> BadLine:
    shown = str(value)[:40] if value not in (None, "") else "''"
    return BadLine(source.name, row.line, column, message, name=source.name, number=row.line, value=shown)


def measured_file(named: list[str] | tuple[str, ...]) -> tuple[Inference, Predictions]:
    """Return the measures of files of predictions, and a description of the files. Raises BadFile."""
    predictions = read_predictions(named)
    return measured(predictions.rows), predictions
