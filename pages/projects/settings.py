"""The settings of a project, and its archive."""

from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import archive, change_project
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project
from evenhand.core.resources import table
from evenhand.pages.projects.new import agreed_name, ask_care, ask_desk, ask_labels, form_name, gold_name
from evenhand.pages.projects.projects import open_project
from evenhand.pages.ui.choose import switch
from evenhand.pages.ui.head import errors_shown
from evenhand.pages.ui.parts import asks, say_changes
from evenhand.pages.ui.text import _, caption
from evenhand.pages.ui.visitor import author

# Settings whose change the method section states, where labels were made under both values.
IN_PAPERS = {"per_item", "doubled", "gold", "presentation", "opinion_model"}
BUILT_IN_MODELS = ("demo-zh", "random-zh", "known")


@asks("change_projects")
def show_settings(store: Store, project: Project) -> None:
    """The name, labels for each item, rule, and settings of this kind only; and the archive."""
    asked = {"name": st.text_input(_("Name"), project.name, key="new_name", max_chars=80)}
    asked |= _for_generations(project) if project.kind == "generations" else _for_sentences(project)
    changed = {field: value for field, value in asked.items() if value != getattr(project, field)}
    if changed:
        say_changes(
            [
                (_field(field), _value(project, field, getattr(project, field)), _value(project, field, value))
                for field, value in changed.items()
            ],
            published=bool(IN_PAPERS & set(changed)),
        )
    if st.button(_("Save"), type="primary", key="save_settings", disabled=not changed):
        with errors_shown():
            open_project(change_project(store, project, author=author(store), **changed).name)
            st.rerun()
    st.divider()
    _show_archive(store, project)


def _field(name: str) -> str:
    return {
        "name": _("Name"),
        "per_item": _("labels for each item"),
        "doubled": _("sample with several labels"),
        "gold": _("rule"),
        "presentation": _("keyword at the desk"),
        "opinion_model": _("opinion shown after a label"),
        "checked": _("check of labels before they are saved"),
        "blur": _("blur until opened"),
        "pause_minutes": _("reminder of a break (minutes)"),
        "open_text": _("unencrypted export of texts"),
    }.get(name, name)


def _value(project: Project, field: str, value: Any) -> str:
    if field == "open_text":
        return _("yes") if (text_may_leave(project) if value is None else value) else _("no")
    if value is None:
        return {"doubled": _("all texts"), "opinion_model": _("no opinion"), "pause_minutes": _("never")}[field]
    if field == "gold":
        return agreed_name(value) if project.kind == "generations" else gold_name(value)
    if field == "presentation":
        return form_name(value)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value)


def _for_sentences(project: Project) -> dict[str, Any]:
    per_item = st.number_input(_("Labels for each sentence"), 1, 100, project.per_item, key="new_per_item")
    rules, forms = ("unanimous", "majority"), ("masked", "original")
    gold = st.radio(
        _("A sentence is accepted when"), rules, rules.index(project.gold), key="new_gold", format_func=gold_name
    )
    form = st.radio(
        _("On the desk, the keyword is"), forms, forms.index(project.presentation),
        key="new_presentation", format_func=form_name,
    )  # fmt: skip
    options = _models(project)
    opinion = st.selectbox(
        _("Opinion shown after a label"),
        options,
        options.index(project.opinion_model or ""),
        key="opinion_model",
        format_func=lambda model: model or _("no opinion"),
        help=_("Off by default. Labels made after an opinion was shown are marked and do not count for agreement."),
    )
    return {
        "per_item": int(per_item), "gold": gold, "presentation": form,
        "opinion_model": opinion or None, **ask_care(project.blur, project.pause_minutes, place="new_"),
    }  # fmt: skip


def _for_generations(project: Project) -> dict[str, Any]:
    asked: dict[str, Any] = ask_labels(project.per_item, project.doubled, place="new_")
    rules = ("unanimous", "majority")
    asked["gold"] = st.radio(
        _("Rule for gold labels"), rules, rules.index(project.gold), key="new_gold", format_func=agreed_name
    )
    asked |= ask_desk(project.checked, project.blur, project.pause_minutes, place="new_")
    asked["open_text"] = switch(
        _("Allow unencrypted export of texts"),
        text_may_leave(project),
        key="new_open_text",
        box=True,
        explained=_("Otherwise files with texts are encrypted, and exported lists identify texts by id only."),
    )
    if not asked["open_text"] and project.open_text is None:
        asked["open_text"] = None  # as is usual for the kind, now and later
    return asked


def _models(project: Project) -> list[str]:
    hub = [row["name"] for row in table("models") if row["task"] == "masked" and row["language"] == project.language]
    offered = ["", *BUILT_IN_MODELS, *hub]
    return offered if (project.opinion_model or "") in offered else [*offered, project.opinion_model or ""]


@asks("change_projects")
def _show_archive(store: Store, project: Project) -> None:
    if project.archived:
        caption("This project is archived: no items are handed out.")
        label, icon = _("Unarchive"), ":material/unarchive:"
    else:
        caption(
            "An archived project no longer appears in lists. Nothing is deleted, and the project can be"
            " unarchived at any time."
        )
        label, icon = _("Archive"), ":material/archive:"
    if st.button(label, key="archive", icon=icon):
        archive(store, project, archived=not project.archived)
        st.rerun()
