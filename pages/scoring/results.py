"""Runs of scoring on the page Score: those that go on, those that ended badly, those that are done."""

import html

import streamlit as st

from annotations.database.store import Store
from core.language import translate
from core.runs.records import Run, delete_run, runs_folder, runs_in
from pages.ui.head import open_store
from pages.ui.language import _, language
from pages.ui.numbers import DASH, duration
from pages.ui.sentences import reason_name
from pages.ui.text import plain

LISTED = 20


def show_finished(store: Store) -> None:
    """The finished runs, the newest first."""
    found = runs_in(runs_folder(store.path, "scores"))
    st.subheader(_("Finished runs"), anchor=False)
    if not found:
        st.caption(_("There is none yet. A finished run stays here, with its table to download."))
    for run in found[:LISTED]:
        _show_run(run)
    if len(found) > LISTED:
        st.caption(plain(_("The newest {shown} of {all} runs.").format(shown=LISTED, all=f"{len(found):,}")))


def _show_run(run: Run) -> None:
    with st.container(border=True, key=f"run-{run.name}"):
        st.markdown(f"**{plain(run.name)}**")
        st.caption(plain(_described(run)))
        st.html(_table(run))
        for notice in run.record.get("notices", []):
            st.caption(":material/info: " + plain(_told(notice, "message")))
        for failure in run.record.get("failed", []):
            st.caption(":material/error: " + plain(_told(failure, "error")))
        if lines := [*_undefined(run), *_exactness(run)]:
            st.caption("  \n".join(map(plain, lines)))
        with st.container(horizontal=True, vertical_alignment="center"):
            _show_way_on(run)
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
                st.caption(_("The table goes; what the models answered stays remembered, so a new run is quick."))
                st.button(_("Delete this run"), key=f"delete-{run.name}", on_click=_delete, args=(run.name,))


def _show_way_on(run: Run) -> None:
    label = _("Look at the models")
    st.page_link("model_bias/page.py", label=label, icon=":material/bar_chart:", query_params={"run": run.name})


def _delete(name: str) -> None:
    with open_store() as store:
        for run in runs_in(runs_folder(store.path, "scores")):
            if run.name == name:
                delete_run(run)


def _described(run: Run) -> str:
    when = run.created[:16].replace("T", " ") + " UTC"
    text = _("{source}: {rows} sentences, finished {time}").format(
        source=run.source.get("name", DASH), rows=f"{run.sentences:,}", time=when
    )
    return text if run.seconds is None else f"{text} · " + _("took {time}").format(time=duration(run.seconds))


def _table(run: Run) -> str:
    """One line a model: how many numbers, how many without, how fast."""
    heads = (_("Model"), _("with a number"), _("without"), _("asked now"))
    cells = [f'<span class="h{"" if i == 0 else " n"}">{html.escape(head)}</span>' for i, head in enumerate(heads)]
    for one in run.record.get("models", []):
        rows, scored, asked = (int(one.get(key) or 0) for key in ("rows", "scored", "asked"))
        name = html.escape(str(one.get("model", "")))
        signature = html.escape(str(one.get("signature", "")), quote=True)
        cells.append(f'<b title="{signature}">{name}</b>')
        cells += [f'<span class="n">{number:,}</span>' for number in (scored, rows - scored, asked)]
    return f'<div class="score-facts">{"".join(cells)}</div>'


def _undefined(run: Run) -> list[str]:
    """Why rows have no number; the same for every model where the sentence itself cannot be asked."""
    found: dict[str, list[str]] = {}
    for one in run.record.get("models", []):
        for group in one.get("undefined", []):
            reason = reason_name(str(group.get("reason", "")))
            text = _("{rows} without a number: {reason} (such as row {row})")
            line = text.format(rows=f"{int(group['rows']):,}", reason=_(reason), row=group.get("example_row", DASH))
            found.setdefault(line, []).append(str(one.get("model", "")))
    every = len(run.models)
    return [line if len(names) == every else f"{line} · {', '.join(names)}" for line, names in found.items()]


def _exactness(run: Run) -> list[str]:
    """What bf16 changed, for each model that was asked in it."""
    text = _(
        "{model} in bf16: Bias_c differs from fp32 by at most {largest} (log10) in {compared} sentences compared; "
        "{rescored} near a decision have their fp32 value."
    )
    lines = []
    for one in run.record.get("models", []):
        found = one.get("bf16")
        if isinstance(found, dict):
            largest = found.get("largest_difference")
            shown = DASH if largest is None else f"{largest:.4f}"
            compared, rescored = f"{found.get('compared', 0):,}", f"{found.get('rescored', 0):,}"
            lines.append(text.format(model=one.get("model"), largest=shown, compared=compared, rescored=rescored))
    return lines


def _told(said: dict[str, object], key: str) -> str:
    message, values = translate(str(said.get(key, "")), language()), said.get("values")
    return message.format(**values) if isinstance(values, dict) and values else message
