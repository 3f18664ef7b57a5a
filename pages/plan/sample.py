"""What to label next: the open sample or a form that draws one, and how many labels each design needs."""

from typing import NamedTuple

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.judges import judges, state_of_judges
from evenhand.annotations.labels.generation_labels import measures_of
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.projects.steps import state
from evenhand.annotations.quantities.quantity import counted
from evenhand.annotations.sampling import samples
from evenhand.annotations.sampling.frame import ACCURACY, STRATA, Forecast, forecast, frame, free_items, plan_sample
from evenhand.annotations.types import Project
from evenhand.core.charts.lines import table as rows_of
from evenhand.core.charts.lines import widths
from evenhand.core.sampling.designs import BY_JUDGES, LEAST_SHARE, SHARE, SIZED, Design
from evenhand.core.sampling.labels_needed import Needed
from evenhand.pages.ui.charts import colours, show_chart
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import DASH, moment, note_text, number, percent
from evenhand.pages.ui.quantities import quantity_tile
from evenhand.pages.ui.sentences import names_of
from evenhand.pages.ui.tables import Tile, below, estimate_tile, number_columns, show_html, show_tiles, table
from evenhand.pages.ui.text import _, caption, in_brackets, paragraph, plain, series, show_signature, write
from evenhand.pages.ui.visitor import ask_author, asks, author, confirmed, errors_shown, remembered

USUAL = 200
SHOWN = (50, 100, 200, 400)  # sizes in the table


@asks("change_projects")
def show_sample(store: Store, project: Project) -> None:
    """Show the open sample or a form that draws one; then all samples."""
    going, available = samples.open_sample(store, project), free_items(store, project)
    st.header(_("What to label next"), anchor=False)
    if going is not None:
        _show_open(store, project, samples.state_of(store, going))
    else:
        write(
            "A sample determines which items are labelled, and with which probability. Each probability is"
            " stored before labelling and is used to weight the label, so a design that favours difficult"
            " items does not bias the rates. Until the sample is closed, desks hand out only its items, in"
            " random order."
        )
        _ask(store, project, available)
    _show_samples([samples.state_of(store, sample) for sample in samples.samples(store, project)])
    _show_rates(store, project)
    show_labels_needed(store, project, available, {one: design_name(one) for one in SIZED}, column_names())


def design_name(design: Design) -> str:
    """Return a design as the visitor reads it."""
    return {
        "simple": _("Simple random"),
        "stratified": _("Stratified"),
        "clusters": _("Proportional to context size"),
        "disagreement": _("Judge disagreement"),
        "variance": _("Minimum variance (Neyman)"),
        "quotas": _("Fill the quotas"),
    }[design]


def _meaning(design: Design) -> str:
    return {
        "simple": _("All items have the same probability."),
        "stratified": _("Every stratum gets the same number of items, so small groups also have precise rates."),
        "clusters": _(
            "Contexts are drawn systematically in proportion to their number of items, which spreads the"
            " sample over contexts: items of one context resemble each other."
        ),
        "disagreement": _(
            "Items on which judges disagree are drawn more often, to find hard items. A rate then has a much wider"
            " interval than from a stratified sample."
        ),
        "variance": _(
            "Items are drawn more often where people are expected to differ from the judges, by stratum and"
            " judge label. A rate then has a slightly wider interval than from a stratified sample."
        ),
        "quotas": _(
            "For each pair and side below its quota, as many sentences are drawn as it is expected to need."
            " Sentences most likely to be accepted, according to judges' labels and earlier samples, come"
            " first. The random part keeps the estimated acceptance rate unbiased."
        ),
    }[design]


def _ask(store: Store, project: Project, available: int) -> None:
    has_judges = any(judge.labels for judge in judges(store, project))
    offered = [one for one in SIZED if has_judges or one not in BY_JUDGES]
    if any(cell.quota for cell in counts(store, project).cells):
        offered.append("quotas")
    design = choose(_("Design"), {one: design_name(one) for one in offered}, "sample-design")
    st.caption(_meaning(design))
    if not has_judges:
        caption("Two more designs need labels of judges: run judges on the Judges page first.")
    by = _ask_strata(project, design) if design in ("stratified", "variance") else ()
    measures, measure, share = measures_of(store, project), "", SHARE
    if design in BY_JUDGES and len(measures) > 1:
        known = {"misgendering": _("Misgendering"), "extraneous": _("Extraneous gendered language")}
        names = names_of(store, project) | (known if "extraneous" in measures else {})
        measure = choose(_("Measure"), {one: names.get(one, one) for one in measures}, "sample-measure")
    caption("Items that can be drawn: {number}.", number=f"{available:,}")
    st.session_state.setdefault("sample-items", max(1, min(USUAL, available)))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        items = USUAL
        if design != "quotas":
            items = st.number_input(_("Items"), 1, 1_000_000, key="sample-items", width=160)
        if design not in ("simple", "clusters"):
            percentage = st.number_input(
                _("Random part of the probability (%)"), 100 * LEAST_SHARE, 100.0, 100 * SHARE, 5.0, format="%g",
                key="sample-share", width=260,
                help=_(
                    "Equal for all items, so that none has probability 0. A larger part makes the weights"
                    " more similar."),
            )  # fmt: skip
            share = round(percentage / 100, 6)
        ask_author(store, _("Drawn by"), persist_state="session", placeholder=_("Your name"), width=240)
        text = _(
            "Until the sample is closed, desks hand out only its items. The sample and its probabilities are"
            " stored permanently, and the method section describes them."
        )
        if confirmed(
            _("Draw the sample"), text, _("Draw it"), key="sample-start", icon=":material/casino:", primary=True
        ):
            _start(store, project, design, int(items), by, measure, share)


def column_names() -> dict[str, str]:
    """Return the columns of strata as the visitor reads them."""
    return {
        "model": _("model"), "pronoun": _("pronouns"), "setting": _("setting"), "dataset": _("data set"),
        "language": _("language"), "pair": _("keyword pair"), "side": _("side"),
    }  # fmt: skip


def _ask_strata(project: Project, design: Design) -> tuple[str, ...]:
    names = column_names()
    usual = list(STRATA[project.kind][:1]) if design == "stratified" else []
    st.session_state.setdefault(f"sample-by-{design}", usual)
    chosen = st.multiselect(
        _("Strata by"), STRATA[project.kind], format_func=names.__getitem__, key=f"sample-by-{design}",
        placeholder=_("Columns"),
    )  # fmt: skip
    return tuple(chosen)


@asks("change_projects")
def _start(
    store: Store, project: Project, design: Design, items: int, by: tuple[str, ...], measure: str, share: float
) -> None:
    with errors_shown():
        with st.spinner(_("Drawing the sample …"), show_time=False):
            planned = plan_sample(store, project, design, items, by=by, measure=measure, share=share)
            samples.start_sample(store, project, planned, author=author(store))
        st.rerun()


def _show_open(store: Store, project: Project, sample_state: samples.SampleState) -> None:
    sample = sample_state.sample
    with st.container(border=True):
        title = _("Sample {number} is open: {design}", number=sample.number, design=design_name(sample.design))
        st.markdown(f"**{plain(title)}**")
        with st.container(key="sample-figures"):
            drawn = _("Drawn from {frame} items.", frame=f"{sample_state.frame:,}")
            range_text = _("From {least} to {most}; stored {when}.").format(
                least=percent(sample_state.least), most=percent(sample_state.most), when=moment(sample.created)
            )
            show_tiles([
                quantity_tile("sample.drawn", counted(sample_state.drawn), drawn),
                quantity_tile("sample.labelled", counted(sample_state.labelled)),
                Tile(_("Inclusion probability"),
                percent(sample_state.drawn / sample_state.frame if sample_state.frame else None),
                     (range_text,)),
            ], 3)  # fmt: skip
        st.progress(min(1.0, sample_state.labelled / sample_state.drawn) if sample_state.drawn else 0.0)
        caption("Desks hand out only these items, in random order.")
        if "in_random_order" in sample.settings:
            text = _("In random order about {number} items would be needed for the same quotas.")
            st.caption(plain(text.format(number=f"{sample.settings['in_random_order']:,}")))
        if sample_state.labelled < sample_state.drawn:
            caption("If you close it now, the labelled items represent those still missing.")
        text = _(
            "Sample {number} ends with {labelled} of {drawn} items fully labelled. It cannot be reopened; its"
            " labels are weighted in all rates."
        )
        values = {"labelled": f"{sample_state.labelled:,}", "drawn": f"{sample_state.drawn:,}"}
        text = text.format(number=sample.number, **values)
        if confirmed(_("Close the sample"), text, _("Close it"), key="sample-close", icon=":material/check:"):
            _close(store, project)


@asks("change_projects")
def _close(store: Store, project: Project) -> None:
    with errors_shown():
        samples.close_sample(store, project, author=author(store))
        st.rerun()


def _show_samples(sample_states: list[samples.SampleState]) -> None:
    if not sample_states:
        caption("No sample was drawn here: rates treat the labelled items as a simple random sample of all items.")
        return
    heads = (_("Sample"), _("Design"), _("Items"), _("Fully labelled"), _("Inclusion probability"), _("State"))
    rows = [_row(sample_state) for sample_state in sample_states]
    with st.container(key="samples"):
        show_html(table(number_columns(heads, (2, 3, 4)), rows, kind="stacked"))
    show_signature("\n".join(sample_state.sample.signature for sample_state in sample_states))


def _show_rates(store: Store, project: Project) -> None:
    """Show what people say of the items that samples could draw and of those labelled before."""
    values = {
        one: rate for one, (rate, _effect) in samples.people_rates(store, project).items() if rate.value is not None
    }
    if not values:
        if samples.samples(store, project):
            caption("No sampled item is fully labelled, so all labels count, as a simple random sample of all items.")
        return
    known = {
        "misgendering": _("Misgendering"),
        "extraneous": _("Extraneous gendered language"),
        "accept": _("Accepted"),
    }
    names = names_of(store, project) | known
    meaning = _(
        "Items that samples could draw are weighted by inverse inclusion probability; items labelled before"
        " count once each."
    )
    with st.container(key="sample-rates"):
        show_tiles([estimate_tile(names.get(one, one), rate, meaning, "z.1%") for one, rate in values.items()], 3)


def _row(sample_state: samples.SampleState) -> list[str]:
    sample, by, names = sample_state.sample, sample_state.sample.settings.get("by") or [], column_names()
    design = design_name(sample.design)
    state = _("open") if sample.closed is None else _("closed {when}", when=moment(sample.closed))
    return [
        str(sample.number), in_brackets(design, series(names.get(entry, str(entry)) for entry in by)) if by else design,
        f"{sample_state.drawn:,} / {sample_state.frame:,}", f"{sample_state.labelled:,}",
        f"{percent(sample_state.least)} – {percent(sample_state.most)}", state,
    ]  # fmt: skip


def show_labels_needed(
    store: Store, project: Project, available: int, names: dict[str, str], columns: dict[str, str]
) -> None:
    """Ask for the wanted interval, the expected rates and the strata; after a press, show the table and the chart.
    *names*: of designs; *columns*: of strata."""
    st.header(_("How many labels are needed"), anchor=False)
    if not available:
        caption("No item is left to draw from.")
        return
    values = _ask_size(project, columns, has_judges=any(judge.labels for judge in judges(store, project)))
    if st.button(_("Simulate"), key="needed-start", icon=":material/query_stats:"):
        st.session_state["needed-asked"] = values
    if st.session_state.get("needed-asked") != values:
        caption("Draws simulated samples from this project by each design and measures the width of their intervals.")
        return
    with errors_shown():
        with st.spinner(_("Simulating samples …"), show_time=False):
            made = remembered((*state(store), *state_of_judges(store)), _forecast, project, values)
        _show(project, made, names)


class Wanted(NamedTuple):
    """The interval that is wanted and the rates that are expected; None: those of the judges' labels."""

    width: float
    by: tuple[str, ...]
    rate: float | None
    accuracy: float | None


def _ask_size(project: Project, columns: dict[str, str], *, has_judges: bool) -> Wanted:
    rate = accuracy = None
    ways = {"judges": _("From the judges' labels"), "assumed": _("From assumed rates")}
    way = choose(_("Expected labels"), ways, "needed-way") if has_judges else "assumed"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        width = 2 * _percent(_("Target half-width (points)"), 0.5, 25.0, 5.0, 0.5, "needed-width", 230)
        if way == "assumed":
            rate = _percent(_("Assumed rate (%)"), 0.5, 99.5, 20.0, 5.0, "needed-rate", 180)
            label = _("Judge accuracy (%)")
            accuracy = _percent(label, 50.0, 100.0, 100 * ACCURACY, 5.0, "needed-accuracy", 200)
    st.session_state.setdefault("needed-by", list(STRATA[project.kind][:1]))
    by = st.multiselect(
        _("Strata by"), STRATA[project.kind], format_func=columns.__getitem__, key="needed-by", placeholder=_("Columns")
    )
    return Wanted(width, tuple(by), rate, accuracy)


def _percent(label: str, least: float, most: float, value: float, step: float, key: str, width: int) -> float:
    """Return a number that is typed in percent, as a share of 1."""
    return st.number_input(label, least, most, value, step, format="%g", key=key, width=width) / 100


def _forecast(store: Store, project: Project, wanted: Wanted) -> Forecast:
    return forecast(frame(store, project), wanted.width, by=wanted.by, rate=wanted.rate, accuracy=wanted.accuracy)


def _show(project: Project, made: Forecast, names: dict[str, str]) -> None:
    sizes = [size for size in SHOWN if any(size in dict(needed.widths) for needed in made.needed)]
    heads = (_("Design"), _("Items needed"), _("Labels"), *(_("Width at n = {n}", n=f"{n:,}") for n in sizes))
    rows = [_needed_row(needed, project, names, sizes) for needed in made.needed]
    with st.container(key="labels-needed"):
        show_html(table(number_columns(heads, range(1, len(heads))), rows, kind="stacked"))
    rests = _("Rate by people and such a judge together.")
    if made.judge:
        rests = _("Rate by people and {judge} together.", judge=made.judge)
    about = _("Simulated on {simulated} of {of} items that can be drawn; median width of 95% intervals.")
    st.caption(plain(paragraph((rests, about.format(simulated=f"{made.simulated:,}", of=f"{made.of:,}")))))
    drawn = [needed for needed in made.needed if needed.widths]
    if drawn:
        says = _(
            "Width of the interval by number of labelled items, for each design; the thin line is the target width."
        )
        chart = widths(drawn, names, made.width, description=says, say=_, palette=colours())
        show_chart(chart, rows_of(drawn, names), key="labels-needed-chart", says=says)
    show_signature(made.signature)


def _needed_row(one: Needed, project: Project, names: dict[str, str], sizes: list[int]) -> list[str | Markup]:
    by_size = dict(one.widths)
    cells = [percent(by_size.get(size)) for size in sizes]
    if one.items is None:
        return [names[one.design], Markup("{}{}").format(DASH, below(note_text(one.reason))), DASH, *cells]
    about = below(_("extrapolated")) if one.beyond else ""
    return [
        names[one.design], Markup("{}{}").format(number(one.items, ",.0f"), about),
        number(one.items * project.per_item, ",.0f"), *cells,
    ]  # fmt: skip
