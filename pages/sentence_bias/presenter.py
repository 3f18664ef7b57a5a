"""Presenter mode of the page Try (?present=1): the examples as slides over the whole window."""

from typing import Any

import segno
import streamlit as st

from evenhand.core.demo_page.presenter import script, show_data, slide, style, swap_in
from evenhand.core.errors import EvenhandError
from evenhand.core.resources import table
from evenhand.pages.sentence_bias.inputs import Question, asked_question, read_address, reading_of, two_words
from evenhand.pages.ui.choose import first_models, models_to_use
from evenhand.pages.ui.text import _, language
from evenhand.pages.ui.verdicts import note
from evenhand.pages.ui.visitor import show_error

GUESSES = ("male", "female")
# The address of a slide is that of the page with its sentence; the guess is known to the browser only.
CONNECT = """
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".show-root");
  if (!root.show) {
    root.show = present(root, data, {
      leave: () => setTriggerValue("leave", true),
      code: (address) => setTriggerValue("share", address),
      link: (slide, guess) => {
        const query = new URLSearchParams({ ...slide.address, present: "1", lang: data.language });
        if (guess) query.set("guess", guess);
        return `${location.origin}${location.pathname}?${query}`;
      },
    });
  }
  if (data.shared) root.show.setCode(data.shared, data.code);
  return () => { root.show?.stop(); root.show = null; };
}
"""
_component = st.components.v2.component(
    "evenhand_presenter", html='<div class="show-root"></div>', css=style(), js=script() + CONNECT
)


def show_presenter() -> None:
    """Show the slides: the sentence of the address first, then the examples of its language, of one model."""
    read_address()
    question = asked_question()
    try:
        slot = question.slot()
        models = models_to_use(st.session_state["model"]) or first_models(slot.language)
        with st.spinner(_("Running the models …"), show_time=True):
            slides = [_slide(models[0], question, note(models[0]))] if models else []
            slides += _examples(models[0], question.text, slot.language) if models else []
    except EvenhandError as error:
        show_error(error)
        slides = []
    if not slides:
        st.button(_("Back to the page"), icon=":material/arrow_back:", on_click=_leave)
        return
    shared = str(st.session_state.get("shared_link") or "")
    guess = st.query_params.get("guess")
    data = show_data(
        slides, language(), guess=guess if guess in GUESSES else None, shared=shared, code=qr_code(shared)
    )  # fmt: skip
    _component(key="presenter", data=data, on_leave_change=_leave, on_share_change=_share)


def _slide(model: str, question: Question, about: str) -> dict[str, Any]:
    reading = reading_of(model, question)
    swap = swap_in(reading.slot)
    swapped = None
    if swap is not None:
        other = Question(swap.text, question.options, question.joint, question.language)
        swapped = reading_of(model, other)
    address = {"text": question.text, "model": model}
    if question.options is not None:
        address["options"] = " ".join(question.options)
    return slide(reading, model, swap=swap, swapped=swapped, note=about) | {"address": address}


def _examples(model: str, but: str, written: str) -> list[dict[str, Any]]:
    rows = [row for row in table("gallery") if row["language"] == written and row["text"] != but]
    return [_slide(model, Question(row["text"], two_words(row["options"]), "independent"), note(model)) for row in rows]


def qr_code(address: str) -> str:
    """Return an address as a QR code, an SVG as the source of an image; "" for one that no code can hold."""
    try:
        return segno.make(address, micro=False).svg_data_uri(border=2, light="#fff") if address else ""
    except segno.DataOverflowError:
        return ""


def _share() -> None:
    st.session_state["shared_link"] = st.session_state["presenter"].share


def present() -> None:
    """Enter the presenter mode."""
    st.query_params["present"] = "1"


def _leave() -> None:
    for name in ("present", "guess"):
        st.query_params.pop(name, None)
