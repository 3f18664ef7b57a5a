"""Results: a run or a file of verdicts, both ways for each model and pronoun set; its texts, and what people say."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import streamlit as st

from evenhand.annotations.guideline.versions import has_own_scheme
from evenhand.annotations.human_vs_rule.people_by_instance import people, with_run
from evenhand.annotations.quantities.catalogue import ENTRIES
from evenhand.annotations.quantities.quantity import FORMS
from evenhand.annotations.quantities.runs import run_estimates
from evenhand.annotations.types import Project
from evenhand.core.charts.misgendering import ways
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.human_vs_rule.compare import in_order
from evenhand.core.language import Count
from evenhand.core.misgendering.agreement import by_units, mcc
from evenhand.core.misgendering.agreement import cells as both_verdicts
from evenhand.core.misgendering.metrics import (
    NO_VERDICT,
    Metrics,
    by_cell,
    mean_by_units,
    metrics,
    read_texts,
    texts_by_cell,
)
from evenhand.core.misgendering.verdict_table import read_verdicts
from evenhand.core.report.numbers import plain_number
from evenhand.core.runs.records import Run
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.intervals import BY_JACKKNIFE, FEW
from evenhand.core.statistics.units import clusters_of
from evenhand.core.text.repetition import Repeated, signature
from evenhand.core.text.repetition import signature as repetition_signature
from evenhand.pages.misgendering.cells import Cell, label_of, numbers, table_of, varying
from evenhand.pages.misgendering.start import MISGENDERING, show_first_run
from evenhand.pages.ui.charts import caption_with_files, colours, download, range_says, show_chart
from evenhand.pages.ui.choose import choose, show_view
from evenhand.pages.ui.notices import trial_banner
from evenhand.pages.ui.numbers import DASH, bracketed, methods_text, note_text, number, percent, with_interval
from evenhand.pages.ui.quantities import explained
from evenhand.pages.ui.results import show_conclusion, show_method
from evenhand.pages.ui.runs import ResultBar, choose_run, result_bar
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, clauses, inform, plain
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import errors_shown, open_store, own_projects, page_link

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


def choose_source(bar: ResultBar) -> Source | None:
    """Ask for the source in the menu of *bar*; return None and say what to do while there is nothing to choose."""
    with open_store() as store:
        runs = MISGENDERING.finished(store)
    kinds = {"run": _("A run"), "file": _("A table of verdicts")}
    with bar.change:
        kind = choose(_("Data to show"), kinds, "source", first="run" if runs else "file", heading=False)
        run = choose_run(runs) if runs and kind == "run" else None
        source = _file() if kind == "file" else None
    if run is not None:
        bar.say(run.name, run.models, _("{n} instances", n=f"{run.count('instances'):,}"))
        bar.offer_run(
            MISGENDERING, run, _("Deletes the verdicts and texts of this run; model outputs stay in the cache.")
        )
        return source_of(run)
    bar.say(source.label if source is not None else _("No run yet"))
    if source is None and not runs:
        show_first_run()
    return source


def source_of(run: Run) -> Source:
    """Return a finished run as a source."""
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
    """Return the rows of a source. Raises BadFile where it is not a table of verdicts."""
    if source.models:  # a run of this server
        return read_verdicts(source.path, generations=False)
    return run_bounded(read_verdicts, source.path, generations=False, file=source.label)


@st.cache_data(show_spinner=False, max_entries=4)
def cells(source: Source) -> "list[tuple[dict[str, str], Metrics]]":
    """Return the measures of each cell (data set, setting, model, pronoun); without cells, of everything."""
    frame = verdicts(source)
    return list(by_cell(frame)) or [({}, metrics(frame))]


@st.cache_data(show_spinner=False, max_entries=4)
def metrics_of_all(source: Source) -> "Metrics":
    """Return the measures of all rows together."""
    return metrics(verdicts(source))


def show_results() -> None:
    """Show the source, its conclusion, the figure that is chosen, and what holds for all of it."""
    source = choose_source(result_bar())
    if source is None:
        return
    with errors_shown():
        frame = verdicts(source)
        with st.spinner(_("Computing the intervals …"), show_time=True):
            everything, found = metrics_of_all(source), table_of(cells(source), source.label)
        trial_banner(source.models)
        show_conclusion(conclusion(everything))
        titles = {name: title for name, (title, _place) in _figures().items()}
        figure = choose(_("Figure"), titles, "figure", address="figure", heading=False, as_list=True)
        show_view(f"misgendering.{_figures()[figure][1]}", source if figure in ("texts", "people") else found)
        _tiles(everything)
        _warn_of_few(found)
        texts = dict.fromkeys(frame["signature"]) if "signature" in frame else {}
        own = [repetition_signature("published")] if figure == "texts" else []
        _show_how(everything, "\n".join((everything.signature, *own, *texts)))


def conclusion(found: Metrics) -> str:
    """Return in one sentence how often the verdicts of each method are right, and how often they differ."""
    numbers = run_estimates("misgendering", found)
    names = {
        "right_by_probability": _("by probability, {share} of the instances are right"),
        "right": _("in generated texts with a pronoun, {share}"),
        "disagreement": _("the methods disagree on {share}"),
    }
    parts = []
    for name, text in names.items():
        estimate = numbers[f"run.misgendering.{name}"]
        if estimate.value is not None:
            parts.append(text.format(share=with_interval(estimate, "%")))
    if not parts:
        return _("No instance has a verdict.")
    said = clauses(parts)
    return _("{text}.", text=said[:1].upper() + said[1:])


def _warn_of_few(found: "list[Cell]") -> None:
    units = min((cell.metrics.clusters.units for cell in found), default=0)
    if not 0 < units < FEW:
        return
    kinds = {"template": _("templates"), "name": _("names"), "instance": _("instances")}
    least = min(found, key=lambda one: one.metrics.clusters.units).metrics.clusters
    scarce = kinds[least.kinds[least.counts.index(least.units)]]
    text = _(
        "Some cells are based on only {units} {kind}, so their t intervals are wide and differences"
        " between cells are not reliable."
    )
    st.warning(plain(text.format(units=units, kind=scarce)), icon=":material/warning:")


def _show_how(found: Metrics, signatures: str) -> None:
    meaning = _(
        "Generation-based: the first pronoun of a text decides. Right is right / (right + wrong) among texts with a"
        " pronoun; as published, a text without a pronoun counts as right."
    )
    show_method(meaning, methods_text(run_estimates("misgendering", found).values()), signature=signatures)


def _figures() -> dict[str, tuple[str, str]]:
    """Return the title of each figure and the function of this folder that draws it."""
    return {
        "ways": (_("Both methods"), "cells:show_ways"),
        "agreement": (_("Agreement"), "cells:show_agreement"),
        "variation": (_("Variation"), "cells:show_variation"),
        "beta": (_("Disagreement"), "cells:show_beta"),
        "texts": (_("Texts"), "results:show_texts"),
        "people": (_("Human labels"), "results:show_people"),
    }


def _tiles(found: Metrics) -> None:
    """Show the numbers of all rows together, each with its interval."""
    tiles = run_estimates("misgendering", found)
    with st.container(horizontal=True, key="misgender-tiles"):
        for id_, estimate in tiles.items():
            _tile(id_, estimate)
    text = _("{rows} instances; {n} have verdicts by both methods, {dropped} do not. In brackets: 95% intervals.")
    st.caption(plain(text.format(rows=f"{found.rows:,}", n=f"{found.n:,}", dropped=f"{found.dropped:,}")))


def _tile(id_: str, estimate: Estimate) -> None:
    quantity = ENTRIES[id_]
    name, about = _(quantity.name), plain(explained(id_, note_text(estimate.reason)))
    if estimate.value is None:
        st.metric(name, DASH, width="content", help=about)
        return
    value = number(estimate.value, FORMS[quantity.unit])
    ends = bracketed(estimate, FORMS[quantity.unit])
    with st.container(width="content", gap=None):
        st.metric(name, value, width="content", help=about)
        n = _("n = {n}", n=f"{estimate.units:,}")
        below = " · ".join(filter(None, (ends or note_text(estimate.note), n)))
        st.caption(plain(below), help=plain(note_text(estimate.note)) or None)


if TYPE_CHECKING:
    from evenhand.core.misgendering.metrics import Texts
    from evenhand.core.statistics.resampling import Numbers

COLUMNS = {"people": "people", "rule": "published", "prob": "prob"}


def show_people(source: Source) -> None:
    """Show a choice of project, the ways side by side on what people finished, and how far they agree."""
    with open_store() as store:
        values = {
            project.name: project
            for project in own_projects(store)
            if project.kind == "generations" and not has_own_scheme(store, project)
        }
        if not values:
            inform(
                "There is no project of generations yet. Create one from model outputs on the Projects"
                " page; human judgements then appear here as the third method."
            )
            page_link("projects/page.py", label=_("Projects"), icon=":material/folder_open:")
            return
        name = st.selectbox(_("Project of generations"), list(values), key="people-project")
        rows = with_run(people(store, values[name]), verdicts(source))
    known = rows[rows["people"].notna()].reset_index(drop=True)
    if known.empty:
        inform("No generation of this project has all its labels yet, so nothing is shown.")
        return
    counts = [clusters_of(some[["template"]]).units for _key, some in known.groupby(["model", "pronoun"], sort=False)]
    if min(counts) < FEW:
        text = _(
            "People judged {n} {n:text|texts}; some rows are based on only {units} {units:context|contexts},"
            " so their intervals are wide."
        )
        st.warning(plain(text.format(n=Count(len(known)), units=Count(min(counts)))), icon=":material/warning:")
    _figure(known, values[name])
    _agreement(known)


def _figure(known: pd.DataFrame, project: Project) -> None:
    rows = []
    by = ["model", "pronoun"]
    for model, pronoun in in_order(list(known.groupby(by, sort=False).groups), by):
        some = known[(known["model"] == model) & (known["pronoun"] == pronoun)].reset_index(drop=True)
        units = clusters_of(some[["template"]])
        label = pronoun or _("all")
        for column, way in COLUMNS.items():
            share = mean_by_units(some[column].to_numpy(dtype=float), units, NO_VERDICT)
            if share.value is not None:
                n = int(some[column].notna().sum())
                row = {"group": model or project.name, "label": label, "way": way, **numbers(share), "n": n}
                rows.append(row | {"signature": f"people|binary:misgendering=0|unit:template|{BY_JACKKNIFE}|v2"})
    data = pd.DataFrame(rows)
    says = range_says(_("Judged right by people"), data[data["way"] == "people"], percent, "group", "label")
    show_chart(ways(data, description=says, say=_, palette=colours()), data, key="people", says=says)
    caption(
        "Fully labelled texts only. A text is wrong if most labels, or the adjudicator, say"
        " misgendering; texts without a pronoun and plural they are right. Generation-based: the"
        " first-pronoun rule on the same texts. Probability-based: the same instance in the run above,"
        " if any."
    )


def _agreement(known: pd.DataFrame) -> None:
    """Show the agreement of people with the rule and with the probabilities, over all models and pronouns."""
    heads = (_("Comparison"), _("Texts"), _("Raw agreement"), _("95% interval"), "MCC", _("95% interval"))
    body, rows = [], []
    names = {"rule": _("people and the first-pronoun rule"), "prob": _("people and the probability-based method")}
    for column, name in names.items():
        both = known[known[column].notna()].reset_index(drop=True)
        if both.empty:
            continue
        values = _measures(both, column)
        cells_of = [name, f"{len(both):,}"]
        for key in ("agreement", "mcc"):
            estimate = values[key]
            value = percent(estimate.value) if key == "agreement" else plain_number(estimate.value)
            ends = bracketed(estimate, "%" if key == "agreement" else "z.3f")
            cells_of += [value, ends or note_text(estimate.note or estimate.reason) or DASH]
            rows.append({"compared": name, "measure": key, **numbers(estimate), "n": len(both)})
        body.append(cells_of)
    if body:
        show_html(table(number_columns(heads, (1, 2, 4)), body, kind="text"))
        text = _("Intervals over contexts, because generations of one context resemble each other.")
        caption_with_files(text, rows, key="people-agreement")
    if "prob" not in known or not known["prob"].notna().any():
        caption("No text of this project matches an instance of the run above.")
    page_link("human_vs_rule/page.py", label=_("Human vs. automatic rule"), icon=":material/rule:")


def _measures(both: pd.DataFrame, column: str) -> dict[str, Estimate]:
    first: Numbers = both["people"].to_numpy(dtype=np.float64)
    second: Numbers = both[column].to_numpy(dtype=np.float64)
    units = by_units(first, second, clusters_of(both[["template"]]))
    if units["mcc"].value is None:
        units["mcc"] = mcc(both_verdicts(first, second))
    return units


@st.cache_data(show_spinner=False, max_entries=4)
def texts(path: str, written: float) -> "tuple[list[Texts], list[int]]":
    """Return the cells of a file of generations, and the numbers of the lines that are not generations.

    *written* is the time of the last change, so that a changed file is read again.
    """
    del written
    skipped: list[int] = []
    result = {tuple(one.key.values()): one for one in texts_by_cell(read_texts(path, skipped))}
    names = [name for one in list(result.values())[:1] for name in one.key]
    return [result[key] for key in in_order(list(result), names)], skipped


def show_texts(source: Source) -> None:
    """Show a table: a line per model and pronoun set."""
    path = Path(source.path).with_suffix(".jsonl")
    if not path.is_file():
        inform("This table contains no texts. A run with generations stores them.")
        return
    with st.spinner(_("Reading the texts …"), show_time=True):
        found, skipped = texts(str(path), path.stat().st_mtime)
    if skipped:
        text = _("Lines that are not generations were skipped: {n} (the first is line {line}).")
        st.warning(plain(text.format(n=f"{len(skipped):,}", line=skipped[0])))
    heads = (
        _("Model"),
        _("Pronouns"),
        _("Texts"),
        _("Without a pronoun"),
        _("95% interval"),
        _("Repetition, as published"),
        _("Repetition, completion only"),
    )
    several = varying([entry.key for entry in found])
    body, rows = [], []
    for entry in found:
        label = label_of(entry.key, several)
        without = entry.without
        ends = bracketed(without, "%") or note_text(without.note or without.reason)
        cells = [entry.key["model"], label, f"{entry.n:,}", percent(without.value), ends]
        body.append([*cells, _spread(entry.published), _spread(entry.completion)])
        rows.append(
            {
                **entry.key, "texts": entry.n, "without": without.value, "low": without.low, "high": without.high,
                "repetition_published": entry.published.mean, "repetition_published_std": entry.published.std,
                "repetition_completion": entry.completion.mean, "repetition_completion_std": entry.completion.std,
                "signature": signature("published"),
            }
        )  # fmt: skip
    show_html(table(number_columns(heads, (2, 3, 5, 6)), body, kind="text"))
    text = _(
        "Repetition is 0 if for some n no word n-gram is repeated, and 1 if every n-gram is; mean ± standard"
        " deviation over texts. The published value is for context and completion together. As published, the"
        " generation-based method counts a text without a pronoun as right."
    )
    caption_with_files(text, rows, key="texts")


def _spread(repeated: Repeated) -> str:
    if repeated.mean is None:
        return DASH
    return f"{plain_number(repeated.mean)} ± {plain_number(repeated.std)}"
