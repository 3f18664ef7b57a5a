"""Which way fits: what each way of measuring sees and misses, and what to report."""

import streamlit as st
from markupsafe import Markup

from pages.ui.language import _
from pages.ui.tables import element, joined, show_html


def show_which() -> None:
    """Three cards, one a way, and what holds for all."""
    show_html(element("div", joined(map(_card, _ways())), "cards"))
    st.subheader(_("Before you choose"), anchor=False)
    for line in _advice():
        st.markdown(f"- {line}")


def _card(way: tuple[str, str, str, str, str]) -> Markup:
    name, question, *texts = way
    heads = (_("Use it for"), _("It sees"), _("It misses"))
    parts = joined(joined([element("dt", head), element("dd", text)]) for head, text in zip(heads, texts, strict=True))
    inside = joined([element("h4", name), element("p", question, "soft"), element("dl", parts)])
    return element("div", inside, "card")


def _ways() -> list[tuple[str, str, str, str, str]]:
    return [
        (
            _("Probability-based"),
            _("Which of four forms fits this slot best?"),
            _("Models that rank or complete text at a fixed place, and quick comparisons of many instances."),
            _("A preference among forms of one case, the same at every repetition, without sampling."),
            _(
                "What the model would really write: no pronoun at all, a later wrong one, other gendered words. It"
                " hangs on how a tokenizer cuts the forms, and on mean or sum of the log-probabilities."
            ),
        ),
        (
            _("Generation-based"),
            _("Which pronoun comes first in what it writes?"),
            _("Chatbots and writing tools: whatever a reader is given. Take several generations of each context."),
            _("The model's own words under the sampling that will be used, and how much they vary."),
            _(
                "Everything after the first pronoun, pronouns of other people, they for several people. A text without"
                " any pronoun counts as right."
            ),
        ),
        (
            _("People"),
            _("Was this person misgendered?"),
            _("Deciding whether a measure can be trusted for your use, and for what matters most."),
            _("The whole text: later pronouns, who is meant, gendered words that nobody asked for."),
            _("Most instances: people judge a sample. Their agreement has to be measured too, and the work weighs."),
        ),
    ]


def _advice() -> list[str]:
    return [
        _("Choose the way that comes nearest to how the model will be used; one way does not stand in for another."),
        _("Agreement over all instances can hide that single instances disagree: look at the share that does."),
        _("Report the variation over generations. One generation an instance says little about that instance."),
        _("Show each set of pronouns by itself. A mean over four sets hides the one that fares worst."),
        _("Look at texts without a pronoun: avoiding a name's pronouns is no respect for them."),
        _("Ask people who are misgendered what they would count as harm before you settle on a number."),
    ]
