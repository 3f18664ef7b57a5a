"""Parts of pages that change something or hand something out: each asks at every call whether the visitor may.

The page asked when it was drawn. Since then a role may have been taken away, and a click brings its arguments along: so
a part asks again, in the project that it was given.

Before an act that cannot be undone a part asks the visitor too (`confirmed`); a change of settings is written out above
the button that stores it (`say_changes`).
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from evenhand.annotations.database.pool import stores
from evenhand.annotations.permissions import Action
from evenhand.annotations.types import Project
from evenhand.pages.ui.head import errors_shown
from evenhand.pages.ui.text import _, named, plain
from evenhand.pages.ui.visitor import require_here

Inputs = ParamSpec("Inputs")
Result = TypeVar("Result")
Change = tuple[str, str, str]  # the name of a setting, its stored value, its new value


@dataclass(slots=True)
class Part:
    """A part: where it is written, what it needs, and whether in the project that it is given or in any of the own.

    `body`: what runs for whoever may.
    """

    name: str
    action: Action
    in_project: bool
    body: Callable[..., Any]


PARTS: dict[str, Part] = {}  # "projects/settings.py: show_settings" -> the part, as the modules are imported


def asks(action: Action) -> Callable[[Callable[Inputs, Result]], Callable[Inputs, Result]]:
    """A part that needs *action*: in its argument `project`, or, where it has none or is given None, in any project.

    Raises NotAllowed.
    """

    def decorate(body: Callable[Inputs, Result]) -> Callable[Inputs, Result]:
        signature = inspect.signature(body)
        part = Part(_name(body), action, "project" in signature.parameters, body)
        PARTS[part.name] = part

        @wraps(body)
        def guarded(*args: Inputs.args, **kwargs: Inputs.kwargs) -> Result:
            project = signature.bind(*args, **kwargs).arguments.get("project")
            with stores.borrow() as store:
                require_here(store, action, project if isinstance(project, Project) else None)
            result: Result = part.body(*args, **kwargs)
            return result

        return guarded

    return decorate


def asks_at_click(action: Action) -> Callable[[Callable[Inputs, None]], Callable[Inputs, None]]:
    """The same for a callback: no frame is around it, so it shows a known error itself."""

    def decorate(body: Callable[Inputs, None]) -> Callable[Inputs, None]:
        part = asks(action)(body)

        @wraps(body)
        def clicked(*args: Inputs.args, **kwargs: Inputs.kwargs) -> None:
            with errors_shown():
                part(*args, **kwargs)

        return clicked

    return decorate


def _name(body: Callable[..., Any]) -> str:
    module = body.__module__.removeprefix("evenhand.pages.").replace(".", "/")
    return f"{module}.py: {body.__name__}"


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
