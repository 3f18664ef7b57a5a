"""What people say of the texts of a run of the page Misgendering, and the texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st

from evenhand.annotations.guideline.versions import has_own_scheme
from evenhand.annotations.human_vs_rule.people_by_instance import people, with_run
from evenhand.annotations.types import Project
from evenhand.core.charts.misgendering import ways
from evenhand.core.human_vs_rule.compare import in_order
from evenhand.core.language import Count
from evenhand.core.misgendering.agreement import by_units, cells, mcc
from evenhand.core.misgendering.metrics import NO_VERDICT, mean_by_units
from evenhand.core.report.numbers import interval, percent, percents, plain_number
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.intervals import BY_JACKKNIFE, FEW
from evenhand.core.statistics.units import clusters_of
from evenhand.core.text.repetition import Repeated, signature
from evenhand.pages.misgendering.cells import label_of, numbers, varying
from evenhand.pages.misgendering.results import Source, verdicts
from evenhand.pages.ui.charts import caption_with_files, colours, show_chart
from evenhand.pages.ui.numbers import DASH, note_text
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import _, caption, from_to, inform, plain, series
from evenhand.pages.ui.visitor import open_store, own_projects, page_link

if TYPE_CHECKING:
    from evenhand.core.misgendering.metrics import Texts
    from evenhand.core.statistics.resampling import Numbers

COLUMNS = {"people": "people", "rule": "published", "prob": "prob"}


def show_people(source: Source) -> None:
    """A choice of project, the ways side by side on what people finished, and how far they agree."""
    with open_store() as store:
        found = {
            one.name: one for one in own_projects(store) if one.kind == "generations" and not has_own_scheme(store, one)
        }
        if not found:
            inform(
                "There is no project of generations yet. Create one from model outputs on the Projects"
                " page; human judgements then appear here as the third method."
            )
            page_link("projects/page.py", label=_("Projects"), icon=":material/folder_open:")
            return
        name = st.selectbox(_("Project of generations"), list(found), key="people-project")
        rows = with_run(people(store, found[name]), verdicts(source))
    known = rows[rows["people"].notna()].reset_index(drop=True)
    if known.empty:
        inform("No generation of this project has all its labels yet, so nothing is shown.")
        return
    _banner(known)
    _figure(known, found[name])
    _agreement(known)


def _banner(known: pd.DataFrame) -> None:
    counts = [clusters_of(some[["template"]]).units for _key, some in known.groupby(["model", "pronoun"], sort=False)]
    if min(counts) < FEW:
        text = _(
            "People judged {n} {n:text|texts}; some rows are based on only {units} {units:context|contexts}: few units,"
            " wide intervals."
        )
        st.warning(plain(text.format(n=Count(len(known)), units=Count(min(counts)))), icon=":material/warning:")


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
    some = data[data["way"] == "people"]
    low, high = some.loc[some["value"].idxmin()], some.loc[some["value"].idxmax()]
    ends = ((percent(one["value"]), series((one["group"], one["label"]))) for one in (low, high))
    says = from_to(_("Judged right by people"), *ends)
    show_chart(ways(data, description=says, say=_, palette=colours()), data, key="people", says=says)
    caption(
        "Fully labelled texts only. A text is wrong if most labels, or the adjudicator, say"
        " misgendering; texts without a pronoun and plural they are right. Generation-based: the"
        " first-pronoun rule on the same texts. Probability-based: the same instance in the run above,"
        " if any."
    )


def _agreement(known: pd.DataFrame) -> None:
    """People against each of the other ways, over all models and pronouns."""
    heads = (_("Comparison"), _("Texts"), _("Raw agreement"), _("95% interval"), "MCC", _("95% interval"))
    body, rows = [], []
    names = {"rule": _("people and the first-pronoun rule"), "prob": _("people and the probability-based method")}
    for column, name in names.items():
        both = known[known[column].notna()].reset_index(drop=True)
        if both.empty:
            continue
        found = _measures(both, column)
        cells_of = [name, f"{len(both):,}"]
        for key in ("agreement", "mcc"):
            one = found[key]
            value = percent(one.value) if key == "agreement" else plain_number(one.value)
            ends = percents(one.low, one.high) if key == "agreement" else interval(one.low, one.high)
            cells_of += [value, ends or note_text(one.note or one.reason) or DASH]
            rows.append({"compared": name, "measure": key, **numbers(one), "n": len(both)})
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
    found = by_units(first, second, clusters_of(both[["template"]]))
    if found["mcc"].value is None:
        found["mcc"] = mcc(cells(first, second))
    return found


@st.cache_data(show_spinner=False, max_entries=4)
def texts(path: str, written: float) -> "tuple[list[Texts], list[int]]":
    """The cells of a file of generations, and the numbers of lines that are none.

    `written` is when it was, so that a changed file is read again.
    """
    from evenhand.core.human_vs_rule.compare import in_order
    from evenhand.core.misgendering.metrics import read_texts, texts_by_cell

    del written
    skipped: list[int] = []
    found = {tuple(one.key.values()): one for one in texts_by_cell(read_texts(path, skipped))}
    names = [name for one in list(found.values())[:1] for name in one.key]
    return [found[key] for key in in_order(list(found), names)], skipped


def show_texts(source: Source) -> None:
    """A table: a line per model and pronoun set."""
    path = Path(source.path).with_suffix(".jsonl")
    if not path.is_file():
        inform("These verdicts come without texts. A run with generations keeps what the model wrote.")
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
    several = varying([one.key for one in found])
    body, rows = [], []
    for one in found:
        label = label_of(one.key, several)
        without = one.without
        ends = percents(without.low, without.high) or note_text(without.note or without.reason)
        cells = [one.key["model"], label, f"{one.n:,}", percent(without.value), ends]
        body.append([*cells, _spread(one.published), _spread(one.completion)])
        rows.append(_row(one))
    show_html(table(number_columns(heads, (2, 3, 5, 6)), body, kind="text"))
    text = _(
        "Repetition is 0 if some length of word n-gram never repeats and 1 if every n-gram does;"
        " mean ± standard deviation over texts. The published value is for context and completion"
        " together. As published, the generation-based method counts a text without a pronoun as right."
    )
    caption_with_files(text, rows, key="texts")


def _row(one: "Texts") -> dict[str, Any]:
    """The numbers of a cell for a file."""
    return {
        **one.key,
        "texts": one.n,
        "without": one.without.value,
        "low": one.without.low,
        "high": one.without.high,
        "repetition_published": one.published.mean,
        "repetition_published_std": one.published.std,
        "repetition_completion": one.completion.mean,
        "repetition_completion_std": one.completion.std,
        "signature": signature("published"),
    }


def _spread(found: Repeated) -> str:
    if found.mean is None:
        return DASH
    return f"{plain_number(found.mean)} ± {plain_number(found.std)}"
