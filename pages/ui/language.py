"""The language of this visitor, and texts in it."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from evenhand.core.language import LANGUAGE_COOKIE, LANGUAGES, Language, translate, translate_stored, visitor_language


def language() -> Language:
    """Return the language of this visitor (`visitor_language`); the session keeps it."""
    asked, chosen = st.query_params.get("lang"), st.session_state.get("language")
    wanted: Language | None = asked if asked in LANGUAGES else chosen if chosen in LANGUAGES else None
    if wanted is None:
        wanted = visitor_language(None, st.context.cookies.get(LANGUAGE_COOKIE), st.context.locale)
    if wanted != chosen:  # every word asks here, and each look into the session costs
        st.session_state["language"] = wanted
    return wanted


def _(text: str, /, **values: object) -> str:
    """Return *text* in the visitor's language, with *values* at its {names}."""
    translated = translate(text, language())
    return translated.format(**values) if values else translated


def sentence(message: str, values: Mapping[str, Any] | None = None) -> str:
    """Return a sentence of a record or an error in the visitor's language, with the *values* of its {names}.

    Without values it may be an English sentence that was stored whole.
    """
    return _(message, **values) if values else translate_stored(message, _)
