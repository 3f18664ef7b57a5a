"""`group-differences PROJECT`: do groups of annotators choose differently, and on which items?"""

from collections.abc import Iterator

import click

from evenhand.annotations.agreement.disagreements import finished_items
from evenhand.annotations.agreement.groups import GroupDifferences, group_differences
from evenhand.annotations.labels.blind_labels import ItemScope
from evenhand.annotations.projects import consent as records
from evenhand.annotations.projects.projects import annotator
from evenhand.annotations.projects.projects import project as find_project
from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, db_option, existing_store, json_option, opened_project
from evenhand.commands.tables import table
from evenhand.core.errors import N_, Refused
from evenhand.core.typed_json import to_json

ABOUT = "Candidates for a difference of opinion, not mistakes."


@click.command("groupings")
@click.argument("project")
@click.option("--add", metavar="NAME", help="A new grouping, as dialect; with --group for each group.")
@click.option("--group", "options", multiple=True, help="A group of the new grouping; at least two.")
@click.option("--by", help="The grouping in which --put puts people.")
@click.option("--put", multiple=True, metavar="NAME=GROUP", help="An annotator and the group; NAME= removes it.")
@db_option
@json_option
@needs("change_projects", "project")
def groupings(
    project: str, add: str | None, options: tuple[str, ...], by: str | None, put: tuple[str, ...], db: str,
    as_json: bool,
) -> None:  # fmt: skip
    """By what the annotators of PROJECT are grouped, as dialect or first language; how many are in each group.

    Annotators choose their own group on My record, which stands before what --put says.
    """
    if (by is None) != (not put) or (add is None) != (not options):
        raise Refused(N_("Give --add together with --group, and --by together with --put."))
    with opened_project(db, project) as (store, found):
        if add is not None:
            records.add_grouping(store, found, add, options)
        for one in put:
            name, _, value = one.rpartition("=")
            of = records.grouping(store, found, by or "")
            records.set_group(store, found, of, annotator(store, found, name), value or None, "lead")
        data = []
        for of in records.groupings(store, found):
            inside = list(records.groups_of(store, of).values())
            data.append({"grouping": of.name, "groups": {option: inside.count(option) for option in of.options}})
    lines = [f"{one['grouping']}: {', '.join(f'{k} {n}' for k, n in one['groups'].items())}" for one in data]  # type: ignore[attr-defined]
    answer({"groupings": data}, "\n".join(lines) or "The annotators are not grouped.", as_json=as_json)


@click.command("group-differences")
@click.argument("project")
@click.argument("grouping")
@click.option("--groups", nargs=2, help="The two groups; default: those with most people.")
@click.option("--version", type=click.IntRange(1), help="Only labels made under this version of the guideline.")
@click.option("--on", type=click.Choice(["all", "share"]), help="As in `agreement`.")
@db_option
@json_option
@needs("see_all_labels", "project")
def differences(
    project: str, grouping: str, groups: tuple[str, str] | None, version: int | None, on: ItemScope | None, db: str,
    as_json: bool,
) -> None:  # fmt: skip
    """Do two groups of GROUPING choose differently, with intervals over annotators and items, and on which items?

    Only groups of at least five people who labelled. Items on which they differ are candidates for a difference of
    opinion, not mistakes; --json lists those that are fully labelled, the surest first.
    """
    with existing_store(db) as store, store.read():
        found = find_project(store, project)
        made = group_differences(store, found, records.grouping(store, found, grouping), groups, version=version, on=on)
        readable = finished_items(store, found, [one.row for one in made.items])
        listed = [one for one in made.items if one.row in readable]
        names = [readable[one.row] for one in listed]
    data = {
        "project": found.name,
        "grouping": made.grouping.name,
        "groups": to_json(made.groups),
        "too_small": made.small,
        "compared": made.pair,
        **({"reason": str(made.reason)} if made.reason else {}),
        "choices": to_json(made.choices),
        "differing": made.differing,
        "items": [{"item": name, **to_json(item)} for name, item in zip(names, listed, strict=True)],
        "signature": made.signature,
    }
    answer(data, _for_people(made), as_json=as_json)


def _for_people(made: GroupDifferences) -> Iterator[str]:
    yield from (f"{group.name}: {group.people} people, {group.labels} labels" for group in made.groups)
    if made.small:
        yield f"groups that are too small to be shown: {made.small}"
    if made.reason is not None or made.pair is None:
        yield str(made.reason)
    else:
        yield f"{made.pair[0]} - {made.pair[1]}:"
        rows = [(row.choice.code, row.first, row.second, (row.difference, "+.3f")) for row in made.choices]
        yield table(rows, indent="  ")
        yield f"{made.differing} of {len(made.items)} items differ beyond chance. {ABOUT}"
    yield made.signature
