"""`generate`: let a model write after contexts; `sample`, `compare-texts`: choose what people judge or compare."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.generation_sample import (
    GenerationSample,
    comparisons_project,
    draw_sample,
    pilot_by_people,
    pilot_by_rule,
    read_generations,
    texts_of_files,
    texts_of_project,
    write_sample,
)
from evenhand.annotations.permissions import require
from evenhand.annotations.projects.projects import project as find_project
from evenhand.commands.permissions import acting_person, guarded, own_new_project
from evenhand.commands.shared import Meter, answer, opened_project, option, settings_from
from evenhand.core.errors import N_, Refused
from evenhand.core.generation.backends import INSTRUCTION
from evenhand.core.generation.inputs import CHUNK, SEED
from evenhand.core.generation.run import GenerationReport, Settings, run
from evenhand.core.human_vs_rule.sample import Correlation, Design, designs
from evenhand.core.misgendering.slots import SETTINGS
from evenhand.core.models import DECAY, GENDER_PREFIX
from evenhand.core.runs.kinds import Place
from evenhand.core.types import JsonObject


@click.command("generate")
@click.argument("contexts")
@option(
    "--model",
    required=True,
    help="A causal model: built in, on the Hugging Face Hub, a folder; or the name on the server.",
)
@option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The generations to write (JSON lines).")
@option("--run", "run_name", help="Instead of --out: the name of a run that the page Generate lists.")
@option(
    "--each",
    "-n",
    type=click.IntRange(1),
    default=1,
    help="Texts for each context; more contexts tell more than more texts.",
)
@option("--seed", type=int, default=SEED, help="With the context and its number, the seed of every text.")
@option("--top-k", type=click.IntRange(0), default=50, help="0: no limit.")
@option("--top-p", type=click.FloatRange(0, 1, min_open=True), default=0.95)
@option("--temperature", type=click.FloatRange(0, min_open=True), help="Default: the model's own, else 1.")
@option(
    "--tokens",
    type=click.IntRange(1, 4096),
    default=50,
    help="New tokens per text; exactly this many unless --stop is given.",
)
@option("--stop", is_flag=True, help="A text may end at the model's end mark.")
@option("--self-debias", "debias", is_flag=False, flag_value=GENDER_PREFIX, default="",
        help="Tokens that TEXT makes more likely lose probability; none: the text of Schick et al.")  # fmt: skip
@option("--decay", type=float, default=DECAY, help="How fast they lose it (lambda).")
@option("--precision", type=click.Choice(["fp32", "bf16"]), default="fp32")
@option("--threads", type=click.IntRange(1), help="Threads of the model; default: all.")
@option("--chunk", type=click.IntRange(1, 4096), default=CHUNK, help="Texts in a batch.")
@option("--server", help="An OpenAI-compatible server: http://HOST:PORT/v1. Its key: EVENHAND_API_KEY.")
@option("--chat", is_flag=True, help="Server: ask by chat, for models without plain completion.")
@option(
    "--instruction",
    default=INSTRUCTION,
    show_default=False,
    help="Chat: the instruction; {context} is replaced by the context.",
)
@option(
    "--standard", is_flag=True, help="Server: send only what OpenAI's own protocol knows (no top-k, no fixed length)."
)
@option("--at-once", type=click.IntRange(1, 512), default=8, help="Server: concurrent requests.")
@option("--per-minute", type=click.FloatRange(0, min_open=True), help="Server: maximum number of requests per minute.")
@option("--no-key", is_flag=True, help="Server: send no key, even if the environment has one.")
@option("--passes", type=click.IntRange(1), default=1, help="Templates: people that fill each.")
@option(
    "--setting",
    "settings",
    type=click.Choice(SETTINGS),
    multiple=True,
    help="Templates: pre = before the slot, post = after it; default: both.",
)
@option(
    "--pronouns",
    "only",
    multiple=True,
    help="Templates: only these sets: she, fae, ze/hir/hir/hirs/hirself; repeat for several.",
)
@option("--limit", type=click.IntRange(1), help="Only this many contexts, the first ones.")
@option("--trim", is_flag=True, help="Leave out the space at the end of contexts; the published code keeps it.")
@option("--column", help="The column that holds the contexts, if its name does not show it.")
@guarded("start_jobs")
def generate(db: str, **options: Any) -> None:
    """Let a model continue CONTEXTS, and write the texts as JSON lines for `import` and `rule`.

    CONTEXTS: "built-in" (own templates), a folder or table of templates (MISGENDERED, RUFF, TANGO, own), or a file with
    one context per row (JSON lines, CSV, TSV with columns context, name, pronouns, dataset, setting, template; text).
    The same command continues an interrupted run, with the same result as an uninterrupted one.
    """
    with Meter("texts") as meter:
        report = run(settings_from(Settings, options), Place(Path(db), meter))
    for problem in report.problems[:20]:
        why = problem.message.format(**problem.values) if problem.values else problem.message
        click.echo(f"{problem.file}:{problem.line}: {why}", err=True)
    answer(report, _text(report))


def _text(report: GenerationReport) -> Iterator[str]:
    rate = f", {report.rate:,.0f} tokens a second" if report.rate else ""
    resumed = f" ({report.resumed:,} were there from an earlier start)" if report.resumed else ""
    yield (
        f"{report.generations:,} texts for {report.contexts:,} contexts{resumed}; "
        f"{report.written:,} written in {report.seconds:.1f} s{rate}"
    )
    if report.refused:
        yield f"  {report.refused_contexts:,} contexts left out, the first because: {report.refused[0].text}"
    yield f"  {report.signature}"
    yield f"Written: {report.out}"


@click.command("sample")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@option(
    "--per-cell",
    type=click.IntRange(1),
    default=25,
    help="Generations of each model, data set, pronoun set and setting.",
)
@option("--out", type=click.Path(dir_okay=False), help="The sample to write (JSON lines); without it only the numbers.")
@option("--seed", type=int, default=0)
@option("--project", "name", help="A project whose blind labels are the pilot; else the first-pronoun rule on FILE is.")
@guarded("import_files", "name")
def sample(file: str, per_cell: int, out: str | None, seed: int, name: str | None, db: str) -> None:
    """Draw generations of FILE for people to judge: every context once before any twice.

    Prints the expected standard error of a cell's rate for each way to spend the labels (25 contexts x 1, 5 x 5), from
    the intra-class correlation of a pilot.
    """
    generations = read_generations(file)
    drawn = draw_sample(generations, per_cell, seed)
    if name is None:
        pilot = pilot_by_rule(generations)
    else:
        with opened_project(db, name) as (store, project):
            pilot = pilot_by_people(store, project)
    if out is not None:
        write_sample(drawn, Path(out))
    ways = designs(per_cell, pilot.mean, pilot.value)
    data = drawn.facts() | {
        "seed": seed,
        "out": out,
        "pilot": _pilot(pilot, name),
        "designs": [_strata_of(w) for w in ways],
    }
    answer(data, _for_people(drawn, pilot, ways, out))


def _pilot(pilot: Correlation, name: str | None) -> JsonObject:
    values = {"contexts": pilot.contexts, "labels": pilot.labels, "mean": pilot.mean, "icc": pilot.value}
    reason = {} if pilot.reason is None else {"icc_reason": str(pilot.reason)}
    return {"from": "labels" if name else "rule"} | values | reason


def _strata_of(design: Design) -> JsonObject:
    values: JsonObject = {"contexts": design.contexts, "per_context": design.per_context, "se": design.se}
    values |= {"design_effect": design.effect, "independent_labels": design.independent}
    return values if design.se is not None else values | {"se_reason": "The pilot gives no intra-class correlation."}


def _for_people(drawn: GenerationSample, pilot: Correlation, ways: list[Design], out: str | None) -> str:
    lines = [
        f"{len(drawn.rows):,} of {drawn.of:,} generations in {drawn.cells:,} cells (fewest {drawn.fewest:,}), "
        f"{drawn.contexts:,} contexts, at most {drawn.most_of_one:,} of one context in a cell"
    ]
    if pilot.value is None or pilot.mean is None:
        lines.append(f"No intra-class correlation: {pilot.reason}")
    else:
        lines.append(
            f"Pilot: {pilot.labels:,} generations of {pilot.contexts:,} contexts in cells, rate {pilot.mean:.3f}, "
            f"intra-class correlation {pilot.value:.3f}"
        )
        lines += [
            f"  {way.contexts} contexts x {way.per_context}: standard error {way.se:.3f}, "
            f"worth {way.independent:.1f} independent labels"
            for way in ways
            if way.se is not None and way.independent is not None
        ]
    return "\n".join([*lines, *([f"Written: {out}"] if out else [])])


@click.command("compare-texts")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@option("--from", "source", help="Instead of files: a project of generations.")
@option("--project", "name", required=True, help="The project to make.")
@option("--annotators", default="", help="Their names, separated by commas.")
@option("--per-item", type=click.IntRange(1, 100), default=3, help="People for each comparison.")
@option("--per-context", type=click.IntRange(1), default=1, help="Comparisons of a context at most.")
@option("--language", type=click.Choice(["en", "zh"]), default="en", help="The language of the guideline.")
@option("--seed", type=int, default=0, help="Start of the random choice of pairs, texts and their order.")
@guarded("create_projects")
def compare_texts(
    files: tuple[Path, ...], source: str | None, name: str, annotators: str, db: str, **options: Any
) -> None:
    """Make a project of comparisons: two texts of one context by different models, from generations in FILES.

    In each context every two models are drawn with the same probability, and models take part about equally often.
    """
    if bool(files) == (source is not None):
        raise Refused(N_("Give files of generations, or a project with --from."))
    people = [word.strip() for word in annotators.split(",") if word.strip()]
    with Store.open(db) as store:
        if source is None:
            texts = texts_of_files(files)
        else:
            of = find_project(store, source)
            require(acting_person(), "see_all_labels", project=of.uid)
            texts = texts_of_project(store, of)
        made, drawn = comparisons_project(store, name, texts, annotators=people, **options)
        own_new_project(store, made)
    data = {
        "project": made.name, "comparisons": len(drawn.rows), "contexts": drawn.contexts,
        "contexts_of_one_model": drawn.alone, "same_text": drawn.same, "compared": drawn.compared,
    }  # fmt: skip
    each = ", ".join(f"{model} {number:,}" for model, number in drawn.compared.items())
    text = f"{len(drawn.rows):,} comparisons of {drawn.contexts:,} contexts in {made.name}; {each}"
    left = f"left out: {drawn.alone:,} contexts with one model, {drawn.same:,} pairs with the same text"
    answer(data, f"{text}; {left}")
