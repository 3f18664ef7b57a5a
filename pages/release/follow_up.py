"""Is a kept sentence neutral? Samples for people outside the project, and what they said."""

import streamlit as st

from evenhand.annotations.audit.follow_up import METHOD, FollowUp, create_follow_up, follow_ups
from evenhand.annotations.database.store import Store
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import note_text, with_brackets
from evenhand.pages.ui.parts import asks
from evenhand.pages.ui.text import names_in, plain
from evenhand.pages.ui.visitor import own_new_project


@asks("release")
def show_follow_ups(store: Store, project: Project) -> None:
    """The samples of a project, and a form for one more."""
    st.subheader(_("Are kept sentences neutral?"), anchor=False)
    st.write(
        _(
            "Kept sentences, mixed with rejected ones, go to people outside the project. The keyword is"
            " covered and nothing shows which were kept. The share that all of them call neutral goes into"
            " the data sheet."
        )
    )
    for one in follow_ups(store, project):
        _show(one)
    with st.expander(_("Draw a follow-up sample"), icon=":material/add:"):
        _form(store, project)


def _show(one: FollowUp) -> None:
    names = {"kept": _("kept"), "rejected": _("rejected")}
    with st.container(border=True):
        st.markdown("**" + plain(one.project.name) + "**")
        for stratum, found in one.strata.items():
            text = _("{stratum}: {neutral} of {judged} judged sentences are neutral: {share} ({drawn} drawn)").format(
                stratum=names[stratum], neutral=found.neutral, judged=found.judged, drawn=found.drawn,
                share=with_brackets(found.share, ".1%") if found.judged else note_text(found.share.reason),
            )  # fmt: skip
            st.write(plain(text))
        st.caption(plain(_("{n} people outside the project. Intervals: {method}.").format(n=one.people, method=METHOD)))
        if one.left_out:
            st.caption(plain(why_left_out(one)))


def why_left_out(one: FollowUp) -> str:
    """How many labels do not count, and why, as the data sheet says it."""
    text = _(
        "Existing labels that do not count: {left_out} ({elsewhere} not made at a desk of this database,"
        " but from a file or of unknown origin; {inside} by people of the project)."
    )
    return text.format(left_out=one.left_out, elsewhere=one.elsewhere, inside=one.left_out - one.elsewhere)


@asks("create_projects")
def _form(store: Store, project: Project) -> None:
    name = st.text_input(_("Name of the new project"), f"{project.name} follow-up", key="follow-up-name")
    people = st.text_area(_("People outside the project, one per line"), key="follow-up-people", height=90)
    with st.container(horizontal=True):
        kept = st.number_input(_("Kept sentences"), 1, None, 50, key="follow-up-kept", width=150)
        rejected = st.number_input(_("Rejected sentences"), 0, None, 50, key="follow-up-rejected", width=150)
        per_item = st.number_input(_("Number of labels per sentence"), 1, 100, 3, key="follow-up-labels", width=150)
        seed = st.number_input(_("Seed"), 0, None, 0, key="follow-up-seed", width=120)
    if not st.button(_("Draw sample"), key="follow-up-draw"):
        return
    names = names_in(people)
    try:
        made = create_follow_up(
            store, project, name, names, kept=kept, rejected=rejected, per_item=per_item, seed=seed,
            language="zh" if language() == "zh" else "en",
        )  # fmt: skip
        own_new_project(store, made)
    except EvenhandError as error:
        show_error(error)
    else:
        st.rerun()
