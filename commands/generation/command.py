"""`generate`: let a model write after contexts, here or through a server; `sample`: choose what people judge."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, db_option, json_option, settings_from
from evenhand.core.generation.inputs import CHUNK, SEED
from evenhand.core.generation.run import GenerationReport, Settings, run
from evenhand.core.generation.server import INSTRUCTION
from evenhand.core.misgendering.slots import SETTINGS
from evenhand.core.models import DECAY, GENDER_PREFIX
from evenhand.core.runs.kinds import Place
from evenhand.core.typed_json import to_json


@click.command("generate")
@click.argument("contexts")
@click.option(
    "--model",
    required=True,
    help="A causal model: built in, on the Hugging Face Hub, a folder; or the name on the server.",
)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="The generations to write (JSON lines).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the page Generate lists.")
@click.option(
    "--each",
    "-n",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Texts for each context; more contexts tell more than more texts.",
)
@click.option(
    "--seed", type=int, default=SEED, show_default=True, help="With the context and its number, the seed of every text."
)
@click.option("--top-k", type=click.IntRange(0), default=50, show_default=True, help="0: no limit.")
@click.option("--top-p", type=click.FloatRange(0, 1, min_open=True), default=0.95, show_default=True)
@click.option("--temperature", type=click.FloatRange(0, min_open=True), help="Default: the model's own, else 1.")
@click.option(
    "--tokens",
    type=click.IntRange(1, 4096),
    default=50,
    show_default=True,
    help="New tokens per text; exactly this many unless --stop is given.",
)
@click.option("--stop", is_flag=True, help="A text may end at the model's end mark.")
@click.option("--self-debias", "debias", is_flag=False, flag_value=GENDER_PREFIX, default="",
              help="Tokens that TEXT makes more likely lose probability; none: the text of Schick et al.")  # fmt: skip
@click.option("--decay", type=float, default=DECAY, show_default=True, help="How fast they lose it (lambda).")
@click.option("--precision", type=click.Choice(["fp32", "bf16"]), default="fp32", show_default=True)
@click.option("--threads", type=click.IntRange(1), help="Threads of the model; default: all.")
@click.option("--chunk", type=click.IntRange(1, 4096), default=CHUNK, show_default=True, help="Texts in a batch.")
@click.option("--server", help="An OpenAI-compatible server: http://HOST:PORT/v1. Its key: EVENHAND_API_KEY.")
@click.option("--chat", is_flag=True, help="Server: ask by chat, for models without plain completion.")
@click.option("--instruction", default=INSTRUCTION, help="Chat: what is asked; {context} is replaced.")
@click.option(
    "--standard", is_flag=True, help="Server: send only what OpenAI's own protocol knows (no top-k, no fixed length)."
)
@click.option(
    "--at-once", type=click.IntRange(1, 512), default=8, show_default=True, help="Server: concurrent requests."
)
@click.option(
    "--per-minute", type=click.FloatRange(0, min_open=True), help="Server: maximum number of requests per minute."
)
@click.option("--no-key", is_flag=True, help="Server: send no key, whatever the environment holds.")
@click.option(
    "--passes", type=click.IntRange(1), default=1, show_default=True, help="Templates: people that fill each."
)
@click.option(
    "--setting",
    "settings",
    type=click.Choice(SETTINGS),
    multiple=True,
    help="Templates: pre = before the slot, post = after it; default: both.",
)
@click.option(
    "--pronouns",
    "only",
    multiple=True,
    help="Templates: only these sets: she, fae, ze/hir/hir/hirs/hirself; repeat for several.",
)
@click.option("--limit", type=click.IntRange(1), help="Only this many contexts, the first ones.")
@click.option("--trim", is_flag=True, help="Leave out the space at the end of contexts; the published code keeps it.")
@click.option("--column", help="The column that holds the contexts, where its name does not say so.")
@db_option
@json_option
@needs("start_jobs")
def generate(contexts: str, db: str, as_json: bool, **options: Any) -> None:
    """Let a model continue CONTEXTS, and write the texts as JSON lines for `import` and `rule`.

    CONTEXTS: "built-in" (own templates), a folder or table of templates (MISGENDERED, RUFF, TANGO, own), or a file with
    one context per row (JSON lines, CSV, TSV with columns context, name, pronouns, dataset, setting, template; text).
    The same command continues an interrupted run, with the same result as an uninterrupted one.
    """
    with Meter("texts") as meter:
        report = run(settings_from(Settings, {"contexts": contexts, **options}), Place(Path(db), meter))
    for problem in report.problems[:20]:
        why = problem.message.format(**problem.values) if problem.values else problem.message
        click.echo(f"{problem.file}:{problem.line}: {why}", err=True)
    answer(to_json(report), _text(report), as_json=as_json)


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
