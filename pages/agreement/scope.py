"""The labels that the page Agreement compares: of a version of the guideline, of all items or the random share."""

import streamlit as st

from evenhand.annotations.agreement.measures import AgreementReport, Measures, usual_items
from evenhand.annotations.agreement.schemes import Way
from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import ended_at_reject
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects.projects import guidelines
from evenhand.annotations.types import Project
from evenhand.core.statistics import Estimate
from evenhand.pages.agreement.charts import traced
from evenhand.pages.agreement.tiles import current_report
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import DASH, POINTS, day, interval_or_reason, note_text, number
from evenhand.pages.ui.text import clause, in_brackets, plain

MEASURES = ("unanimity", "pairwise", "fleiss", "alpha", "ac1")


def chosen_report(store: Store, project: Project, way: Way) -> AgreementReport:
    """The report of the chosen items and version."""
    on = _chosen_items(store, project)
    whole = current_report(store, project, way, on)
    versions = [version for version, _measures in whole.by_version]
    if len(versions) < 2:
        return whole
    names = {"all": _("All versions")} | {str(one): _("Version {number}").format(number=one) for one in versions}
    chosen = choose(_("Guideline version of the labels"), names, f"version-{project.uid}")
    return whole if chosen == "all" else current_report(store, project, way, on, int(chosen))


def _chosen_items(store: Store, project: Project) -> ItemScope:
    if usual_items(project, ended_at_reject(store, project)) == "all":
        return "all"
    names: dict[ItemScope, str] = {"share": _("The random share"), "all": _("All labelled items")}
    return choose(_("Items compared"), names, f"on-{project.uid}")


def on_what(report: AgreementReport) -> None:
    """Name the items above the numbers, unless these are all labelled items."""
    if report.imported_ended:
        text = _(
            "In {ended} items of the random share, imported labels end at a reject and the other labels"
            " are missing. Until these exist, no item of the share with an imported label counts."
        )
        st.warning(plain(text.format(ended=f"{report.imported_ended:,}")), icon=":material/warning:")
    if report.ended:
        text = _(
            "Under an earlier plan, items got no more labels after a first reject, and {ended} of these"
            " still lack labels: the other items are biased towards accept."
        )
        st.warning(plain(text.format(ended=f"{report.ended:,}")), icon=":material/warning:")
        basis = _("Biased: these figures cover all labelled items. Use the random share instead.")
        if not report.biased:
            basis = _(
                "These figures therefore cover the random share that everybody labels: {done} fully labelled items."
            )
        st.info(plain(basis.format(done=f"{report.items:,}")), icon=":material/casino:")
    elif report.biased:
        text = _(
            "Biased: items of this project get no more labels after a first reject, so only items that"
            " were accepted first are labelled twice. These figures cannot be compared with those of other"
            " projects; use the random share."
        )
        st.warning(plain(text), icon=":material/warning:")
    elif report.on == "share":
        text = _(
            "Items of this project get no more labels after a first reject. These figures therefore cover"
            " the random share, which everybody labels whatever the first label is: {done} of its {all}"
            " items are fully labelled."
        )
        st.info(plain(text.format(done=f"{report.items:,}", all=f"{report.all_items:,}")), icon=":material/casino:")
    if report.version is not None:
        text = _("Only labels made under version {number} of the guideline.")
        st.caption(plain(text.format(number=report.version)))


def by_version(store: Store, project: Project, report: AgreementReport) -> None:
    """The measures under each version of the guideline, one row each; nothing where only one has labels."""
    if len(report.by_version) < 2:
        return
    st.subheader(_("By version of the guideline"))
    written = {one.version: day(one.created) for one in guidelines(store, project)}
    rows = [_version_row(version, written.get(version, ""), found) for version, found in report.by_version]
    st.dataframe(rows, hide_index=True, key="by-version")
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        text = _(
            "Each row compares only labels that were made under this version; an item with labels of two versions"
            " counts in both rows with its labels of each. Full agreement is of items with at least two blind labels."
        )
        st.caption(plain(text))
        downloads(traced(_version_numbers(report), report), key="by-version-table")


def _version_row(version: int, written: str, found: Measures) -> dict[str, object]:
    names = {
        "unanimity": _("Full agreement"),
        "pairwise": _("Pairwise agreement"),
        "fleiss": "Fleiss κ",
        "alpha": "Krippendorff α",
        "ac1": "Gwet AC1",
    }
    shares = ("unanimity", "pairwise")
    return {
        _("Version"): version,
        _("Written"): written,
        _("Items"): found.items,
        _("Labels"): found.labels,
        **{names[field]: estimate_text(getattr(found, field), percent=field in shares) for field in MEASURES},
    }


def _version_numbers(report: AgreementReport) -> list[dict[str, object]]:
    rows = []
    for version, found in report.by_version:
        row: dict[str, object] = {"version": version, "items": found.items, "labels": found.labels}
        for field in MEASURES:
            estimate: Estimate = getattr(found, field)
            row |= {field: estimate.value, f"{field}_low": estimate.low, f"{field}_high": estimate.high}
        rows.append(row)
    return rows


def estimate_text(estimate: Estimate, *, percent: bool = False, signed: bool = False) -> str:
    """A measure with its interval in a cell of a table; a dash with the reason where it is undefined."""
    if estimate.value is None:
        return f"{DASH} {note_text(estimate.reason)}"
    form = POINTS if signed and percent else ("+" if signed else "") + ("z.1%" if percent else "z.2f")
    ends = clause(interval_or_reason(estimate, form if form == POINTS else form.removeprefix("+")))
    return in_brackets(number(estimate.value, form), ends)
