"""`annotator-models PROJECT`: Dawid-Skene and MACE beside the vote."""

from collections.abc import Iterator
from typing import Any

import click

from evenhand.annotations.agreement.annotator_models import (
    AnnotatorModels,
    ModelledAnnotator,
    ModelledItem,
    annotator_models,
)
from evenhand.annotations.agreement.disagreements import finished_items
from evenhand.annotations.agreement.schemes import Way, ways_of
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects.projects import project as find_project
from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, db_option, existing_store, json_option, say_unsettled
from evenhand.commands.tables import table
from evenhand.core.errors import N_, Refused

NOT_SETTLED = "A model did not settle within its rounds; its figures are provisional."


@click.command("annotator-models")
@click.argument("project")
@click.option("--version", type=click.IntRange(1), help="Only labels made under this version of the guideline.")
@click.option("--on", type=click.Choice(["all", "share"]), help="All labelled items, or the random share; as in "
                                                                "`agreement`.")  # fmt: skip
@click.option("--by", "way", default="four", show_default=True,
              help="Generations: which labels, as in `ways` of `agreement --json`.")  # fmt: skip
@db_option
@json_option
@needs("see_all_labels", "project")
def models(project: str, version: int | None, on: ItemScope | None, way: Way, db: str, as_json: bool) -> None:
    """Dawid-Skene and MACE beside the vote, on the items of PROJECT with five blind labels or more.

    They say how reliable annotators are and which choice is probably right; they never decide a gold label. --json
    lists the fully labelled items on which a model says something else than the vote, or the vote ties.
    """
    with existing_store(db) as store, store.read():
        found = find_project(store, project)
        say_unsettled(store, found)
        if way not in (ways := ways_of(store, found)):
            message = N_("{project} compares no labels by {way}. Choose among: {ways}.")
            raise Refused(message, project=found.name, way=way, ways=", ".join(ways))
        made = annotator_models(store, found, way=way, version=version, on=on)
        differ = [one for one in made.items if one.differs]
        readable = finished_items(store, found, [one.row for one in differ])
        listed = [one for one in differ if one.row in readable]
        names = [readable[one.row] for one in listed]
    data = {
        "project": found.name,
        "items": len(made.items),
        "labels": made.labels,
        "items_with_fewer_labels": made.fewer,
        **({"reason": str(made.reason)} if made.reason else {}),
        "settled": made.settled,
        "choices": [choice.code for choice in made.choices],
        "against_vote": {name: made.against_vote(name) for name in ("dawid_skene", "mace")},
        "tied_votes": made.tied,
        "annotators": [_annotator(one, made) for one in made.annotators],
        "differ": [_item(name, one, made) for name, one in zip(names, listed, strict=True)],
        "signature": made.signature,
    }
    answer(data, _for_people(found.name, made), as_json=as_json)


def _annotator(one: ModelledAnnotator, made: AnnotatorModels) -> dict[str, Any]:
    codes = [choice.code for choice in made.choices]
    errors = {
        code: None if line is None else dict(zip(codes, line, strict=True))
        for code, line in zip(codes, one.errors, strict=True)
    }
    return {"annotator": one.name, "labels": one.labels, "right": one.right, "competence": one.competence,
            "errors": errors}  # fmt: skip


def _item(name: str, one: ModelledItem, made: AnnotatorModels) -> dict[str, Any]:
    def code(place: int | None) -> str | None:
        return None if place is None else made.choices[place].code

    return {
        "item": name,
        "votes": {choice.code: n for choice, n in zip(made.choices, one.votes, strict=True)},
        "vote": code(one.vote),
        "dawid_skene": code(one.dawid_skene),
        "dawid_skene_probability": one.dawid_skene_probability,
        "mace": code(one.mace),
        "mace_probability": one.mace_probability,
    }


def _for_people(name: str, made: AnnotatorModels) -> Iterator[str]:
    yield f"{name}: {len(made.items)} items with five labels or more, {made.fewer} with fewer are left out"
    if made.reason is not None:
        yield str(made.reason)
    else:
        yield "" if made.settled else NOT_SETTLED
        skill, habit = made.against_vote("dawid_skene"), made.against_vote("mace")
        yield f"something else than the vote: Dawid-Skene {skill}, MACE {habit}; tied votes: {made.tied}"
        rows = [
            (annotator.name, annotator.labels, annotator.right, annotator.competence) for annotator in made.annotators
        ]
        yield table(rows, ("annotator", "labels", "right", "competence"))
    yield made.signature
