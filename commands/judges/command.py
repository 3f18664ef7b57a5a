"""`estimate`: a rate from labels of people and of a judge. `alt-test`: may the judge stand for an annotator?"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.judges.estimates import GROUPS, estimates
from evenhand.annotations.judges.judges import judge as find_judge
from evenhand.annotations.permissions import require
from evenhand.commands.permissions import acting_person, needs
from evenhand.commands.shared import answer, db_option, json_option, opened_project
from evenhand.core.errors import N_, BadLine, Refused
from evenhand.core.judges.alternative_annotator import FEWEST, LEVEL, Verdict, alternative_annotator_test
from evenhand.core.judges.label_tables import read_judge, read_people, read_rates
from evenhand.core.report.numbers import difference_in_points
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.prediction_powered import VERSION, Rates, prediction_powered
from evenhand.core.typed_json import to_json

SHARE = "share of items, with intervals over contexts"
TABLE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("estimate")
@click.option("--people", type=TABLE, help="Labels of people: a table with the columns item and label.")
@click.option("--judge", required=True, help="Labels of the judge, of these items and of further ones: a table. With"
                                             " --project, the name of a judge of it.")  # fmt: skip
@click.option("--clusters", help="The column, in both tables, of what belongs together, as the context of generations.")
@click.option("--inclusion", help="The column of --people with the probability with which an item was drawn.")
@click.option("--project", help="Instead of tables: the rates of this project, over contexts.")
@click.option(
    "--by", multiple=True, type=click.Choice(GROUPS), help="With --project: a rate for each; may be repeated."
)
@db_option
@json_option
@needs("measure")
def estimate(
    people: Path | None, judge: str, clusters: str | None, inclusion: str | None, project: str | None,
    by: tuple[str, ...], db: str, as_json: bool,
) -> None:  # fmt: skip
    """A rate from few labels of people and many of a judge, with 95% intervals.

    Labels are 0 and 1. `both` corrects the judge's rate by what people say of the items that both labelled, so it does
    not assume an accurate judge; `worth` is the effective sample size in human labels. Tables with --clusters: the mean
    over clusters of the share. --project: the share of items, as on the pages.
    """
    if project is not None:
        _of_project(db, project, judge, by, as_json=as_json)
        return
    if people is None or not Path(judge).is_file():
        raise Refused(N_("Give two tables, --people and --judge, or a project and the name of its judge."))
    given = read_rates(people, Path(judge), clusters, inclusion)
    say_errors(given.errors)
    rates = prediction_powered(given.labels)
    labels = given.labels
    data = {
        **rates_json(rates, len(labels.people), len(labels.further)),
        "without_judge": given.without_judge,
        "estimand": f"mean over {clusters} of the share" if clusters else "share of items",
        "errors": to_json(given.errors),
        "signature": f"prediction-powered-v{VERSION}|units={clusters or 'items'}|inclusion={inclusion or 'equal'}",
    }
    lines = [f"rate: {data['estimand']}", _in_words(rates, given.without_judge)]
    answer(data, "\n".join(lines), as_json=as_json)


def rates_json(rates: Rates, people: int, further: int, alone: int = 0) -> dict[str, Any]:
    """The three rates as JSON; how many items have labels of both, of the judge alone, of people alone."""
    return {
        "people": _estimate(rates.people, n=people + alone),
        "judge": _estimate(rates.judge, n=people + further),
        "both": _estimate(rates.both) | {"lambda": rates.weight, "worth": rates.worth},
        "further": further,
        "design_effect": rates.effect,
    }


def _of_project(db: str, project: str, name: str, by: tuple[str, ...], *, as_json: bool) -> None:
    """Every rate of a project with one judge, and the differences between its models."""
    with opened_project(db, project) as (store, of):
        require(acting_person(), "see_names", project=of.uid)
        found = estimates(store, of, find_judge(store, of, name))
    cells = {measure: found.cells(measure, by) for measure in found.measures}
    apart = {measure: found.differences(measure) for measure in found.measures}
    rows = [
        rates_json(one.rates, one.people, one.further, one.without_judge)
        | {"measure": one.measure, "without_judge": one.without_judge, "not_drawn": one.not_drawn,
           "earlier": one.earlier, "basis": " ".join(map(str, found.basis(one))), **dict(zip(by, one.key, strict=True))}
        for some in cells.values() for one in some
    ]  # fmt: skip
    differences = [
        {"measure": one.measure, "one": one.one, "other": one.other, "holm": one.stays,
         **{key: _estimate(getattr(one.rates, key)) for key in ("people", "judge", "both")},
         "worth": one.rates.worth}
        for some in apart.values() for one in some
    ]  # fmt: skip
    data = {"project": of.name, "judge": found.judge, "estimand": SHARE, "rates": rows, "differences": differences,
            "samples": list(found.samples), "signature": found.signature}  # fmt: skip
    lines = [
        f"{one.measure} {' / '.join(one.key)}".rstrip()
        + "\n" + _in_words(one.rates, one.without_judge, left_out=False)
        + "\n" + " ".join(map(str, found.basis(one)))
        for some in cells.values() for one in some
    ]  # fmt: skip
    lines = [f"rate: {SHARE}", *lines]
    lines += [
        f"{one.measure}: {one.one} less {one.other}  {difference_in_points(one.rates.both)}{'  *' if one.stays else ''}"
        for some in apart.values() for one in some
    ]  # fmt: skip
    answer(data, "\n".join(lines), as_json=as_json)


@click.command("alt-test")
@click.option("--people", type=TABLE, required=True, help="A table with the columns item, annotator and label.")
@click.option("--judge", type=TABLE, required=True, help="A table with the columns item and label.")
@click.option("--eps", type=click.FloatRange(0, 1), required=True,
              help="By how much the judge may be worse, chosen before looking: .2 beside experts, .15 beside skilled"
                   " people, .1 beside a crowd.")  # fmt: skip
@json_option
@needs("measure")
def alt_test(people: Path, judge: Path, eps: float, as_json: bool) -> None:
    """Can a judge replace an annotator? The alternative annotator test.

    For each annotator: does the judge agree with the others about as often as this annotator does? The judge passes
    where it wins against at least half of the annotators.
    """
    given, errors = read_people(people)
    labels, more = read_judge(judge)
    say_errors([*errors, *more])
    verdict = alternative_annotator_test(given, labels, eps)
    data = {
        **to_json(verdict),
        "errors": to_json([*errors, *more]),
        "signature": f"alternative-annotator-test|eps={eps:g}|level={LEVEL:g}|by|items>={FEWEST}",
    }
    answer(data, verdict_in_words(verdict), as_json=as_json)


def say_errors(errors: Iterable[BadLine]) -> None:
    """Each line that could not be used, on stderr."""
    for one in errors:
        click.echo(str(one), err=True)


def _estimate(found: Estimate, **more: Any) -> dict[str, Any]:
    return found.to_json() | {"units": found.units} | more


def _in_words(rates: Rates, without_judge: int, *, left_out: bool = True) -> str:
    lines = [f"{name:<7} {found.text('.3f', note=True)}" for name, found in
             (("people", rates.people), ("judge", rates.judge), ("both", rates.both))]  # fmt: skip
    if rates.weight is not None and rates.worth is not None:
        lines.append(f"lambda {rates.weight:.3f}; effective sample size {rates.worth:,.0f} human labels")
    if rates.effect is not None:
        lines.append(f"design effect of people's rate {rates.effect:.2f}")
    if without_judge:
        kept = "left out" if left_out else "counted in the rate of people only"
        lines.append(f"labelled by people, not by the judge, and {kept}: {without_judge:,}")
    return "\n".join(lines)


def verdict_in_words(verdict: Verdict) -> str:
    """The test, a line an annotator."""
    lines = []
    for one in verdict.annotators:
        if one.reason:
            lines.append(f"{one.annotator}: -  ({one.reason})")
        else:
            end = "the judge may stand for this annotator" if one.won else "not shown"
            lines.append(
                f"{one.annotator}: judge {one.judge_share:.3f}, annotator {one.own_share:.3f} on {one.items} items,"
                f" p {one.p:.4f}: {end}"
            )
    if verdict.winning_rate is None:
        return "\n".join([*lines, str(verdict.reason)])
    passes = "passes" if verdict.passes else "does not pass"
    lines.append(f"winning rate {verdict.winning_rate:.2f} ({passes}), advantage {verdict.advantage:.3f}")
    lines += [f"warning: {verdict.note}"] if verdict.note else []
    return "\n".join(lines)
