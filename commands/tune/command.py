"""`tune MODEL TEXTS`: a model trained further on texts, swapped or not, or with a direction taken out."""

from pathlib import Path
from typing import Any, get_args

import click

from evenhand.annotations.before_after.runs import tune_model
from evenhand.annotations.files.project_texts import PROJECT
from evenhand.commands.permissions import enter_project, needs
from evenhand.commands.shared import Meter, answer, db_option, existing_store, json_option, settings_from
from evenhand.core.models.tuning.settings import BERT_DROPOUT
from evenhand.core.runs.kinds import Place
from evenhand.core.swap.word_tables import LANGUAGES
from evenhand.core.tune.report import ProjectionReport, TrainingReport, TuneReport, stopped_early
from evenhand.core.tune.settings import Method, Settings
from evenhand.core.tune.texts import SWAPS
from evenhand.core.typed_json import to_json


@click.command("tune")
@click.argument("model")
@click.argument("texts")
@click.option("--out", type=click.Path(path_type=Path), help="The folder to write the changed model to.")
@click.option("--run", "run_name", help="Instead of --out: the name of a model that the page Tune lists.")
@click.option("--method", type=click.Choice(get_args(Method)), default="training", show_default=True,
              help="Train further, or take out the direction of SentenceDebias or INLP.")  # fmt: skip
@click.option("--swap", type=click.Choice(SWAPS), default="none", show_default=True,
              help="What is trained on: the texts, their counterfactuals, both (cda), one of both (cds).")  # fmt: skip
@click.option("--language", type=click.Choice(LANGUAGES), help="The language of the texts, to swap them.")
@click.option("--pairs", type=click.Choice(["released", "wide"]), default="released", show_default=True,
              help="Which Chinese pairs are swapped.")  # fmt: skip
@click.option("--words", "own", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Pairs of your own.")
@click.option("--names", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Names to swap.")
@click.option("--leave-out", multiple=True, metavar="他/她",
              help="A pair that is not swapped, to test on afterwards; may be given several times.")  # fmt: skip
@click.option("--steps", type=int, default=1000, show_default=True, help="Training steps.")
@click.option("--batch", type=int, default=32, show_default=True, help="Texts per step.")
@click.option("--length", type=int, default=128, show_default=True, help="Maximum number of tokens per text.")
@click.option("--rate", type=float, default=5e-5, show_default=True, help="Learning rate at the start; it falls to 0.")
@click.option("--warmup", type=int, default=0, show_default=True, help="Steps until the rate is reached.")
@click.option("--decay", type=float, default=0.01, show_default=True, help="Weight decay.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the order of texts, masks, swaps.")
@click.option("--lora", type=int, default=0, show_default=True, help="Rank of adapters in place of all weights.")
@click.option("--adapters", is_flag=True, help="Keep the adapters beside the merged weights.")
@click.option("--dropout", nargs=2, type=float, metavar="HIDDEN ATTENTION",
              help=f"Dropout in training; published for BERT: {BERT_DROPOUT[0]:g} {BERT_DROPOUT[1]:g}.")  # fmt: skip
@click.option("--every", type=int, default=100, show_default=True, help="Steps between checks on held-out text.")
@click.option(
    "--patience",
    type=int,
    default=3,
    show_default=True,
    help="Checks without progress after which training stops; 0: never.",
)
@click.option("--held-out", "share", type=click.FloatRange(0.001, 0.5), default=0.05, show_default=True,
              help="Share of the texts that are never trained on.")  # fmt: skip
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda, mps.")
@click.option("--ray", "address", help="Train in a worker of the Ray cluster at this address; local: start one here.")
@click.option("--threads", type=click.IntRange(1), help="With --ray: threads of the worker; default: all.")
@click.option("--force", is_flag=True, help="Start even if memory seems too small.")
@click.option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@db_option
@json_option
@needs("start_jobs")
def tune(model: str, texts: str, db: str, as_json: bool, **options: Any) -> None:
    """Change MODEL with TEXTS and write it as a folder that loads like any model, with a model card.

    MODEL: built in, on the hub, or a folder. TEXTS: a text file (one text per line), anything that `mine` reads, or
    project:NAME. A run that was killed continues when the same command is repeated, with the same result. With --ray
    the folder of the model must be on a disk that the cluster sees.
    """
    if texts.startswith(PROJECT):
        with existing_store(db) as store:
            enter_project(store, texts.removeprefix(PROJECT), options["uid"])
    with Meter("steps") as meter:
        report = tune_model(
            settings_from(Settings, {"model": model, "texts": texts, **options}), Place(Path(db), meter)
        )
    answer(to_json(report), for_people(report), as_json=as_json)


def for_people(report: TuneReport) -> str:
    """The run in words."""
    before, after = report.held_out["before"], report.held_out["after"]
    lines = [
        f"{report.base.name}: {report.method_text}",
        f"held-out loss {before.loss:.4f} -> {after.loss:.4f}, top-1 accuracy {before.accuracy:.2%} -> "
        f"{after.accuracy:.2%} ({after.tokens:,} tokens of {after.texts:,} texts)",
    ]
    if isinstance(report, TrainingReport):
        resumed = f", resumed at step {report.resumed_at}" if report.resumed_at else ""
        lines.append(f"{report.steps:,} steps in {report.seconds:.0f} s{resumed}")
        lines += [early.text] if (early := stopped_early(report)) else []
    elif isinstance(report, ProjectionReport):
        first, last = (report.probe[time]["accuracy"] for time in ("before", "after"))
        lines.append(f"probe accuracy {first:.1%} -> {last:.1%}")
    return "\n".join([*lines, f"Written: {report.folder}"])
