"""`misgendering run`: both ways in one go, as the page Misgendering starts them."""

from pathlib import Path
from typing import Any

import click

from evenhand.commands.misgendering.score import answer_verdicts, drawing_options
from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, db_option, json_option, settings_from
from evenhand.core.misgendering.run import BUILT_IN, Settings
from evenhand.core.misgendering.run import run as run_both
from evenhand.core.runs.kinds import Place


@click.command("run")
@click.argument("templates", default=BUILT_IN)
@click.option("--model", "models", multiple=True, required=True, help="A causal model; repeat for several.")
@click.option("--run", "run_name", required=True, help="The name of the run, which the page Misgendering lists.")
@click.option("--each", type=click.IntRange(0, 100), default=5, show_default=True, help="Texts per context; 0: none.")
@click.option(
    "--setting",
    type=click.Choice(["pre", "post", "both"]),
    default="pre",
    show_default=True,
    help="Go on from before the slot, from the whole text with the right form, or both.",
)
@click.option("--new-tokens", type=click.IntRange(1, 4096), default=50, show_default=True, help="Length of each text.")
@click.option("--trim", is_flag=True, help="Leave out the space at the end of contexts; the published code keeps it.")
@click.option("--threads", type=click.IntRange(1), help="Threads of the model in this process; default: all.")
@drawing_options
@db_option
@json_option
@needs("start_jobs")
def run(templates: str, db: str, as_json: bool, **options: Any) -> None:
    """Ask models both ways: let them write after every context of TEMPLATES, and ask which form is most likely.

    TEMPLATES as for `misgendering score`. The table of verdicts and the texts are stored beside the database; a
    repeated command continues an interrupted run.
    """
    settings = settings_from(Settings, {"templates": templates, **options})
    with Meter() as meter:
        report = run_both(settings, Place(Path(db), meter))
    answer_verdicts(report, as_json=as_json)
