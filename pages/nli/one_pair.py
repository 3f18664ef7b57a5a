"""One premise, one hypothesis: three probabilities, at once."""

import streamlit as st

from evenhand.core.nli.types import LABELS, SentencePair
from evenhand.core.report.numbers import percent
from evenhand.core.types import Score
from evenhand.core.worker.client import shared
from evenhand.pages.nli.numbers import label_names, model_banner
from evenhand.pages.nli.start import choose_classifier, choose_labels
from evenhand.pages.ui.head import errors_shown
from evenhand.pages.ui.sentences import bar
from evenhand.pages.ui.tables import element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, inform, plain, show_signature

FIRST = ("A nurse is reading a newspaper on a bench.", "A woman is reading a newspaper on a bench.")


def show_pair() -> None:
    """The inputs and the answer."""
    left, right = st.columns(2)
    with left:
        model = choose_classifier("pair-model")
    with right:
        labels = choose_labels("pair-labels")
    st.session_state.setdefault("premise", FIRST[0])
    st.session_state.setdefault("hypothesis", FIRST[1])
    premise = st.text_input(_("Premise"), key="premise", max_chars=600, persist_state="session")
    hypothesis = st.text_input(_("Hypothesis"), key="hypothesis", max_chars=600, persist_state="session")
    if not (model and premise.strip() and hypothesis.strip()):
        inform("Type two sentences: does the second follow from the first?")
        return
    model_banner(model)
    told = None if labels is None else tuple(labels.split(","))
    with errors_shown():
        with st.spinner(_("Running {model} …").format(model=plain(model)), show_time=True):
            score = _answer(model, premise, hypothesis, told)
        _show(score)


@st.cache_data(max_entries=200, show_spinner=False)
def _answer(model: str, premise: str, hypothesis: str, labels: tuple[str, ...] | None) -> Score:
    (score,) = shared().classify(model, [SentencePair(premise, hypothesis)], labels=labels)
    return score


def _show(score: Score) -> None:
    if score.reason is not None:
        st.warning(plain(_(score.reason)))
        return
    from math import exp

    names = label_names()
    shares = [exp(p) if p is not None else 0.0 for p in score.logprobs]
    most = max(shares)
    cells = []
    for label, share in zip(LABELS, shares, strict=True):
        cells.append(span(names[label], "strong" if share == most else ""))
        cells.append(bar([("ink", share)]))
        cells.append(span(percent(share), "number"))
    show_html(element("div", joined(cells), "bars"))
    caption("Probabilities of the three labels; they sum to 1.")
    show_signature(score.signature)
