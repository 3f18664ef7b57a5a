"""A model on the reference scale: built-in models, a model of the visitor, the picture of it and how to read it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from evenhand.core.models.planted.names import is_planted
from evenhand.core.statistics import Estimate
from evenhand.core.version import VERSION
from evenhand.core.worker import client
from evenhand.core.worker.client import known_models
from evenhand.pages.ui.charts import colours, downloads, foot, show_chart
from evenhand.pages.ui.choose import choose, model_label, models_to_use
from evenhand.pages.ui.equivalence import difference_says, margin_box
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH, note_text, number, with_brackets
from evenhand.pages.ui.runs import ScoreFile, models_scored, score_file, score_frame, score_runs
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import _, inform, paragraph, plain, show_signature
from evenhand.pages.ui.visitor import errors_shown, page_link

if TYPE_CHECKING:
    from evenhand.core.ruler.own_model import Null, OnRuler
    from evenhand.core.ruler.planted import Mark

Row = dict[str, object]


def show_picture(on_ruler: "OnRuler", planted: Sequence[float]) -> None:
    """Show two rulers, directions and sizes, each with the sentence that says what it shows."""
    import pandas as pd

    from evenhand.core.charts.ruler import ruler

    theme = colours()
    where = _("the built-in neutral sentences") if not on_ruler.source else on_ruler.source
    text = _("{model} on {n} sentences of {where}: signed mean {mean}.")
    first = text.format(
        model=on_ruler.model,
        n=f"{on_ruler.summary.n:,}",
        where=where,
        mean=number(on_ruler.summary.signed_mean.value, "+z.3f"),
    )
    band = _("Grey bands: the middle 95% of values when the words of a pair are swapped, stem by stem.")
    rows, says = directions(on_ruler), paragraph((first, band))
    chart = ruler(pd.DataFrame(rows), description=says, planted=planted, say=_, palette=theme)
    show_chart(chart, [row | {"signature": on_ruler.signature} for row in rows], key="ruler", says=says)
    rows, says = sizes(on_ruler), size_says(on_ruler)
    chart = ruler(pd.DataFrame(rows), description=says, sizes=True, say=_, palette=theme)
    show_chart(chart, [row | {"signature": on_ruler.signature} for row in rows], key="ruler-sizes", says=says)


def directions(on_ruler: "OnRuler") -> list[Row]:
    """Return the rows with a direction: both side means (Bias_woman to the left), their difference, the signed mean."""
    summary = on_ruler.summary
    woman = summary.bias_woman
    turned = Estimate(_minus(woman.value), _minus(woman.high), _minus(woman.low), woman.units)
    return [
        _row("Bias_man", "signed", summary.bias_man),
        _row("Bias_woman", "signed", turned) | {"text": with_brackets(woman, "z.3f")},
        _direction("Bias_man − Bias_woman", _apart(on_ruler), _band(on_ruler, "side_difference")),
        _direction(_("signed mean"), summary.signed_mean, _band(on_ruler, "signed_mean")),
    ]


def _direction(name: str, value: Estimate, band: "Null | None") -> Row:
    """Return the row of a value, in the colour of its side only if the value is outside the band of chance."""
    return _row(name, "model" if band is None or band.inside else "signed", value, band) | {
        "text": with_brackets(value, "+z.3f")
    }


def sizes(on_ruler: "OnRuler") -> list[Row]:
    """Return the rows with a size but no direction, each followed by its references."""
    rows = [_row("Model_bias", "model", on_ruler.summary.model_bias)]
    if on_ruler.untrained is not None:
        rows.append(_row("↳ " + _("the untrained model"), "reference", on_ruler.untrained.model_bias))
    rows.append(_row(_("effect of contexts"), "model", on_ruler.context_effect))
    if on_ruler.untrained is not None:
        rows.append(_row("↳ " + _("the untrained model"), "reference", on_ruler.untrained.context_effect))
    if on_ruler.neutral_words is not None:
        if on_ruler.source:
            rows.append(_row(_("keyword pairs, same slots"), "model", on_ruler.neutral_words.keyword_pairs))
        rows.append(_row("↳ " + _("words without gender"), "reference", on_ruler.neutral_words.neutral_words))
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


def _band(on_ruler: "OnRuler", measured: str) -> "Null | None":
    """Return the null of a direction: the words change sides stem by stem."""
    return next((null for null in on_ruler.nulls if null.of == measured and null.shuffled == "pair"), None)


def _apart(on_ruler: "OnRuler") -> Estimate:
    null = _band(on_ruler, "side_difference")
    return Estimate(null.observed if null else None, units=on_ruler.summary.n)


def size_says(on_ruler: "OnRuler") -> str:
    """Return in sentences what the second ruler shows."""
    text = _("Model_bias {model_bias}; within a word pair, contexts change Bias_c by {contexts} on average.")
    first = text.format(
        model_bias=number(on_ruler.summary.model_bias.value, "z.3f"),
        contexts=number(on_ruler.context_effect.value, "z.3f"),
    )
    about = _(
        "Diamonds: reference magnitudes. A magnitude has no null distribution, because swapping the two"
        " words does not change it."
    )
    return paragraph((first, about))


def show_reading(on_ruler: "OnRuler") -> None:
    """Show a table of each quantity with its null, the references in sentences, the signature."""
    st.markdown(f"**{_('Compared with chance')}**")
    rows = [_null_row(null) for null in on_ruler.nulls] + [
        {
            _("Measure"): "Bias_man, Bias_woman, Model_bias",
            _("Value"): DASH,
            _("Range under chance"): DASH,
            "p": DASH,
            _("Shuffled"): _("nothing"),
            _("Conclusion"): _(
                "swapping the words does not change a magnitude, so it has no null distribution; see the"
                " magnitudes below"
            ),
        }
    ]
    show_records(rows)
    with foot():
        text = _(
            "Range under chance: the middle 95% over all ways of swapping whole stems ({stems}"
            " stems; 男/女 is the stem of seven pairs). Sentences of a pair share its preference, so"
            " even thousands of sentences come from only a few stems."
        )
        text = text.format(stems=max((null.stems for null in on_ruler.nulls), default=0))
        st.caption(text)
        downloads([row | {"signature": on_ruler.signature} for row in rows], key="ruler-nulls")
    st.markdown(f"**{_('Compared with reference magnitudes')}**")
    margin = margin_box("log10", "ruler-margin") if on_ruler.neutral_words is not None else None
    for sentence in [_contexts(on_ruler), _neutral(on_ruler, margin), _untrained(on_ruler), _shares(on_ruler)]:
        st.markdown("- " + plain(sentence))
    show_signature(on_ruler.signature)


def _null_row(null: "Null") -> dict[str, str]:
    from evenhand.core.ruler.own_model import NAMES, WHAT

    form = "z.3f" if null.of == "side_auc" else "+z.3f"
    chance = DASH if null.low is None else f"[{number(null.low, form)}, {number(null.high, form)}]"
    return {
        _("Measure"): _(NAMES[null.of]),
        _("Value"): number(null.observed, form),
        _("Range under chance"): chance,
        "p": DASH if null.p is None else "< 0.001" if null.p < 0.001 else f"{null.p:.3f}",
        _("Shuffled"): _(WHAT[null.shuffled]),
        _("Conclusion"): _comes_out(null),
    }


def _comes_out(null: "Null") -> str:
    if null.inside is None:
        return note_text(null.reason)
    if null.inside:
        return {
            "pair": _("swapping the words of some stems gives values as large: the direction depends on a few pairs"),
            "source": _("the model cannot tell from the sentence which word was there"),
        }[null.shuffled]
    return {
        "pair": _("outside the range under chance, also over stems: a clear direction"),
        "source": _("the sentence gives the model information about which word was there"),
    }[null.shuffled]


def _contexts(on_ruler: "OnRuler") -> str:
    text = _("Effect of contexts: within a word pair, Bias_c changes by {value} on average (log10).")
    if on_ruler.context_effect.value is None:
        return note_text(on_ruler.context_effect.reason)
    return text.format(value=with_brackets(on_ruler.context_effect, "z.3f"))


def _neutral(on_ruler: "OnRuler", margin: float | None) -> str:
    if on_ruler.neutral_words is None:
        return _("Words without gender: {reason}", reason=note_text(on_ruler.neutral_words_reason))
    size = on_ruler.neutral_words
    if size.difference.value is None or size.difference.low is None or size.difference.high is None:
        return _("Words without gender: {reason}", reason=note_text(size.difference.reason))
    values = {
        "contexts": size.contexts,
        "words": "、".join(size.words[:4]),
        "gendered": number(size.keyword_pairs.value, "z.3f"),
        "neutral": with_brackets(size.neutral_words, "z.3f"),
    }
    if size.difference.low > 0:
        text = _(
            "In {contexts} contexts, words without gender ({words} …) change by {neutral} and the keyword"
            " pairs by {gendered}: contexts affect gendered words more than other words."
        )
    elif size.difference.high < 0:
        text = _(
            "In {contexts} contexts, words without gender ({words} …) change by {neutral} and the keyword"
            " pairs by {gendered}: contexts affect gendered words less than other words, so this magnitude"
            " alone is no evidence of gender."
        )
    else:
        text = _(
            "In {contexts} contexts, words without gender ({words} …) change by {neutral} and the keyword"
            " pairs by {gendered}: there is no clear difference, so this magnitude alone is no evidence of"
            " gender."
        )
    return paragraph((text.format(**values), difference_says(size.difference, margin, "z.3f")))


def _untrained(on_ruler: "OnRuler") -> str:
    other = on_ruler.untrained
    if other is None:
        return _("The untrained model: {reason}", reason=note_text(on_ruler.untrained_reason))
    return _(
        "The untrained model (random-zh), which knows nothing, has a Model_bias of {model_bias} on {n} of"
        " these sentences; contexts change its Bias_c by {corrected}.",
        model_bias=number(other.model_bias.value, "z.3f"),
        n=f"{other.n:,}",
        corrected=number(other.context_effect.value, "z.3f"),
    )


def _shares(on_ruler: "OnRuler") -> str:
    shares = on_ruler.summary.variance_shares
    if shares.between_pairs is None or shares.contexts is None:
        return note_text(shares.reason)
    text = _("Of the variance of Bias_c, {pairs} lies between word pairs and {contexts} between contexts.")
    return text.format(pairs=number(shares.between_pairs, ".0%"), contexts=number(shares.contexts, ".0%"))


FIRST = "demo-zh"


def show_model(marks: "list[Mark]") -> None:
    """Choose a model or a run; its picture, its nulls, its references."""
    st.header(_("What counts as large?"), anchor=False)
    with errors_shown():
        names = {"model": _("A model, on built-in neutral sentences"), "run": _("A model, from existing scores")}
        kind = choose(_("What to compare"), names, "ruler-kind", heading=False)
        on_ruler = _from_run() if kind == "run" else _by_name()
        if on_ruler is None:
            return
        trial_banner([on_ruler.model])
        offsets = [mark.measured.value for mark in marks if mark.quantity == "offset" and is_planted(mark.model)]
        show_picture(on_ruler, [value for value in offsets if value is not None])
        show_reading(on_ruler)


def _by_name() -> "OnRuler | None":
    names = [entry.name for entry in known_models() if entry.language == "zh"]
    asked = st.query_params.get("model")
    if "ruler-model" not in st.session_state:
        st.session_state["ruler-model"] = asked or (FIRST if FIRST in names else names[0])
    if st.session_state["ruler-model"] not in names:
        names = [*names, st.session_state["ruler-model"]]
    model = st.selectbox(
        _("Model"),
        names,
        key="ruler-model",
        accept_new_options=True,
        placeholder=_("Choose, or type a name on the Hugging Face Hub or a folder"),
    )
    if not models_to_use([model or ""]):
        return None
    st.query_params["model"] = model
    with st.spinner(_("Running {model} and the untrained model …").format(model=model), show_time=True):
        return on_built_in(model)


def _from_run() -> "OnRuler | None":
    known = {run.name: run for run in score_runs()}
    if not known:
        inform("There are no scores yet. Score a file first; the run then appears here.")
        page_link("scoring/page.py", label=_("Score a file"), icon=":material/playlist_play:")
        return None
    left, right = st.columns(2)
    name = left.selectbox(_("Scores"), list(known), key="ruler-run")
    source = score_file(known[name].table, name)
    model = right.selectbox(_("Model"), models_scored(source), key="ruler-run-model", format_func=model_label)
    if not model:
        return None
    with st.spinner(_("Computing intervals and reference values …"), show_time=True):
        return on_run(source, model)


def scorer(model: str) -> client.RemoteScorer:
    """Return the model in the inference process that all visitors share."""
    return client.RemoteScorer(client.shared(), model)


def planted_marks() -> "list[Mark]":
    """Return every quantity of every planted model; once per version of the app."""
    return _planted_marks(VERSION)


@st.cache_data(max_entries=1, show_spinner=False)
def _planted_marks(version: str) -> "list[Mark]":
    from evenhand.core.ruler.planted import measure_marks

    return measure_marks(scorer)


def on_built_in(model: str) -> "OnRuler":
    """Return a model on the built-in neutral sentences; once per weights."""
    return _on_built_in(model, scorer(model).cache_key)


@st.cache_data(max_entries=20, show_spinner=False)
def _on_built_in(model: str, weights: str) -> "OnRuler":
    from evenhand.core.ruler.own_model import on_built_in

    return on_built_in(model, scorer)


@st.cache_data(max_entries=20, show_spinner=False)
def on_run(source: ScoreFile, model: str) -> "OnRuler":
    """Return a model of a score run on the ruler."""
    from evenhand.core.ruler.own_model import on_scores

    return on_scores(score_frame(source), model, scorer, source=source.name)
