"""Templates and people become instances: seeded, and the same names for every pronoun set, so that cells compare."""

import random
from collections.abc import Iterator, Sequence

from evenhand.core.errors import N_, Refused
from evenhand.core.misgendering.slots import Instance, Template, instance_of
from evenhand.core.misgendering.template_files import Person, Source
from evenhand.core.text.pronouns import sets

PASSES = 15  # times that each template is filled, as MISGENDERED does: 50 x 15 = 750 instances per set


def instances(
    source: Source,
    *,
    passes: int = PASSES,
    seed: int = 0,
    also: Sequence[str] = (),
    only: Sequence[str] = (),
    people: Sequence[Person] | None = None,
    limit: int | None = None,
) -> tuple[Instance, ...]:
    """Every instance of a source, by template, then name, then pronoun set.

    Each template is filled *passes* times, by people drawn without repeating one before all were drawn (the published
    code draws with replacement). A person whose pronouns are given appears with these, anybody else with each set of
    the data set and of *also*. *only*: keep instances of these sets. *limit*: a seeded sample of that many instances,
    in the order of the whole. Raises Refused where nothing is left, BadFile for a template that cannot be filled.
    """
    drawn = people if people is not None else source.people
    found = [*source.instances]
    for template in source.templates:
        found += _of_template(template, drawn, passes, seed, tuple(also))
    if only:
        found = [one for one in found if any(name in only for name in one.pronouns)]
    if not found:
        raise Refused(N_("No instances remain: there is no template, no name, or no pronoun set is chosen."))
    if limit is not None and limit < len(found):
        kept = _random(seed, "limit").sample(range(len(found)), limit)
        found = [found[i] for i in sorted(kept)]
    return tuple(found)


def _of_template(
    template: Template, people: Sequence[Person], passes: int, seed: int, also: tuple[str, ...]
) -> Iterator[Instance]:
    names = _shuffled_people(len(people), passes, _random(seed, template.id))
    for number, index in enumerate(names, 1):
        person = people[index]
        own = [person.pronouns] if person.pronouns else [(name,) for name in (*sets(template.dataset), *also)]
        for pronouns in dict.fromkeys(own):
            id = f"{template.id}.{number}.{';'.join(pronouns)}"
            yield instance_of(template, person.name, pronouns, id=id, also=also)


def _shuffled_people(people: int, passes: int, chance: random.Random) -> Iterator[int]:
    """*passes* numbers below *people*: one shuffle after the other."""
    left: list[int] = []
    for _ in range(passes if people else 0):
        left = left or chance.sample(range(people), people)
        yield left.pop()


def _random(seed: int, name: str) -> random.Random:
    return random.Random(f"{seed}|{name}")  # noqa: S311 (a draw that can be repeated, nothing secret)
