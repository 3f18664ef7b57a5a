"""What annotators allow to be done with their labels, and their groups, as their lead sees and stores it."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.annotators import annotator, annotators
from evenhand.annotations.projects.consent import (
    NAMES,
    TEXTS,
    USES,
    Consent,
    Use,
    answer_consent,
    answer_for_everybody,
    consents,
)
from evenhand.annotations.projects.groups import Grouping, add_grouping, groupings, groups_of, set_group
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.pages.ui.head import open_store, show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.parts import asks, asks_at_click, confirmed
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import in_brackets, plain, series, spoken


@asks("change_projects")
def show_consent(store: Store, project: Project) -> None:
    """Everybody's answer for each use, and a form to store what the lead has in writing."""
    if error := st.session_state.pop("consent-error", None):
        show_error(error)
    with st.expander(_("Consent to the use of labels"), icon=":material/policy:", key="consent-of-all"):
        found = {use: consents(store, project, use) for use in USES}
        names = {use: _(name) for use, name in NAMES.items()}
        rows = [
            {_("Annotator"): each[0].annotator.name}
            | {names[use]: _answer_in_words(one) for use, one in zip(USES, each, strict=True)}
            for each in zip(*found.values(), strict=True)
        ]
        show_records(rows)
        text = _(
            "A release holds single labels only of those who consent to it; counts, agreement and gold labels include"
            " everybody. Annotators answer on My record. Store here what you have in writing."
        )
        st.caption(text)
        _store_form(store, project, names)


def _answer_in_words(one: Consent) -> str:
    if one.given is None:
        return _("not answered")
    text = _("yes, {moment}") if one.given else _("no, {moment}")
    return text.format(moment=moment(one.created))


def _store_form(store: Store, project: Project, names: dict[Use, str]) -> None:
    people = [one.name for one in annotators(store, project, active=False)]
    use = st.selectbox(_("Use"), USES, key="consent-use", format_func=names.__getitem__, width=360)
    agreed = TEXTS[use]
    st.caption(plain(_(agreed)))
    who = st.selectbox(
        _("Annotator"), people, index=None, key="consent-who", width=360,
        placeholder=_("everybody who has not answered"),
    )  # fmt: skip
    whose = who or _("everybody who has not answered")
    yes = _("On behalf of {who} you store consent to this use: {use}. Every answer stays in the record.")
    no = _("On behalf of {who} you store that this use is refused: {use}. Later releases leave these labels out.")
    with st.container(horizontal=True):
        if confirmed(_("Store consent"), yes.format(who=whose, use=names[use]), _("Store this consent"),
                     key="consent-yes", icon=":material/check:"):  # fmt: skip
            _store_answer(project, use, who, given=True)
        if who is not None and confirmed(
            _("Store refusal"), no.format(who=whose, use=names[use]), _("Store this refusal"),
            key="consent-no", icon=":material/block:",
        ):  # fmt: skip
            _store_answer(project, use, who, given=False)


@asks("change_projects")
def _store_answer(project: Project, use: Use, who: str | None, *, given: bool) -> None:
    try:
        with open_store(project, "change_projects") as store:
            if who is None:
                answer_for_everybody(store, project, use, language=language())
            else:
                person = annotator(store, project, who)
                answer_consent(store, project, person, use, given=given, language=language(), recorded_by="lead")
    except EvenhandError as error:
        show_error(error)
    else:
        st.rerun()


@asks("change_projects")
def show_groups(store: Store, project: Project) -> None:
    """By what annotators are grouped, who is in which group, and a form for another grouping."""
    with st.expander(_("Groups of annotators"), icon=":material/groups:", key="groups-of-all"):
        text = _(
            "By dialect, first language or the like, to compare how groups choose (page Agreement, Groups). What"
            " annotators choose themselves on My record counts instead, and you cannot change it."
        )
        st.caption(text)
        for one in groupings(store, project):
            _show_grouping(store, project, one)
        st.text_input(_("New grouping, as dialect"), key="grouping-name", max_chars=80, width=360)
        st.text_area(_("Its groups, one per line"), key="grouping-options", height=100, width=360)
        st.button(_("Add grouping"), key="grouping-add", icon=":material/add:", on_click=_add, args=(project,))


def _show_grouping(store: Store, project: Project, of: Grouping) -> None:
    st.markdown(f"**{spoken(of.name)}**")
    inside = groups_of(store, of)
    counted = [f"{spoken(one)} {list(inside.values()).count(one)}" for one in of.options]
    st.caption(plain(series(counted)))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        people = annotators(store, project, active=False)
        st.selectbox(
            _("Annotator"), people, key=f"grouping-who-{of.id}", width=220,
            format_func=lambda one: in_brackets(one.name, inside[one.id]) if one.id in inside else one.name,
        )  # fmt: skip
        st.selectbox(
            _("Group"), of.options, index=None, key=f"grouping-into-{of.id}", width=220, format_func=spoken,
            placeholder=_("none"),
        )  # fmt: skip
        st.button(_("Put into this group"), key=f"grouping-put-{of.id}", on_click=_put, args=(project, of))


@asks_at_click("change_projects")
def _put(project: Project, of: Grouping) -> None:
    who, into = (st.session_state[f"grouping-{part}-{of.id}"] for part in ("who", "into"))
    try:
        with open_store(project, "change_projects") as store:
            set_group(store, project, of, who, into, "lead")
    except EvenhandError as error:
        st.session_state["consent-error"] = error


@asks_at_click("change_projects")
def _add(project: Project) -> None:
    lines = st.session_state["grouping-options"].splitlines()
    try:
        with open_store(project, "change_projects") as store:
            add_grouping(store, project, st.session_state["grouping-name"], [one for one in lines if one.strip()])
    except EvenhandError as error:
        st.session_state["consent-error"] = error
    else:
        st.session_state["grouping-name"] = st.session_state["grouping-options"] = ""
