"""`sampling`: draw items for people to label, with the inclusion probability of each stored before it is labelled."""

import click

from evenhand.annotations.sampling.samples import (
    Sample,
    SampleState,
    close_sample,
    people_rates,
    samples,
    start_sample,
    state_of,
)
from evenhand.commands.permissions import guarded
from evenhand.commands.shared import answer, opened_project, option, table
from evenhand.core.errors import N_, Refused
from evenhand.core.sampling.designs import DESIGNS, LEAST_SHARE, SHARE, Design
from evenhand.core.types import JsonObject

NO_SAMPLE = "No sample: the labels of this project count as a simple random one."
UNLABELLED = "No drawn item is labelled in full: all labels of this project count, as a simple random sample."
BY_WEIGHT = "Drawn items count by their inclusion probability, items labelled before a sample once each."
AUTHOR = option("--author", default="", help="Who does it; kept in the record.")


@click.group()
def sampling() -> None:
    """Choose the items that people label next: samples with stored probabilities, which weight the estimates."""


@sampling.command()
@click.argument("name", metavar="PROJECT")
@option("--design", type=click.Choice(DESIGNS), default="simple", help="How items are drawn.")
@option("--items", type=click.IntRange(1), help="Number of items; not with quotas, which determine it.")
@option("--share", type=click.FloatRange(LEAST_SHARE, 1), default=SHARE,
        help="Share of the probability that is the same for every item, 0 to 1.")  # fmt: skip
@option("--by", multiple=True, help="A column of the strata, such as model; may be repeated.")
@option("--measure", default="", help="What the designs by judges' labels look at (default: the first).")
@option("--judge", "judges", multiple=True, help="Only these judges; may be repeated.")
@AUTHOR
@guarded("change_projects", "name")
def start(
    name: str, design: Design, items: int | None, share: float, by: tuple[str, ...], measure: str,
    judges: tuple[str, ...], author: str, db: str,
) -> None:  # fmt: skip
    """Draw a sample of PROJECT; until it is closed nothing else is handed out, in random order.

    simple: all items alike. stratified: every stratum of --by gets as many items. clusters: contexts in proportion to
    their size, each once before any twice. disagreement: items on which judges differ more often. variance: strata in
    which people differ from judges more often (Neyman). quotas: of sentences, those most likely to be accepted first,
    as many as the quotas of pairs and sides are expected to need.
    """
    if items is None and design != "quotas":
        raise Refused(N_("Give the number of items to draw."))
    from evenhand.annotations.sampling.frame import plan_sample

    with opened_project(db, name) as (store, project):
        planned = plan_sample(store, project, design, items or 0, share=share, by=by, measure=measure, judges=judges)
        made = state_of(store, start_sample(store, project, planned, author=author))
    answer({"project": project.name} | sample_json(made), _line(made))


@sampling.command()
@click.argument("name", metavar="PROJECT")
@AUTHOR
@guarded("change_projects", "name")
def close(name: str, author: str, db: str) -> None:
    """End the open sample of PROJECT: all items are handed out again. Its labels and probabilities stay."""
    with opened_project(db, name) as (store, project):
        ended = state_of(store, close_sample(store, project, author=author))
    answer({"project": project.name} | sample_json(ended), _line(ended))


@sampling.command()
@click.argument("name", metavar="PROJECT")
@guarded("see_names", "name")
def show(name: str, db: str) -> None:
    """List the samples of PROJECT."""
    with opened_project(db, name) as (store, project):
        states = [state_of(store, sample) for sample in samples(store, project)]
        rates = people_rates(store, project)
        basis = BY_WEIGHT if rates else UNLABELLED if states else NO_SAMPLE
    lines = [*map(_line, states), basis]
    lines.append(table([(f"{measure}, by people", rate) for measure, (rate, _effect) in rates.items()]))
    data = {one: rate.to_json() | {"design_effect": effect} for one, (rate, effect) in rates.items()}
    answer({"project": project.name, "samples": list(map(sample_json, states)), "rates": data, "basis": basis}, lines)


@sampling.command()
@click.argument("name", metavar="PROJECT")
@option("--width", type=click.FloatRange(0.001, 0.9), default=0.1,
        help="Width of the wanted interval, from its low to its high end, 0 to 1.")  # fmt: skip
@option("--by", multiple=True, help="A column of the strata; may be repeated.")
@option("--share", type=click.FloatRange(LEAST_SHARE, 1), default=SHARE,
        help="Share of the probability that is the same for every item, 0 to 1.")  # fmt: skip
@option("--measure", default="", help="What is estimated (default: the first measure).")
@option("--judge", "judges", multiple=True, help="Only these judges; may be repeated.")
@option("--rate", type=click.FloatRange(0, 1), help="Assumed rate, instead of the judges' labels.")
@option(
    "--accuracy",
    type=click.FloatRange(0, 1),
    help="Assumed accuracy of the judge, instead of the estimate from its labels.",
)
@guarded("change_projects", "name")
def needed(
    name: str, width: float, by: tuple[str, ...], share: float, measure: str, judges: tuple[str, ...],
    rate: float | None, accuracy: float | None, db: str,
) -> None:  # fmt: skip
    """Simulate how many items of PROJECT each design needs for an interval of --width, before any are drawn.

    It uses the labels of judges, or an assumed rate with a judge of an assumed accuracy (or none).
    """
    from evenhand.annotations.sampling.frame import forecast, frame

    with opened_project(db, name) as (store, project):
        of = frame(store, project, measure=measure, judges=judges)
        made = forecast(of, width, by=by, share=share, rate=rate, accuracy=accuracy)
    rows = [
        {"design": one.design, "items": one.items, "labels": one.items and one.items * project.per_item,
         "extrapolated": one.beyond, "reason": str(one.reason) if one.reason else None,
         "widths": [{"items": size, "width": wide} for size, wide in one.widths]}
        for one in made.needed
    ]  # fmt: skip
    lines = [f"interval of {width:g}, of {made.of:,} items ({made.simulated:,} simulated), {made.signature}"]
    designs = [
        (row["design"], row["items"], row["labels"], row["reason"] or ("extrapolated" if row["extrapolated"] else ""))
        for row in rows
    ]
    lines.append(table(designs, ["design", "items", "labels"]))
    data = {"project": project.name, "width": width, "of": made.of, "simulated": made.simulated, "judge": made.judge,
            "designs": rows, "signature": made.signature}  # fmt: skip
    answer(data, lines)


def sample_json(state: SampleState) -> JsonObject:
    """Return a sample as JSON."""
    sample = state.sample
    return {
        "number": sample.number, "design": sample.design, "items": sample.items, "share": sample.share,
        **{key: value for key, value in sample.settings.items() if value}, "frame": state.frame,
        "labelled": state.labelled, "aside": state.aside, "least": state.least, "most": state.most,
        "created": sample.created, "closed": sample.closed, "signature": sample.signature,
    }  # fmt: skip


def _line(state: SampleState) -> str:
    sample: Sample = state.sample
    how = "open" if sample.closed is None else "closed"
    by = f" by {', '.join(sample.settings.get('by', []))}" if sample.settings.get("by") else ""
    return (
        f"Sample {sample.number}, {how}: {sample.design}{by}, {sample.items:,} of {state.frame:,} items,"
        f" probability {state.least:.4f} to {state.most:.4f}; {state.labelled:,} labelled in full; {sample.signature}"
    )
