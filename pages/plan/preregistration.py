"""Pre-registration: a sheet is written into the log before labels; those that stand there."""

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.preregistration import Sheet, form, preregister, sheets
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import moment
from evenhand.pages.ui.parts import asks, confirmed
from evenhand.pages.ui.text import plain


@asks("change_projects")
def show_preregistration(store: Store, project: Project) -> None:
    """The sheets in the log, and a form for one more."""
    st.subheader(_("Pre-registration"), anchor=False)
    for one in sheets(store, project):
        _show(one)
    with st.expander(_("Add a pre-registration to the log"), icon=":material/edit_note:"):
        st.write(
            _(
                "What you expect, which measures decide, how large a difference matters, and when"
                " labelling ends. The text is stored with its time and hash and never changes; a release"
                " shows it beside what was done."
            )
        )
        text = st.text_area(_("Pre-registration (Markdown)"), form(language()), height=360, key="sheet-text")
        late = switch(
            _("Add it although labels exist"), key="sheet-late",
            box=True, explained=_("The number of labels is noted, and a release states it."),
        )  # fmt: skip
        said = _("The text is stored with its time and hash. It can never be changed or removed, and releases show it.")
        if confirmed(_("Add to log"), said, _("Add it permanently"), key="sheet-write", icon=":material/lock:"):
            try:
                preregister(store, project, text, late=late)
            except EvenhandError as error:
                show_error(error)
            else:
                st.rerun()


def _show(one: Sheet) -> None:
    when = moment(one.written)
    if one.labels:
        title = _("Pre-registration of {time}, after {n} labels").format(time=when, n=f"{one.labels:,}")
    else:
        title = _("Pre-registration of {time}, before any label").format(time=when)
    with st.expander(plain(title), icon=":material/lock:"):
        st.text(one.text)
        st.caption(plain(f"SHA-256 {one.sha256}"))
