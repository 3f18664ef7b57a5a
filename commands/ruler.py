"""`ruler`: are planted models measured as planted, and how does a model compare with nulls and references?"""

import sys
from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, json_option, margin_option, with_reasons
from evenhand.core.errors import N_, Refused
from evenhand.core.models import open_scorer
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import MARGINS, difference_json, equivalence


@click.command("ruler")
@click.option("--model", help="A model to lay on the ruler: built in, a name on the hub, or a folder.")
@click.option("--scores", type=click.Path(path_type=Path), help="Take the model's values from this file of scores.")
@click.option("--references/--no-references", default=True, help="With --scores: ask models for the references too.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Start of the random draws.")
@margin_option("log10", of="difference of keyword pairs and neutral words")
@json_option
@needs("measure")
def ruler(model: str | None, scores: Path | None, references: bool, seed: int, margin: float, as_json: bool) -> None:
    """Check the ruler: models with a planted bias must be measured as planted.

    With --model or --scores, that model's values beside nulls (each with its quantity) and references. The exit code is
    1 if a planted model is not measured as planted.
    """
    from evenhand.core.ruler.planted import measure_marks

    laid = _laid(model, scores, references, seed)
    marks = measure_marks(open_scorer, seed=seed)
    data: dict[str, Any] = {"passed": all(mark.passed for mark in marks), "planted": [_mark(mark) for mark in marks]}
    text = _table(marks)
    if laid is not None:
        data["model"] = on_ruler_data(laid, margin)
        text += "\n\n" + _reading(laid, margin)
    answer(data, text, as_json=as_json)
    if not data["passed"]:
        sys.exit(1)


def _laid(model: str | None, scores: Path | None, references: bool, seed: int) -> Any:
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


def _mark(mark: Any) -> dict[str, Any]:
    from evenhand.core.ruler.planted import in_words

    found = {
        "model": mark.model,
        "quantity": mark.quantity,
        "planted": mark.planted,
        "measured": mark.measured.value,
        "difference": mark.difference,
        "passed": mark.passed,
    }
    reason = str(mark.measured.reason) if mark.measured.reason else str(in_words(mark))
    return with_reasons(found, reason)


def _table(marks: list[Any]) -> str:
    lines = [f"{'planted model':<20}{'quantity':<17}{'planted':>10}{'measured':>10}{'difference':>12}"]
    for mark in marks:
        numbers = [_number(mark.planted), _number(mark.measured.value)]
        apart = "—" if mark.difference is None else f"{mark.difference:+.1e}"
        word = "ok" if mark.passed else "NOT AS PLANTED"
        lines.append(f"{mark.model:<20}{mark.quantity:<17}{numbers[0]:>10}{numbers[1]:>10}{apart:>12}  {word}")
    failed = sum(not mark.passed for mark in marks)
    return "\n".join([*lines, f"{len(marks) - failed} of {len(marks)} quantities come back as planted."])


def _number(value: float | None) -> str:
    return "—" if value is None else f"{value:+z.4f}"


def on_ruler_data(found: Any, margin: float | None = MARGINS["log10"]) -> dict[str, Any]:
    """A model on the ruler as JSON; means and *margin* in log10."""
    summary = found.summary
    means = {
        name: getattr(summary, name).to_json()
        for name in ("signed_mean", "bias_man", "bias_woman", "model_bias", "side_auc")
    }
    data: dict[str, Any] = {
        "model": found.model,
        "signature": found.signature,
        "sentences": found.source or "built in",
        "n": summary.n,
        "base": "log10",
        **means,
        "context_effect": found.corrected.to_json(),
        "nulls": [_null(null) for null in found.nulls],
        "model_bias_null_reason": "No shuffle of the sides changes a size: there are references only.",
        "neutral_words": None,
        "untrained": None,
    }
    if found.magnitude is None:
        data["neutral_words_reason"] = str(found.magnitude_reason)
    else:
        size = found.magnitude
        parts = {"keyword_pairs": size.gendered, "neutral_words": size.neutral}
        data["neutral_words"] = {name: part.to_json() for name, part in parts.items()} | {
            "difference": difference_json(size.difference, margin),
            "contexts": size.contexts,
            "words": list(size.neutral_pairs),
        }
    if found.untrained is None:
        data["untrained_reason"] = str(found.untrained_reason)
    else:
        other = found.untrained
        parts = {"model_bias": other.model_bias, "context_effect": other.corrected}
        data["untrained"] = {name: part.to_json() for name, part in parts.items()} | {
            "n": other.sentences,
            "signature": other.signature,
        }
    return data


def _null(null: Any) -> dict[str, Any]:
    found = {
        "null_of": null.measured,
        "shuffled": null.shuffled,
        "value": null.value,
        "low": null.low,
        "high": null.high,
        "p": null.p,
    }
    return with_reasons(found, null.reason)


def _reading(found: Any, margin: float) -> str:
    from evenhand.core.ruler.nulls import NAMES, WHAT

    summary = found.summary
    lines = [
        f"{found.model} on {summary.n} sentences ({found.source or 'built in'}), log10:",
        _line("signed mean", summary.signed_mean),
        _line("Bias_man", summary.bias_man),
        _line("Bias_woman", summary.bias_woman),
        _line("Model_bias", summary.model_bias),
        _line("context effect", found.corrected),
        "held against chance (middle 95% of the shuffles):",
    ]
    for null in found.nulls:
        chance = str(null.reason) if null.low is None else f"[{null.low:+.4f}, {null.high:+.4f}]  p = {null.p:.4f}"
        lines.append(f"  {NAMES[null.measured]:<24}{_number(null.value):>9}  {chance}  ({WHAT[null.shuffled]})")
    lines.append("  Model_bias has no null: no shuffle of the sides changes a size. References of size:")
    if found.magnitude is None:
        lines.append(f"  neutral words: {found.magnitude_reason}")
    else:
        size = found.magnitude
        lines += [
            _line(f"  keyword pairs, {size.contexts} contexts", size.gendered),
            _line("  neutral words", size.neutral),
            _line("  keyword pairs - neutral words", size.difference),
            f"    {equivalence(size.difference, margin).text}",
        ]
    if found.untrained is None:
        lines.append(f"  untrained model: {found.untrained_reason}")
    else:
        lines += [
            _line("  untrained: Model_bias", found.untrained.model_bias),
            _line("  untrained: contexts", found.untrained.corrected),
        ]
    return "\n".join([*lines, found.signature])


def _line(name: str, found: Estimate) -> str:
    if found.value is None:
        return f"{name:<32}     —   {found.reason}"
    return f"{name:<32}{found.value:>+9.4f}  {found.interval_text('+.4f')}".rstrip()
