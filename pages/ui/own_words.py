"""The language of sentences, and a table of keywords of one's own: asked on Try a sentence and on Score."""

from collections.abc import Sequence

import streamlit as st

from core.resources import DATA
from core.sentence_bias.keyword_packs import LANGUAGES, PackWord
from pages.ui.language import _, language
from pages.ui.text import plain

AUTO = "auto"  # the language of each sentence is recognised
ENDINGS = ["tsv", "txt"]


def language_name(code: str) -> str:
    """What a language is called in the visitor's; its code where it has no pack."""
    return {"zh": _("Chinese"), "en": _("English"), "ja": _("Japanese"), "es": _("Spanish")}.get(code, code)


def chosen_language(key: str) -> str | None:
    """The language under the widget *key*; None where it is to be recognised."""
    code = str(st.session_state.get(key) or AUTO)
    return None if code == AUTO else code


def choose_language(key: str, own: Sequence[PackWord]) -> None:
    """The language of the sentences: recognised, one that has a pack, or that of somebody's *own* words."""
    found = dict.fromkeys((*LANGUAGES, *(one.pair.language for one in own)))
    names = {AUTO: _("Language: recognised"), **{code: language_name(code) for code in found}}
    if st.session_state.get(key) not in names:
        st.session_state[key] = AUTO
    st.selectbox(
        _("Language of the sentence"), list(names), format_func=names.__getitem__, key=key, persist_state="session",
        label_visibility="collapsed", width=230,
    )  # fmt: skip


def say_what_a_table_is() -> None:
    """What a table of one's own looks like, and one to begin with."""
    st.write(
        _(
            "A table with tabs: the columns male and female, and if you like kind, other (forms shown beside the two) "
            "and language. It is added to the words that ship with the app, for this visit."
        )
    )
    shown = language() if language() != "zh" else "en"
    st.download_button(
        _("A table to begin with"), (DATA / f"words_{shown}.tsv").read_bytes(), f"words_{shown}.tsv",
        "text/tab-separated-values", type="tertiary", icon=":material/download:",
    )  # fmt: skip


def say_what_was_read(own: Sequence[PackWord], name: str) -> None:
    """How many pairs a table has."""
    st.caption(plain(_("{count} pairs read from {file}.").format(count=len(own), file=name)))
