"""`ruler`: are planted models measured as planted, and how does a model compare with nulls and references?"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Cell, answer, json_option, margin_option, option, table
from evenhand.core.errors import N_, Refused
from evenhand.core.language import p_value
from evenhand.core.models import open_scorer
from evenhand.core.statistics.equivalence import difference_json, equivalence
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

if TYPE_CHECKING:
    from evenhand.core.ruler.own_model import Null, OnRuler
    from evenhand.core.ruler.planted import Mark

MEANS = {
    "signed_mean": "signed mean", "bias_man": "Bias_man", "bias_woman": "Bias_woman", "model_bias": "Model_bias",
}  # fmt: skip


@click.command("ruler")
@option("--model", help="A model to lay on the ruler: built in, a name on the hub, or a folder.")
@option("--scores", type=click.Path(path_type=Path), help="Take the model's values from this file of scores.")
@option("--references/--no-references", default=True, help="With --scores: ask models for the references too.")
@option("--seed", type=click.IntRange(0), default=0, help="Start of the random draws.")
@margin_option("log10", of="difference of keyword pairs and neutral words")
@json_option
@needs("measure")
def ruler(model: str | None, scores: Path | None, references: bool, seed: int, margin: float) -> None:
    """Check the ruler: models with a planted bias must be measured as planted.

    With --model or --scores, that model's values are printed with nulls (each with its quantity) and references. The
    exit code is 1 if a planted model is not measured as planted.
    """
    from evenhand.core.ruler.planted import measure_marks

    laid = _laid(model, scores, references, seed)
    marks = measure_marks(open_scorer, seed=seed)
    passed = all(mark.passed for mark in marks)
    data = {"passed": passed, "planted": marks} | ({"model": _on_ruler_json(laid, margin)} if laid else {})
    answer(data, _text(marks, laid, margin))
    if not passed:
        sys.exit(1)


def _laid(model: str | None, scores: Path | None, references: bool, seed: int) -> "OnRuler | None":
    from evenhand.core.ruler.own_model import on_built_in, on_scores

    if scores is None:
        return None if model is None else on_built_in(model, open_scorer, seed=seed)
    from evenhand.core.model_bias import models_of, read_scores

    frame = read_scores(scores)
    names = models_of(frame)
    if model is None and len(names) > 1:
        raise Refused(
            N_("{file} contains several models. Choose one with --model: {models}"),
            file=scores.name,
            models=", ".join(names),
        )
    return on_scores(frame, model or names[0], open_scorer if references else None, source=scores.name, seed=seed)


def _on_ruler_json(on_ruler: "OnRuler", margin: float) -> JsonObject:
    """Return a model on the ruler; means and *margin* in log10."""
    data, summary = to_json(on_ruler), on_ruler.summary
    data |= {name: getattr(summary, name).to_json() for name in (*MEANS, "side_auc")}
    data |= {"sentences": on_ruler.source or "built in", "n": summary.n, "base": "log10"}
    data["model_bias_null_reason"] = "No shuffle of the sides changes a size: there are references only."
    if on_ruler.neutral_words is not None:
        data["neutral_words"]["difference"] = difference_json(on_ruler.neutral_words.difference, margin)
    return {key: value for key, value in data.items() if key not in ("summary", "source")}


def _text(marks: Sequence["Mark"], on_ruler: "OnRuler | None", margin: float) -> Iterator[str]:
    rows: list[list[Cell]] = [
        [
            mark.model, mark.quantity, mark.planted, mark.measured.value, (mark.difference, "+.1e"),
            "ok" if mark.passed else "NOT AS PLANTED",
        ]
        for mark in marks
    ]  # fmt: skip
    yield table(rows, ["planted model", "quantity", "planted", "measured", "difference", ""], form="+z.4f")
    yield f"{sum(mark.passed for mark in marks)} of {len(marks)} quantities come back as planted."
    if on_ruler is not None:
        yield from _model_text(on_ruler, margin)


def _model_text(on_ruler: "OnRuler", margin: float) -> Iterator[str]:
    from evenhand.core.ruler.own_model import NAMES, WHAT

    summary = on_ruler.summary
    yield f"\n{on_ruler.model} on {summary.n} sentences ({on_ruler.source or 'built in'}), log10:"
    means: list[list[Cell]] = [[title, getattr(summary, name)] for name, title in MEANS.items()]
    yield table([*means, ["context effect", on_ruler.context_effect]], form="+.4f")
    yield "held against chance (middle 95% of the shuffles):"
    yield table([_null_row(null, NAMES[null.of], WHAT[null.shuffled]) for null in on_ruler.nulls], indent="  ")
    yield "  Model_bias has no null: no shuffle of the sides changes a size. References of size:"
    size, untrained, references = on_ruler.neutral_words, on_ruler.untrained, list[list[Cell]]()
    if size is None:
        references.append(["neutral words", str(on_ruler.neutral_words_reason)])
    else:
        references += [
            [f"keyword pairs, {size.contexts} contexts", size.keyword_pairs],
            ["neutral words", size.neutral_words],
            ["keyword pairs - neutral words", size.difference, equivalence(size.difference, margin).text],
        ]
    if untrained is None:
        references.append(["untrained model", str(on_ruler.untrained_reason)])
    else:
        references.append(["untrained: Model_bias", untrained.model_bias])
        references.append(["untrained: contexts", untrained.context_effect])
    yield table(references, form="+.4f", indent="  ")
    yield on_ruler.signature


def _null_row(null: "Null", name: str, shuffled: str) -> list[Cell]:
    chance = str(null.reason) if null.low is None else f"[{null.low:+.4f}, {null.high:+.4f}]  p {p_value(null.p, '= ')}"
    return [name, (null.observed, "+z.4f"), chance, f"({shuffled})"]
