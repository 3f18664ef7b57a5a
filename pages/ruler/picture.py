"""The picture of the page Reference scale: values of a model with intervals, nulls as bands, references as diamonds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenhand.core.statistics import Estimate
from evenhand.pages.ui.charts import show_chart
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import number, with_brackets
from evenhand.pages.ui.style import colours

if TYPE_CHECKING:
    from evenhand.core.ruler.nulls import Null
    from evenhand.core.ruler.own_model import OnRuler

Row = dict[str, Any]


def show_picture(found: "OnRuler", planted: Sequence[float]) -> None:
    """Two rulers, directions and sizes, each with the sentence that says what it shows."""
    import pandas as pd

    from evenhand.core.charts.ruler import ruler

    theme = colours()
    rows, says = directions(found), direction_says(found)
    chart = ruler(pd.DataFrame(rows), description=says, planted=planted, say=_, palette=theme)
    show_chart(chart, [row | {"signature": found.signature} for row in rows], key="ruler", says=says)
    rows, says = sizes(found), size_says(found)
    chart = ruler(pd.DataFrame(rows), description=says, sizes=True, say=_, palette=theme)
    show_chart(chart, [row | {"signature": found.signature} for row in rows], key="ruler-sizes", says=says)


def directions(found: "OnRuler") -> list[Row]:
    """What leans to a side: both side means (Bias_woman to the left), their difference, the signed mean."""
    summary = found.summary
    woman = summary.bias_woman
    turned = Estimate(_minus(woman.value), _minus(woman.high), _minus(woman.low), woman.units)
    return [
        _row("Bias_man", "signed", summary.bias_man),
        _row("Bias_woman", "signed", turned) | {"text": with_brackets(woman, "z.3f")},
        _direction("Bias_man − Bias_woman", _apart(found), _band(found, "side_difference")),
        _direction(_("signed mean"), summary.signed_mean, _band(found, "signed_mean")),
    ]


def _direction(name: str, value: Estimate, band: "Null | None") -> Row:
    """In the colour of its side only where chance alone does not give as much."""
    return _row(name, "model" if band is None or band.inside else "signed", value, band) | {
        "text": with_brackets(value, "+z.3f")
    }


def sizes(found: "OnRuler") -> list[Row]:
    """What has a size and no direction, each followed by its references."""
    rows = [_row("Model_bias", "model", found.summary.model_bias)]
    if found.untrained is not None:
        rows.append(_row("↳ " + _("the untrained model"), "reference", found.untrained.model_bias))
    rows.append(_row(_("effect of contexts"), "model", found.context_effect))
    if found.untrained is not None:
        rows.append(_row("↳ " + _("the untrained model"), "reference", found.untrained.context_effect))
    if found.neutral_words is not None:
        if found.source:
            rows.append(_row(_("keyword pairs, same slots"), "model", found.neutral_words.keyword_pairs))
        rows.append(_row("↳ " + _("words without gender"), "reference", found.neutral_words.neutral_words))
    return rows


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def _row(name: str, kind: str, value: Estimate, band: "Null | None" = None) -> Row:
    return {
        "name": name,
        "kind": kind,
        "value": value.value,
        "low": value.low,
        "high": value.high,
        "null_low": band.low if band else None,
        "null_high": band.high if band else None,
        "text": with_brackets(value, "z.3f"),
    }


def _band(found: "OnRuler", measured: str) -> "Null | None":
    """The null of a direction: the words change sides stem by stem."""
    return next((null for null in found.nulls if null.null_of == measured and null.shuffled == "pair"), None)


def _apart(found: "OnRuler") -> Estimate:
    null = _band(found, "side_difference")
    return Estimate(null.value if null else None, units=found.summary.n)


def direction_says(found: "OnRuler") -> str:
    """What the first ruler shows, in sentences."""
    where = _("the built-in neutral sentences") if not found.source else found.source
    text = _("{model} on {n} sentences of {where}: signed mean {mean}.")
    first = text.format(
        model=found.model, n=f"{found.summary.n:,}", where=where, mean=number(found.summary.signed_mean.value, "+z.3f")
    )
    band = _("Grey bands: the middle 95% of values when the words of a pair are swapped, stem by stem.")
    return _together(first, band)


def size_says(found: "OnRuler") -> str:
    """What the second ruler shows, in sentences."""
    text = _("Model_bias {model_bias}; within a word pair, contexts change Bias_c by {contexts} on average.")
    first = text.format(
        model_bias=number(found.summary.model_bias.value, "z.3f"), contexts=number(found.context_effect.value, "z.3f")
    )
    return _together(
        first,
        _(
            "Diamonds: reference magnitudes. A magnitude has no null distribution, because swapping the two"
            " words does not change it."
        ),
    )


def _together(*sentences: str) -> str:
    return ("" if language() == "zh" else " ").join(sentences)
