"""The people of a project: annotators, items that all of them skipped, consent and groups."""

import streamlit as st

from evenhand.annotations.accounts.links import uninvited
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.own import own_progress
from evenhand.annotations.projects import consent, projects
from evenhand.annotations.projects.annotators import annotator, annotators, participants
from evenhand.annotations.projects.consent import Grouping, add_grouping, groupings, groups_of, set_group
from evenhand.annotations.types import Annotator, Project
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import _, caption, in_brackets, inform, language, literal, plain, series, spoken
from evenhand.pages.ui.visitor import asks, asks_at_click, confirmed, errors_shown, open_store, page_link

LISTED = 50
DONE = "people-done"  # in the session: what a click did


@asks("change_projects")
def show_people(store: Store, project: Project) -> None:
    """Show the annotators with progress and a link to each desk, and a field to add more."""
    if done := st.session_state.pop(DONE, None):
        st.success(plain(done), icon=":material/check:")
    by_link = participants(store, project)
    everybody = [
        stored_annotator
        for stored_annotator in annotators(store, project, active=False)
        if stored_annotator.id not in by_link
    ]
    people = [stored_annotator for stored_annotator in annotators(store, project) if stored_annotator.id not in by_link]
    left = [stored_annotator for stored_annotator in everybody if stored_annotator not in people]
    if not people:
        inform("There are no annotators yet. Add the first one.")
    _show_uninvited(store, project)
    for person in people:
        _person(store, project, person)
    with st.form("add_people", border=False, clear_on_submit=True):
        names = st.text_area(_("More annotators, one per line"), key="new_annotators", height=90)
        if st.form_submit_button(_("Add annotators"), icon=":material/person_add:", key="add_annotators"):
            with errors_shown():
                projects.add_annotators(store, project, [line for line in names.splitlines() if line.strip()])
                st.rerun()
    if by_link:
        caption("Participants in online studies ({number})", number=f"{len(by_link):,}")
        page_link("study/page.py", label=_("Online studies"), icon=":material/link:")
    if everybody:
        show_consent(store, project)
        show_groups(store, project)
    if left:
        with st.expander(_("Former annotators ({number})").format(number=len(left)), expanded=not people):
            for person in left:
                with st.container(horizontal=True, vertical_alignment="center"):
                    own = own_progress(store, project, person)
                    st.markdown(f"**{plain(person.name)}**", width=200)
                    caption("{labels} labels, which stay and count", labels=f"{own.labelled:,}")
                    where = {"project": project.name, "annotator": person.name}
                    page_link("record/page.py", label=_("Record"), icon=":material/history:", query_params=where)
                    st.button(
                        _("Reactivate"), key=f"return-{person.uid}", icon=":material/person_add:", on_click=_reactivate,
                        args=(project, person),
                    )  # fmt: skip


def _show_uninvited(store: Store, project: Project) -> None:
    """Name the annotators who can open no desk because they have neither an account nor an open invitation."""
    names = uninvited(store, project)
    if not names:
        return
    text = _("No account and no open invitation yet: {names}. They can label once you have invited them.")
    st.info(plain(text.format(names=series(names))), icon=":material/mail:")
    where = {"project": project.name}
    page_link("accounts/page.py", label=_("Invite annotators"), icon=":material/mail:", query_params=where)


def _person(store: Store, project: Project, person: Annotator) -> None:
    own = own_progress(store, project, person)
    with st.container(horizontal=True, vertical_alignment="center", border=True, gap="small"):
        st.markdown(f"**{plain(person.name)}**", width=180)
        text = _("{labelled} of {total}", labelled=f"{own.labelled:,}", total=f"{own.total:,}")
        st.progress(own.labelled / own.total if own.total else 0.0, text, width=180)
        where = {"project": project.name, "annotator": person.name}
        page_link("review/page.py", label=_("Open the desk"), icon=":material/rate_review:", query_params=where)
        page_link("record/page.py", label=_("Record"), icon=":material/history:", query_params=where)
        with st.popover(_("Change"), icon=":material/manage_accounts:", type="tertiary", key=f"change-{person.uid}"):
            _rename(store, project, person)
            _replace(project, person)
            _leaving(project, person)


def _rename(store: Store, project: Project, person: Annotator) -> None:
    st.text_input(_("New name"), person.name, key=f"name-{person.uid}", max_chars=80)
    if others := projects.other_projects(store, project, person):
        text = _("{name} has the same name in every project, so it changes in {projects} too.")
        st.caption(plain(text.format(name=person.name, projects=series(others))))
    st.button(_("Rename"), key=f"rename-{person.uid}", on_click=_rename_now, args=(project, person))


def _replace(project: Project, person: Annotator) -> None:
    st.divider()
    st.text_input(_("Successor"), key=f"successor-{person.uid}", max_chars=80, placeholder=_("Name of a person"))
    caption(
        "The open items of {name} move to the successor, who may be new or an existing annotator. The"
        " labels of {name} stay and count; {name} gets no more items.",
        name=person.name,
    )
    st.button(_("Replace"), key=f"replace-{person.uid}", on_click=_replace_now, args=(project, person))


def _leaving(project: Project, person: Annotator) -> None:
    st.divider()
    caption("{name} gets no more items; those on the desk go to others. The labels stay and count.", name=person.name)
    label = _("Deactivate {name}", name=person.name)
    st.button(plain(label), key=f"leave-{person.uid}", on_click=_let_leave, args=(project, person))


@asks_at_click("change_projects")
def _rename_now(project: Project, person: Annotator) -> None:
    with open_store(project) as store:
        renamed = projects.rename_annotator(store, project, person, st.session_state[f"name-{person.uid}"])
    if st.session_state.get("desk_annotator") == person.name:  # the desk of this visit is opened by name
        st.session_state["desk_annotator"] = renamed.name
    st.session_state[DONE] = _("{old} is now called {new}.", old=person.name, new=renamed.name)


@asks_at_click("change_projects")
def _replace_now(project: Project, person: Annotator) -> None:
    with open_store(project) as store:
        new = projects.replace_annotator(store, project, person, st.session_state[f"successor-{person.uid}"])
    st.session_state[DONE] = _("{new} has replaced {old}.", new=new.name, old=person.name)


@asks_at_click("change_projects")
def _let_leave(project: Project, person: Annotator) -> None:
    with open_store(project) as store:
        projects.remove_annotator(store, project, person)
    st.session_state[DONE] = _("{name} was deactivated. The labels stay and count.", name=person.name)


@asks_at_click("change_projects")
def _reactivate(project: Project, person: Annotator) -> None:
    with open_store(project) as store:
        projects.add_annotators(store, project, [person.name])
    st.session_state[DONE] = _("{name} was reactivated.", name=person.name)


@asks_at_click("change_projects")
def _hand_out(project: Project, uids: list[str]) -> None:
    with open_store(project) as store:
        for uid in uids:
            projects.return_to_queue(store, project, uid)


@asks("change_projects")
def show_aside(store: Store, project: Project) -> None:
    """Show the items set aside, with buttons to hand them out again."""
    items = projects.set_aside_items(store, project)
    texts = project.kind == "generations"
    if texts:
        caption(
            "A text is set aside when all annotators who could label it have skipped it. It then waits here for you."
        )
    else:
        caption(
            "A sentence is set aside when all annotators who could label it have skipped it. It then waits here for"
            " you."
        )
    if not items:
        st.info(_("No text is set aside.") if texts else _("No sentence is set aside."), icon=":material/check:")
        return
    for item in items[:LISTED]:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            literal(item.whole_text)
            st.button(
                _("Hand out again"), key=f"hand-out-{item.uid}", icon=":material/replay:",
                on_click=_hand_out, args=(project, [item.uid]),
            )  # fmt: skip
    if len(items) > LISTED:
        caption("The first {shown} of {all} sentences.", shown=LISTED, all=f"{len(items):,}")
    if len(items) > 1:
        everything = [item.uid for item in items]
        st.button(_("Hand out all again"), key="hand-out-all", on_click=_hand_out, args=(project, everything))


@asks("change_projects")
def show_consent(store: Store, project: Project) -> None:
    """Show each annotator's consent to each use, and a form to store consent given in writing."""
    with st.expander(_("Consent to the use of labels"), icon=":material/policy:", key="consent-of-all"):
        values = {use: consent.consents(store, project, use) for use in consent.USES}
        names = {use: _(name) for use, name in consent.NAMES.items()}
        rows = [
            {_("Annotator"): row[0].annotator.name}
            | {names[use]: _answer_in_words(entry) for use, entry in zip(consent.USES, row, strict=True)}
            for row in zip(*values.values(), strict=True)
        ]
        show_records(rows)
        caption(
            "A release contains individual labels only from annotators who consent; counts, agreement and gold labels"
            " include all annotators. Annotators answer on My record. Record written consent here."
        )
        _store_form(store, project, names)


def _answer_in_words(stored_consent: consent.Consent) -> str:
    if stored_consent.given is None:
        return _("not answered")
    text = _("yes, {moment}") if stored_consent.given else _("no, {moment}")
    return text.format(moment=moment(stored_consent.created))


def _store_form(store: Store, project: Project, names: dict[consent.Use, str]) -> None:
    people = [stored_annotator.name for stored_annotator in annotators(store, project, active=False)]
    use = st.selectbox(_("Use"), consent.USES, key="consent-use", format_func=names.__getitem__, width=360)
    agreed = consent.TEXTS[use]
    st.caption(plain(_(agreed)))
    who = st.selectbox(
        _("Annotator"), people, index=None, key="consent-who", width=360,
        placeholder=_("all who have not answered"),
    )  # fmt: skip
    whose = who or _("all who have not answered")
    yes = _("You are recording consent on behalf of {who} to this use: {use}. Every answer is kept.")
    no = _("You are recording on behalf of {who} that this use is refused: {use}. Later releases exclude these labels.")
    with st.container(horizontal=True):
        if confirmed(_("Record consent"), yes.format(who=whose, use=names[use]), _("Record this consent"),
                     key="consent-yes", icon=":material/check:"):  # fmt: skip
            _store_answer(project, use, who, given=True)
        if who is not None and confirmed(
            _("Record refusal"), no.format(who=whose, use=names[use]), _("Record this refusal"),
            key="consent-no", icon=":material/block:",
        ):  # fmt: skip
            _store_answer(project, use, who, given=False)


@asks("change_projects")
def _store_answer(project: Project, use: consent.Use, who: str | None, *, given: bool) -> None:
    with errors_shown():
        with open_store(project, "change_projects") as store:
            if who is None:
                consent.answer_for_everybody(store, project, use, language=language())
            else:
                person = annotator(store, project, who)
                consent.answer_consent(
                    store, project, person, use, given=given, language=language(), recorded_by="lead"
                )
        st.rerun()


@asks("change_projects")
def show_groups(store: Store, project: Project) -> None:
    """Show the groupings of annotators with their members, and a form to add a grouping."""
    with st.expander(_("Groups of annotators"), icon=":material/groups:", key="groups-of-all"):
        caption(
            "For example by dialect or first language, to compare how groups label (Agreement page, Groups). A group"
            " that annotators choose themselves on My record takes precedence, and you cannot change it."
        )
        for grouping in groupings(store, project):
            _show_grouping(store, project, grouping)
        st.text_input(_("New grouping, such as dialect"), key="grouping-name", max_chars=80, width=360)
        st.text_area(_("Groups, one per line"), key="grouping-options", height=100, width=360)
        st.button(_("Add grouping"), key="grouping-add", icon=":material/add:", on_click=_add, args=(project,))


def _show_grouping(store: Store, project: Project, of: Grouping) -> None:
    st.markdown(f"**{spoken(of.name)}**")
    inside = groups_of(store, of)
    counted = [f"{spoken(option)} {list(inside.values()).count(option)}" for option in of.options]
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
        st.button(_("Assign to this group"), key=f"grouping-put-{of.id}", on_click=_put, args=(project, of))


@asks_at_click("change_projects")
def _put(project: Project, of: Grouping) -> None:
    who, into = (st.session_state[f"grouping-{part}-{of.id}"] for part in ("who", "into"))
    with open_store(project, "change_projects") as store:
        set_group(store, project, of, who, into, "lead")


@asks_at_click("change_projects")
def _add(project: Project) -> None:
    lines = st.session_state["grouping-options"].splitlines()
    with open_store(project, "change_projects") as store:
        add_grouping(store, project, st.session_state["grouping-name"], [line for line in lines if line.strip()])
    st.session_state["grouping-name"] = st.session_state["grouping-options"] = ""
