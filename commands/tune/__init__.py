"""`tune`, `tune-grid`: models trained further on texts, swapped or not, or with a direction taken out; many at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import click

from evenhand.annotations.before_after.runs import make_grid, tune_model
from evenhand.annotations.quantities.runs import run_json, run_texts
from evenhand.commands.permissions import enter_texts, guarded
from evenhand.commands.shared import Meter, answer, option, settings_from
from evenhand.core.before_after.appendix import interval, short
from evenhand.core.before_after.grid import DONE, GridReport
from evenhand.core.before_after.settings import INTERVENTIONS, GridSettings
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
@option("--out", type=click.Path(path_type=Path), help="The folder to write the changed model to.")
@option("--run", "run_name", help="Instead of --out: the name of a model that the page Tune lists.")
@option("--method", type=click.Choice(get_args(Method)), default="training",
        help="Train further, or take out the direction of SentenceDebias or INLP.")  # fmt: skip
@option("--swap", type=click.Choice(SWAPS), default="none",
        help="The training texts: the texts, their counterfactuals, both (cda), one of both (cds).")  # fmt: skip
@option("--language", type=click.Choice(LANGUAGES), help="The language of the texts, to swap them.")
@option("--pairs", type=click.Choice(["released", "wide"]), default="released", help="Which Chinese pairs are swapped.")
@option("--words", "own", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Pairs of your own.")
@option("--names", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Names to swap.")
@option("--leave-out", multiple=True, metavar="他/她",
        help="A pair that is not swapped, to test on afterwards; may be given several times.")  # fmt: skip
@option("--steps", type=int, default=1000, help="Training steps.")
@option("--batch", type=int, default=32, help="Texts per step.")
@option("--length", type=int, default=128, help="Maximum number of tokens per text.")
@option("--rate", type=float, default=5e-5, help="Learning rate at the start; it falls to 0.")
@option("--warmup", type=int, default=0, help="Steps until the rate is reached.")
@option("--decay", type=float, default=0.01, help="Weight decay.")
@option("--seed", type=int, default=0, help="Start of the random order of texts, masks and swaps.")
@option("--lora", type=int, default=0, help="Rank of adapters in place of all weights.")
@option("--adapters", is_flag=True, help="Keep the adapters next to the merged weights.")
@option("--dropout", nargs=2, type=float, metavar="HIDDEN ATTENTION",
        help=f"Dropout in training; published for BERT: {BERT_DROPOUT[0]:g} {BERT_DROPOUT[1]:g}.")  # fmt: skip
@option("--every", type=int, default=100, help="Steps between checks on held-out text.")
@option("--patience", type=int, default=3, help="Checks without progress after which training stops; 0: never.")
@option("--held-out", "share", type=click.FloatRange(0.001, 0.5), default=0.05,
        help="Share of the texts that are never trained on.")  # fmt: skip
@option("--device", default="auto", help="auto, cpu, cuda, mps.")
@option("--ray", "address", help="Train in a worker of the Ray cluster at this address; local: start one here.")
@option("--threads", type=click.IntRange(1), help="With --ray: threads of the worker; default: all.")
@option("--force", is_flag=True, help="Start even if memory seems too small.")
@option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@guarded("start_jobs")
def tune(model: str, texts: str, db: str, **options: Any) -> None:
    """Change MODEL with TEXTS and write it as a folder that loads like any model, with a model card.

    MODEL: built in, on the hub, or a folder. TEXTS: a text file (one text per line), anything that `mine` reads, or
    project:NAME. A run that was killed continues when the same command is repeated, with the same result. With --ray
    the folder of the model must be on a disk that the cluster sees.
    """
    enter_texts(db, texts, options["uid"])
    with Meter("steps") as meter:
        report = tune_model(
            settings_from(Settings, {"model": model, "texts": texts, **options}), Place(Path(db), meter)
        )
    answer(to_json(report) | {"quantities": run_json("tune", report)}, for_people(report))


def for_people(report: TuneReport) -> str:
    """Return the run in words."""
    after = report.held_out["after"]
    text = run_texts("tune", report)

    def change(name: str) -> str:
        return f"{text[f'run.tune.{name}:before']} -> {text[f'run.tune.{name}:after']}"

    lines = [
        f"{report.base.name}: {report.method_text}",
        f"held-out loss {change('loss')}, top-1 accuracy {change('accuracy')} ({after.tokens:,} tokens of"
        f" {after.texts:,} texts)",
    ]
    if isinstance(report, TrainingReport):
        resumed = f", resumed at step {report.resumed_at}" if report.resumed_at else ""
        lines.append(f"{report.steps:,} steps in {report.seconds:.0f} s{resumed}")
        lines += [early.text] if (early := stopped_early(report)) else []
    elif isinstance(report, ProjectionReport):
        lines.append(f"probe accuracy {change('probe')}")
    return "\n".join([*lines, f"Written: {report.folder}"])


@click.command("tune-grid")
@click.argument("texts", type=click.Path(exists=True, path_type=Path))
@option("--model", "models", multiple=True, required=True, help="A model; may be given several times.")
@option("--intervention", "interventions", multiple=True, type=click.Choice(INTERVENTIONS),
        help="What is done to it; default: cds and none (the placebo). as-is: measured only.")  # fmt: skip
@option("--seeds", type=click.IntRange(1), default=3, help="Number of seeds of each, from 0.")
@option("--run", "run_name", required=True, help="The name of the run; its models lie in a folder of that name.")
@option("--items", help="A file to measure on, as for `score`; default: built-in neutral sentences.")
@option("--language", type=click.Choice(LANGUAGES), default="zh", help="The language of the texts.")
@option("--pairs", type=click.Choice(["released", "wide"]), default="released", help="Which Chinese pairs are swapped.")
@option("--leave-out", multiple=True, metavar="他/她", help="A pair that is not swapped; several times.")
@option("--steps", type=int, default=1000, help="Training steps.")
@option("--batch", type=int, default=32, help="Texts per step.")
@option("--length", type=int, default=128, help="Maximum number of tokens per text.")
@option("--rate", type=float, default=5e-5, help="Learning rate at the start.")
@option("--every", type=int, default=100, help="Steps between checks and checkpoints.")
@option("--held-out", "share", type=click.FloatRange(0.001, 0.5), default=0.05,
        help="Share of the texts that are never trained on.")  # fmt: skip
@option("--threads", type=click.IntRange(1), help="Threads of each worker; default: all.")
@option("--ray", help="Address of a Ray cluster, or local: one model per worker.")
@option("--workers", type=click.IntRange(1), default=1, help="With --ray: how many.")
@guarded("start_jobs")
def tune_grid(texts: Path, db: str, **options: Any) -> None:
    """Change every model in every way with every seed, measure each, and fill in a table.

    The same command continues a grid that was stopped: finished cells are kept, and a cell in training resumes from its
    checkpoint. On a cluster of several machines the folder of the database must be on a disk that all of them see.
    """
    with Meter("models") as meter:
        report = make_grid(settings_from(GridSettings, {"texts": texts.resolve(), **options}), Place(Path(db), meter))
    answer(report, _text(report))


def _text(report: GridReport) -> Iterator[str]:
    done = sum(cell.status == DONE for cell in report.cells)
    yield f"{done} of {len(report.cells)} models made and measured in {report.seconds:.0f} s"
    for row in report.effects:
        yield f"{short(row.model)}, {row.intervention}: change in magnitude {interval(row.effect)}"
    yield from (failure.text for failure in report.failed)
    yield f"Written: {report.out}"
