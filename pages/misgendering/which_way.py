"""Which way fits: what each way of measuring sees and misses, and what to report."""

import streamlit as st
from markupsafe import Markup

from evenhand.pages.ui.tables import element, joined, show_html
from evenhand.pages.ui.text import _


def show_which() -> None:
    """Three cards, one a way, and what holds for all."""
    show_html(element("div", joined(map(_card, _ways())), "cards"))
    st.subheader(_("Before you choose"), anchor=False)
    for line in [
        _("Choose the method closest to how the model will be used; one method cannot replace another."),
        _(
            "Agreement over all instances can hide disagreement on single instances: also report the share of"
            " disagreement."
        ),
        _("Report the variation over generations. A single generation says little about an instance."),
        _("Report each pronoun set separately. A mean over four sets hides the one that fares worst."),
        _("Check texts without a pronoun: avoiding a person's pronouns does not respect them."),
        _("Before you settle on a measure, ask people who are misgendered what they consider harmful."),
    ]:
        st.markdown(f"- {line}")


def _card(way: tuple[str, str, str, str, str]) -> Markup:
    name, question, *texts = way
    heads = (_("Use it for"), _("What it captures"), _("What it misses"))
    parts = joined(joined([element("dt", head), element("dd", text)]) for head, text in zip(heads, texts, strict=True))
    inside = joined([element("h4", name), element("p", question, "soft"), element("dl", parts)])
    return element("div", inside, "card")


def _ways() -> list[tuple[str, str, str, str, str]]:
    return [
        (
            _("Probability-based"),
            _("Which of the four forms fits the slot best?"),
            _("Models that rank or complete text at a fixed position, and quick comparisons over many instances."),
            _("A preference among the forms of one case, without sampling, so every run gives the same result."),
            _(
                "What the model would actually write: no pronoun at all, a wrong one later, other gendered"
                " words. The result depends on how a tokenizer splits the forms, and on using the mean or"
                " the sum of log-probabilities."
            ),
        ),
        (
            _("Generation-based"),
            _("Which pronoun comes first in the model's text?"),
            _("Chatbots and writing tools: whatever a reader sees. Generate several texts per context."),
            _("The model's own words with the decoding settings that will be used, and how much they vary."),
            _(
                "Everything after the first pronoun, pronouns for other people, and plural they. A text"
                " without a pronoun counts as right."
            ),
        ),
        (
            _("People"),
            _("Was this person misgendered?"),
            _("Deciding whether an automatic method is valid for your use, and for the cases that matter most."),
            _("The whole text: later pronouns, who is meant, extraneous gendered language."),
            _(
                "Most instances: people can judge only a sample. Their agreement has to be measured too, and"
                " the work is taxing."
            ),
        ),
    ]
