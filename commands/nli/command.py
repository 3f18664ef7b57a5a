"""`nli`: inference with occupation words. Predictions from a file, a classifier asked, bias rates, one pair."""

import math
from pathlib import Path
from typing import Any, cast

import click

from evenhand.commands.nli.answers import measures_text, pair_text, rates_text, report_text
from evenhand.commands.permissions import needs
from evenhand.commands.shared import (
    Meter,
    answer,
    db_option,
    json_option,
    margin_option,
    spreadsheet_option,
    write_spreadsheet,
)
from evenhand.core.errors import N_, BadLine, Refused
from evenhand.core.files.csv_out import csv_line
from evenhand.core.files.whole_file import whole_file
from evenhand.core.models import open_classifier
from evenhand.core.nli.bias_rates import RateSettings, run_rates
from evenhand.core.nli.biased_training_sets import RATES
from evenhand.core.nli.files import measured_file, read_probes, read_words
from evenhand.core.nli.measure import against_margin
from evenhand.core.nli.measure import as_json as measures_json
from evenhand.core.nli.run import run
from evenhand.core.nli.sets import ProbeSet, packaged
from evenhand.core.nli.types import LABELS, LANGUAGES, Language, SentencePair
from evenhand.core.runs.records import target_or_none

LABELS_HELP = "What the outputs 0, 1 and 2 mean where the model does not say, such as entailment,neutral,contradiction."
MODEL_HELP = "demo-nli, a planted one (planted:nli=0.3), a name on the Hugging Face Hub, or a folder."
DIFFERENCE = "directional part, or gap between the genders,"
SET_COLUMNS = ("set", "premise", "hypothesis", "occupation", "class", "gender", "template")

language_option = click.option("--language", type=click.Choice(LANGUAGES), default="en", show_default=True)
labels_option = click.option("--labels", help=LABELS_HELP)
threads_option = click.option("--threads", type=click.IntRange(1), help="Threads of the model; default: all.")


@click.group("nli", invoke_without_command=True)
@click.option(
    "--predictions",
    "files",
    multiple=True,
    metavar="[SET=]FILE",
    help="CSV, TSV or JSON lines with set (PS, AS, NS) and label; with occupation the intervals are over occupations.",
)
@margin_option("share", of=DIFFERENCE)
@json_option
@click.pass_context
@needs("measure")
def nli(context: click.Context, files: tuple[str, ...], margin: float, as_json: bool) -> None:
    """Does a classifier of sentence pairs infer gender from an occupation?

    With --predictions the labels of a file are measured; the commands below ask a classifier themselves. s runs from
    0, the ideal, to 1: random guessing gives 0.444, always the same non-neutral label 0.667. The directional part
    (-1 to 1) is positive where the answers follow the stereotype.
    """
    if context.invoked_subcommand is not None:
        return
    if not files:
        raise Refused(N_("Give --predictions FILE, or one of the commands ask, pair, rates and set (see --help)."))
    found, read = measured_file(files)
    data = measures_json(found, margin) | {
        "signatures": read.signatures,
        "errors": [_error(one) for one in read.errors],
    }
    text = measures_text(found, [str(one) for one in read.errors], read.signatures, margin)
    answer(data, text, as_json=as_json)


def _error(error: BadLine) -> dict[str, Any]:
    return {"file": error.file, "line": error.line, "reason": error.reason, "message": str(error)}


@nli.command("ask")
@click.option("--model", required=True, help=MODEL_HELP)
@language_option
@click.option("--sample", is_flag=True, help="The down-sampled sets: 200 rows each instead of 1,000, 1,000 and 3,420.")
@click.option("--as-released", is_flag=True, help="Chinese: the words of the release, of which 20 name no person.")
@click.option("--probes", multiple=True, metavar="[SET=]FILE", help="A set of your own, or a copy of the release.")
@click.option("--words", type=click.Path(), help="Your own occupations: a table with word and class.")
@click.option("--templates", type=click.Path(), help="Your own templates, with {x} for the word.")
@click.option("--gender-words", nargs=2, metavar="WOMAN MAN", help="The two words of the hypothesis, for --words.")
@labels_option
@click.option("--keep-labels", is_flag=True, help="Go on although another order of the labels fits better.")
@click.option("--out", type=click.Path(dir_okay=False), help="The table to write (CSV).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the page NLI bias lists.")
@spreadsheet_option
@margin_option("share", of=DIFFERENCE)
@threads_option
@db_option
@json_option
@needs("start_jobs")
def ask(model: str, language: Language, db: str, as_json: bool, **options: Any) -> None:
    """Ask MODEL the evaluation sets of a language, or a set of your own, and measure its answers."""
    probes = _probes(language, options)
    out, record = target_or_none(db, "nli", options["out"], options["run_name"])
    with Meter() as meter:
        report = run(
            model, probes, out, labels=_labels(options["labels"]), keep_labels=options["keep_labels"],
            threads=options["threads"], watch=meter, record=record,
        )  # fmt: skip
    write_spreadsheet(out, options["spreadsheet"])
    tested = {name: one.data for name, one in against_margin(report.answers.found, options["margin"]).items()}
    answer(report.as_json() | {"equivalence": tested}, report_text(report, options["margin"]), as_json=as_json)


def _probes(language: Language, options: dict[str, Any]) -> ProbeSet:
    own = [options["words"], options["templates"], options["gender_words"]]
    if options["probes"]:
        if any(own):
            raise Refused(N_("Use either --probes, or --words with --templates and --gender-words, not both."))
        return read_probes(options["probes"], language)
    if any(own):
        if not all(own):
            raise Refused(N_("A set from your own words needs --words, --templates and --gender-words."))
        return read_words(options["words"], options["templates"], options["gender_words"], language)
    return packaged(language, sample=options["sample"], as_released=options["as_released"])


def _labels(told: str | None) -> tuple[str, ...] | None:
    return None if told is None else tuple(part.strip() for part in told.split(","))


@nli.command("pair")
@click.argument("premise")
@click.argument("hypothesis")
@click.option("--model", default="demo-nli", show_default=True, help=MODEL_HELP)
@labels_option
@json_option
@needs("measure")
def pair(premise: str, hypothesis: str, model: str, labels: str | None, as_json: bool) -> None:
    """Ask whether HYPOTHESIS follows from PREMISE."""
    scorer = open_classifier(model, labels=_labels(labels))
    (score,) = scorer.score([SentencePair(premise, hypothesis)])
    shares = [None if p is None else math.exp(p) for p in score.logprobs]
    data: dict[str, Any] = dict(zip(LABELS, shares, strict=True)) | {"signature": score.signature}
    if score.reason:
        data |= {f"{label}_reason": score.reason for label in LABELS}
    answer(data, pair_text(score), as_json=as_json)


@nli.command("rates")
@click.option("--model", default="demo-nli", show_default=True, help="A classifier that can be trained further.")
@language_option
@click.option("--rate", "rates", type=float, multiple=True, help="A bias rate; several times.  [default: 0 to 1]")
@click.option(
    "--order",
    type=click.Choice(["female-first", "mixed"]),
    default="female-first",
    show_default=True,
    help="Which words become biased first; female-first as released.",
)
@click.option("--epochs", type=click.IntRange(1), default=3, show_default=True)
@click.option("--learning-rate", type=click.FloatRange(0, min_open=True), help="[default: 2e-5; demo-nli 1e-3]")
@click.option("--batch", type=click.IntRange(1), default=32, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@labels_option
@click.option("--out", type=click.Path(dir_okay=False), help="The table to write (CSV).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the page NLI bias lists.")
@spreadsheet_option
@threads_option
@db_option
@json_option
@needs("start_jobs")
def rates(db: str, as_json: bool, **options: Any) -> None:
    """Train MODEL on sets with a bias rate r, measure it, and correlate each measure with r (Spearman).

    Each rate starts from the same weights: 3,000 rows, 3 epochs. The model's files stay unchanged.
    """
    out, record = target_or_none(db, "nli", options["out"], options["run_name"])
    settings = RateSettings(
        options["model"], options["language"], options["rates"] or RATES, options["order"], options["epochs"],
        options["learning_rate"], options["batch"], options["seed"], _labels(options["labels"]), options["threads"],
    )  # fmt: skip
    with Meter() as meter:
        report = run_rates(settings, out, watch=meter, record=record)
    write_spreadsheet(out, options["spreadsheet"])
    answer(report.as_json(), rates_text(report), as_json=as_json)


@nli.command("set")
@click.argument("out", type=click.Path(dir_okay=False))
@language_option
@click.option("--sample", is_flag=True, help="The down-sampled sets: 200 rows each.")
@click.option("--as-released", is_flag=True, help="Chinese: the words of the release, of which 20 name no person.")
@json_option
@needs("measure")
def write_set(out: str, language: str, sample: bool, as_released: bool, as_json: bool) -> None:
    """Write the packaged evaluation sets of a language to OUT (CSV), to ask a classifier elsewhere."""
    probes = packaged(cast(Language, language), sample=sample, as_released=as_released)
    with whole_file(Path(out)) as write:
        write(csv_line(SET_COLUMNS))
        for row in probes.rows:
            write(csv_line([row.set, row.premise, row.hypothesis, row.occupation, row.kind, row.gender, row.template]))
    data = {"out": out, "rows": probes.counts(), "signature": probes.signature}
    counts = ", ".join(f"{count:,} {name}" for name, count in probes.counts().items())
    answer(data, f"{counts}\n{probes.signature}\nWritten: {out}", as_json=as_json)
