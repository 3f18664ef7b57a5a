"""The labels that the page Agreement compares, and how version, form and place of an item bear on them."""

from collections.abc import Mapping

import streamlit as st

from evenhand.annotations.agreement.measures import AgreementReport, Measures, usual_items
from evenhand.annotations.agreement.merged_labels import FLAG_OF, SCALE_OF, Way, ways_of
from evenhand.annotations.agreement.preferences import left_chosen
from evenhand.annotations.agreement.report import DisplayRates
from evenhand.annotations.database.store import Store
from evenhand.annotations.forecast.fully_labelled import ended_at_reject
from evenhand.annotations.guideline.versions import compares, has_own_scheme
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.projects.projects import guidelines
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Project
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.equivalence import equivalence
from evenhand.pages.agreement.charts import current_report, measure_names, traced
from evenhand.pages.ui.charts import caption_with_files
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.equivalence import against, how_tested, margin_box
from evenhand.pages.ui.numbers import DASH, POINTS, SIZE_IN_POINTS, day, interval_or_reason, note_text, number
from evenhand.pages.ui.sentences import choice_name
from evenhand.pages.ui.tables import show_records
from evenhand.pages.ui.text import _, caption, clause, in_brackets, named, paragraph, plain, warn
from evenhand.pages.ui.visitor import may, remembered


def chosen_way(store: Store, project: Project) -> Way:
    """Return the labels to compare; for sentences always the choices."""
    if project.kind != "generations":
        return "four"
    ways = ways_of(store, project)
    if has_own_scheme(store, project):
        heads = {True: _("Flag"), False: _("Scale")}
        more = {
            way: plain(named(heads[way.startswith(FLAG_OF)], choice_name(choice)))
            for way, choice in ways.items()
            if choice is not None
        }
        chosen = choose(_("Compare by"), {"four": _("Choices"), **more}, "own-way", address="way")
        if chosen.startswith(SCALE_OF):
            caption("Krippendorff's alpha takes the order of the points into account; the other measures do not.")
        return chosen
    names: dict[Way, str] = {
        "four": _("Four labels"),
        "three": _("Three: plural they as no pronoun"),
        "two": _("Two: misgendering or not"),
        "flag": _("Flag: extraneous gendered language"),
    }
    return choose(_("Compare by"), names, "way", address="way")


def chosen_report(store: Store, project: Project, way: Way) -> AgreementReport:
    """Return the report of the chosen items and version."""
    on = _chosen_items(store, project)
    whole = current_report(store, project, way, on)
    versions = [version for version, _measures in whole.by_version]
    if len(versions) < 2:
        return whole
    names = {"all": _("All versions")} | {str(version): _("Version {number}", number=version) for version in versions}
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
        warn(
            "Biased: items of this project get no more labels after a first reject, so only items"
            " that were accepted first are labelled twice. These numbers cannot be compared with"
            " those of other projects; use the random share.",
            icon=":material/warning:",
        )
    elif report.on == "share":
        text = _(
            "Items of this project get no more labels after a first reject. These numbers therefore"
            " cover the random share, which all annotators label regardless of the first label:"
            " {done} of its {all} items are fully labelled."
        )
        st.info(plain(text.format(done=f"{report.items:,}", all=f"{report.all_items:,}")), icon=":material/casino:")
    if report.version is not None:
        caption("Only labels made under version {number} of the guideline.", number=report.version)


def by_version(store: Store, project: Project, report: AgreementReport) -> None:
    """Show the measures under each version of the guideline, one row each; nothing where only one has labels."""
    if len(report.by_version) < 2:
        return
    st.header(_("By version of the guideline"))
    written = {guideline.version: day(guideline.created) for guideline in guidelines(store, project)}
    rows = [_version_row(version, written.get(version, ""), found) for version, found in report.by_version]
    show_records(rows)
    text = _(
        "Each row compares only labels made under this version; an item with labels of two versions"
        " counts in both rows, with its labels of each version. Full agreement covers only items"
        " with at least two blind labels."
    )
    caption_with_files(text, traced(_version_numbers(report), report), key="by-version-table")


def _version_row(version: int, written: str, measures: Measures) -> dict[str, object]:
    shares = ("unanimity", "pairwise")
    return {
        _("Version"): version,
        _("Written"): written,
        _("Items"): measures.items,
        _("Labels"): measures.labels,
        **{
            name: estimate_text(getattr(measures, field), percent=field in shares)
            for field, name in measure_names().items()
        },
    }


def _version_numbers(report: AgreementReport) -> list[dict[str, object]]:
    rows = []
    for version, measures in report.by_version:
        row: dict[str, object] = {"version": version, "items": measures.items, "labels": measures.labels}
        for field in measure_names():
            estimate: Estimate = getattr(measures, field)
            row |= {field: estimate.value, f"{field}_low": estimate.low, f"{field}_high": estimate.high}
        rows.append(row)
    return rows


def estimate_text(estimate: Estimate, *, percent: bool = False, signed: bool = False) -> str:
    """Return a measure with its interval in a cell of a table; a dash with the reason where it is undefined."""
    if estimate.value is None:
        return f"{DASH} {note_text(estimate.reason)}"
    form = POINTS if signed and percent else ("+" if signed else "") + ("z.1%" if percent else "z.2f")
    ends = clause(interval_or_reason(estimate, form if form == POINTS else form.removeprefix("+")))
    return in_brackets(number(estimate.value, form), ends)


def by_form(report: AgreementReport) -> None:
    """Accept rates of both forms, their difference, and the same for each annotator."""
    rates = report.by_form
    if rates is None or not report.labels:
        return
    st.header(_("By form shown"))
    if not rates.compared:
        st.caption(plain(note_text(rates.difference.reason)))
        _one_form(rates)
        return
    margin = margin_box("share", "by-form-margin")
    rows = [_row(_("Everybody"), rates, margin), *(_row(name, own, margin) for name, own in rates.annotators)]
    show_records(rows)
    text = _(
        "Masked − original in percentage points, with 95% intervals over items. Forms were not"
        " assigned at random, so a difference may also be due to annotators or time."
    )
    says = paragraph((_paired(rates.paired, margin), text, how_tested()))
    caption_with_files(says, traced(_numbers(rates, margin), report), key="by-form-table")


def _one_form(rates: DisplayRates) -> None:
    for form in rates.forms:
        if form.labels:
            text = _("{accepted} of {labels} labels are accept: {rate}.")
            values = {"accepted": f"{form.accepted:,}", "labels": f"{form.labels:,}"}
            st.caption(plain(text.format(rate=estimate_text(form.rate, percent=True), **values)))


def _paired(paired: Estimate, margin: float | None) -> str:
    if paired.value is None:
        return note_text(paired.reason)
    text = _("On the {items} items labelled on both forms: {difference}; compared with the margin: {answer}.")
    answer = against(equivalence(paired, margin), SIZE_IN_POINTS)
    return text.format(items=f"{paired.units:,}", difference=points(paired), answer=answer)


def points(estimate: Estimate) -> str:
    """Return a difference of two shares in percentage points, with its interval."""
    return estimate_text(estimate, percent=True, signed=True)


def _row(name: str, rates: DisplayRates, margin: float | None) -> dict[str, object]:
    counted = {"original": _("labels, original"), "masked": _("labels, masked")}
    shared = {"original": _("accepted, original"), "masked": _("accepted, masked")}
    kept: dict[str, object] = {shared[form.form]: estimate_text(form.rate, percent=True) for form in rates.forms}
    labels = {counted[form.form]: form.labels for form in rates.forms}
    apart = {_("Difference"): points(rates.difference)}
    apart[_("Against the margin")] = against(equivalence(rates.difference, margin), SIZE_IN_POINTS)
    return {_("Annotator"): name} | kept | apart | labels


def _numbers(rates: DisplayRates, margin: float | None) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for name, own in [("", rates), *rates.annotators]:
        row: dict[str, object] = {"annotator": name}
        for form in own.forms:
            row |= {
                f"{form.form}_labels": form.labels,
                f"{form.form}_items": form.items,
                f"{form.form}_accepted": form.accepted,
            }
            row |= _cells(f"{form.form}_rate", form.rate)
        row |= _cells("difference", own.difference) | _answer("difference", own.difference, margin)
        rows.append(row if name else row | _cells("same_items", own.paired) | _answer("same_items", own.paired, margin))
    return rows


def _answer(name: str, estimate: Estimate, margin: float | None) -> dict[str, object]:
    tested = equivalence(estimate, margin)
    return {"margin": margin, f"{name}_answer": tested.answer, f"{name}_smallest_shown": tested.smallest}


def _cells(name: str, estimate: Estimate) -> dict[str, object]:
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}


def show_left_chosen(store: Store, project: Project, report: AgreementReport) -> None:
    """Show the share for everybody and for each annotator; nothing in a project of single texts."""
    if not compares(store, project):
        return
    st.header(_("Left text chosen"))
    chosen = remembered(state(store), left_chosen, project)
    if chosen.share.value is None:
        st.caption(plain(note_text(chosen.share.reason)))
        return
    names = {} if may(store, "see_names", project) else pseudonyms(store, project)
    people = [(names.get(name, name), one) for name, one in chosen.by_annotator]
    show_records([_shown_share(_("Everybody"), chosen.share), *(_shown_share(*person) for person in people)])
    rows = traced([_share_row("", chosen.share), *(_share_row(*person) for person in people)], report)
    said = [
        _(
            "Share of labels that chose the left text, ties excluded. Sides are randomised for each annotator and item,"
            " so 50% is expected without position bias. 95% intervals over contexts."
        ),
        _("Ties: {ties}.", ties=f"{chosen.ties:,}"),
    ]
    if chosen.unknown:
        text = _("Labels from files that do not record which text was on the left: {number}.")
        said.append(text.format(number=f"{chosen.unknown:,}"))
    caption_with_files(paragraph(said), rows, key="left-table")


def _shown_share(name: str, one: Estimate) -> Mapping[str, object]:
    return {_("Annotator"): name, _("Left chosen"): estimate_text(one, percent=True), _("Labels"): one.units}


def _share_row(name: str, one: Estimate) -> dict[str, object]:
    return {"annotator": name, "left_chosen": one.value, "low": one.low, "high": one.high, "labels": one.units}
