"""`compare-texts`: a project in which people compare texts of two models, side by side."""

from pathlib import Path
from typing import Any

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.generation_sample import comparisons_project, texts_of_files, texts_of_project
from evenhand.annotations.permissions import require
from evenhand.annotations.projects.projects import project as find_project
from evenhand.commands.permissions import acting_person, needs, own_new_project
from evenhand.commands.shared import answer, db_option, json_option
from evenhand.core.errors import N_, Refused


@click.command("compare-texts")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--from", "source", help="Instead of files: a project of generations.")
@click.option("--project", "name", required=True, help="The project to make.")
@click.option("--annotators", default="", help="Their names, separated by commas.")
@click.option("--per-item", type=click.IntRange(1, 100), default=3, show_default=True,
              help="People for each comparison.")  # fmt: skip
@click.option("--per-context", type=click.IntRange(1), default=1, show_default=True,
              help="Comparisons of a context at most.")  # fmt: skip
@click.option("--language", type=click.Choice(["en", "zh"]), default="en", show_default=True,
              help="Of the guideline.")  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of pairs, texts and their order.")
@db_option
@json_option
@needs("create_projects")
def compare_texts(
    files: tuple[Path, ...], source: str | None, name: str, annotators: str, db: str, as_json: bool, **options: Any
) -> None:
    """Make a project of comparisons: two texts of one context by different models, from generations in FILES.

    In each context every two models are drawn with the same probability, and models take part about equally often.
    """
    if bool(files) == (source is not None):
        raise Refused(N_("Give files of generations, or a project with --from."))
    people = [one.strip() for one in annotators.split(",") if one.strip()]
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
    answer(data, f"{text}; {left}", as_json=as_json)
