"""`tune-grid`: models x interventions x seeds, here or on Ray, with a table that fills in."""

from pathlib import Path
from typing import Any

import click

from evenhand.annotations.files.project_texts import Reading, open_input
from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, db_option, json_option
from evenhand.core.before_after.appendix import interval, short
from evenhand.core.before_after.grid import DONE, INTERVENTIONS, Grid, GridReport, Items, run_grid
from evenhand.core.models.tuning.settings import Tuning
from evenhand.core.runs.records import run_file, runs_folder
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
def tune_grid(texts: Path, run_name: str, db: str, as_json: bool, **options: Any) -> None:
    """Change every model in every way with every seed, measure each, and fill a table in.

    The same command continues a grid that was stopped: finished cells are kept, and a cell in training resumes from its
    checkpoint. On a cluster of several machines the folder of the database must be on a disk that all of them see.
    """
    out = _table(db, run_name)
    tuning = Tuning(**{key: options[key] for key in ("steps", "batch", "length", "rate", "every")}, patience=0)
    items = options["items"]
    grid = Grid(
        options["models"], options["interventions"] or ("none", "cds"), texts.resolve(), options["seeds"], tuning,
        Items.of(open_input(items, db=db, reading=Reading(options["language"]))) if items else None,
        options["language"], options["pairs"], options["share"], options["leave_out"], options["threads"],
    )  # fmt: skip
    with Meter("models") as meter:
        report = run_grid(
            grid, out.with_suffix(""), out, ray=options["ray"], workers=options["workers"], watch=meter, record=True
        )
    answer(to_json(report), for_people(report, out), as_json=as_json)


def _table(db: str, name: str) -> Path:
    """The table of a grid, also of one that goes on. Raises Refused for a name that is none."""
    folder = runs_folder(db, "grids")
    table = folder / f"{name.strip()}.csv"
    return table if table.is_file() else run_file(folder, name)


def for_people(report: GridReport, out: Path) -> str:
    """The effects in words."""
    done = sum(cell.status == DONE for cell in report.cells)
    lines = [f"{done} of {len(report.cells)} models made and measured in {report.seconds:.0f} s"]
    lines += [
        f"{short(one.model)}, {one.intervention}: change in magnitude {interval(one.effect)}" for one in report.effects
    ]
    return "\n".join([*lines, *(failure.text for failure in report.failed), f"Written: {out}"])
