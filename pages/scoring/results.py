"""Runs of scoring on the page Score: those that go on, those that ended badly, those that are done."""

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.core.language import Count
from evenhand.core.runs.records import Run
from evenhand.pages.scoring.start import SCORES
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.runs import (
    download_table,
    finished_at,
    offer_deletion,
    show_facts,
    show_finished_runs,
    show_notices,
)
from evenhand.pages.ui.sentences import reason_name
from evenhand.pages.ui.tables import number_columns, show_html, span, table
from evenhand.pages.ui.text import _, plain, series
from evenhand.pages.ui.visitor import page_link


def show_finished(store: Store) -> None:
    """The finished runs, the newest first."""
    nothing = _("No finished runs yet. Each finished run stays here with its table to download.")
    show_finished_runs(SCORES.finished(store), _show_run, nothing)


def _show_run(run: Run) -> None:
    text = _("{source}: {rows} {rows:sentence|sentences}, finished {time}")
    source, rows = run.source.get("name", DASH), Count(run.sentences)
    show_facts(run, text.format(source=source, rows=rows, time=finished_at(run)))
    show_html(_table(run))
    show_notices(run)
    if lines := [*_undefined(run), *_exactness(run)]:
        st.caption("  \n".join(map(plain, lines)))
    with st.container(horizontal=True, vertical_alignment="center"):
        label = _("Compare the models")
        page_link("model_bias/page.py", label=label, icon=":material/bar_chart:", query_params={"run": run.name})
        download_table(SCORES, run)
        offer_deletion(SCORES, run, _("Deletes the table only. Scores stay in the cache, so a new run is quick."))


def _table(run: Run) -> Markup:
    """One line a model: how many numbers, how many without, how fast."""
    columns = number_columns((_("Model"), _("Scored"), _("No score"), _("Newly computed")), (1, 2, 3))
    rows = []
    for one in run.answered:
        count, scored, asked = (int(one.get(key) or 0) for key in ("rows", "scored", "asked"))
        name = span(str(one.get("model", "")), "strong", str(one.get("signature", "")))
        rows.append((name, *(f"{number:,}" for number in (scored, count - scored, asked))))
    return table(columns, rows, kind="narrow")


def _undefined(run: Run) -> list[str]:
    """Why rows have no number; the same for every model where the sentence itself cannot be asked."""
    found: dict[str, list[str]] = {}
    for one in run.answered:
        for group in one.get("undefined", []):
            reason = reason_name(str(group.get("reason", "")))
            text = _("{rows} {rows:row|rows} without a score: {reason} (e.g. row {row})")
            line = text.format(rows=Count(group["rows"]), reason=_(reason), row=group.get("example_row", DASH))
            found.setdefault(line, []).append(str(one.get("model", "")))
    every = len(run.models)
    return [line if len(names) == every else f"{line} · {series(names)}" for line, names in found.items()]


def _exactness(run: Run) -> list[str]:
    """What bf16 changed, for each model that was asked in it."""
    text = _(
        "{model} in bf16: over the {compared} {compared:sentence|sentences} compared, Bias_c differs from fp32"
        " by at most {largest} (log10). {rescored} {rescored:sentence near a threshold uses its|sentences near a"
        " threshold use their} fp32 value."
    )
    lines = []
    for one in run.answered:
        found = one.get("bf16")
        if isinstance(found, dict):
            largest = found.get("largest_difference")
            shown = DASH if largest is None else f"{largest:.4f}"
            compared, rescored = Count(found.get("compared", 0)), Count(found.get("rescored", 0))
            lines.append(text.format(model=one.get("model"), largest=shown, compared=compared, rescored=rescored))
    return lines
