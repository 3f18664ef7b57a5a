"""A new study: its settings, its test, its texts."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import require
from evenhand.annotations.projects.consent import NAMES, USES, Use
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.quality.known_answers import known_items
from evenhand.annotations.study.studies import FACTS, MOST_QUESTIONS, SERVICES, Settings, create_study
from evenhand.annotations.study.texts import ADULT, CONSENT, WARNING
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.core.language import LANGUAGES, Language
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.own_words import language_name
from evenhand.pages.ui.visitor import visitor

NUMBERS = ("items", "places", "minutes", "pause", "keep_days", "questions", "pass_mark")
LINES = ("contact", "currency")


def _make(uid: str) -> None:
    """Make the study of the form; asked anew whether the visitor may."""
    typed = {str(key)[4:]: value for key, value in st.session_state.items() if str(key).startswith("new-")}
    values: dict[str, Any] = {one: int(typed[one]) for one in NUMBERS} | {one: typed[one] for one in LINES}
    values |= {"reward": float(typed["reward"]), "floor": float(typed["floor"]), "cover": bool(typed["cover"])}
    values |= {"service": typed["service"], "warning_en": typed["warning_en"], "warning_zh": typed["warning_zh"]}
    values["pause"] = values["pause"] or None
    codes = {one: typed[one].strip() for one in ("code_finished", "code_screened_out", "code_withdrew")}
    texts: dict[Language, str] = {"en": typed["consent_en"], "zh": typed["consent_zh"]}
    try:
        with open_store() as store:
            who = visitor(store)
            require(who, "change_projects", project=uid)
            project = project_by_uid(store, uid)
            questions = [(one.item, one.choice) for one in known_items(store, project) if one.item.uid in typed["test"]]
            settings = Settings(**values, **{name: code for name, code in codes.items() if code})
            made = create_study(
                store, project, typed["name"], settings, questions=questions, consent=texts, uses=typed["uses"],
                minimum_age=int(typed["minimum_age"]), kept_years=int(typed["kept_years"]), author=who.name,
            )  # fmt: skip
            st.session_state[f"study-{uid}"] = made.uid
    except EvenhandError as error:
        st.session_state["study-error"] = error


def _names() -> dict[str, str]:
    return {"link": _("A link for your own participants"), "prolific": "Prolific", "mturk": "Mechanical Turk"}


def show_new(store: Store, project: Project, *, open_at_first: bool) -> None:
    """The form for a new study."""
    standard = Settings(contact="-")
    with st.expander(_("New study"), expanded=open_at_first, icon=":material/add:"), st.form("new-study", border=False):
        st.text_input(_("Name (shown to participants)"), key="new-name", max_chars=80)
        st.selectbox(_("Recruitment service"), SERVICES, key="new-service", format_func=_names().__getitem__)
        st.text_input(_("Contact for questions (address or name)"), key="new-contact", max_chars=200)
        _numbers(standard)
        _test(store, project)
        st.caption(
            _("The consent form states the contact, texts, reward, minimum age and storage above in place of {…}.")
        )
        for code in LANGUAGES[::-1]:
            st.text_area(
                _("Consent form, {language}").format(language=language_name(code)),
                CONSENT[code],
                key=f"new-consent_{code}",
                height=220,
            )
            st.text_area(
                _("Content warning before the first text, {language}").format(language=language_name(code)),
                WARNING[code],
                key=f"new-warning_{code}",
            )
        ask_uses("new-uses")
        with st.container(horizontal=True):
            for outcome, label in _codes().items():
                st.text_input(
                    label, key=f"new-code_{outcome}", max_chars=60, placeholder=_("generated at random"), width=220
                )
        st.form_submit_button(_("Create study"), key="make", type="primary", on_click=_make, args=(project.uid,))


def ask_uses(key: str, chosen: Sequence[Use] = ()) -> None:
    """About which uses of labels a consent form asks; nobody has to agree to them."""
    names = {use: _(name) for use, name in NAMES.items()}
    st.multiselect(
        _("Uses of single labels that the form asks about"), USES, list(chosen), key=key, format_func=names.__getitem__,
        help=_("Each is a box to tick. Whoever leaves it empty can still take part."),
    )  # fmt: skip


def _codes() -> dict[str, str]:
    return {
        "finished": _("Code: finished"),
        "screened_out": _("Code: screened out"),
        "withdrew": _("Code: withdrew"),
    }


def _numbers(standard: Settings) -> None:
    labels = {
        "items": (_("Texts per participant"), 1),
        "places": (_("Number of participants"), 1),
        "reward": (_("Reward per participant"), 0.0),
        "floor": (_("Minimum hourly pay (0 = no warning)"), 0.0),
        "minutes": (_("Minutes of inactivity before the place is released"), 5),
        "pause": (_("Minutes of work before a break is suggested (0 = never)"), 0),
        "keep_days": (_("Days to keep platform ids after the end"), 0),
        "minimum_age": (_("Minimum age"), FACTS["minimum_age"][0]),
        "kept_years": (_("Years to keep labels (0 = as long as the data set)"), FACTS["kept_years"][0]),
    }
    rows = (
        ("items", "places"),
        ("reward", "floor"),
        ("minutes", "pause"),
        ("minimum_age", "keep_days"),
        ("kept_years",),
    )
    values = asdict(standard) | {"minimum_age": ADULT, "kept_years": 0}
    for row in rows:
        for column, name in zip(st.columns(2), row, strict=False):
            label, least = labels[name]
            column.number_input(label, least, value=values[name], key=f"new-{name}")
    st.text_input(_("Currency"), standard.currency, key="new-currency", max_chars=8, width=120)
    st.checkbox(_("Blur each text until it is opened"), standard.cover, key="new-cover")


def _test(store: Store, project: Project) -> None:
    known = {one.item.uid: one for one in known_items(store, project)}
    st.multiselect(
        _("Test texts, taken from the known answers on the Quality page"),
        list(known),
        key="new-test",
        format_func=lambda uid: f"{known[uid].item.text[:60]} · {known[uid].choice}",
        max_selections=MOST_QUESTIONS,
        help=_("These texts are copied. A second try uses other texts where available."),
    )
    left, right = st.columns(2)
    left.number_input(_("Questions per try (0 = no test)"), 0, 20, 0, key="new-questions")
    right.number_input(_("Correct answers needed to pass"), 0, 20, 0, key="new-pass_mark")
