"""`misgendering run`: both ways in one go, as the page Misgendering starts them."""

from typing import Any

import click

from evenhand.commands.misgendering.score import (
    BUILT_IN,
    drawing_options,
    drawn_from,
    facts_of,
    for_people,
    source_name,
)
from evenhand.commands.permissions import needs
from evenhand.commands.shared import Meter, answer, db_option, json_option, warn
from evenhand.core.misgendering.run import VerdictSettings, Writing, run_both, verdicts_to_file
from evenhand.core.misgendering.slots import SETTINGS
from evenhand.core.runs.records import run_target
from evenhand.core.scoring.cache import cache_path


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
    source, drawn = drawn_from(templates, options)
    out, is_run = run_target(db, "misgendering", None, options["run_name"])
    settings = VerdictSettings(options["models"], threads=options["threads"], cache=cache_path(db))
    with Meter() as meter:
        common: dict[str, Any] = {
            "name": source_name(templates),
            "facts": facts_of(options),
            "watch": meter,
            "record": is_run,
        }
        if options["each"]:
            places = SETTINGS if options["setting"] == "both" else (options["setting"],)
            how = Writing(options["each"], places, options["new_tokens"], options["seed"], options["trim"])
            report = run_both(source, drawn, settings, how, out, **common)
        else:
            report = verdicts_to_file(source, drawn, settings, out, **common)
    warn(report.notices, report.failed)
    answer(report.as_json(), for_people(report), as_json=as_json)
