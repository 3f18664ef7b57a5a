"""What a page says while a change of settings has not reached every item: its numbers are of before and of now."""

import streamlit as st

from annotations.database.store import Store
from annotations.items.recount_mark import unsettled
from annotations.plan.recount import finish
from annotations.types import Project
from core.errors import EvenhandError
from pages.ui.head import _, open_store, show_error


def say_unsettled(store: Store, project: Project) -> None:
    """Where items are being counted anew: say so, and offer to go on with it where nobody is at it any more."""
    if unsettled(store, project) is None:
        return
    text = _(
        "A setting has changed and the items are being counted anew. Until that is done the numbers on this page are"
        " partly those of before. Labels are stored meanwhile as ever."
    )
    st.warning(text, icon=":material/hourglass_top:")
    st.button(
        _("Finish it now"), key="finish_settling", on_click=_finish, args=(project,), icon=":material/done_all:",
        help=_("Goes on where it stands; if it is already being done, this waits for it."),
    )  # fmt: skip


def _finish(project: Project) -> None:
    with open_store() as store:
        try:
            finish(store, project)
        except EvenhandError as error:
            show_error(error)
