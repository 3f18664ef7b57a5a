"""What the section Results looks at: a finished run, or a file of verdicts of one's own."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from evenhand.core.files.bounded import run_bounded
from evenhand.core.runs.records import Run
from evenhand.pages.misgendering.start import MISGENDERING, show_first_run
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.runs import choose_run
from evenhand.pages.ui.text import _, caption
from evenhand.pages.ui.uploads import choose_upload

if TYPE_CHECKING:
    import pandas as pd

    from evenhand.core.misgendering.metrics import Metrics

EXAMPLE = (
    "instance,template,name,model,pronoun,prob,gen1,gen2,gen3,gen4,gen5\n"
    "1,t1,Alex,my-model,they,1,1,1,0,1,1\n2,t1,Sam,my-model,they,0,1,1,1,1,1\n"
    "3,t2,Alex,my-model,they,1,0,1,0,0,1\n4,t2,Sam,my-model,they,0,0,0,0,0,0\n"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A table of verdicts: where it is, when it was written (a changed file is read again), what it is called."""

    path: str
    written: float
    label: str
    models: tuple[str, ...] = ()


def choose_source() -> Source | None:
    """The choice; None where there is nothing yet, and then what to do is said."""
    with open_store() as store:
        found = MISGENDERING.finished(store)
    if not found and not st.session_state.get("verdict-files"):
        show_first_run()
    kinds = {"run": _("A run"), "file": _("A table of verdicts")}
    first = "run" if found else "file"
    kind = choose(_("Data to show"), kinds, "source", first=first, heading=False)
    if kind == "file":
        return _file()
    if not found:
        return None
    return source_of(choose_run(found))


def source_of(run: Run) -> Source:
    """A finished run as a source."""
    return Source(str(run.table), run.table.stat().st_mtime, run.name, run.models)


def _file() -> Source | None:
    path = choose_upload(
        _("Table of verdicts (file)"),
        ["csv", "tsv"],
        key="verdict-files",
        help=_("Columns instance, prob, gen1, gen2, … with 1 (right), 0 (wrong) or empty."),
    )
    if path is None:
        with st.container(horizontal=True, vertical_alignment="center"):
            caption("Columns: instance, prob, gen1 … gen5; optional: template, name, model, pronoun, setting.")
            download(_("Example"), EXAMPLE, "verdicts.csv")
        return None
    return Source(str(path), path.stat().st_mtime, path.name)


@st.cache_data(show_spinner=False, max_entries=4)
def verdicts(source: Source) -> "pd.DataFrame":
    """The rows of a source. Raises BadFile where it is no table of verdicts."""
    from evenhand.core.misgendering.verdict_table import read_verdicts

    if source.models:  # a run of this server
        return read_verdicts(source.path, generations=False)
    return run_bounded(read_verdicts, source.path, generations=False, file=source.label)


@st.cache_data(show_spinner=False, max_entries=4)
def cells(source: Source) -> "list[tuple[dict[str, str], Metrics]]":
    """The measures of each cell (data set, setting, model, pronoun), or of everything where there are no cells."""
    from evenhand.core.misgendering.metrics import by_cell, metrics

    frame = verdicts(source)
    return list(by_cell(frame)) or [({}, metrics(frame))]


@st.cache_data(show_spinner=False, max_entries=4)
def metrics_of_all(source: Source) -> "Metrics":
    """The measures of all rows together."""
    from evenhand.core.misgendering.metrics import metrics

    return metrics(verdicts(source))
