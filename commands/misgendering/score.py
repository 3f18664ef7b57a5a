"""`misgendering score` and `misgendering convert`: verdicts of models on templates; texts to go on from."""

import json
from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, answer_run, db_option, json_option, spreadsheet_option
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.whole_file import whole_file
from evenhand.core.misgendering.generations import context_rows
from evenhand.core.misgendering.instances import PASSES, instances
from evenhand.core.misgendering.run import VerdictReport, VerdictSettings, verdicts_to_file
from evenhand.core.misgendering.slots import SETTINGS, Instance
from evenhand.core.misgendering.template_files import Source, built_in, read_people, read_source
from evenhand.core.runs.records import run_target
from evenhand.core.scoring.cache import cache_path
from evenhand.core.text.pronouns import parse_sets

BUILT_IN = "built-in"


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
    source, drawn = drawn_from(templates, options)
    out, is_run = run_target(db, "misgendering", options["out"], options["run_name"])
    settings = VerdictSettings(
        models=options["models"],
        precision=options["precision"],
        threads=options["threads"],
        cache=None if options["no_cache"] else cache_path(db),
        generations=Path(options["generations"]) if options["generations"] else None,
    )
    _refuse_same(out, source, settings)
    with Meter() as meter:
        report = verdicts_to_file(
            source, drawn, settings, out, name=source_name(templates), facts=facts_of(options), watch=meter,
            record=is_run,
        )  # fmt: skip
    answer_run(report, for_people(report), out, options["spreadsheet"], as_json=as_json)


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
    source, drawn = drawn_from(templates, options, competing=False)
    settings = SETTINGS if setting == "both" else (setting,)
    found = list(context_rows(source.prompts or drawn, settings))
    for one in found:
        one["context"] = one["context"].rstrip() if trim else one["context"]
    lines = [json.dumps(one, ensure_ascii=False) for one in found]
    if out is None:
        click.echo("\n".join(lines))
        return
    with whole_file(Path(out)) as write:
        write("\n".join(lines) + "\n")
    asked_of = len(source.prompts or drawn)
    facts = {"instances": asked_of, "contexts": len(found), "out": out}
    answer(facts, f"{len(found):,} contexts of {asked_of:,} instances. Written: {out}", as_json=as_json)


def drawn_from(
    templates: str, options: dict[str, Any], *, competing: bool = True
) -> tuple[Source, tuple[Instance, ...]]:
    """The source of TEMPLATES, and its instances under `drawing_options`.

    Sets that a published data set does not have are added to its contexts, but do not compete in its slots
    (*competing*): which forms do is a part of that measure.
    """
    source = built_in() if templates == BUILT_IN else read_source(templates)
    if source.prompts:
        return source, ()
    only = parse_sets(options["pronouns"])
    known = source.dataset
    people = read_people(options["names"]) if options["names"] else None
    drawn = instances(
        source,
        passes=options["passes"],
        seed=options["seed"],
        also=only if known == "own" or not competing else (),
        only=only,
        people=people,
        limit=options["limit"],
    )
    return source, drawn


def source_name(templates: str) -> str:
    """The name of TEMPLATES in a record: never a path."""
    return templates if templates == BUILT_IN else Path(templates).name


def facts_of(options: dict[str, Any]) -> dict[str, Any]:
    """How instances were drawn, for the record."""
    names = options["names"]
    return {
        "passes": options["passes"],
        "seed": options["seed"],
        "limit": options["limit"],
        "pronouns": list(options["pronouns"]),
        "names": Path(names).name if names else None,
    }


def _refuse_same(out: Path, source: Source, settings: VerdictSettings) -> None:
    inputs = [*source.files, *([settings.generations] if settings.generations else [])]
    if any(path.resolve() == out.resolve() for path in inputs):
        raise BadFile(N_("{file} cannot be both input and output."), file=out.name)


def for_people(report: VerdictReport) -> str:
    """What came of each model, for people."""
    lines = [f"{report.instances:,} instances of {report.name} ({report.dataset})"]
    for one in report.models:
        lines.append(f"{one.model}: {one.summary.judged:,} judged in {one.seconds:.1f} s")
        for name, (mean, total, count) in one.summary.right.items():
            lines.append(f"  {name}: {mean / count:.3f} right ({mean:,} of {count:,}); by the sum {total / count:.3f}")
        flips = f"{one.summary.flips:,} verdicts flip between mean and sum"
        lines.append(f"  {flips}, {one.summary.moves:,} choices move")
        lines += [f"  {count:,} without a verdict: {reason}" for reason, count in one.summary.reasons.items()]
        if one.fed:
            saved = f"{one.fed:,} tokens read instead of {one.alone:,} (factor {one.alone / one.fed:.2f})"
            lines.append(f"  {saved}: beginnings are shared")
        lines.append(f"  {one.signature}")
    if report.strangers:
        lines.append(f"{report.strangers:,} generations go on from no instance of this run")
    return "\n".join([*lines, f"Written: {report.out}"])
