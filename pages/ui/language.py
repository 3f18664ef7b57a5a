"""The language of this visitor, and texts in it."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.language import LANGUAGES, Language, translate


def language() -> Language:
    """The language of this visitor: ?lang=, else what was chosen, else the browser's."""
    asked = st.query_params.get("lang")
    if asked in LANGUAGES and st.session_state.get("language") != asked:
        st.session_state["language"] = asked
    if st.session_state.get("language") not in LANGUAGES:
        st.session_state["language"] = "zh" if (st.context.locale or "en").lower().startswith("zh") else "en"
    chosen: Language = st.session_state["language"]
    return chosen


def _(text: str) -> str:
    """*text* in the visitor's language."""
    return translate(text, language())


def sentence(message: str, values: Mapping[str, Any] | None = None) -> str:
    """A sentence of a record or an error in the visitor's language, with the *values* of its {names}."""
    return _(message).format(**values) if values else _(message)
