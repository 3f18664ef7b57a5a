"""Words of one's own: the language of sentences with a table of keywords, and pronoun sets in five forms."""

from collections.abc import Sequence

import streamlit as st

from evenhand.core.resources import DATA
from evenhand.core.sentence_bias.keyword_packs import LANGUAGES, PackWord
from evenhand.core.text.pronouns import CASES, PronounSet, more_sets, own_set, set_named, sets
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.head import errors_shown
from evenhand.pages.ui.text import _, caption, language, plain, write

AUTO = "auto"  # the language of each sentence is recognised
ENDINGS = ["tsv", "txt"]
ADDED = "added_pronoun_sets"  # in the session: names of sets that the visitor wrote


def language_name(code: str) -> str:
    """What a language is called in the visitor's; its code where it has no pack."""
    names = {"zh": _("Chinese"), "en": _("English"), "ja": _("Japanese"), "es": _("Spanish"), "eu": _("Basque")}
    return names.get(code, code)


def chosen_language(key: str) -> str | None:
    """The language under the widget *key*; None where it is to be recognised."""
    code = str(st.session_state.get(key) or AUTO)
    return None if code == AUTO else code


def choose_language(key: str, own: Sequence[PackWord]) -> None:
    """The language of the sentences: recognised, one that has a pack, or that of somebody's *own* words."""
    found = dict.fromkeys((*LANGUAGES, *(one.pair.language for one in own)))
    names = {AUTO: _("Language: auto-detect"), **{code: language_name(code) for code in found}}
    if st.session_state.get(key) not in names:
        st.session_state[key] = AUTO
    st.selectbox(
        _("Language of the sentence"), list(names), format_func=names.__getitem__, key=key, persist_state="session",
        label_visibility="collapsed", width=230,
    )  # fmt: skip


def say_what_a_table_is() -> None:
    """What a table of one's own looks like, and one to begin with."""
    write(
        "A tab-separated table with the columns male and female; optional: kind, other (forms shown"
        " beside the two) and language. For this visit, it is added to the built-in words."
    )
    shown = language() if language() != "zh" else "en"
    download(_("Example table"), (DATA / f"words_{shown}.tsv").read_bytes(), f"words_{shown}.tsv")


def say_what_was_read(own: Sequence[PackWord], name: str) -> None:
    """How many pairs a table has."""
    caption("{count} pairs read from {file}.", count=len(own), file=name)


def choose_pronoun_sets(key: str) -> tuple[str, ...]:
    """The names of the chosen sets, in the order of the tables; at the start he, she, they and xe.

    Sets that the visitor adds stay for the visit, on every page with this choice.
    """
    usual = list(sets("own"))
    added: list[str] = st.session_state.setdefault(ADDED, [])
    names = list(dict.fromkeys((*usual, *more_sets(), *added)))
    st.session_state[key] = st.session_state.pop(f"{key}-next", st.session_state.get(key, usual))
    # Not beside each other in a row: on a telephone the pills would run out of it instead of into the next line.
    chosen = st.pills(
        _("Pronoun sets"), names, selection_mode="multi", key=key, format_func=_forms_beginning,
        help=_("Each with all five forms; others can be added."),
    )  # fmt: skip
    with st.popover(_("Your own set"), icon=":material/add:", type="tertiary"):
        _add(key, names)
    return tuple(name for name in names if name in chosen)


def _forms_beginning(name: str) -> str:
    one = set_named(name)
    return plain(f"{one.nom}/{one.acc}" if name not in sets("own") else name)


def _add(key: str, names: list[str]) -> None:
    labels = (
        _("nominative"),
        _("accusative"),
        _("possessive before a noun"),
        _("possessive on its own"),
        _("reflexive"),
    )
    examples = more_sets()["ze"].forms
    with st.form(f"{key}-own", border=False):
        given = [
            st.text_input(label, key=f"{key}-{case}", max_chars=20, placeholder=example)
            for case, label, example in zip(CASES, labels, examples, strict=True)
        ]
        pressed = st.form_submit_button(_("Add"), icon=":material/add:")
    if not pressed:
        return
    with errors_shown():
        one = own_set("/".join(form.replace("/", " ") for form in given))
        _keep(key, one, names)
        st.rerun()


def _keep(key: str, one: PronounSet, names: list[str]) -> None:
    if one.name not in names:
        st.session_state[ADDED] = [*st.session_state[ADDED], one.name]
    # The pills are drawn already in this run: what they hold is put there before the next one draws them.
    st.session_state[f"{key}-next"] = [*dict.fromkeys((*st.session_state[key], one.name))]
