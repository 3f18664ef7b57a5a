"""Text on pages: in the language of the visitor, one after the other, and text of people and files exactly as it is."""

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

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


def series(things: Iterable[str]) -> str:
    """Return one thing after the other, set apart as the visitor's language does it: A, B or 甲、乙."""
    return _(", ").join(things)


def clauses(parts: Iterable[str]) -> str:
    """Return parts that may hold commas as one text: A; B or 甲；乙."""
    return _("; ").join(parts)


def named(name: object, value: object) -> str:
    """Return a name with its value: name: value, or 名：值."""
    return _("{name}: {value}").format(name=name, value=value)


def in_brackets(text: object, more: object) -> str:
    """Return a text with something in brackets behind it, as the visitor's language sets them: A (B) or 甲（乙）."""
    return _("{text} ({more})").format(text=text, more=more)


def from_to(what: str, low: tuple[str, str], high: tuple[str, str]) -> str:
    """Say the lowest and the highest value of a chart, each with its place; one value where both are equal."""
    (least, at_least), (most, at_most) = low, high
    if at_least == at_most:
        return _("{what}: {value} ({place}).").format(what=what, value=least, place=at_least)
    if least == most:
        return _("{what}: {value} throughout.").format(what=what, value=least)
    text = _("{what}: from {low} ({at_low}) to {high} ({at_high}).")
    return text.format(what=what, low=least, at_low=at_least, high=most, at_high=at_most)


def paragraph(sentences: Iterable[str]) -> str:
    """Return sentences as one text: with spaces between them in English, without in Chinese."""
    return ("" if language() == "zh" else " ").join(sentences)


def plain(text: str) -> str:
    """Return *text* with every sign of Markdown escaped: for help, messages and the names of buttons and pills.

    The labels of other inputs need `spoken`. The options of a selectbox or multiselect are not Markdown at all.
    """
    escaped = re.sub(r"([\\`*_{}\[\]()<>#+\-.!|$~:&=^@])", r"\\\1", text.replace("\n", " "))
    # Streamlit looks for icons and addresses after the escapes are gone; an invisible joiner keeps ":material/" a word,
    # and an address text: a name must not become a mail link.
    return re.sub(r"(?i)\\:(?=material/|//)|\\@(?=\w)|(?<=www)\\\.", "\\g<0>\u2060", escaped)


def spoken(text: str) -> str:
    """Return *text* without the signs of Markdown, for the label of a box to choose or write in.

    A screen reader gets such a label unchanged, so that it would read out the backslashes of `plain`.
    """
    signs = r"[\\`*{}\[\]()<>#+|$~:&=^@]|(?<![^\W_])_|_(?![^\W_])"  # an underscore within a word is none
    return " ".join(re.sub(signs, " ", text).split())


def caption(text: str, /, **values: object) -> None:
    """Write *text* in the visitor's language as a caption; see `_fill` for *values*."""
    st.caption(_fill(text, values))


def write(text: str, /, **values: object) -> None:
    """Write *text* in the visitor's language as a paragraph; see `_fill` for *values*."""
    st.write(_fill(text, values))


def inform(text: str, /, *, icon: str | None = None, **values: object) -> None:
    """Write *text* in the visitor's language as a notice; see `_fill` for *values*."""
    st.info(_fill(text, values), icon=icon)


def warn(text: str, /, *, icon: str | None = None, **values: object) -> None:
    """Write *text* in the visitor's language as a warning; see `_fill` for *values*."""
    st.warning(_fill(text, values), icon=icon)


def _fill(text: str, values: Mapping[str, object]) -> str:
    """Return a message as Markdown; one with *values* is text without any Markdown, since a value may come from a file.

    tests/project/test_language.py collects the messages from the calls, so each is a literal.
    """
    return plain(_(text, **values)) if values else _(text)


def first_sentence(text: str) -> tuple[str, str]:
    """Return the first sentence of a text and the others, in English or Chinese."""
    end = re.search(r"[.?!](?= )|[。？！]", text)
    at = end.end() if end else len(text)
    return text[:at], text[at:].strip()


def literal(text: str, *, size: Literal[12, 14, 16, 20, 28] = 16) -> None:
    """Show text from a file exactly as it is: no part of it is read as HTML or Markdown."""
    st.html(f'<span style="white-space:pre-wrap;font-size:var(--size-{size})">{html.escape(text)}</span>')


def clause(sentence: str) -> str:
    """Return a sentence without its full stop, for use within another."""
    return sentence.rstrip(".。")


def names_in(text: str) -> list[str]:
    """Return the names that were typed into a field: one per line, or separated by commas of either language."""
    return [name.strip() for name in re.split(r"[\n,，、]", text) if name.strip()]


def show_signature(signature: str) -> None:
    """Show how numbers were made, to copy: behind one small sign."""
    with st.popover(_("Signature"), icon=":material/fingerprint:", type="tertiary"):
        st.caption(_("How these numbers were computed; cite it with them. The About page explains each part."))
        st.code(signature, language=None, wrap_lines=True)
