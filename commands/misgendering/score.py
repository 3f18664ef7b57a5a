"""`misgendering score` and `misgendering convert`: verdicts of models on templates; texts to go on from."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import (
    Meter,
    answer,
    db_option,
    json_option,
    settings_from,
    spreadsheet_option,
    warn,
    write_spreadsheet,
)
from evenhand.core.files.whole_file import whole_file
from evenhand.core.misgendering.generations import context_rows
from evenhand.core.misgendering.run import BUILT_IN, Drawing, ScoreSettings, VerdictReport
from evenhand.core.misgendering.run import score as score_verdicts
from evenhand.core.misgendering.slots import SETTINGS
from evenhand.core.misgendering.template_files import PASSES
from evenhand.core.runs.kinds import Place
from evenhand.core.typed_json import to_json


def drawing_options(function: Any) -> Any:
    """How templates are filled; the same for both commands."""
    for option in (
        click.option("--limit", type=click.IntRange(1), help="A seeded sample of this many instances."),
        click.option(
            "--seed", type=click.IntRange(0), default=0, show_default=True, help="Start of the draws of names."
        ),
        click.option("--passes", type=click.IntRange(1), default=PASSES, show_default=True, help="Names per template."),
        click.option(
            "--pronouns",
            multiple=True,
            help="Only these sets: he, they, ze/hir/hir/hirs/hirself; repeat for several. New ones compete.",
        ),
        click.option(
            "--names", type=click.Path(dir_okay=False), help="Own names: one per line, or columns name, pronouns."
        ),
    ):
        function = option(function)
    return function


@click.command("score")
@click.argument("templates", default=BUILT_IN)
@click.option("--model", "models", multiple=True, required=True, help="A causal model; repeat for several.")
@click.option("--out", type=click.Path(dir_okay=False), help="The table of verdicts to write (CSV).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the page Misgendering lists.")
@spreadsheet_option
@click.option(
    "--generations",
    type=click.Path(dir_okay=False),
    help="What the models wrote (JSONL of `generate`): adds gen1, gen2, ... by the first-pronoun rule.",
)
@click.option("--precision", type=click.Choice(["fp32", "bf16"]), default="fp32", show_default=True)
@click.option("--threads", type=click.IntRange(1), help="Threads of the model in this process; default: all.")
@click.option("--no-cache", is_flag=True, help="Do not cache scores beyond this run.")
@drawing_options
@db_option
@json_option
@needs("start_jobs")
def score(templates: str, db: str, as_json: bool, **options: Any) -> None:
    """Which pronoun makes a text least perplexing? One row per instance of TEMPLATES, model and setting.

    TEMPLATES: "built-in", a table with columns case and text (slot [MASK]), MISGENDERED's folder, RUFF's eo_task.tsv,
    or TANGO's misgendering_prompts.csv (needs generations). prob is 1 where the right form has the least perplexity,
    prob_sum where it has the least sum. The table is read by `misgendering metrics`.
    """
    settings = settings_from(ScoreSettings, {"templates": templates, **options})
    with Meter() as meter:
        report = score_verdicts(settings, Place(Path(db), meter))
    write_spreadsheet(report.out, options["spreadsheet"])
    answer_verdicts(report, as_json=as_json)


@click.command("convert")
@click.argument("templates", default=BUILT_IN)
@click.option("--setting", type=click.Choice(["pre", "post", "both"]), default="both", show_default=True)
@click.option("--trim", is_flag=True, help="Leave out the space at the end of contexts; the published code keeps it.")
@click.option("--out", type=click.Path(dir_okay=False), help="The contexts to write (JSONL), for `generate`.")
@drawing_options
@json_option
@needs("measure")
def convert(templates: str, setting: str, trim: bool, out: str | None, as_json: bool, **options: Any) -> None:
    """Templates as contexts for a model: pre-[MASK] ends before the slot, post-[MASK] after the whole text.

    Without --out the lines go to stdout.
    """
    asked = settings_from(Drawing, {"templates": templates, **options}).drawn(competing=False).questions
    found = list(context_rows(asked, SETTINGS if setting == "both" else (setting,)))
    for row in found:
        row["context"] = row["context"].rstrip() if trim else row["context"]
    lines = [json.dumps(row, ensure_ascii=False) for row in found]
    if out is None:
        click.echo("\n".join(lines))
        return
    with whole_file(Path(out)) as write:
        write("\n".join(lines) + "\n")
    facts = {"instances": len(asked), "contexts": len(found), "out": out}
    answer(facts, f"{len(found):,} contexts of {len(asked):,} instances. Written: {out}", as_json=as_json)


def answer_verdicts(report: VerdictReport, *, as_json: bool) -> None:
    """Print what went wrong, and what came of each model."""
    warn(report.notices, report.failed)
    answer(to_json(report), _text(report), as_json=as_json)


def _text(report: VerdictReport) -> Iterator[str]:
    yield f"{report.instances:,} instances of {report.source['name']} ({report.source['dataset']})"
    for model in report.models:
        summary, tokens = model.summary, model.tokens
        yield f"{model.model}: {summary.judged:,} judged in {model.seconds:.1f} s"
        for name, counts in summary.by_pronoun.items():
            shares = (counts.right / counts.n, counts.right_by_sum / counts.n)
            yield f"  {name}: {shares[0]:.3f} right ({counts.right:,} of {counts.n:,}); by the sum {shares[1]:.3f}"
        yield f"  {summary.flips:,} verdicts flip between mean and sum, {summary.moves:,} choices move"
        yield from (f"  {count:,} without a verdict: {reason}" for reason, count in summary.reasons.items())
        if tokens.factor is not None:
            saved = f"{tokens.fed:,} tokens read instead of {tokens.one_by_one:,} (factor {tokens.factor:.2f})"
            yield f"  {saved}: beginnings are shared"
        yield f"  {model.signature}"
    if report.strangers:
        yield f"{report.strangers:,} generations go on from no instance of this run"
    yield f"Written: {report.out}"
