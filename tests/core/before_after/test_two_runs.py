"""Two finished runs side by side: associations, answers of classifiers, verdicts, against hand computations."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.core.before_after.appendix import runs_appendix
from evenhand.core.before_after.report import Measure, RunsReport
from evenhand.core.before_after.two_runs import Side, several_runs
from evenhand.core.errors import BadFile, Refused
from evenhand.core.nli.measure import changes
from evenhand.core.nli.types import SETS, Prediction
from evenhand.core.runs.records import Run
from evenhand.core.typed_json import to_json

PROFESSIONS = {"nurse": "female", "maid": "female", "smith": "male", "miner": "male", "baker": "balanced"}
WORDS = {
    "he": ("male", "he/she"),
    "she": ("female", "he/she"),
    "son": ("male", "son/girl"),
    "girl": ("female", "son/girl"),
}


def two_runs(kind: Any, before: Side, after: Side, **more: Any) -> RunsReport:
    return several_runs(kind, before, [after], **more)


def written(path: Path, rows: list[dict[str, Any]]) -> Side:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, list(rows[0]))
        out.writeheader()
        out.writerows(rows)
    return Side(path, "", {})


def associations(path: Path, lean: float, model: str = "m", noise: int = 0) -> Side:
    """Write a run in which women's professions raise female words by *lean*, men's lower them."""
    draw, rows = np.random.default_rng(noise), []
    for profession, kind in PROFESSIONS.items():
        for word, (gender, pair) in WORDS.items():
            sign = {"balanced": 0, gender: 1}.get(kind, -1)
            value = sign * lean + (0.05 * draw.normal() if noise else 0.0)
            rows.append({
                "sentence": f"{word} is a {profession}", "template": "1", "person": word, "person_key": word,
                "pair": pair, "person_gender": gender, "profession_key": profession, "class": kind, "model": model,
                "association": value, "status": "ok",
            })  # fmt: skip
    return written(path, rows)


def measure(record: RunsReport, *label: str) -> Measure:
    return next(
        measure
        for measure in record.measures
        if measure.label[0].startswith(label[0]) and measure.label[1:] == label[1:]
    )


def test_associations_of_two_runs_are_compared(tmp_path: Path) -> None:
    """16 of 20 sentences lean by 0.8, then by 0.5: the magnitude falls from 0.64 to 0.40."""
    before, after = associations(tmp_path / "a.csv", 0.8), associations(tmp_path / "b.csv", 0.5, "n")
    record = two_runs("associations", before, after)
    size = measure(record, "magnitude of the association")
    assert (size.before, size.after) == (pytest.approx(0.64), pytest.approx(0.40))
    assert size.change.value == pytest.approx(-0.24) and size.items == record.items == 20
    women = measure(record, "female person words", "professions dominated by women")
    assert (women.before, women.change.value) == (pytest.approx(0.8), pytest.approx(-0.3))
    assert measure(record, "female person words", "balanced professions").change.value == 0
    assert float(record.moved[0].after) - float(record.moved[0].before) == pytest.approx(-0.3)
    assert record.before.model == "m" and json.dumps(to_json(record), allow_nan=False)


def test_a_change_of_associations_has_a_verdict(tmp_path: Path) -> None:
    before, after = associations(tmp_path / "a.csv", 0.9, noise=1), associations(tmp_path / "b.csv", 0.3, noise=2)
    assert two_runs("associations", before, after).verdict == "leans less"
    assert two_runs("associations", after, before).verdict == "leans more"
    same = two_runs("associations", before, before)
    assert same.verdict == "no difference shown" and same.measures[0].change.value == 0


def nli(path: Path, biased: int) -> Side:
    """Return a run in which the first *biased* of ten occupations get the stereotype, the others neutral."""
    rows = []
    for i in range(10):
        for name, label in (("PS", "entailment"), ("AS", "contradiction")):
            answer = label if i < biased else "neutral"
            rows.append({"set": name, "occupation": f"o{i}", "premise": f"p{i}", "hypothesis": name, "label": answer})
    rows += [
        {"set": "NS", "occupation": f"n{i}", "premise": f"n{i}", "hypothesis": "x", "label": "neutral"}
        for i in range(9)
    ]
    return written(path, rows)


def test_answers_of_two_classifiers_are_compared(tmp_path: Path) -> None:
    """Directional is the share of biased occupations: 0.8, then 0.2. 12 answers become neutral, none the reverse."""
    record = two_runs("nli", nli(tmp_path / "a.csv", 8), nli(tmp_path / "b.csv", 2), margin=0.05)
    first = record.measures[0]
    assert (first.before, first.after, first.change.value) == (0.8, pytest.approx(0.2), pytest.approx(-0.6))
    assert (first.change.high or 0) < 0 and record.verdict == "follows the stereotype less"
    (share,) = record.shares
    assert (share.only_before, share.only_after) == (0, 12)
    assert record.moved[0].before == "entailment" and record.equivalence["answer"] == "no"


def test_a_difference_of_nli_equals_that_of_the_measures() -> None:
    rows = [Prediction(name, "neutral", f"o{i}") for i in range(12) for name in SETS]
    answers = [
        Prediction(row.set, "entailment" if k % 5 == 0 else "neutral", row.occupation) for k, row in enumerate(rows)
    ]
    before, after, found, unit = changes(rows, answers)
    assert unit == "occupation"
    for name in ("s", "directional", "fn", "e_p"):
        old, new = before[name].value, after[name].value
        assert old is not None and new is not None and found[name].value == pytest.approx(new - old)


def verdicts(path: Path, wrong: int, gens: tuple[int, ...] = ()) -> Side:
    rows = []
    for t in range(8):
        for n in range(6):
            for pronoun in ("she", "xe"):
                right = int(not (pronoun == "xe" and (t + n) % 6 < wrong))
                row = {
                    "instance": f"{t}.{n}.{pronoun}",
                    "template": t,
                    "name": n,
                    "pronoun": pronoun,
                    "model": "m",
                    "prob": right,
                }
                rows.append(row | {f"gen{k}": int(right and (t + k) % 3 > 0) for k in gens})
    return written(path, rows)


def test_misgendering_verdicts_of_two_runs_are_compared(tmp_path: Path) -> None:
    """xe is wrong in 4 of 6 names, then in 1: 24 of 96 instances become right."""
    record = two_runs("misgendering", verdicts(tmp_path / "a.csv", 4), verdicts(tmp_path / "b.csv", 1), margin=0.05)
    first = record.measures[0]
    assert first.change.value == pytest.approx(24 / 96) and (first.change.low or 0) > 0
    assert record.verdict == "misgenders less" and record.unit == "template × name"
    assert measure(record, "right by probability", "xe").change.value == pytest.approx(0.5)
    assert measure(record, "right by probability", "she").change.value == 0
    assert record.shares[0].only_after == 24


def test_several_generations_have_a_mean_and_no_counts(tmp_path: Path) -> None:
    sides = [verdicts(tmp_path / f"{wrong}.csv", wrong, (1, 2)) for wrong in (4, 1)]
    record = two_runs("misgendering", *sides)
    assert [share.label for share in record.shares] == ["right by probability"]
    assert measure(record, "right in generated text").change.value > 0


def test_the_report_names_its_runs_and_notes(tmp_path: Path) -> None:
    record = two_runs(
        "nli", nli(tmp_path / "a.csv", 8), nli(tmp_path / "b.csv", 2), margin=0.05, out=tmp_path / "o.csv"
    )
    text = runs_appendix(record)
    assert "**follows the stereotype less**" in text and "| 0.800 | 0.200 | −0.600 [" in text
    assert "One run per model" in text and "t over occupations" in text and "| 0 | 12 |" in text
    assert (tmp_path / "o.csv").read_text(encoding="utf-8").count("\n") == 30
    assert json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["kind"] == "nli"


def test_unmatched_items_and_different_settings_are_noted(tmp_path: Path) -> None:
    before, after = nli(tmp_path / "a.csv", 8), nli(tmp_path / "b.csv", 2)
    lines = after.table.read_text(encoding="utf-8").splitlines()
    after.table.write_text("\n".join(lines[:-2]) + "\n", encoding="utf-8")
    settings = [{"settings": {"labels": order, "threads": i}} for i, order in enumerate(("ecn", "enc"))]
    sides = [Side(side.table, "", record) for side, record in zip((before, after), settings, strict=True)]
    record = two_runs("nli", *sides)
    assert record.items == 27 and record.alone == 2
    assert record.notes[0].values == {"alone": "2"} and record.notes[1].values == {"names": "labels"}


def test_seeds_of_a_change_are_compared_with_placebos(tmp_path: Path) -> None:
    """Stereotyped of 10 occupations: 8 before, 1, 2 and 3 after three tunings, 7, 8 and 8 after three placebos.

    Welch's t by hand: means -.6 and -.1/3, variances .01 and 1/300, each by 3: the difference -.5667, s.e. .06667, 3.2
    degrees of freedom, t(.975) = 3.070.
    """
    before = nli(tmp_path / "before.csv", 8)
    afters = [nli(tmp_path / f"cds{i}.csv", i) for i in (1, 2, 3)]
    placebos = [nli(tmp_path / f"none{i}.csv", biased) for i, biased in enumerate((7, 8, 8))]
    record = several_runs("nli", before, afters, placebos, margin=0.05, out=tmp_path / "o.csv")
    first = record.measures[0]
    assert (first.before, first.after) == (pytest.approx(0.8), pytest.approx(0.2))
    change = first.change
    assert (change.value, change.units) == (pytest.approx(-17 / 30), 3)
    assert (change.low, change.high) == (pytest.approx(-0.7714, abs=1e-3), pytest.approx(-0.362, abs=1e-3))
    assert record.verdict == "follows the stereotype less" and record.unit == "seed"
    assert [share.model for share in record.shares] == ["cds1", "cds2", "cds3"]
    assert [placebo.model for placebo in record.placebos] == ["none0", "none1", "none2"]
    assert "training alone" not in str(record.notes) and "One run per model" not in str(record.notes)
    text = runs_appendix(record)
    assert "after: cds1, cds2, cds3; placebos: none0, none1, none2" in text and "t over seeds" in text
    assert (tmp_path / "o.csv").read_text(encoding="utf-8-sig").startswith("item,before,cds1,cds2,cds3,none0")


def test_few_seeds_have_no_interval_and_no_verdict(tmp_path: Path) -> None:
    before, afters = nli(tmp_path / "before.csv", 8), [nli(tmp_path / f"{i}.csv", i) for i in (1, 2)]
    record = several_runs("nli", before, afters)
    assert record.measures[0].change.low is None and record.verdict == "no difference shown"
    assert "There is no placebo." in record.notes[0].message
    one = several_runs("nli", before, afters[:1], afters[1:])
    assert "only one seed" in one.notes[0].message
    assert one.measures[0].change.value == pytest.approx(-0.1)


def test_incomparable_runs_are_refused(tmp_path: Path) -> None:
    two = associations(tmp_path / "a.csv", 1).table
    two.write_text(two.read_text(encoding="utf-8").replace("nurse,female,m,", "nurse,female,other,"), encoding="utf-8")
    with pytest.raises(BadFile, match="several models"):
        two_runs("associations", Side(two, "", {}), Side(two, "", {}))
    assert two_runs("associations", Side(two, "m", {}), Side(two, "m", {})).items == 16
    with pytest.raises(BadFile, match="no model n"):
        two_runs("associations", Side(two, "n", {}), Side(two, "m", {}))
    with pytest.raises(Refused, match="no row in common"):
        two_runs("associations", Side(two, "m", {}), Side(two, "other", {}))
    with pytest.raises(Refused, match="both as a model after and as a placebo"):
        several_runs("associations", Side(two, "m", {}), [Side(two, "m", {})], [Side(two, "m", {})])
    with pytest.raises(BadFile, match="lacks the columns"):
        two_runs("nli", Side(two, "", {}), Side(two, "", {}))


def test_a_run_of_one_model_takes_its_name_and_signature(tmp_path: Path) -> None:
    table = nli(tmp_path / "a.csv", 1).table
    side = Side.of(Run("a", table, {"models": [{"model": "m", "signature": "sig"}]}))
    assert (side.model, side.signature) == ("m", "sig")
