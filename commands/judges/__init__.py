"""`judge`: judges label as people do. `estimate`: a rate from labels of both. `alt-test`: may a judge replace one?"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.judges import judges as records
from evenhand.annotations.judges.against_people import BY, against_people, drift
from evenhand.annotations.judges.estimates import GROUPS, estimates
from evenhand.annotations.judges.job_kinds import (
    AgainSettings,
    ImportSettings,
    RunSettings,
    WhichJudge,
    import_labels,
    label,
    label_again,
)
from evenhand.annotations.judges.judges import Judge
from evenhand.annotations.judges.judges import judge as find_judge
from evenhand.annotations.judges.run import Forecast, JudgeReport
from evenhand.annotations.judges.run import forecast as forecast_of
from evenhand.annotations.permissions import require
from evenhand.commands.permissions import acting_person, guarded, needs
from evenhand.commands.shared import Meter, answer, json_option, opened_project, option, options, settings_from, table
from evenhand.core.errors import N_, BadLine, Refused
from evenhand.core.judges.alternative_annotator import FEWEST, LEVEL, AltTestResult, alternative_annotator_test
from evenhand.core.judges.label_tables import read_judge, read_people, read_rates
from evenhand.core.judges.prompts import SYSTEM, default_template
from evenhand.core.language import p_value
from evenhand.core.report.numbers import difference_in_points
from evenhand.core.runs.kinds import Place
from evenhand.core.servers.addresses import place_of
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.prediction_powered import VERSION, Rates, prediction_powered
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

SHARE = "share of items, with intervals over contexts"
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("estimate")
@option("--people", type=FILE, help="Labels of people: a table with the columns item and label.")
@option("--judge", required=True, help="Labels of the judge, of these items and of further ones: a table. With"
                                             " --project, the name of a judge of it.")  # fmt: skip
@option("--clusters", help="The column in both tables that groups items, as the context of generations.")
@option("--inclusion", help="The column of --people with the probability with which an item was drawn.")
@option("--project", help="Instead of tables: the rates of this project, over contexts.")
@option(
    "--by", multiple=True, type=click.Choice(GROUPS), help="With --project: a rate for each value; may be repeated."
)
@guarded("measure")
def estimate(
    people: Path | None, judge: str, clusters: str | None, inclusion: str | None, project: str | None,
    by: tuple[str, ...], db: str,
) -> None:  # fmt: skip
    """Estimate a rate from few labels of people and many of a judge, with 95% intervals.

    Labels are 0 and 1. `both` corrects the judge's rate by the labels of people on items that both labelled, so it does
    not assume an accurate judge; `worth` is the effective sample size in human labels. Tables with --clusters: the mean
    over clusters of the share. --project: the share of items, as on the pages.
    """
    if project is not None:
        _of_project(db, project, judge, by)
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
    answer(data, "\n".join(lines))


def rates_json(rates: Rates, people: int, further: int, alone: int = 0) -> JsonObject:
    """Return the three rates as JSON, and the numbers of labels of people and of the judge behind them."""
    return {
        "people": _estimate(rates.people, n=people + alone),
        "judge": _estimate(rates.judge, n=people + further),
        "both": _estimate(rates.both) | {"lambda": rates.weight, "worth": rates.worth},
        "further": further,
        "design_effect": rates.effect,
    }


def _of_project(db: str, project: str, name: str, by: tuple[str, ...]) -> None:
    """Print every rate of a project with one judge, and the differences between its models."""
    with opened_project(db, project) as (store, of):
        require(acting_person(), "see_names", project=of.uid)
        found = estimates(store, of, find_judge(store, of, name))
    cells = {measure: found.cells(measure, by) for measure in found.measures}
    apart = {measure: found.differences(measure) for measure in found.measures}
    rows = [
        rates_json(rate_cell.rates, rate_cell.people, rate_cell.further, rate_cell.without_judge)
        | {"measure": rate_cell.measure, "without_judge": rate_cell.without_judge, "not_drawn": rate_cell.not_drawn,
           "earlier": rate_cell.earlier, "basis": " ".join(map(str, found.basis(rate_cell))), **dict(zip(by,
           rate_cell.key, strict=True))}
        for some in cells.values() for rate_cell in some
    ]  # fmt: skip
    differences = [
        {"measure": model_difference.measure, "one": model_difference.one, "other": model_difference.other,
        "holm": model_difference.stays,
         **{key: _estimate(getattr(model_difference.rates, key)) for key in ("people", "judge", "both")},
         "worth": model_difference.rates.worth}
        for some in apart.values() for model_difference in some
    ]  # fmt: skip
    data = {"project": of.name, "judge": found.judge, "estimand": SHARE, "rates": rows, "differences": differences,
            "samples": list(found.samples), "signature": found.signature}  # fmt: skip
    lines = [
        f"{rate_cell.measure} {' / '.join(rate_cell.key)}".rstrip()
        + "\n" + _in_words(rate_cell.rates, rate_cell.without_judge, left_out=False)
        + "\n" + " ".join(map(str, found.basis(rate_cell)))
        for some in cells.values() for rate_cell in some
    ]  # fmt: skip
    lines = [f"rate: {SHARE}", *lines]
    lines += [
        f"{gap.measure}: {gap.one} less {gap.other}  {difference_in_points(gap.rates.both)}{'  *' if gap.stays else ''}"
        for some in apart.values() for gap in some
    ]  # fmt: skip
    answer(data, "\n".join(lines))


@click.command("alt-test")
@option("--people", type=FILE, required=True, help="A table with the columns item, annotator and label.")
@option("--judge", type=FILE, required=True, help="A table with the columns item and label.")
@option("--eps", type=click.FloatRange(0, 1), required=True,
        help="By how much the judge may be worse than people, chosen before looking: experts .2, skilled"
                   " people .15, a crowd .1.")  # fmt: skip
@json_option
@needs("measure")
def alt_test(people: Path, judge: Path, eps: float) -> None:
    """Test whether a judge can replace an annotator, by the alternative annotator test.

    The judge wins against an annotator if it agrees with the others about as often as this annotator does. It passes
    if it wins against at least half of the annotators.
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
    answer(data, verdict_in_words(verdict))


def say_errors(errors: Iterable[BadLine]) -> None:
    """Print each line that could not be used, on stderr."""
    for error in errors:
        click.echo(str(error), err=True)


def _estimate(found: Estimate, **more: Any) -> JsonObject:
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


def verdict_in_words(verdict: AltTestResult) -> str:
    """Return the test in words, one line per annotator."""
    lines = []
    for annotator in verdict.annotators:
        if annotator.reason:
            lines.append(f"{annotator.annotator}: -  ({annotator.reason})")
        else:
            end = "the judge may stand for this annotator" if annotator.won else "not shown"
            lines.append(
                f"{annotator.annotator}: judge {annotator.judge_share:.3f}, annotator {annotator.own_share:.3f}"
                f" on {annotator.items} items, p {p_value(annotator.p)}: {end}"
            )
    if verdict.winning_rate is None:
        return "\n".join([*lines, str(verdict.reason)])
    passes = "passes" if verdict.passes else "does not pass"
    lines.append(f"winning rate {verdict.winning_rate:.2f} ({passes}), advantage {verdict.advantage:.3f}")
    lines += [f"warning: {verdict.note}"] if verdict.note else []
    return "\n".join(lines)


NO_TEST = "No eps was recorded for this judge: judge eps PROJECT NAME EPS."
AUTHOR = option("--author", default="", help="Who does it; kept in the record.")


@click.group()
def judge() -> None:
    """Let judges label in addition to people: the pronoun rule, a model, a server, a file."""


# Which judge, for `run` and `forecast`.
_which_judge = options(
    option("--rule", is_flag=True, help="The first-pronoun rule."),
    option("--model", default="", help="A causal model: built in, on the hub, a folder; or on the server."),
    option("--server", default="", help="An OpenAI-compatible server; its key: EVENHAND_API_KEY."),
    option("--name", default="", help="The name of the judge; default: that of the model."),
    option("--prompt", type=FILE, help="A file with the prompt; see `judge prompt`."),
    option("--system", type=FILE, help="A file with the system message."),
    option("--examples", type=FILE, help="A file with examples, put in place of {examples}."),
    option("--known-examples", "known", type=click.IntRange(0, 100), default=0,
           help="Draw this many known answers as examples, balanced by choice; they are not compared later."),
    option("--examples-seed", "known_seed", type=click.IntRange(0), default=42, help="Start of the draw of examples."),
    option("--log-probabilities", is_flag=True, help="Server: the probability of each choice's letter."),
    option("--guideline", "version", type=click.IntRange(1), help="Version of the guideline; default: the newest."),
    option("--samples", type=click.IntRange(1, 100), default=1, help="Server: answers to each text."),
    option("--temperature", type=click.FloatRange(0, 5), default=0.0),
    option("--top-p", type=click.FloatRange(0, 1, min_open=True), default=1.0),
    option("--tokens", type=click.IntRange(1, 8192), default=300, help="Maximum number of tokens in an answer."),
    option("--seed", type=click.IntRange(0), default=42, help="The seed of the first sample."),
    option("--constraint", type=click.Choice(["schema", "object", "none"]), default="schema",
           help="Server: how the form of an answer is requested."),
    option("--limit", type=click.IntRange(1), help="Only this many items, drawn at random."),
    option("--at-once", type=click.IntRange(1, 512), default=8, help="Server: concurrent requests."),
    option("--per-minute", type=click.FloatRange(0, min_open=True), help="Server: requests per minute."),
)  # fmt: skip


@judge.command("run")
@click.argument("project")
@_which_judge
@option("--eps", type=click.FloatRange(0, 1), help="The eps of the alternative annotator test, recorded first.")
@option("--no-key", is_flag=True, help="Server: send no key, even if the environment has one.")
@AUTHOR
@guarded("change_projects", "project")
def run(db: str, **options: Any) -> None:
    """Let a judge label the items of PROJECT: --rule, --model NAME, or --server ADDRESS --model NAME.

    The same command continues where an earlier one stopped; with another prompt, model or setting it is another judge.
    """
    with Meter("texts") as meter:
        report = label(settings_from(RunSettings, options), Place(Path(db), meter))
    answer(report, _labelled_text(report))


def _labelled_text(report: JudgeReport) -> str:
    before = f" ({report.before:,} were there)" if report.before else ""
    lines = [
        f"{report.judge.name}: {report.labelled:,} labels of {report.total:,} items{before} in {report.seconds:.1f} s"
    ]
    if report.failed:
        lines.append(f"  {report.failed:,} texts without a label, the last because: {report.last}")
    return "\n".join([*lines, f"  {report.signature}"])


@judge.command("again")
@click.argument("project")
@click.argument("name")
@option("--number", type=click.IntRange(1), default=100, help="Items, drawn at random.")
@option("--at-once", type=click.IntRange(1, 512), default=8)
@option("--per-minute", type=click.FloatRange(0, min_open=True))
@option("--no-key", is_flag=True, help="Server: send no key.")
@AUTHOR
@guarded("change_projects", "project")
def again(db: str, **options: Any) -> None:
    """Ask the judge NAME a second time about items that it has labelled, to measure drift. Its labels stay."""
    with Meter("texts") as meter:
        report = label_again(settings_from(AgainSettings, options), Place(Path(db), meter))
    answer(report, _labelled_text(report))


@judge.command("import")
@click.argument("project")
@click.argument("file", type=FILE)
@option("--name", required=True, help="The name of the judge; a further file under it adds missing labels.")
@option("--guideline", "version", type=click.IntRange(1), help="Version of the guideline; default: the newest.")
@AUTHOR
@guarded("change_projects", "project")
def import_file(db: str, **options: Any) -> None:
    """Import labels of a judge from FILE (CSV, TSV, JSON lines): columns item and label; extraneous, spans, shares."""
    stored_judge, report = import_labels(settings_from(ImportSettings, options), Place(Path(db)))
    say_errors(report.errors[:20])
    counts = f"{report.imported:,} labels, {report.duplicates:,} were there, {report.rejected:,} unusable"
    text = f"{stored_judge.name}: {counts}"
    answer({"judge": stored_judge.name, **to_json(report)}, text)


@judge.command("list")
@click.argument("project")
@guarded("change_projects", "project")
def list_judges(project: str, db: str) -> None:
    """List the judges of PROJECT, the oldest first."""
    with opened_project(db, project) as (store, of):
        judges = records.judges(store, of)
    lines = [
        f"{stored_judge.name}: {stored_judge.labels:,} labels, {stored_judge.spec.signature}" for stored_judge in judges
    ]
    answer({"judges": [row_of(stored_judge) for stored_judge in judges]}, "\n".join(lines) or "There is no judge.")


def row_of(stored_judge: Judge) -> JsonObject:
    """Return a judge as JSON."""
    spec = stored_judge.spec
    return {
        "judge": stored_judge.name,
        "kind": spec.kind,
        "labels": stored_judge.labels,
        "guideline": spec.guideline,
        "model": spec.model,
        "server": place_of(spec.address) if spec.address else "",
        "system": spec.system,
        "prompt": spec.prompt,
        "settings": spec.settings,
        "eps": stored_judge.eps,
        "eps_labels": stored_judge.eps_labels,
        "eps_chosen": stored_judge.eps_chosen,
        "hash": spec.hash,
        "signature": spec.signature,
        "created": stored_judge.created,
    }


@judge.command("failures")
@click.argument("project")
@click.argument("name")
@guarded("change_projects", "project")
def list_failures(project: str, name: str, db: str) -> None:
    """List the items that the judge NAME could not label, each with the last reason.

    `run` asks a server for them again; a rule or a model cannot label them (`final`).
    """
    with opened_project(db, project) as (store, of):
        failures = records.failures(store, records.judge(store, of, name))
    text = table([(failure.item, failure.reason) for failure in failures]) or "Nothing failed."
    answer({"failures": failures}, text)


@judge.command("eps")
@click.argument("project")
@click.argument("name")
@click.argument("eps", type=click.FloatRange(0, 1))
@AUTHOR
@guarded("change_projects", "project")
def eps(project: str, name: str, eps: float, author: str, db: str) -> None:
    """Record by how much the judge NAME may be worse than an annotator, once and before looking: .2 experts, .1 a
    crowd."""
    with opened_project(db, project) as (store, of):
        margin = records.choose_margin(store, of, records.judge(store, of, name), eps, author=author)
    text = f"{margin.name}: eps {margin.eps:g}, recorded when it had given {margin.eps_labels:,} labels"
    answer(row_of(margin), text)


@judge.command("prompt")
@click.argument("kind", type=click.Choice(["generations", "sentences"]), default="generations")
@option("--short", is_flag=True, help="For small models: without the text of the guideline.")
@json_option
@needs("measure")
def prompt(kind: str, short: bool) -> None:
    """Print the built-in prompt, to change it and give it to `judge run --prompt`. {text} must stay."""
    text = default_template(kind, short=short)
    digest = hashlib.sha256(text.encode()).hexdigest()
    answer({"prompt": text, "system": "" if short else SYSTEM, "sha256": digest}, text)


@judge.command("forecast")
@click.argument("project")
@_which_judge
@option("--price-in", type=click.FloatRange(0), help="Price of a million tokens of prompts.")
@option("--price-out", type=click.FloatRange(0), help="Price of a million tokens of answers.")
@guarded("change_projects", "project")
def forecast(project: str, price_in: float | None, price_out: float | None, db: str, **options: Any) -> None:
    """Forecast the cost and time of `judge run` with the same options, without asking a server or loading a model."""
    with opened_project(db, project) as (store, of):
        request = settings_from(WhichJudge, {"project": project, **options}).request()
        work_forecast = forecast_of(store, of, request, price_in=price_in, price_out=price_out)
    answer(work_forecast, _forecast_in_words(work_forecast))


def _forecast_in_words(work_forecast: Forecast) -> str:
    parts = [
        f"{work_forecast.texts:,} texts, {work_forecast.requests:,} requests,"
        f" about {work_forecast.tokens_in:,.0f} tokens sent and {work_forecast.tokens_out:,.0f} answered"
    ]
    parts += (
        [f"about {work_forecast.seconds:,.0f} s"]
        if work_forecast.seconds is not None
        else ["time: known once it has begun"]
    )
    parts += [f"cost {work_forecast.cost:,.2f}"] if work_forecast.cost is not None else []
    return "; ".join([*parts, json.dumps({"measured": work_forecast.measured})])


@judge.command("show")
@click.argument("project")
@click.argument("name")
@guarded("change_projects", "project")
def show(project: str, name: str, db: str) -> None:
    """Compare the judge NAME with people: agreement over contexts, confusion, alternative annotator test, drift.

    Only items that people have finished count. The test is included once `judge eps` has recorded its eps.
    """
    with opened_project(db, project) as (store, of):
        stored_judge = records.judge(store, of, name)
        against, drifted = against_people(store, of, stored_judge), drift(store, stored_judge)
    means = {name: getattr(against, name) for name in ("agreement", "flags", "among_people")}
    test = to_json(against.verdict)
    data = {
        **row_of(stored_judge), "finished": against.finished, "items": against.items, **to_json(means),
        "kappa": against.kappa.to_json(),
        "groups": {by: {group.key: to_json(group.agreement) for group in against.groups(by)} for by in BY},
        "confusion": against.confusion, "disagreements": [disagreement.item for disagreement in against.disagreements],
        "test": test, "drift": to_json(drifted), "signature": against.signature,
    }  # fmt: skip
    if test is None:
        data["test_reason"] = NO_TEST
    rows = [(name.replace("_", " "), mean.estimate) for name, mean in means.items()]
    text = (
        f"{stored_judge.name}: {against.items:,} of {against.finished:,} finished items",
        table([*rows, ("kappa", against.kappa)]),
        NO_TEST if against.verdict is None else verdict_in_words(against.verdict),
    )
    answer(data, text)
