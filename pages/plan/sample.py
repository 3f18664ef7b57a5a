"""What to label next: the open sample or a form that draws one, the earlier samples."""

from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.judges import judges
from evenhand.annotations.labels.item_table import measures_of
from evenhand.annotations.projects.projects import counts, guidelines
from evenhand.annotations.sampling.frame import STRATA, free_items, plan_sample
from evenhand.annotations.sampling.samples import (
    SampleState,
    close_sample,
    open_sample,
    people_rates,
    samples,
    start_sample,
    state_of,
)
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.core.sampling.designs import BY_JUDGES, LEAST_SHARE, SHARE, SIZED, Design
from evenhand.pages.plan.labels_needed import show_labels_needed
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.guideline_html import names_of
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _
from evenhand.pages.ui.numbers import moment, percent
from evenhand.pages.ui.parts import asks, confirmed
from evenhand.pages.ui.tables import number_columns, show_html, table
from evenhand.pages.ui.text import in_brackets, plain, series, show_signature
from evenhand.pages.ui.tiles import Tile, estimate_tile, show_tiles
from evenhand.pages.ui.visitor import ask_author, author

USUAL = 200


@asks("change_projects")
def show_sample(store: Store, project: Project) -> None:
    """The open sample or a form that draws one; then all samples."""
    going = open_sample(store, project)
    st.subheader(_("What to label next"), anchor=False)
    if going is not None:
        _show_open(store, project, state_of(store, going))
    else:
        st.write(
            _(
                "A sample decides which items people label, and with which probability. The probability of each"
                " item is stored before it is labelled, and rates weigh each label by it: a design that looks"
                " for difficult items does not move them. Until the sample is closed, desks hand out only its items,"
                " in random order."
            )
        )
        _ask(store, project)
    _show_samples([state_of(store, one) for one in samples(store, project)])
    _show_rates(store, project)
    show_labels_needed(store, project, {one: design_name(one) for one in SIZED}, column_names())


def design_name(design: Design) -> str:
    """A design as the visitor reads it."""
    return {
        "simple": _("Simple random"),
        "stratified": _("Stratified"),
        "clusters": _("By size of context"),
        "disagreement": _("Judges disagree"),
        "variance": _("Least variance (Neyman)"),
        "quotas": _("Close the quotas"),
    }[design]


def _meaning(design: Design) -> str:
    return {
        "simple": _("All items have the same probability."),
        "stratified": _("Every stratum gets the same number of items, so small groups have exact rates too."),
        "clusters": _(
            "Contexts are drawn in proportion to how many items they have, each once before any twice: items of"
            " one context resemble each other."
        ),
        "disagreement": _("Items on which judges differ are drawn more often."),
        "variance": _(
            "Strata, and labels of judges within them, where people are expected to differ from the judges are"
            " drawn more often: for a rate by both together this needs the fewest labels."
        ),
        "quotas": _(
            "Of each pair and side that lacks sentences, as many as its quota is expected to need: those that are"
            " most likely to be kept come first, by the labels of judges and by what was kept of earlier samples. The"
            " random part keeps the rate of kept sentences free of bias."
        ),
    }[design]


def _ask(store: Store, project: Project) -> None:
    has_judges = any(one.labels for one in judges(store, project))
    offered = [one for one in SIZED if has_judges or one not in BY_JUDGES]
    if any(one.quota for one in counts(store, project).cells):
        offered.append("quotas")
    design = choose(_("Design"), {one: design_name(one) for one in offered}, "sample-design")
    st.caption(_meaning(design))
    if not has_judges:
        st.caption(_("Two more designs need labels of judges: run judges on the Judges page first."))
    asked: dict[str, Any] = _ask_strata(project, design) if design in ("stratified", "variance") else {}
    measures = measures_of(store, project)
    if design in BY_JUDGES and len(measures) > 1:
        known = {"misgendering": _("Misgendering"), "extraneous": _("Extraneous gendered language")}
        names = names_of(guidelines(store, project)) | (known if "extraneous" in measures else {})
        asked["measure"] = choose(_("Measure"), {one: names.get(one, one) for one in measures}, "sample-measure")
    available = free_items(store, project)
    st.caption(plain(_("Items that can be drawn: {number}.").format(number=f"{available:,}")))
    st.session_state.setdefault("sample-items", max(1, min(USUAL, available)))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        items = USUAL
        if design != "quotas":
            items = st.number_input(_("Items"), 1, 1_000_000, key="sample-items", width=160)
        if design not in ("simple", "clusters"):
            share = st.number_input(
                _("Random part of the probability (%)"), 100 * LEAST_SHARE, 100.0, 100 * SHARE, 5.0, format="%g",
                key="sample-share", width=260,
                help=_("Equal for all items, so that none has probability 0. A large part makes weights more alike."),
            )  # fmt: skip
            asked["share"] = round(share / 100, 6)
        ask_author(store, _("Who draws it"), persist_state="session", placeholder=_("Your name"), width=240)
        text = _(
            "Until the sample is closed, desks hand out only the items it draws. The sample and its probabilities are"
            " stored permanently, and the method section describes it."
        )
        if confirmed(
            _("Draw the sample"), text, _("Draw it"), key="sample-start", icon=":material/casino:", primary=True
        ):
            _start(store, project, design, int(items), asked)


def column_names() -> dict[str, str]:
    """The columns of strata as the visitor reads them."""
    return {
        "model": _("model"), "pronoun": _("pronouns"), "setting": _("setting"), "dataset": _("data set"),
        "language": _("language"), "pair": _("keyword pair"), "side": _("side"),
    }  # fmt: skip


def _ask_strata(project: Project, design: Design) -> dict[str, Any]:
    names = column_names()
    usual = list(STRATA[project.kind][:1]) if design == "stratified" else []
    st.session_state.setdefault(f"sample-by-{design}", usual)
    chosen = st.multiselect(
        _("Strata by"), STRATA[project.kind], format_func=names.__getitem__, key=f"sample-by-{design}",
        placeholder=_("Columns"),
    )  # fmt: skip
    return {"by": tuple(chosen)}


@asks("change_projects")
def _start(store: Store, project: Project, design: Design, items: int, asked: dict[str, Any]) -> None:
    try:
        with st.spinner(_("Drawing the sample …"), show_time=False):
            start_sample(store, project, plan_sample(store, project, design, items, **asked), author=author(store))
    except EvenhandError as error:
        show_error(error)
    else:
        st.rerun()


def _show_open(store: Store, project: Project, found: SampleState) -> None:
    sample = found.sample
    with st.container(border=True):
        title = _("Sample {number} is open: {design}").format(number=sample.number, design=design_name(sample.design))
        st.markdown(f"**{plain(title)}**")
        with st.container(key="sample-figures"):
            drawn = _("Drawn of {frame} items.").format(frame=f"{found.frame:,}")
            range_text = _("From {least} to {most}; stored {when}.").format(
                least=percent(found.least), most=percent(found.most), when=moment(sample.created)
            )
            show_tiles([
                Tile(_("Items"), f"{found.drawn:,}", (drawn,)),
                Tile(_("Labelled in full"), f"{found.labelled:,}", (_("Items that need no more labels."),)),
                Tile(_("Inclusion probability"), percent(found.drawn / found.frame if found.frame else None),
                     (range_text,)),
            ], 3)  # fmt: skip
        st.progress(min(1.0, found.labelled / found.drawn) if found.drawn else 0.0)
        st.caption(_("Desks hand out only these items, in random order."))
        if "in_random_order" in sample.settings:
            text = _("In random order about {number} items would be needed for the same quotas.")
            st.caption(plain(text.format(number=f"{sample.settings['in_random_order']:,}")))
        if found.labelled < found.drawn:
            st.caption(_("If you close it now, the labelled items stand for those that are missing."))
        text = _(
            "Sample {number} ends with {labelled} of {drawn} items labelled in full. It cannot be reopened, and rates"
            " weigh these labels."
        )
        values = {"labelled": f"{found.labelled:,}", "drawn": f"{found.drawn:,}"}
        text = text.format(number=sample.number, **values)
        if confirmed(_("Close the sample"), text, _("Close it"), key="sample-close", icon=":material/check:"):
            _close(store, project)


@asks("change_projects")
def _close(store: Store, project: Project) -> None:
    try:
        close_sample(store, project, author=author(store))
    except EvenhandError as error:
        show_error(error)
    else:
        st.rerun()


def _show_samples(found: list[SampleState]) -> None:
    if not found:
        st.caption(_("No sample was drawn here: rates take the labelled items for a simple random sample of all."))
        return
    heads = (_("Sample"), _("Design"), _("Items"), _("Labelled in full"), _("Inclusion probability"), _("State"))
    rows = [_row(one) for one in found]
    with st.container(key="samples"):
        show_html(table(number_columns(heads, (2, 3, 4)), rows, kind="stacked"))
    show_signature("\n".join(one.sample.signature for one in found))


def _show_rates(store: Store, project: Project) -> None:
    """Show what people say of the items that samples could draw and of those labelled before."""
    found = {one: rate for one, (rate, _effect) in people_rates(store, project).items() if rate.value is not None}
    if not found:
        if samples(store, project):
            st.caption(
                _("No drawn item is labelled in full: all labels count, as a simple random sample of all items.")
            )
        return
    known = {"misgendering": _("Misgendering"), "extraneous": _("Extraneous gendered language"), "accept": _("Kept")}
    names = names_of(guidelines(store, project)) | known
    meaning = _(
        "Of items that samples could draw, weighed by inclusion probability, and of items labelled before, once each."
    )
    with st.container(key="sample-rates"):
        show_tiles([estimate_tile(names.get(one, one), rate, meaning, "z.1%") for one, rate in found.items()], 3)


def _row(found: SampleState) -> list[str]:
    sample, by, names = found.sample, found.sample.settings.get("by") or [], column_names()
    design = design_name(sample.design)
    state = _("open") if sample.closed is None else _("closed {when}").format(when=moment(sample.closed))
    return [
        str(sample.number), in_brackets(design, series(names.get(one, str(one)) for one in by)) if by else design,
        f"{found.drawn:,} / {found.frame:,}", f"{found.labelled:,}",
        f"{percent(found.least)} – {percent(found.most)}", state,
    ]  # fmt: skip
