"""`preferences PROJECT`: which model is preferred, from comparisons of two texts."""

from collections.abc import Iterator
from typing import Any

import click

from evenhand.annotations.agreement.preferences import GROUPS, ModelPreferences, preferences
from evenhand.annotations.judges.judges import judge as find_judge
from evenhand.annotations.projects.projects import project as find_project
from evenhand.commands.permissions import needs
from evenhand.commands.shared import answer, db_option, existing_store, json_option, say_unsettled
from evenhand.commands.tables import table
from evenhand.core.statistics.bradley_terry import Preferences
from evenhand.core.typed_json import to_json


@click.command("preferences")
@click.argument("project")
@click.option("--judge", help="The name of a judge of PROJECT, instead of people.")
@click.option("--by", type=click.Choice(GROUPS), help="The same within each data set, pronoun set or setting.")
@click.option("--without", multiple=True, metavar="MODEL", help="Leave this model out; may be repeated.")
@db_option
@json_option
@needs("see_all_labels", "project")
def model_preferences(
    project: str, judge: str | None, by: str | None, without: tuple[str, ...], db: str, as_json: bool
) -> None:
    """Which model is preferred, from the comparisons of two texts in PROJECT.

    Bradley–Terry strengths (natural logarithms that sum to 0) with Davidson ties, 95% intervals over contexts,
    from five annotators on over these as well; the places that the differences leave open; how often the left text
    is preferred; whether one strength per model is enough.
    """
    with existing_store(db) as store, store.read():
        found = find_project(store, project)
        say_unsettled(store, found)
        number = None if judge is None else find_judge(store, found, judge).id
        made = preferences(store, found, judge=number, by=by, without=without)
    data = {
        "project": found.name, "labels_of": judge or "people", "items": made.items, "labels": made.labels,
        "annotators": made.annotators, "contexts": made.contexts, "left_out": made.left_out,
        **_as_json(made.found), "counts": _counts(made),
        **({by: {value: _as_json(one) for value, one in made.groups.items()}} if by else {}),
    }  # fmt: skip
    left = f"left out, without two models that have different names: {made.left_out}" if made.left_out else ""
    lines = [f"{made.labels} labels on {made.items} comparisons in {made.contexts} contexts", left]
    lines += _in_words(made.found)
    for value, one in made.groups.items():
        lines += [f"{by}: {value or '-'}", *_in_words(one)]
    answer(data, lines, as_json=as_json)


def _counts(made: ModelPreferences) -> list[dict[str, Any]]:
    return [
        {"model": name, "compared": compared, "preferred": preferred, "tied": tied}
        for name, (compared, preferred, tied) in zip(made.comparisons.models, made.counts, strict=True)
    ]


def _as_json(found: Preferences) -> dict[str, Any]:
    names = found.models
    return {
        **({"reason": str(found.reason)} if found.reason else {}),
        "models": [
            {"model": name, "strength": one.to_json(), "best_rank": ranks[0], "worst_rank": ranks[1]}
            for name, one, ranks in zip(names, found.strengths, found.ranks, strict=True)
        ],
        "differences": [
            {"one": names[each.one], "other": names[each.other], "difference": each.estimate.to_json(),
             "preferred": each.chance.to_json(), "holm": each.stays}
            for each in found.differences
        ],
        "tie": found.tie.to_json(), "left": found.left.to_json(),
        "fit": to_json(found.fit),
        "signature": found.signature,
    }  # fmt: skip


def _in_words(found: Preferences) -> Iterator[str]:
    if found.reason is not None:
        yield str(found.reason)
    else:
        ranked = zip(found.models, found.strengths, found.ranks, strict=True)
        rows = sorted(ranked, key=lambda row: -(row[1].value or 0))
        yield table(
            [(name, one, f"place {best}" + f" to {worst}" * (worst > best)) for name, one, (best, worst) in rows]
        )
        pairs = [
            (
                f"{found.models[pair.one]} preferred to {found.models[pair.other]}",
                pair.chance,
                "*" if pair.stays else "",
            )
            for pair in found.differences
        ]
        yield table([*pairs, ("equal models tie", found.tie, ""), ("the left of two equal models", found.left, "")])
        fit = found.fit
        yield f"circles: p {fit.p:.4f}" if fit.p is not None else f"circles: -  ({fit.reason})"
    yield found.signature
