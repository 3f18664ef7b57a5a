"""Questions before an act that cannot be undone, and the changes of settings that a button will store."""

from collections.abc import Sequence

import streamlit as st

from pages.ui.language import _
from pages.ui.text import named, plain

Change = tuple[str, str, str]  # the name of a setting, its stored value, its new value


def confirmed(
    label: str, text: str, act: str, *, key: str, icon: str | None = None, primary: bool = False, disabled: bool = False
) -> bool:
    """Return whether the visitor pressed *act* below *text*, which a button *label* opens.

    *text* says what will happen. No key of a form field gets here: both buttons want a click of their own.
    """
    turn = st.session_state.setdefault(f"turn-{key}", 0)
    # A new key after each act, because a popover that stays on the page stays open.
    with st.popover(
        label, icon=icon, type="primary" if primary else "secondary", disabled=disabled, key=f"ask-{key}-{turn}"
    ):
        st.markdown(plain(text))
        pressed = st.button(plain(act), key=key, type="primary", icon=icon, disabled=disabled)
    if pressed:
        st.session_state[f"turn-{key}"] = turn + 1
    return pressed


def say_changes(changes: Sequence[Change], *, published: bool = False) -> None:
    """Write which settings a button will store, with old and new values; *published*: papers state the change."""
    lines = "  \n".join(plain(named(name, f"{old} → {new}")) for name, old, new in changes)
    if published:
        text = _(
            "The project log keeps the change with its time. If labels exist, the method section of a release states"
            " it."
        )
    else:
        text = _("The project log keeps the change with its time.")
    st.info(f"{lines}  \n{text}", icon=":material/published_with_changes:")
