"""`tune-grid`: models x interventions x seeds, here or on Ray, with a table that fills in."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.before_after.runs import make_grid
from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, db_option, json_option, settings_from
from evenhand.core.before_after.appendix import interval, short
from evenhand.core.before_after.grid import DONE, GridReport
from evenhand.core.before_after.settings import INTERVENTIONS, GridSettings
from evenhand.core.runs.kinds import Place
from evenhand.core.swap.word_tables import LANGUAGES
from evenhand.core.typed_json import to_json


@click.command("tune-grid")
@click.argument("texts", type=click.Path(exists=True, path_type=Path))
@click.option("--model", "models", multiple=True, required=True, help="A model; may be given several times.")
@click.option("--intervention", "interventions", multiple=True, type=click.Choice(INTERVENTIONS),
              help="What is done to it; default: cds and none (the placebo). as-is: measured only.")  # fmt: skip
@click.option("--seeds", type=click.IntRange(1), default=3, show_default=True, help="Of each, from 0.")
@click.option("--run", "run_name", required=True, help="The name of the run; its models lie in a folder of that name.")
@click.option("--items", help="A file to measure on, as for `score`; default: built-in neutral sentences.")
@click.option("--language", type=click.Choice(LANGUAGES), default="zh", show_default=True, help="Of the texts.")
@click.option("--pairs", type=click.Choice(["released", "wide"]), default="released", show_default=True,
              help="Which Chinese pairs are swapped.")  # fmt: skip
@click.option("--leave-out", multiple=True, metavar="他/她", help="A pair that is not swapped; several times.")
@click.option("--steps", type=int, default=1000, show_default=True, help="Training steps.")
@click.option("--batch", type=int, default=32, show_default=True, help="Texts per step.")
@click.option("--length", type=int, default=128, show_default=True, help="Maximum number of tokens per text.")
@click.option("--rate", type=float, default=5e-5, show_default=True, help="Learning rate at the start.")
@click.option("--every", type=int, default=100, show_default=True, help="Steps between checks and checkpoints.")
@click.option("--held-out", "share", type=click.FloatRange(0.001, 0.5), default=0.05, show_default=True,
              help="Share of the texts that are never trained on.")  # fmt: skip
@click.option("--threads", type=click.IntRange(1), help="Threads of each worker; default: all.")
@click.option("--ray", help="Address of a Ray cluster, or local: one model a worker.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="With --ray: how many.")
@db_option
@json_option
@needs("start_jobs")
def tune_grid(texts: Path, db: str, as_json: bool, **options: Any) -> None:
    """Change every model in every way with every seed, measure each, and fill a table in.

    The same command continues a grid that was stopped: finished cells are kept, and a cell in training resumes from its
    checkpoint. On a cluster of several machines the folder of the database must be on a disk that all of them see.
    """
    with Meter("models") as meter:
        report = make_grid(settings_from(GridSettings, {"texts": texts.resolve(), **options}), Place(Path(db), meter))
    answer(to_json(report), _text(report), as_json=as_json)


def _text(report: GridReport) -> Iterator[str]:
    done = sum(cell.status == DONE for cell in report.cells)
    yield f"{done} of {len(report.cells)} models made and measured in {report.seconds:.0f} s"
    for row in report.effects:
        yield f"{short(row.model)}, {row.intervention}: change in magnitude {interval(row.effect)}"
    yield from (failure.text for failure in report.failed)
    yield f"Written: {report.out}"
