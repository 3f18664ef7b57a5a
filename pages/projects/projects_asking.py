"""What a project of generations is asked, when it is made and when it is changed."""

from typing import Any

import streamlit as st

from pages.ui.language import _


def agreed_name(rule: str) -> str:
    """The rule for gold in words, for labels of any kind."""
    return _("all who labelled the text agree") if rule == "unanimous" else _("most of them agree")


def ask_labels(per_item: int, doubled: int | None, *, place: str) -> dict[str, int | None]:
    """How many labels a text gets: all the same, or one each and a sample with several."""
    left, right = st.columns(2)
    with left:
        number = st.number_input(_("Labels for each text"), 1, 100, per_item, key=f"{place}per_item")
    with right:
        sample = st.number_input(
            _("Only for so many texts, drawn at random"),
            0,
            1_000_000,
            doubled,
            key=f"{place}doubled",
            placeholder=_("all texts"),
            help=_("The others get one label each. Empty: every text gets the same number of labels."),
        )
    return {"per_item": int(number), "doubled": None if sample is None else int(sample)}


def ask_desk(checked: bool, blur: bool, pause_minutes: int | None, *, place: str) -> dict[str, Any]:
    """What the desk does for those who sit at it."""
    rules = st.checkbox(
        _("Check the rules of a label before it is saved"),
        checked,
        key=f"{place}checked",
        help=_(
            "Misgendering wants the wrong pronoun marked; no pronoun forbids such a mark; the flag wants its words."
        ),
    )
    hidden = st.checkbox(_("Blur each text until it is opened"), blur, key=f"{place}blur")
    return {"checked": rules, "blur": hidden, **_ask_pause(pause_minutes, place)}


def ask_care(blur: bool, pause_minutes: int | None, *, place: str) -> dict[str, Any]:
    """What the desk for sentences does for those who sit at it."""
    hidden = st.checkbox(
        _("Blur flagged sentences until they are opened"),
        blur,
        key=f"{place}blur",
        help=_(
            "Sentences that mining flagged, and those with anything but 0 in a column named sensitive. Annotators see"
            " that a sentence is covered, not why."
        ),
    )
    return {"blur": hidden, **_ask_pause(pause_minutes, place)}


def _ask_pause(pause_minutes: int | None, place: str) -> dict[str, int | None]:
    pause = st.number_input(
        _("Remind of a pause after minutes"), 1, 600, pause_minutes, key=f"{place}pause", placeholder=_("never"),
        width=260,
    )  # fmt: skip
    return {"pause_minutes": None if pause is None else int(pause)}
