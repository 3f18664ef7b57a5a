"""Guess first: the bars stay hidden until the viewer has said what they expect."""

import streamlit as st

from core.sentence_bias.bias import odds
from pages.sentence_bias.ask_models import Question
from pages.ui.language import _

STEPS = (2.0, 1.0, 0.3, 0.0, -0.3, -1.0, -2.0)  # log10, male word on the left as in the balance


def guess_toggle() -> None:
    """The switch that hides the answer until the viewer has guessed."""
    help_text = _("Hides the answer until you have said what you expect.")
    st.toggle(_("Guess first"), key="guess", persist_state="session", help=help_text)


def guessed(question: Question) -> tuple[bool, float | None]:
    """Whether the answer may be shown, and what was guessed (log10, positive male); asks where it is time to."""
    if not st.session_state.get("guess"):
        return True, None
    made: dict[str, float] = st.session_state.setdefault("guesses", {})
    if (known := made.get(question.signed())) is not None:
        st.caption(_("Your guess: {sentence}").format(sentence=in_words(known)))
        return True, known
    key = f"guess-{len(made)}"
    with st.container(border=True, key="guessing"):
        st.select_slider(
            _("How will the model lean at the slot of this sentence?"), STEPS, value=0.0, format_func=in_words, key=key
        )
        st.button(_("Show the answer"), key="show-answer", type="primary", on_click=_keep, args=(question, key))
    return False, None


def _keep(question: Question, key: str) -> None:
    st.session_state["guesses"][question.signed()] = st.session_state[key]


def in_words(value: float) -> str:
    """A step of the guess as a sentence."""
    message, values = odds(value)
    return _(message).format(**values)
