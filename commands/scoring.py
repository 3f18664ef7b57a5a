"""`score`: a whole file or project through one model or several, into one table."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.files.scoring_input import score as score_texts
from evenhand.commands.permissions import enter_texts, guarded
from evenhand.commands.shared import (
    Meter,
    answer,
    option,
    spreadsheet_option,
    table,
    warn,
    write_spreadsheet,
)
from evenhand.core.runs.kinds import Place
from evenhand.core.scoring.report import ScoringReport
from evenhand.core.scoring.settings import Settings

JOINT = ["independent", "sequential", "geometric_mean"]
METHOD = ["auto", "masked", "pair-sum", "pll"]
FILE = click.Path(dir_okay=False, path_type=Path)
SLOW_S = 5.0  # a load that is worth a word


@click.command("score")
@click.argument("file")
@option(
    "--model",
    "models",
    multiple=True,
    required=True,
    help="A built-in model, a name on the Hugging Face Hub, or a folder; may be given several times.",
)
@option("--out", type=FILE, help="The table to write (CSV).")
@option("--run", "run_name", help="Instead of --out: the name of a run that the pages Score and Models list.")
@spreadsheet_option
@option("--language", help="The language of the sentences (zh, en, ja, es, or that of --words); else recognised.")
@option(
    "--words",
    type=FILE,
    help="Words to add to those of the language: a table with male, female; optional: kind, other, language.",
)
@option("--column", help="The column that holds the sentences, if its name does not show it.")
@option(
    "--precision",
    type=click.Choice(["fp32", "bf16"]),
    default="fp32",
    help="bf16: faster on graphics cards, slower on most processors; moves Bias_c by some hundredths.",
)
@option(
    "--joint",
    type=click.Choice(JOINT),
    default=JOINT[0],
    help="How the characters of a longer word are put together.",
)
@option(
    "--method",
    type=click.Choice(METHOD),
    default=METHOD[0],
    help="masked for masked language models, pair-sum for causal ones; pll for comparison.",
)
@option("--threads", type=click.IntRange(1), help="Threads of the model in this process; default: all.")
@option("--ray", help='A Ray cluster: "auto", HOST:PORT, ray://HOST:PORT, or "local" to start one.')
@option("--workers", type=click.IntRange(1), help="Processors of the cluster; default: as many as are here.")
@option("--cache", type=FILE, help="Score cache; default: scores.db next to the database.")
@option("--no-cache", is_flag=True, help="Do not cache scores beyond this run.")
@option(
    "--items",
    type=click.Choice(["all", "accepted"]),
    default="all",
    help="Of project:NAME: all sentences, or only the accepted ones.",
)
@option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@guarded("start_jobs")
def score(db: str, spreadsheet: Path | None, **options: Any) -> None:
    """Score the sentences of FILE, or of a project as project:NAME, and write a table.

    FILE: the released SlguSet.csv, mined candidates (.jsonl), or any table with a column of sentences, each with one
    word of the keyword pack of its language (Chinese, English, Japanese, Spanish; others by --words). One row per
    sentence and model, in the order of the file; a row that cannot be scored says why in `status`. Positive values lean
    towards the male word. Scores in the cache are not computed again.
    """
    settings = Settings(**options)
    enter_texts(db, settings.file, settings.uid)
    with Meter() as meter:
        report = score_texts(settings, Place(Path(db), meter))
    write_spreadsheet(report.out, spreadsheet)
    warn(report.notices, report.failed)
    answer(report, _text(report))


def _text(report: ScoringReport) -> Iterator[str]:
    heads = ["", "rows", "scored", "newly computed", "from cache", "saved as equal", "seconds", "a second"]
    yield table(
        [
            (
                result.model, result.rows, result.scored, result.asked, result.remembered, result.saved,
                (result.seconds, ".1f"), "" if result.rate is None else f"{result.rate:,.0f}",
            )
            for result in report.models
        ],
        heads,
    )  # fmt: skip
    for result in report.models:
        for lost in result.undefined:
            yield f"{result.model}: {lost.rows:,} without a score, e.g. row {lost.example_row}: {lost.status}"
        if result.loading_seconds >= SLOW_S:
            yield f"{result.model}: loading it, to know which weights it has, took {result.loading_seconds:.0f} s"
    yield from (result.signature for result in report.models)
    yield f"Written: {report.out}"
