"""Retests on the page Quality: their settings, agreement, and differences."""

from typing import Any

import pandas as pd
import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.pipeline_counts import latest
from evenhand.annotations.quality.report import Quality, quality
from evenhand.annotations.quality.retest_agreement import (
    RetestAgreement,
    RetestDifference,
    RetestReport,
    retest_differences,
)
from evenhand.annotations.text_policy import without_text
from evenhand.annotations.types import Project
from evenhand.core.charts.heatmap import heatmap
from evenhand.pages.quality.item_cards import card, names_of, people_chart
from evenhand.pages.ui.charts import csv_bytes, downloads, show_chart
from evenhand.pages.ui.head import open_store
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, estimate_columns, interval_or_reason, number, percent, to
from evenhand.pages.ui.sentences import choice_name, judgement
from evenhand.pages.ui.style import colours
from evenhand.pages.ui.text import in_brackets, plain, show_signature
from evenhand.pages.ui.tiles import estimate_tile, show_tile
from evenhand.pages.ui.visitor import page_link

PAGE = 5


def current_quality(store: Store, project: Project) -> Quality:
    """The report of a project, made anew when something has changed."""
    return _quality(latest(store), project.uid, store, project)


@st.cache_data(max_entries=8, show_spinner=False)
def _quality(now: tuple[str, ...], uid: str, _store: Store, _project: Project) -> Quality:
    return quality(_store, _project)


def settings(report: RetestReport) -> None:
    """The retests of this project in a sentence; without any, how to set them."""
    if not report.share and not report.annotators:
        text = _("This project has no retests. Set a retest rate on the Labelling plan page; 2% is usual.")
        st.info(text, icon=":material/replay:")
    else:
        text = _(
            "Retests: {share} of an annotator's own items are shown again as new, at least {hours} hours"
            " after the first label. {waiting} waiting, {out} on a desk, {n} done."
        )
        all_of_them = report.together
        values = {"share": f"{100 * report.share:.3g}%", "hours": report.hours, "waiting": all_of_them.waiting}
        said = text.format(**values, out=all_of_them.handed_out, n=all_of_them.compared)
        if all_of_them.left:
            gone = _("{left} more belong to former annotators and are not expected.")
            said = f"{said} {gone.format(left=all_of_them.left)}"
        st.caption(plain(said))
    page_link("plan/page.py", label=_("Labelling plan"), icon=":material/tune:")


def second_labels(report: RetestReport) -> None:
    """All annotators together as tiles, each of them as a row with an interval."""
    found = report.together
    columns = st.columns(3 if found.flag is not None else 2)
    same = round((found.agreed.value or 0) * found.compared)
    with columns[0]:
        text = _("In {k} of {n} retests the annotator chose the same label as before.")
        show_tile(
            estimate_tile(_("Same choice both times"), found.agreed, text.format(k=same, n=found.compared), "z.1%")
        )
    with columns[1]:
        text = _("Cohen's kappa between first label and retest: 0 is chance, 1 is complete.")
        show_tile(estimate_tile(_("Kappa of retests"), found.kappa, text))
    if found.flag is not None:
        with columns[2]:
            text = _("The flag for extraneous gendered language, set both times or neither time.")
            show_tile(estimate_tile(_("Same flag both times"), found.flag, text, "z.1%"))
    if not found.compared:
        return
    says = _("Share of items with the same choice both times, with 95% intervals. Total: {share}, {interval}.")
    people_chart(
        [*((one.annotator, one.agreed) for one in report.annotators), (_("Total"), found.agreed)],
        key="agreement-with-oneself",
        title=_("Same choice both times"),
        says=says.format(share=percent(found.agreed.value), interval=interval_or_reason(found.agreed, ".1%")),
        table=_downloaded(report),
    )


def in_figures(report: RetestReport) -> None:
    """One line per annotator with all counts; the signature below."""
    rows = [_row(one, one.annotator) for one in report.annotators]
    rows.append(_row(report.together, _("Total")))
    st.dataframe(rows, hide_index=True, key="oneself-table")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        text = _(
            "Excluded: retests under another version of the guideline, or after an opinion or others'"
            " labels were shown. Void: the first label was sent back for relabelling, or the retest rate"
            " was lowered."
        )
        st.caption(plain(text))
        if not report.together.compared:  # else beside the chart
            downloads(_downloaded(report), key="agreement-with-oneself-table")
    show_signature(report.signature)


def _row(one: RetestAgreement, name: str) -> dict[str, Any]:
    least, middle, most = (f"{days:.1f}" for days in one.days) if one.days is not None else ("", "", "")
    days = in_brackets(middle, to(least, most)) if one.days is not None else DASH
    flag = {} if one.flag is None else {_("The same flag"): percent(one.flag.value)}
    return {
        _("Annotator"): name,
        _("Judged twice"): one.compared,
        _("The same choice"): percent(one.agreed.value),
        _("95% interval"): interval_or_reason(one.agreed, ".1%"),
        _("Kappa"): number(one.kappa.value),
        _("Kappa, 95%"): interval_or_reason(one.kappa, ".2f"),
        **flag,
        _("Days between"): days,
        _("Waiting"): one.waiting,
        _("On a desk"): one.handed_out,
        _("Excluded"): one.other_guideline + one.seen,
        _("Void"): one.void,
        _("Of former annotators"): one.left,
    }


def _downloaded(report: RetestReport) -> list[dict[str, Any]]:
    named = [(one.annotator, one) for one in report.annotators] + [("*", report.together)]
    return [
        {
            "annotator": name,
            "judged_twice": one.compared,
            **estimate_columns("same_choice", one.agreed),
            **estimate_columns("kappa", one.kappa),
            **({} if one.flag is None else estimate_columns("same_flag", one.flag)),
            **dict(zip(("days_least", "days_median", "days_most"), one.days or (None, None, None), strict=True)),
            "waiting": one.waiting,
            "handed_out": one.handed_out,
            "other_guideline": one.other_guideline,
            "seen": one.seen,
            "void": one.void,
            "of_people_who_left": one.left,
            "signature": report.signature,
        }
        for name, one in named
    ]


def differently(store: Store, project: Project, report: RetestReport) -> None:
    """First choice against retest, and the items that differ, ten per page."""
    if not report.together.compared:
        return
    people = {one.annotator: one for one in report.annotators}
    name = st.selectbox(_("Annotator"), list(people), index=None, placeholder=_("Total"), key="oneself-who")
    one = people[name] if name else report.together
    left, right = st.columns([2, 3], gap="large")
    with left:
        _confusion(one, report)
    with right:
        found = retest_differences(store, project, name)
        if not found:
            st.info(_("No item was judged differently the second time."), icon=":material/check:")
            return
        st.markdown(plain(_("{n} items judged differently the second time").format(n=len(found))))
        page = min(st.session_state.get("oneself-page", 1), -(-len(found) // PAGE))
        names = names_of(store, project)
        for each in found[PAGE * (page - 1) : PAGE * page]:
            _difference(each, names)
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            if len(found) > PAGE:
                st.pagination(-(-len(found) // PAGE), width=300, key="oneself-page")
            st.download_button(
                _("Download all (CSV)"), lambda: _table(project, name), "judged-differently.csv", "text/csv",
                key="oneself-csv", on_click="ignore", icon=":material/download:", type="tertiary",
            )  # fmt: skip


def _confusion(one: RetestAgreement, report: RetestReport) -> None:
    names = [choice_name(choice) for choice in report.choices]
    first, second = _("first label"), _("retest label")
    rows = [
        {"first": names[i], "second": names[j], "items": one.table[i][j]}
        for i in range(len(names))
        for j in range(len(names))
    ]
    same = sum(one.table[i][i] for i in range(len(names)))
    says = _("Rows: first label; columns: second label. The same on {k} of {n} items.")
    says = says.format(k=same, n=one.compared)
    chart = heatmap(
        pd.DataFrame(rows),
        "second",
        "first",
        "items",
        description=says,
        domain=(0, max(one.compared, 1)),
        titles={"first": first, "second": second, "items": _("items")},
        digits=0,
        width=240,
        palette=colours(),
    )
    show_chart(chart, [{**row, "signature": report.signature} for row in rows], key="first-and-second", says=says)


def _difference(one: RetestDifference, names: dict[str, str]) -> None:
    about = _("{name}, {days:.1f} days apart").format(name=one.annotator, days=one.days)
    headings = (_("first label"), _("retest label"))
    sides = [
        judgement(heading, choice, names, [names.get(code, code) for code in reasons], note)
        for heading, choice, reasons, note in zip(headings, one.choices, one.reasons, one.notes, strict=True)
    ]
    card(one.item, about, sides)


def _table(project: Project, name: str | None) -> bytes:
    with open_store(project) as store:
        found = retest_differences(store, project, name)
    rows = [
        {
            "item": one.item.uid,
            "text": one.item.whole_text,
            "annotator": one.annotator,
            "first": one.choices[0],
            "second": one.choices[1],
            "first_reasons": ";".join(one.reasons[0]),
            "second_reasons": ";".join(one.reasons[1]),
            "first_note": one.notes[0],
            "second_note": one.notes[1],
            "first_form": one.forms[0],
            "second_form": one.forms[1],
            "days": one.days,
        }
        for one in found
    ]
    return csv_bytes([without_text(project, row, "text", "first_note", "second_note") for row in rows])
