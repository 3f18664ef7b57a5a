"""Runs of generating on the page Generate: those that go on, those that ended badly, those that are done."""

import html
from typing import Any

import streamlit as st

from annotations.database.store import Store
from annotations.text_policy import packed
from core.errors import EvenhandError
from core.language import translate
from core.runs.records import Run, delete_run, first_rows, runs_folder, runs_in
from pages.generation.contexts import described
from pages.generation.into_project import show_way_into_project
from pages.ui.head import open_store, show_error
from pages.ui.language import _, language
from pages.ui.numbers import duration
from pages.ui.text import plain

LISTED = 20
EXAMPLES = 6


def show_finished(store: Store) -> None:
    """The finished runs, the newest first."""
    found = runs_in(runs_folder(store.path, "generations"))
    st.subheader(_("Finished runs"), anchor=False)
    if not found:
        st.caption(_("There is none yet. What a finished run wrote stays here, and goes from here into a project."))
    for run in found[:LISTED]:
        _show_run(store, run)
    if len(found) > LISTED:
        st.caption(plain(_("The newest {shown} of {all} runs.").format(shown=LISTED, all=f"{len(found):,}")))


def _show_run(store: Store, run: Run) -> None:
    with st.container(border=True, key=f"run-{run.name}"):
        st.markdown(f"**{plain(run.name)}**")
        st.caption(plain(_facts(run)))
        st.caption(plain(", ".join(run.signatures)))
        for line in _left_out(run):
            st.caption(":material/info: " + plain(line))
        with st.expander(_("Some of what was written")):
            _show_examples(run)
        with st.expander(_("Into a project, for people to judge")):
            show_way_into_project(store, run)
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover(_("Download"), icon=":material/download:", type="tertiary", key=f"taking-{run.name}"):
                _show_download(run)
            with st.popover(_("Delete"), icon=":material/delete:", type="tertiary", key=f"deleting-{run.name}"):
                st.caption(_("What is in a project stays there."))
                st.button(_("Delete this run"), key=f"delete-{run.name}", on_click=_delete, args=(run.name,))


def _facts(run: Run) -> str:
    when = run.created[:16].replace("T", " ") + " UTC"
    parts = [
        _("{texts} texts after {contexts} contexts, finished {time}").format(
            texts=f"{run.count('generations'):,}", contexts=f"{run.count('contexts'):,}", time=when
        )
    ]
    if isinstance(seconds := run.record.get("seconds"), int | float):
        parts.append(_("took {time}").format(time=duration(seconds)))
    if isinstance(rate := run.record.get("rate"), int | float):
        parts.append(_("{rate} tokens a second").format(rate=f"{rate:,.0f}"))
    return " · ".join(parts)


def _left_out(run: Run) -> list[str]:
    """Contexts that nothing could be written after, and why."""
    number, refused = run.record.get("refused_contexts"), run.record.get("refused")
    if not number or not isinstance(refused, list):
        return []
    first: dict[str, Any] = refused[0]
    why = translate(str(first.get("error", "")), language()).format(**first.get("values", {}))
    return [_("{number} contexts were left out, the first because: {why}").format(number=f"{number:,}", why=why)]


def _show_examples(run: Run) -> None:
    lines = []
    for row in first_rows(run.table, EXAMPLES):
        who = html.escape(described(row))
        lines.append(
            f'<li><span class="who">{who}</span><span class="before">{html.escape(str(row["context"]))}</span>'
            f'<span class="mark"></span><span class="after">{html.escape(str(row["completion"]))}</span></li>'
        )
    st.html(f'<ol class="contexts">{"".join(lines)}</ol>')


def _show_download(run: Run) -> None:
    st.caption(_("What models write about people may hurt, so it leaves in an archive with a password (AES)."))
    password = st.text_input(_("Password"), type="password", key=f"password-{run.name}")
    if not password:
        return
    try:
        archive = packed({run.table.name: run.table.read_bytes()}, password)
    except EvenhandError as error:
        show_error(error)
        return
    st.download_button(
        _("Generations (ZIP)"), archive, f"{run.name}.zip", "application/zip", key=f"zip-{run.name}", on_click="ignore"
    )


def _delete(name: str) -> None:
    with open_store() as store:
        for run in runs_in(runs_folder(store.path, "generations")):
            if run.name == name:
                delete_run(run)
