"""`score`: a whole file or project through one model or several, into one table."""

from pathlib import Path
from typing import Any

import click

from evenhand.annotations.files.project_texts import PROJECT, Reading, open_input
from evenhand.commands.permissions import enter_project, needs
from evenhand.commands.shared import Meter, answer_run, db_option, existing_store, json_option, spreadsheet_option
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.processes import processors
from evenhand.core.runs.records import run_target
from evenhand.core.scoring.cache import cache_path
from evenhand.core.scoring.run import ScoringReport, Settings, score_to_file
from evenhand.core.sentence_bias.keyword_packs import read_words

JOINT = ["independent", "sequential", "geometric_mean"]
METHOD = ["auto", "masked", "pair-sum", "pll"]
SLOW_S = 5.0  # a load that is worth a word


@click.command("score")
@click.argument("file")
@click.option(
    "--model",
    "models",
    multiple=True,
    required=True,
    help="A built-in model, a name on the Hugging Face Hub, or a folder; may be given several times.",
)
@click.option("--out", type=click.Path(dir_okay=False), help="The table to write (CSV).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the pages Score and Models list.")
@spreadsheet_option
@click.option("--language", help="The language of the sentences (zh, en, ja, es, or that of --words); else recognised.")
@click.option(
    "--words",
    type=click.Path(dir_okay=False),
    help="Your own words beside those of the language: a table with male, female; optional: kind, other, language.",
)
@click.option("--column", help="The column that holds the sentences, where its name does not say so.")
@click.option(
    "--precision",
    type=click.Choice(["fp32", "bf16"]),
    default="fp32",
    show_default=True,
    help="bf16: faster on graphics cards, slower on most processors; moves Bias_c by some hundredths.",
)
@click.option(
    "--joint",
    type=click.Choice(JOINT),
    default=JOINT[0],
    show_default=True,
    help="How the characters of a longer word are put together.",
)
@click.option(
    "--method",
    type=click.Choice(METHOD),
    default=METHOD[0],
    show_default=True,
    help="masked for masked language models, pair-sum for causal ones; pll for comparison.",
)
@click.option("--threads", type=click.IntRange(1), help="Threads of the model in this process; default: all.")
@click.option("--ray", "address", help='A Ray cluster: "auto", HOST:PORT, ray://HOST:PORT, or "local" to start one.')
@click.option("--workers", type=click.IntRange(1), help="Processors of the cluster; default: as many as are here.")
@click.option(
    "--cache",
    type=click.Path(dir_okay=False),
    help="Score cache; default: scores.db beside the database.",
)
@click.option("--no-cache", is_flag=True, help="Do not cache scores beyond this run.")
@click.option(
    "--items",
    type=click.Choice(["all", "accepted"]),
    default="all",
    show_default=True,
    help="Of project:NAME: all sentences, or only the accepted ones.",
)
@click.option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@db_option
@json_option
@needs("start_jobs")
def score(file: str, db: str, as_json: bool, **options: Any) -> None:
    """Score the sentences of FILE, or of a project as project:NAME, and write a table.

    FILE: the released SlguSet.csv, mined candidates (.jsonl), or any table with a column of sentences, each with one
    word of the keyword pack of its language (Chinese, English, Japanese, Spanish; others by --words). One row per
    sentence and model, in the order of the file; a row that cannot be scored says why in `status`. Positive values lean
    towards the male word. Scores in the cache are not computed again.
    """
    out, is_run = run_target(db, "scores", options["out"], options["run_name"])
    if file.startswith(PROJECT):
        with existing_store(db) as store:
            enter_project(store, file.removeprefix(PROJECT), options["uid"])
    own = read_words(Path(options["words"]), options["language"]) if options["words"] else ()
    reading = Reading(options["language"], own)
    kept = options["items"] == "accepted"
    source = open_input(file, db=db, column=options["column"], uid=options["uid"], reading=reading, kept=kept)
    if source.kind == "file" and Path(file).resolve() == out.resolve():
        raise Refused(N_("{file} cannot be both input and output."), file=out.name)
    with Meter() as meter:
        report = score_to_file(source, _settings(db, options), out, watch=meter, record=is_run)
    answer_run(report, for_people(report), out, options["spreadsheet"], as_json=as_json)


def _settings(db: str, options: dict[str, Any]) -> Settings:
    cache = None if options["no_cache"] else Path(options["cache"]) if options["cache"] else cache_path(db)
    if cache is not None and cache.resolve() == Path(db).resolve():
        # Opening the file beside the store would drop the locks of this process on it.
        raise BadFile(N_("{file} is the label database. Give the score cache a file of its own."), file=db)
    return Settings(
        models=tuple(options["models"]),
        precision=options["precision"],
        joint=options["joint"],
        method=options["method"],
        threads=options["threads"],
        ray=options["address"],
        workers=options["workers"] or processors(),
        cache=cache,
    )


def for_people(report: ScoringReport) -> str:
    """The result of each model in words."""
    lines = []
    for one in report.models:
        tally = one.tally
        rate = f", {tally.asked / one.seconds:,.0f} a second" if tally.asked and one.seconds else ""
        lines.append(
            f"{one.model}: {tally.scored:,} of {tally.rows:,} rows scored in {one.seconds:.1f} s{rate} "
            f"({tally.asked:,} newly computed, {tally.remembered:,} from cache, {tally.saved:,} saved as equal)"
        )
        for reason, count in tally.undefined.most_common():
            row, status = tally.examples[reason]
            lines.append(f"  {count:,} without a score, e.g. row {row}: {status}")
        if one.loading_seconds >= SLOW_S:
            lines.append(f"  loading the model, to know which weights it has, took {one.loading_seconds:.0f} s")
        lines.append(f"  {one.signature}")
    return "\n".join([*lines, f"Written: {report.out}"])
