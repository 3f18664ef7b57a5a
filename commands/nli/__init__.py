"""`nli`: inference with occupation words. Predictions from a file, a classifier asked, bias rates, one pair."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import click

from evenhand.annotations.quantities.runs import run_json
from evenhand.commands.permissions import guarded, needs
from evenhand.commands.shared import (
    Cell,
    Meter,
    answer,
    json_option,
    margin_option,
    number,
    option,
    spreadsheet_option,
    table,
    write_spreadsheet,
)
from evenhand.core.errors import N_, Refused
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.files.csv_out import csv_line
from evenhand.core.models import open_classifier
from evenhand.core.nli.bias_rates import RateReport, run_rates
from evenhand.core.nli.files import measured_file
from evenhand.core.nli.measure import Inference, against_margin
from evenhand.core.nli.measure import as_json as measures_json
from evenhand.core.nli.run import NliReport, run
from evenhand.core.nli.sets import packaged
from evenhand.core.nli.settings import AskSettings, RateSettings, labels_in
from evenhand.core.nli.types import LABELS, LANGUAGES, SETS, Language, SentencePair
from evenhand.core.runs.kinds import Place
from evenhand.core.statistics.equivalence import MARGINS
from evenhand.core.types import JsonObject

LABELS_HELP = "What the outputs 0, 1 and 2 mean where the model does not say, such as entailment,neutral,contradiction."
MODEL_HELP = "demo-nli, a planted one (planted:nli=0.3), a name on the Hugging Face Hub, or a folder."
POOLED = (
    "The directional part is pooled over all occupations, because the answers do not tell the class of each occupation"
    " or contain only one class: a classifier that reads only the gender word is not at 0. Add a column gender or"
    " class."
)
DIFFERENCE = "directional part, or gap between the genders,"
SHOWN = 20  # lines that could not be used
NAMES = {
    "s": "s = (e_p + c_a + (1 - n_n)) / 3",
    "directional": "directional part",
    "not_neutral_ns": "1 - n_n (NS not neutral)",
    "fn": "FN, neutral of all rows",
    "one_minus_fn": "1 - FN",
}
WHERE = (
    "0.000 always neutral, 0.444 random guessing, 0.667 always the same non-neutral label, 1.000 always the stereotype"
)
SET_COLUMNS = ("set", "premise", "hypothesis", "occupation", "class", "gender", "template")

language_option = option("--language", type=click.Choice(LANGUAGES), default="en")
labels_option = option("--labels", help=LABELS_HELP)
out_option = option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The table to write (CSV).")
run_option = option("--run", "run_name", help="Instead of --out: the name of a run that the page NLI bias lists.")
threads_option = option("--threads", type=click.IntRange(1), help="Threads of the model; default: all.")


@click.group("nli", invoke_without_command=True)
@option(
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
def nli(context: click.Context, files: tuple[str, ...], margin: float) -> None:
    """Measure whether a classifier of sentence pairs infers gender from an occupation.

    With --predictions the labels of a file are measured; the commands below ask a classifier themselves. s runs from
    0, the ideal, to 1: random guessing gives 0.444, always the same non-neutral label 0.667. The directional part
    (-1 to 1) is positive if the answers follow the stereotype.
    """
    if context.invoked_subcommand is not None:
        return
    if not files:
        raise Refused(N_("Give --predictions FILE, or one of the commands ask, pair, rates and set (see --help)."))
    inference, read = measured_file(files)
    quantities = run_json("nli", inference)
    data = measures_json(inference, margin) | {"signatures": read.signatures, "errors": read.errors}
    data["quantities"] = quantities
    answer(data, _measures_text(inference, read.signatures, [str(error) for error in read.errors], margin))


@nli.command("ask")
@option("--model", required=True, help=MODEL_HELP)
@language_option
@option("--sample", is_flag=True, help="The down-sampled sets: 200 rows each instead of 1,000, 1,000 and 3,420.")
@option("--as-released", is_flag=True, help="Chinese: the words of the release, of which 20 name no person.")
@option("--probes", multiple=True, metavar="[SET=]FILE", help="A set of your own, or a copy of the release.")
@option("--words", type=click.Path(), help="Your own occupations: a table with word and class.")
@option("--templates", type=click.Path(), help="Your own templates, with {x} for the word.")
@option("--gender-words", nargs=2, metavar="WOMAN MAN", help="The two words of the hypothesis, for --words.")
@labels_option
@option("--keep-labels", is_flag=True, help="Continue although another order of the labels fits better.")
@out_option
@run_option
@spreadsheet_option
@margin_option("share", of=DIFFERENCE)
@threads_option
@guarded("start_jobs")
def ask(db: str, spreadsheet: Path | None, **options: Any) -> None:
    """Ask MODEL the evaluation sets of a language, or a set of your own, and measure its answers."""
    with Meter() as meter:
        report = run(AskSettings(**options), Place(Path(db), meter))
    write_spreadsheet(report.out, spreadsheet)
    answer(report, _report_text(report))


@nli.command("pair")
@click.argument("premise")
@click.argument("hypothesis")
@option("--model", default="demo-nli", help=MODEL_HELP)
@labels_option
@json_option
@needs("measure")
def pair(premise: str, hypothesis: str, model: str, labels: str | None) -> None:
    """Ask whether HYPOTHESIS follows from PREMISE."""
    scorer = open_classifier(model, labels=labels_in(labels))
    (score,) = scorer.score([SentencePair(premise, hypothesis)])
    shares = [None if p is None else math.exp(p) for p in score.logprobs]
    data: JsonObject = dict(zip(LABELS, shares, strict=True)) | {"signature": score.signature}
    if score.reason:
        data |= {f"{label}_reason": score.reason for label in LABELS}
    text = [f"{label:<14} {number(share)}" for label, share in zip(LABELS, shares, strict=True)]
    answer(data, f"— ({score.reason})" if score.reason else [*text, score.signature])


@nli.command("rates")
@option("--model", default="demo-nli", help="A classifier that can be trained further.")
@language_option
@option("--rate", "rates", type=float, multiple=True, help="A bias rate; several times.  [default: 0 to 1]")
@option(
    "--order",
    type=click.Choice(["female-first", "mixed"]),
    default="female-first",
    help="Which words become biased first; female-first as released.",
)
@option("--epochs", type=click.IntRange(1), default=3)
@option("--learning-rate", type=click.FloatRange(0, min_open=True), help="[default: 2e-5; demo-nli 1e-3]")
@option("--batch", type=click.IntRange(1), default=32)
@option("--seed", type=int, default=0)
@labels_option
@out_option
@run_option
@spreadsheet_option
@threads_option
@guarded("start_jobs")
def rates(db: str, spreadsheet: Path | None, **options: Any) -> None:
    """Train MODEL on sets with a bias rate r, measure it, and correlate each measure with r (Spearman).

    Each rate starts from the same weights: 3,000 rows, 3 epochs. The model's files stay unchanged.
    """
    with Meter() as meter:
        report = run_rates(RateSettings(**options), Place(Path(db), meter))
    write_spreadsheet(report.out, spreadsheet)
    answer(report, _rates_text(report))


@nli.command("set")
@click.argument("out", type=click.Path(dir_okay=False))
@language_option
@option("--sample", is_flag=True, help="The down-sampled sets: 200 rows each.")
@option("--as-released", is_flag=True, help="Chinese: the words of the release, of which 20 name no person.")
@json_option
@needs("measure")
def write_set(out: str, language: str, sample: bool, as_released: bool) -> None:
    """Write the packaged evaluation sets of a language to OUT (CSV), to ask a classifier elsewhere."""
    probes = packaged(cast(Language, language), sample=sample, as_released=as_released)
    with whole_file(Path(out)) as write:
        write(csv_line(SET_COLUMNS))
        for row in probes.rows:
            write(csv_line([row.set, row.premise, row.hypothesis, row.occupation, row.kind, row.gender, row.template]))
    data = {"out": out, "rows": probes.counts(), "signature": probes.signature}
    counts = ", ".join(f"{count:,} {name}" for name, count in probes.counts().items())
    answer(data, f"{counts}\n{probes.signature}\nWritten: {out}")


def _measures_text(
    inference: Inference, signatures: Sequence[str], errors: Sequence[str] = (), margin: float | None = MARGINS["share"]
) -> Iterator[str]:
    """Yield measures, order condition and proportions, and what they rest on."""
    order = {True: "holds", False: "does not hold", None: "— (PS or AS is empty)"}[inference.order]
    measures: list[list[Cell]] = [[name, inference[key]] for key, name in NAMES.items()]
    yield table([*measures, ["order e_p > e_a and c_a > c_p", order]])
    if inference["directional"].value is not None:
        yield f"directional part, {against_margin(inference, margin)['directional'].text}"
    yield WHERE
    rows: list[list[Cell]] = [
        [name, sum(counts), *(inference[f"{label[0]}_{short}"] for label in LABELS)]
        for name, short, counts in zip(SETS, "pan", inference.counts, strict=True)
    ]
    yield table(rows, ["", "rows", *LABELS])
    unit = "occupations" if inference.unit == "occupation" else "rows: no occupation is named, so they are too narrow"
    yield f"95% intervals over {unit}; {inference.signature}"
    if not inference.by_class:
        yield POOLED
    yield from signatures
    if errors:
        yield f"{len(errors):,} lines could not be used:"
        yield from (f"  {error}" for error in errors[:SHOWN])


def _report_text(report: NliReport) -> Iterator[str]:
    answers = report.answers
    yield from _measures_text(answers.found, (), margin=report.margin)
    if answers.sanity is not None:
        yield str(answers.sanity.note())
    yield from (f"{count:,} pairs have no answer: {reason}" for reason, count in answers.undefined.items())
    yield f"{len(report.probes.rows):,} pairs in {answers.seconds:.1f} s, loading {answers.loading_seconds:.1f} s"
    yield from (answers.signature, report.probes.signature)
    yield _written(report.out)


def _rates_text(report: RateReport) -> Iterator[str]:
    names = {"s": "s", "one_minus_fn": "1 - FN", "directional": "directional"}
    orders = {True: "yes", False: "no", None: None}
    rows: list[list[Cell]] = [
        [(point.rate, ".1f"), *(point.found[name] for name in names), orders[point.found.order]]
        for point in report.points
    ]
    yield table(rows, ["r", *names.values(), "order"])
    for key, name in names.items():
        correlation = report.correlation(key)
        yield f"Spearman of r and {name}: {number(correlation['rho'])} {correlation.get('rho_reason', '')}".rstrip()
    yield f"{report.training}, {report.seconds:.0f} s"
    yield _written(report.out)


def _written(out: Path | None) -> str:
    return f"Written: {out}" if out else ""
