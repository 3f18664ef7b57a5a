"""Runs of generating on the page Generate: those that go on, those that ended badly, those that are done."""

from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.text_policy import packed
from evenhand.core.runs.records import Run, first_rows
from evenhand.pages.generation.contexts import CARET, described
from evenhand.pages.generation.into_project import show_way_into_project
from evenhand.pages.generation.start import GENERATIONS
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.head import errors_shown
from evenhand.pages.ui.runs import finished_at, offer_deletion, show_facts, show_finished_runs
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, plain, sentence, show_signature

EXAMPLES = 6


def show_finished(store: Store) -> None:
    """The finished runs, the newest first."""
    nothing = _("No finished runs yet. The texts of a finished run stay here and can be added to a project.")
    show_finished_runs(GENERATIONS.finished(store), lambda run: _show_run(store, run), nothing)


def _show_run(store: Store, run: Run) -> None:
    text = _("{texts} texts from {contexts} contexts, finished {time}")
    texts, contexts = f"{run.count('generations'):,}", f"{run.count('contexts'):,}"
    rate = [_("{rate} tokens per second", rate=f"{run.count('rate'):,}")] if run.count("rate") else []
    show_facts(run, text.format(texts=texts, contexts=contexts, time=finished_at(run)), *rate)
    for line in _left_out(run):
        st.caption(":material/info: " + plain(line))
    with st.expander(_("Sample of the texts"), key=f"sample-{run.name}"):
        _show_examples(run)
    with st.expander(_("Add to a project for people to judge"), key=f"way-{run.name}"):
        show_way_into_project(store, run)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover(_("Download"), icon=":material/download:", type="tertiary", key=f"taking-{run.name}"):
            _show_download(run)
        offer_deletion(GENERATIONS, run, _("Items in a project are kept."))
        show_signature("\n".join(run.signatures))


def _left_out(run: Run) -> list[str]:
    """Contexts that nothing could be written after, and why."""
    number, refused = run.record.get("refused_contexts"), run.record.get("refused")
    if not number or not isinstance(refused, list):
        return []
    first: dict[str, Any] = refused[0]
    why = sentence(str(first.get("error", "")), first.get("values"))
    return [_("{number} contexts were skipped; the first because: {why}", number=f"{number:,}", why=why)]


def _show_examples(run: Run) -> None:
    lines = []
    for row in first_rows(run.table, EXAMPLES):
        text = [span(str(row["context"]), "soft"), CARET, span(str(row["completion"]), "verbatim")]
        lines.append(element("li", span(joined([below(described(row)), *text]))))
    show_html(element("ol", joined(lines), "sentences"))


def _show_download(run: Run) -> None:
    caption("Model texts about people can be hurtful, so they are exported only as a password-protected archive (AES).")
    password = st.text_input(_("Password"), type="password", key=f"password-{run.name}")
    if not password:
        return
    with errors_shown():
        archive = packed({run.table.name: run.table.read_bytes()}, password)
        download(_("Generations (ZIP)"), archive, f"{run.name}.zip", key=f"zip-{run.name}", type="secondary")
