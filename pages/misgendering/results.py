"""Results: a run or a file of verdicts; both ways side by side for each model and pronoun set, one figure at a time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from evenhand.core.files.bounded import run_bounded
from evenhand.core.misgendering.metrics import Metrics
from evenhand.core.report.numbers import interval, percent
from evenhand.core.runs.records import Run
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.intervals import FEW
from evenhand.core.text.repetition import signature as repetition_signature
from evenhand.pages.misgendering.cells import Cell, table_of
from evenhand.pages.misgendering.start import MISGENDERING, show_first_run
from evenhand.pages.ui.charts import download
from evenhand.pages.ui.choose import choose, show_view
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH, methods_text, note_text
from evenhand.pages.ui.runs import choose_run
from evenhand.pages.ui.text import _, caption, paragraph, plain, show_signature
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown, open_store

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


def show_results() -> None:
    """The source, what holds for all of it, and the figure that is chosen."""
    source = choose_source()
    if source is None:
        return
    with errors_shown():
        frame = verdicts(source)
        with st.spinner(_("Computing the intervals …"), show_time=True):
            everything, found = metrics_of_all(source), table_of(cells(source), source.label)
        _tiles(everything)
        _banner(found, source)
        titles = {name: title for name, (title, _place) in _figures().items()}
        figure = choose(_("Figure"), titles, "figure", address="figure", heading=False)
        show_view(f"misgendering.{_figures()[figure][1]}", source if figure in ("texts", "people") else found)
        texts = dict.fromkeys(frame["signature"]) if "signature" in frame else {}
        own = [repetition_signature("published")] if figure == "texts" else []
        show_signature("\n".join((everything.signature, *own, *texts)))


def _figures() -> dict[str, tuple[str, str]]:
    """Return the title of each figure and the function of this folder that draws it."""
    return {
        "ways": (_("Both methods"), "cells:show_ways"),
        "agreement": (_("Agreement"), "cells:show_agreement"),
        "variation": (_("Variation"), "cells:show_variation"),
        "beta": (_("Disagreement"), "cells:show_beta"),
        "texts": (_("Texts"), "people:show_texts"),
        "people": (_("Human labels"), "people:show_people"),
    }


def _tiles(found: Metrics) -> None:
    """Show the numbers of all rows together, each with its interval."""
    tiles = [
        (_("Right, probability-based"), found.prob, True),
        (_("Right, texts with a pronoun"), found.texts.right, True),
        (_("Texts without a pronoun"), found.texts.without, True),
        (_("Texts with a wrong pronoun"), found.texts.wrong, True),
        (_("Right, generation-based, as published"), found.gen, True),
        (_("Disagreement of the methods"), found.by_units["disagreement"], True),
        (_("Mean variation σ"), found.sigma.mean, False),
    ]
    with st.container(horizontal=True, key="misgender-tiles"):
        for name, estimate, share in tiles:
            _tile(name, estimate, share)
    text = _("{rows} instances; {n} have verdicts by both methods, {dropped} do not. In brackets: 95% intervals.")
    meaning = _(
        "Generation-based: the first pronoun of a text decides. Right is right / (right + wrong) among texts with a"
        " pronoun; as published, a text without a pronoun counts as right."
    )
    counts = text.format(rows=f"{found.rows:,}", n=f"{found.n:,}", dropped=f"{found.dropped:,}")
    st.caption(plain(paragraph((counts, meaning))))
    st.caption(plain(methods_text(estimate for _name, estimate, _share in tiles)))


def _tile(name: str, estimate: Estimate, share: bool) -> None:
    if estimate.value is None:
        st.metric(name, DASH, width="content", help=plain(note_text(estimate.reason)))
        return
    value = percent(estimate.value) if share else f"{estimate.value:.3f}"
    ends = interval(estimate.low, estimate.high, 2)
    if share and estimate.low is not None and estimate.high is not None:
        ends = f"[{100 * estimate.low:.0f}%, {100 * estimate.high:.0f}%]"
    with st.container(width="content", gap=None):
        st.metric(name, value, width="content")
        st.caption(plain(ends or note_text(estimate.note)), help=plain(note_text(estimate.note)) or None)


def _banner(found: list[Cell], source: Source) -> None:
    units = min((one.metrics.clusters.units for one in found), default=0)
    if 0 < units < FEW:
        kinds = {"template": _("templates"), "name": _("names"), "instance": _("instances")}
        least = min(found, key=lambda one: one.metrics.clusters.units).metrics.clusters
        scarce = kinds[least.kinds[least.counts.index(least.units)]]
        text = _(
            "Few units: some cells are based on only {units} {kind}. Their t intervals are wide, and"
            " differences between cells say little."
        )
        st.warning(plain(text.format(units=units, kind=scarce)), icon=":material/warning:")
    trial_banner(source.models)
