"""Retests on the page Quality: their settings, agreement, and differences; and what both parts of the page share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.quality import retest_agreement
from evenhand.annotations.text_policy import without_text
from evenhand.annotations.types import Item, Project
from evenhand.core.charts.dots import shares_of_people
from evenhand.core.statistics import Estimate
from evenhand.core.types import TableRow
from evenhand.pages.ui.charts import colours, csv_bytes, download, downloads, foot, show_chart, show_confusion
from evenhand.pages.ui.choose import annotator_at_desk
from evenhand.pages.ui.numbers import DASH, estimate_columns, interval_or_reason, number, percent, to
from evenhand.pages.ui.quantities import quantity_tile
from evenhand.pages.ui.sentences import choice_name, item_card, judgement, names_of, person_meant, with_keyword
from evenhand.pages.ui.tables import element, joined, page_of, show_html, show_pages, show_tiles
from evenhand.pages.ui.text import _, caption, in_brackets, inform, plain, show_signature
from evenhand.pages.ui.visitor import open_store, page_link

PAGE = 5


def settings(report: retest_agreement.RetestReport) -> None:
    """Show the retests of this project in a sentence; without any, how to set them."""
    if not report.share and not report.annotators:
        inform(
            "This project has no retests. Set a retest rate on the Labelling plan page; 2% is usual.",
            icon=":material/replay:",
        )
    else:
        text = _(
            "Retests: {share} of an annotator's own items are shown again as new, at least {hours} hours"
            " after the first label. {waiting} waiting, {out} on a desk, {n} done."
        )
        all_of_them = report.together
        values = {"share": f"{100 * report.share:.3g}%", "hours": report.hours, "waiting": all_of_them.waiting}
        said = text.format(**values, out=all_of_them.handed_out, n=all_of_them.compared)
        if all_of_them.left:
            left = _("{left} more are assigned to former annotators and will not be done.", left=all_of_them.left)
            said = f"{said} {left}"
        st.caption(plain(said))
    page_link("plan/page.py", label=_("Labelling plan"), icon=":material/tune:")


def second_labels(report: retest_agreement.RetestReport) -> None:
    """Show all annotators together as tiles, each of them as a row with an interval."""
    agreement = report.together
    same = round((agreement.agreed.value or 0) * agreement.compared)
    text = _("In {k} of {n} retests the annotator chose the same label as before.", k=same, n=agreement.compared)
    kappa = _("Cohen's kappa between first label and retest: 0 is chance, 1 is complete.")
    tiles = [
        quantity_tile("retest.agreement", agreement.agreed, text),
        quantity_tile("retest.kappa", agreement.kappa, kappa),
    ]
    if agreement.flag is not None:
        text = _("The flag for extraneous gendered language, set both times or neither time.")
        tiles.append(quantity_tile("retest.flag", agreement.flag, text))
    show_tiles(tiles, len(tiles))
    if not agreement.compared:
        return
    says = _("Share of items with the same choice both times, with 95% intervals. Total: {share}, {interval}.")
    people_chart(
        [*((annotator.annotator, annotator.agreed) for annotator in report.annotators), (_("Total"), agreement.agreed)],
        key="agreement-with-oneself",
        title=_("Same choice both times"),
        says=says.format(share=percent(agreement.agreed.value), interval=interval_or_reason(agreement.agreed, ".1%")),
        table=_downloaded(report),
    )


def in_numbers(report: retest_agreement.RetestReport) -> None:
    """Show one line per annotator with all counts; the signature below."""
    rows = [_row(annotator, annotator.annotator) for annotator in report.annotators]
    rows.append(_row(report.together, _("Total")))
    st.dataframe(rows, hide_index=True, key="oneself-table")
    with foot():
        caption(
            "Excluded: retests under another version of the guideline, or after an opinion or others'"
            " labels were shown. Void: the first label was sent back for relabelling, or the retest rate"
            " was lowered."
        )
        if not report.together.compared:  # else next to the chart
            downloads(_downloaded(report), key="agreement-with-oneself-table")
    show_signature(report.signature)


def _row(agreement: retest_agreement.RetestAgreement, name: str) -> TableRow:
    least, middle, most = (f"{days:.1f}" for days in agreement.days) if agreement.days is not None else ("", "", "")
    days = in_brackets(middle, to(least, most)) if agreement.days is not None else DASH
    flag = {} if agreement.flag is None else {_("The same flag"): percent(agreement.flag.value)}
    return {
        _("Annotator"): name,
        _("Judged twice"): agreement.compared,
        _("The same choice"): percent(agreement.agreed.value),
        _("95% interval"): interval_or_reason(agreement.agreed, ".1%"),
        _("Kappa"): number(agreement.kappa.value),
        _("Kappa, 95%"): interval_or_reason(agreement.kappa, ".2f"),
        **flag,
        _("Days between"): days,
        _("Waiting"): agreement.waiting,
        _("On a desk"): agreement.handed_out,
        _("Excluded"): agreement.other_guideline + agreement.seen,
        _("Void"): agreement.void,
        _("Of former annotators"): agreement.left,
    }


def _downloaded(report: retest_agreement.RetestReport) -> list[TableRow]:
    named = [(annotator.annotator, annotator) for annotator in report.annotators] + [("*", report.together)]
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


def differently(store: Store, project: Project, report: retest_agreement.RetestReport) -> None:
    """Show the first choices against the retest, and the items that differ, page by page."""
    if not report.together.compared:
        return
    people = {annotator.annotator: annotator for annotator in report.annotators}
    name = st.selectbox(_("Annotator"), list(people), index=None, placeholder=_("Total"), key="oneself-who")
    agreement = people[name] if name else report.together
    left, right = st.columns([2, 3], gap="large")
    with left:
        _confusion(agreement, report)
    with right:
        retest_differences = retest_agreement.retest_differences(store, project, name)
        if not retest_differences:
            inform("No item was judged differently the second time.", icon=":material/check:")
            return
        st.markdown(plain(_("{n} items judged differently the second time", n=len(retest_differences))))
        names = names_of(store, project)
        for retest_difference in page_of(retest_differences, "oneself-page", PAGE):
            about = _("{name}, {days:.1f} days apart", name=retest_difference.annotator, days=retest_difference.days)
            headings = (_("first label"), _("retest label"))
            sides = [
                judgement(heading, choice, names, [names.get(code, code) for code in reasons], note)
                for heading, choice, reasons, note in zip(
                    headings, retest_difference.choices, retest_difference.reasons, retest_difference.notes, strict=True
                )
            ]
            card(retest_difference.item, about, sides)
        with foot():
            show_pages(len(retest_differences), "oneself-page", PAGE)
            download(
                _("Download all (CSV)"), lambda: _table(project, name), "judged-differently.csv", key="oneself-csv"
            )


def _confusion(agreement: retest_agreement.RetestAgreement, report: retest_agreement.RetestReport) -> None:
    names = [choice_name(choice) for choice in report.choices]
    says = _("Rows: first label; columns: second label. The same on {k} of {n} items.")
    says = says.format(k=sum(row[place] for place, row in enumerate(agreement.table)), n=agreement.compared)
    show_confusion(
        agreement.table, names, "first", "second", key="first-and-second", says=says,
        titles={"first": _("first label"), "second": _("retest label")}, signature=report.signature,
    )  # fmt: skip


def _table(project: Project, name: str | None) -> bytes:
    with open_store(project) as store:
        retest_differences = retest_agreement.retest_differences(store, project, name)
    rows = [
        {
            "item": retest_difference.item.uid,
            "text": retest_difference.item.whole_text,
            "annotator": retest_difference.annotator,
            "first": retest_difference.choices[0],
            "second": retest_difference.choices[1],
            "first_reasons": ";".join(retest_difference.reasons[0]),
            "second_reasons": ";".join(retest_difference.reasons[1]),
            "first_note": retest_difference.notes[0],
            "second_note": retest_difference.notes[1],
            "first_form": retest_difference.forms[0],
            "second_form": retest_difference.forms[1],
            "days": retest_difference.days,
        }
        for retest_difference in retest_differences
    ]
    return csv_bytes([without_text(project, row, "text", "first_note", "second_note") for row in rows])


def for_the_lead(store: Store, project: Project) -> bool:
    """Return whether to show the page. An annotator with an open desk is asked first."""
    reader = annotator_at_desk(store, project)
    if reader is None or st.session_state.get("quality-shown") == project.uid:
        return True
    text = _(
        "Your desk as {name} is open. This page reveals known answers and retests, which annotators should not know."
    )
    st.warning(plain(text.format(name=reader.name)), icon=":material/visibility_off:")
    if st.button(_("I lead this project: show the page"), key="quality-show", icon=":material/visibility:"):
        st.session_state["quality-shown"] = project.uid
        st.rerun()
    return False


def people_chart(
    rows: Iterable[tuple[str, Estimate]], *, key: str, title: str, says: str, table: Sequence[Mapping[str, Any]]
) -> None:
    """Show one row a person with the interval; *table* is what is downloaded."""
    data = [{"name": name, "value": one.value, "low": one.low, "high": one.high, "n": one.units} for name, one in rows]
    frame = pd.DataFrame(data, columns=["name", "value", "low", "high", "n"])
    chart = shares_of_people(frame, title=title, description=says, say=_, palette=colours())
    show_chart(chart, table, key=key, says=says)


def card(item: Item, about: str, judgements: Sequence[Markup]) -> None:
    """Show a text exactly as it is in its file, with judgements on it below."""
    text = with_keyword(item.whole_text, item.word, item.side)
    head = joined([about, element("div", person_meant(item), "strong")])
    show_html(item_card(item.uid, text, judgements, about=head, context=item.context or ""))
