"""Accept rates of sentences in the original and the masked form."""

import streamlit as st

from evenhand.annotations.agreement.by_form import FormRates
from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import equivalence
from evenhand.pages.agreement.charts import traced
from evenhand.pages.agreement.scope import estimate_text
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.equivalence import against, how_tested, margin_box
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import SIZE_IN_POINTS, note_text
from evenhand.pages.ui.text import paragraph, plain


def by_form(report: AgreementReport) -> None:
    """Accept rates of both forms, their difference, and the same for each annotator."""
    rates = report.by_form
    if rates is None or not report.labels:
        return
    st.subheader(_("By form shown"))
    if not rates.compared:
        st.caption(plain(note_text(rates.difference.reason)))
        _one_form(rates)
        return
    margin = margin_box("share", "by-form-margin")
    rows = [_row(_("Everybody"), rates, margin), *(_row(name, own, margin) for name, own in rates.annotators)]
    st.dataframe(rows, hide_index=True, key="by-form")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        text = _(
            "Masked − original in percentage points, with 95% intervals over items. Forms were not"
            " assigned at random, so a difference may also be due to annotators or time."
        )
        st.caption(plain(paragraph((_paired(rates.paired, margin), text, how_tested()))))
        downloads(traced(_numbers(rates, margin), report), key="by-form-table")


def _one_form(rates: FormRates) -> None:
    for one in rates.forms:
        if one.labels:
            text = _("{accepted} of {labels} labels are accept: {rate}.")
            values = {"accepted": f"{one.accepted:,}", "labels": f"{one.labels:,}"}
            st.caption(plain(text.format(rate=estimate_text(one.rate, percent=True), **values)))


def _paired(paired: Estimate, margin: float | None) -> str:
    if paired.value is None:
        return note_text(paired.reason)
    text = _("On the {items} items labelled on both forms: {difference}; compared with the margin: {answer}.")
    answer = against(equivalence(paired, margin), SIZE_IN_POINTS)
    return text.format(items=f"{paired.units:,}", difference=points(paired), answer=answer)


def points(found: Estimate) -> str:
    """A difference of two shares in percentage points, with its interval."""
    return estimate_text(found, percent=True, signed=True)


def _row(name: str, rates: FormRates, margin: float | None) -> dict[str, object]:
    counted = {"original": _("labels, original"), "masked": _("labels, masked")}
    shared = {"original": _("kept, original"), "masked": _("kept, masked")}
    kept: dict[str, object] = {shared[one.form]: estimate_text(one.rate, percent=True) for one in rates.forms}
    labels = {counted[one.form]: one.labels for one in rates.forms}
    apart = {_("Difference"): points(rates.difference)}
    apart[_("Against the margin")] = against(equivalence(rates.difference, margin), SIZE_IN_POINTS)
    return {_("Annotator"): name} | kept | apart | labels


def _numbers(rates: FormRates, margin: float | None) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, own in [("", rates), *rates.annotators]:
        row: dict[str, object] = {"annotator": name}
        for one in own.forms:
            row |= {
                f"{one.form}_labels": one.labels,
                f"{one.form}_items": one.items,
                f"{one.form}_accepted": one.accepted,
            }
            row |= _cells(f"{one.form}_rate", one.rate)
        row |= _cells("difference", own.difference) | _answer("difference", own.difference, margin)
        rows.append(row if name else row | _cells("same_items", own.paired) | _answer("same_items", own.paired, margin))
    return rows


def _answer(name: str, found: Estimate, margin: float | None) -> dict[str, object]:
    tested = equivalence(found, margin)
    return {"margin": margin, f"{name}_answer": tested.answer, f"{name}_smallest_shown": tested.smallest}


def _cells(name: str, found: Estimate) -> dict[str, object]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
