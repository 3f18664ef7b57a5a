"""`before-after`: the same items through a model before and after a change, with placebos, seeds and the cost."""

from pathlib import Path
from typing import Any

import click

from evenhand.annotations.before_after.runs import compare_models
from evenhand.annotations.files.project_texts import PROJECT
from evenhand.commands.permissions import enter_project, needs
from evenhand.commands.shared import Meter, answer, db_option, existing_store, json_option, margin_option, settings_from
from evenhand.core.before_after.appendix import appendix
from evenhand.core.before_after.report import ModelsReport, RunsReport
from evenhand.core.before_after.settings import Settings
from evenhand.core.before_after.verdict import COST_MARGIN
from evenhand.core.runs.kinds import Place
from evenhand.core.typed_json import to_json


@click.command("before-after")
@click.argument("items")
@click.option("--before", "--model", "before", required=True, help="The model before the change.")
@click.option("--after", multiple=True, required=True, help="The model after it; several: the seeds of one change.")
@click.option("--placebo", multiple=True, help="A placebo for each of these, in the same order.")
@click.option("--text", type=click.Path(exists=True, path_type=Path),
              help="Text that no change has seen, one text per line: what the change cost.")  # fmt: skip
@margin_option("log10", of="change")
@click.option("--cost-margin", type=click.FloatRange(min=0), default=COST_MARGIN, show_default=True,
              help="Largest rise of the held-out loss (ln) that counts as no cost.")  # fmt: skip
@click.option("--language", help="The language of the items; else recognised.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="A table of every item and model (CSV).")
@click.option("--run", "run_name", help="Instead of --out: the name of a run that the page lists.")
@click.option("--report", type=click.Path(dir_okay=False, path_type=Path), help="A report for an appendix (Markdown).")
@click.option("--no-cache", is_flag=True, help="Do not cache scores.")
@click.option("--project-uid", "uid", hidden=True, help="The project by its id, for jobs.")
@db_option
@json_option
@needs("start_jobs")
def before_after(items: str, db: str, as_json: bool, **options: Any) -> None:
    """What a change to a model moved on ITEMS, what it did not, and what was lost.

    ITEMS: as for `score`, a file or project:NAME, or built-in: neutral sentences in the language of the model before
    (built-in:zh, built-in:en: in that language). The verdict is on the size of Bias_c (log10): below 0 leans less.
    With placebos it is on what exceeds theirs; with several seeds these are the unit.
    """
    if items.startswith(PROJECT):
        with existing_store(db) as store:
            enter_project(store, items.removeprefix(PROJECT), options["uid"])
    with Meter() as meter:
        report = compare_models(settings_from(Settings, {"items": items, **options}), Place(Path(db), meter))
    answer_with_appendix(report, appendix(report), options["report"], as_json=as_json)


def answer_with_appendix(report: ModelsReport | RunsReport, text: str, file: Path | None, *, as_json: bool) -> None:
    """Print *report* as JSON or as *text*, which is also written to *file* where one is given."""
    if file is not None:
        file.write_text(text, encoding="utf-8")
    answer(to_json(report), text, as_json=as_json)
