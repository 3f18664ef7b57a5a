"""Finished runs of misgendering: what was asked, how long it took, their files, and a way to delete them."""

from typing import Any

import streamlit as st

from annotations.database.store import Store
from core.language import translate
from core.runs.records import Failure, Run, delete_run, runs_folder, runs_in
from pages.ui.head import open_store
from pages.ui.language import _, language
from pages.ui.numbers import DASH, duration
from pages.ui.text import plain

LISTED = 20


def show_finished(store: Store) -> None:
    """The finished runs, the newest first."""
    found = runs_in(runs_folder(store.path, "misgendering"))
    st.subheader(_("Finished runs"), anchor=False)
    if not found:
        st.caption(_("There is none yet. A finished run stays here, with its table to download."))
    for run in found[:LISTED]:
        _show_run(run)


def _show_run(run: Run) -> None:
    with st.container(border=True, key=f"run-{run.name}"):
        st.markdown(f"**{plain(run.name)}**")
        st.caption(plain(_described(run)))
        for line in _models(run):
            st.caption(plain(line))
        for failure in run.failures:
            st.caption(":material/error: " + plain(_sentence(failure)))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                _("Look at the results"),
                key=f"look-{run.name}",
                type="tertiary",
                icon=":material/bar_chart:",
                on_click=_look,
                args=(run.name,),
            )
            st.download_button(
                _("Table (CSV)"),
                run.table.read_bytes,
                run.table.name,
                "text/csv",
                key=f"table-{run.name}",
                icon=":material/download:",
                type="tertiary",
                on_click="ignore",
            )
            with st.popover(_("Delete"), icon=":material/delete:", type="tertiary", key=f"deleting-{run.name}"):
                st.caption(_("Verdicts and texts of this run go; what the models answered stays remembered."))
                st.button(_("Delete this run"), key=f"delete-{run.name}", on_click=_delete, args=(run.name,))


def _look(name: str) -> None:
    st.session_state["section"], st.session_state["source"], st.session_state["run"] = "results", "run", name


def _delete(name: str) -> None:
    with open_store() as store:
        for run in runs_in(runs_folder(store.path, "misgendering")):
            if run.name == name:
                delete_run(run)


def _described(run: Run) -> str:
    source = {"built-in": _("Built-in set")}.get(str(run.source.get("name")), str(run.source.get("name") or DASH))
    when = run.created[:16].replace("T", " ") + " UTC"
    text = _("{source}: {n} instances, finished {time}").format(
        source=source, n=f"{int(run.record.get('instances') or 0):,}", time=when
    )
    return text if run.seconds is None else f"{text} · " + _("took {time}").format(time=duration(run.seconds))


def _models(run: Run) -> list[str]:
    """A line a model: texts, and what sharing beginnings saved."""
    lines = []
    for one in run.record.get("models", []):
        if not isinstance(one, dict):
            continue
        text = _("{model}: {judged} instances judged, {undefined} could not be")
        counts = {"judged": _count(one.get("judged")), "undefined": _count(one.get("undefined"))}
        line = text.format(model=one.get("model", DASH), **counts)
        tokens = one.get("tokens")
        factor = tokens.get("factor") if isinstance(tokens, dict) else None
        if factor:
            saved = _("beginnings that the forms share were read once: {factor} times fewer tokens")
            line += " · " + saved.format(factor=f"{factor:.1f}")
        lines.append(line)
    return lines


def _count(value: Any) -> str:
    return f"{int(value or 0):,}"


def _sentence(failure: Failure) -> str:
    message = translate(failure.message, language())
    return message.format(**failure.values) if failure.values else message
