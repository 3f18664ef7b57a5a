"""How to read the ruler: for each value, what it is held against, and what comes out."""

from typing import TYPE_CHECKING

import streamlit as st

from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.equivalence import difference_says, margin_box
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, note_text, number, with_brackets
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import paragraph, plain, show_signature

if TYPE_CHECKING:
    from evenhand.core.ruler.nulls import Null
    from evenhand.core.ruler.own_model import OnRuler


def show_reading(found: "OnRuler") -> None:
    """The table of what is the null of what, the references in sentences, the signature."""
    _heading(_("Compared with chance"))
    rows = [_null_row(null) for null in found.nulls] + _without_null()
    show_records(rows)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        text = _(
            "Chance: the middle 95% over all ways of swapping whole stems ({stems} stems; 男/女 is the stem"
            " of seven pairs). Sentences of a pair share its preference, so thousands of sentences still"
            " come from a few stems."
        )
        text = text.format(stems=max((null.units for null in found.nulls), default=0))
        st.caption(text)
        downloads([row | {"signature": found.signature} for row in rows], key="ruler-nulls")
    _heading(_("Compared with reference magnitudes"))
    margin = margin_box("log10", "ruler-margin") if found.neutral_words is not None else None
    for sentence in [_contexts(found), _neutral(found, margin), _untrained(found), _shares(found)]:
        st.markdown("- " + plain(sentence))
    show_signature(found.signature)


def _heading(text: str) -> None:
    st.markdown(f"**{text}**")


def _null_row(null: "Null") -> dict[str, str]:
    from evenhand.core.ruler.nulls import NAMES, WHAT

    form = "z.3f" if null.null_of == "side_auc" else "+z.3f"
    chance = DASH if null.low is None else f"[{number(null.low, form)}, {number(null.high, form)}]"
    return {
        _("Measure"): _(NAMES[null.null_of]),
        _("Value"): number(null.value, form),
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
            "pair": _(
                "another choice of which word is called male gives values as large: the direction rests on a few pairs"
            ),
            "source": _("the model cannot tell from the sentence which word was there"),
        }[null.shuffled]
    return {
        "pair": _("more than chance gives, also over stems: a clear direction"),
        "source": _("the sentence tells the model something about which word was there"),
    }[null.shuffled]


def _without_null() -> list[dict[str, str]]:
    return [
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


def _contexts(found: "OnRuler") -> str:
    text = _("Effect of contexts: within a word pair, Bias_c changes by {value} on average (log10).")
    if found.context_effect.value is None:
        return note_text(found.context_effect.reason)
    return text.format(value=with_brackets(found.context_effect, "z.3f"))


def _neutral(found: "OnRuler", margin: float | None) -> str:
    if found.neutral_words is None:
        return _("Words without gender: {reason}").format(reason=note_text(found.neutral_words_reason))
    size = found.neutral_words
    if size.difference.value is None or size.difference.low is None or size.difference.high is None:
        return _("Words without gender: {reason}").format(reason=note_text(size.difference.reason))
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


def _untrained(found: "OnRuler") -> str:
    other = found.untrained
    if other is None:
        return _("The untrained model: {reason}").format(reason=note_text(found.untrained_reason))
    text = _(
        "The untrained model (random-zh), which knows nothing, has a Model_bias of {model_bias} on {n} of"
        " these sentences; contexts change its Bias_c by {corrected}."
    )
    return text.format(
        model_bias=number(other.model_bias.value, "z.3f"),
        n=f"{other.n:,}",
        corrected=number(other.context_effect.value, "z.3f"),
    )


def _shares(found: "OnRuler") -> str:
    shares = found.summary.variance_shares
    if shares.between_pairs is None or shares.contexts is None:
        return note_text(shares.reason)
    text = _("Of the variance of Bias_c, {pairs} lies between word pairs and {contexts} between contexts.")
    return text.format(pairs=number(shares.between_pairs, ".0%"), contexts=number(shares.contexts, ".0%"))
