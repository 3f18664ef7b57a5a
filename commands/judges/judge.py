"""`judge`: judges of a project. They label beside people and are never at a desk."""

import hashlib
import json
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.judges import judges as records
from evenhand.annotations.judges.against_people import BY, against_people, drift
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
from evenhand.annotations.judges.run import Forecast, JudgeReport
from evenhand.annotations.judges.run import forecast as forecast_of
from evenhand.annotations.projects.projects import project as find_project
from evenhand.commands.judges.command import say_errors, verdict_in_words
from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, db_option, existing_store, json_option, settings_from
from evenhand.commands.tables import table
from evenhand.core.judges.prompts import SYSTEM, default_template
from evenhand.core.runs.kinds import Place
from evenhand.core.servers.addresses import place_of
from evenhand.core.typed_json import to_json

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NO_TEST = "No eps was recorded for this judge: judge eps PROJECT NAME EPS."
AUTHOR = click.option("--author", default="", help="Who does it; kept in the record.")


@click.group()
def judge() -> None:
    """Judges that label beside people: the pronoun rule, a model, a server, a file."""


def _which_judge(function: Any) -> Any:
    """The options that say which judge, for `run` and `forecast`."""
    options = (
        click.option("--rule", is_flag=True, help="The first-pronoun rule."),
        click.option("--model", default="", help="A causal model: built in, on the hub, a folder; or on the server."),
        click.option("--server", default="", help="An OpenAI-compatible server; its key: EVENHAND_API_KEY."),
        click.option("--name", default="", help="Of the judge; default: of the model."),
        click.option("--prompt", type=FILE, help="A file with the prompt; see `judge prompt`."),
        click.option("--system", type=FILE, help="A file with the system message."),
        click.option("--examples", type=FILE, help="A file with examples, put in place of {examples}."),
        click.option("--known-examples", "known", type=click.IntRange(0, 100), default=0,
                     help="Draw this many known answers as examples, balanced by choice; they are not compared later."),
        click.option("--examples-seed", "known_seed", type=click.IntRange(0), default=42, show_default=True,
                     help="Of that draw."),
        click.option("--log-probabilities", is_flag=True, help="Server: the probability of each choice's letter."),
        click.option("--guideline", "version", type=click.IntRange(1), help="Its version; default: the newest."),
        click.option("--samples", type=click.IntRange(1, 100), default=1, show_default=True,
                     help="Server: answers to each text."),
        click.option("--temperature", type=click.FloatRange(0, 5), default=0.0, show_default=True),
        click.option("--top-p", type=click.FloatRange(0, 1, min_open=True), default=1.0, show_default=True),
        click.option("--tokens", type=click.IntRange(1, 8192), default=300, show_default=True,
                     help="Maximum number of tokens in an answer."),
        click.option("--seed", type=click.IntRange(0), default=42, show_default=True, help="Of the first sample."),
        click.option("--constraint", type=click.Choice(["schema", "object", "none"]), default="schema",
                     help="Server: what it is told of the form of an answer."),
        click.option("--limit", type=click.IntRange(1), help="Only this many items, drawn at random."),
        click.option("--at-once", type=click.IntRange(1, 512), default=8, show_default=True,
                     help="Server: concurrent requests."),
        click.option("--per-minute", type=click.FloatRange(0, min_open=True), help="Server: requests per minute."),
    )  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


@judge.command("run")
@click.argument("project")
@_which_judge
@click.option("--eps", type=click.FloatRange(0, 1), help="Of the alternative annotator test, recorded first.")
@click.option("--no-key", is_flag=True, help="Server: send no key, whatever the environment holds.")
@AUTHOR
@db_option
@json_option
@needs("change_projects", "project")
def run(project: str, db: str, as_json: bool, **options: Any) -> None:
    """Let a judge label the items of PROJECT: --rule, --model NAME, or --server ADDRESS --model NAME.

    The same command continues where an earlier one stopped; with another prompt, model or setting it is another judge.
    """
    settings = settings_from(RunSettings, {"project": project, **options})
    with Meter("texts") as meter:
        report = label(settings, Place(Path(db), meter))
    answer(to_json(report), _in_words(report), as_json=as_json)


def _in_words(report: JudgeReport) -> str:
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
@click.option("--number", type=click.IntRange(1), default=100, show_default=True, help="Items, drawn at random.")
@click.option("--at-once", type=click.IntRange(1, 512), default=8, show_default=True)
@click.option("--per-minute", type=click.FloatRange(0, min_open=True))
@click.option("--no-key", is_flag=True, help="Server: send no key.")
@AUTHOR
@db_option
@json_option
@needs("change_projects", "project")
def again(project: str, db: str, as_json: bool, **options: Any) -> None:
    """Ask the judge NAME a second time about items that it has labelled: does it drift? Its labels stay as they are."""
    settings = settings_from(AgainSettings, {"project": project, **options})
    with Meter("texts") as meter:
        report = label_again(settings, Place(Path(db), meter))
    answer(to_json(report), _in_words(report), as_json=as_json)


@judge.command("import")
@click.argument("project")
@click.argument("file", type=FILE)
@click.option("--name", required=True, help="Of the judge; a further file under its name adds what is missing.")
@click.option("--guideline", "version", type=click.IntRange(1), help="Its version; default: the newest.")
@AUTHOR
@db_option
@json_option
@needs("change_projects", "project")
def import_file(project: str, db: str, as_json: bool, **options: Any) -> None:
    """Import labels of a judge from FILE (CSV, TSV, JSON lines): columns item and label; extraneous, spans, shares."""
    settings = settings_from(ImportSettings, {"project": project, **options})
    found, report = import_labels(settings, Place(Path(db)))
    say_errors(report.errors[:20])
    data = {"judge": found.name, **to_json(report)}
    text = f"{found.name}: {report.imported:,} labels, {report.duplicates:,} were there, {report.rejected:,} unusable"
    answer(data, text, as_json=as_json)


@judge.command("list")
@click.argument("project")
@db_option
@json_option
@needs("change_projects", "project")
def list_judges(project: str, db: str, as_json: bool) -> None:
    """The judges of PROJECT, the oldest first."""
    with existing_store(db) as store:
        found = records.judges(store, find_project(store, project))
    lines = [f"{one.name}: {one.labels:,} labels, {one.spec.signature}" for one in found]
    answer({"judges": [row_of(one) for one in found]}, "\n".join(lines) or "There is no judge.", as_json=as_json)


def row_of(one: Judge) -> dict[str, Any]:
    """A judge as JSON."""
    spec = one.spec
    return {
        "judge": one.name, "kind": spec.kind, "labels": one.labels, "guideline": spec.guideline, "model": spec.model,
        "server": place_of(spec.address) if spec.address else "", "system": spec.system, "prompt": spec.prompt,
        "settings": spec.settings, "eps": one.eps, "eps_labels": one.eps_labels, "eps_chosen": one.eps_chosen,
        "hash": spec.hash, "signature": spec.signature, "created": one.created,
    }  # fmt: skip


@judge.command("failures")
@click.argument("project")
@click.argument("name")
@db_option
@json_option
@needs("change_projects", "project")
def list_failures(project: str, name: str, db: str, as_json: bool) -> None:
    """List the items that the judge NAME could not label, each with the last reason.

    `run` asks a server for them again; a rule or a model cannot label them (`final`).
    """
    with existing_store(db) as store:
        found = records.failures(store, records.judge(store, find_project(store, project), name))
    text = table([(failure.item, failure.reason) for failure in found]) or "Nothing failed."
    answer({"failures": to_json(found)}, text, as_json=as_json)


@judge.command("eps")
@click.argument("project")
@click.argument("name")
@click.argument("eps", type=click.FloatRange(0, 1))
@AUTHOR
@db_option
@json_option
@needs("change_projects", "project")
def eps(project: str, name: str, eps: float, author: str, db: str, as_json: bool) -> None:
    """Record by how much the judge NAME may be worse than an annotator, once and before looking: .2 experts, .1 a
    crowd."""
    with existing_store(db) as store:
        of = find_project(store, project)
        found = records.choose_margin(store, of, records.judge(store, of, name), eps, author=author)
    text = f"{found.name}: eps {found.eps:g}, recorded when it had given {found.eps_labels:,} labels"
    answer(row_of(found), text, as_json=as_json)


@judge.command("prompt")
@click.argument("kind", type=click.Choice(["generations", "sentences"]), default="generations")
@click.option("--short", is_flag=True, help="For small models: without the text of the guideline.")
@json_option
@needs("measure")
def prompt(kind: str, short: bool, as_json: bool) -> None:
    """Print the built-in prompt, to change it and give it to `judge run --prompt`. {text} must stay."""
    found = default_template(kind, short=short)
    digest = hashlib.sha256(found.encode()).hexdigest()
    answer({"prompt": found, "system": "" if short else SYSTEM, "sha256": digest}, found, as_json=as_json)


@judge.command("forecast")
@click.argument("project")
@_which_judge
@click.option("--price-in", type=click.FloatRange(0), help="Price of a million tokens that are sent.")
@click.option("--price-out", type=click.FloatRange(0), help="Price of a million tokens that are answered.")
@db_option
@json_option
@needs("change_projects", "project")
def forecast(
    project: str, price_in: float | None, price_out: float | None, db: str, as_json: bool, **options: Any
) -> None:
    """What `judge run` with the same options will cost and take; no server is asked and no model is loaded."""
    with existing_store(db) as store:
        request = settings_from(WhichJudge, {"project": project, **options}).request()
        found = forecast_of(store, find_project(store, project), request, price_in=price_in, price_out=price_out)
    answer(to_json(found), _forecast_in_words(found), as_json=as_json)


def _forecast_in_words(found: Forecast) -> str:
    parts = [f"{found.texts:,} texts, {found.requests:,} requests, about {found.tokens_in:,.0f} tokens sent and"
             f" {found.tokens_out:,.0f} answered"]  # fmt: skip
    parts += [f"about {found.seconds:,.0f} s"] if found.seconds is not None else ["time: known once it has begun"]
    parts += [f"cost {found.cost:,.2f}"] if found.cost is not None else []
    return "; ".join([*parts, json.dumps({"measured": found.measured})])


@judge.command("show")
@click.argument("project")
@click.argument("name")
@db_option
@json_option
@needs("change_projects", "project")
def show(project: str, name: str, db: str, as_json: bool) -> None:
    """The judge NAME against people: agreement over contexts, confusion, alternative annotator test, drift.

    Only items that people have finished count. The test is there once `judge eps` has recorded its eps.
    """
    with existing_store(db) as store:
        of = find_project(store, project)
        found = records.judge(store, of, name)
        against, drifted = against_people(store, of, found), drift(store, found)
    means = {name: getattr(against, name) for name in ("agreement", "flags", "among_people")}
    test = to_json(against.verdict)
    data = {
        **row_of(found), "finished": against.finished, "items": against.items, **to_json(means),
        "kappa": against.kappa.to_json(),
        "groups": {by: {group.key: to_json(group.agreement) for group in against.groups(by)} for by in BY},
        "confusion": against.confusion, "disagreements": [one.item for one in against.disagreements],
        "test": test, "drift": to_json(drifted), "signature": against.signature,
    }  # fmt: skip
    if test is None:
        data["test_reason"] = NO_TEST
    rows = [(name.replace("_", " "), mean.estimate) for name, mean in means.items()]
    text = (
        f"{found.name}: {against.items:,} of {against.finished:,} finished items",
        table([*rows, ("kappa", against.kappa)]),
        NO_TEST if against.verdict is None else verdict_in_words(against.verdict),
    )
    answer(data, text, as_json=as_json)
