"""The facts of the annotator card: how the people who labelled came, were trained, tested and paid.

They come from studies, accounts, consent and pilots. A number of fewer than FEWEST_PEOPLE people is hidden, and so is
another one from which it could be derived. Groups of annotators are named and never counted: annotators are told that
they are not published.
"""

from collections.abc import Mapping
from typing import Any

from evenhand.annotations.accounts.accounts import accounts
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.annotators import labels_made
from evenhand.annotations.projects.consent import groupings
from evenhand.annotations.study.people import Participant, participants, pay
from evenhand.annotations.study.studies import Study, consent, studies
from evenhand.annotations.types import Project
from evenhand.core.statistics.intervals import FEWEST_PEOPLE


def annotator_facts(store: Store, project: Project) -> dict[str, Any]:
    """Return the facts of the card as JSON values; a hidden number is None.

    `studies`: each with its settings and the numbers of its participants; `labelled` of a study, `accounts` and
    `others`: people with valid labels by the way in which they came; `groupings`: what annotators are grouped by.
    """
    worked = {person: name for person, name, _labels in labels_made(store, project)}
    found, came = [], set[int]()
    ways: dict[str, int] = {}
    for number, study in enumerate(studies(store, project), 1):
        people = participants(store, study)
        own = {person.annotator for person in people if person.annotator in worked}
        came |= {person for person in own if person is not None}
        ways[f"study {number}"] = len(own)
        found.append({"number": number, **_study(store, study, people)})
    named = {account.annotator for account in accounts(store) if account.annotator}
    free = {name for person, name in worked.items() if person not in came}
    ways |= {"accounts": len(free & named), "others": len(free - named)}
    shown = shown_parts(ways)
    return {
        "fewest": FEWEST_PEOPLE,
        "studies": [one | {"labelled": shown[f"study {one['number']}"]} for one in found],
        "with_account": bool(ways["accounts"]),
        "accounts": shown["accounts"],
        "with_others": bool(ways["others"]),
        "others": shown["others"],
        "groupings": [{"name": one.name, "groups": len(one.options)} for one in groupings(store, project)],
    }


def _study(store: Store, study: Study, people: list[Participant]) -> dict[str, Any]:
    settings, form = study.settings, consent(store, study)
    states = ("finished", "screened_out", "withdrew", "timed_out")
    ended = {state: sum(person.state == state for person in people) for state in states}
    shown = shown_parts({**ended, "present": len(people) - sum(ended.values())})
    paid = pay(study, people)
    shows_pay = paid.people >= FEWEST_PEOPLE
    return {
        "service": study.service,
        "opened": study.created[:10],
        "closed": (study.closed or "")[:10],
        "items": settings.items,
        "questions": settings.questions,
        "pass_mark": settings.pass_mark,
        "reward": settings.reward,
        "currency": settings.currency,
        "floor": settings.floor,
        "minutes": round(paid.minutes, 1) if shows_pay and paid.minutes else None,
        "hourly": round(paid.hourly, 2) if shows_pay and paid.hourly else None,
        "form": form.version,
        "form_hash": {language: form.hash(language) for language in ("en", "zh")},
        "warned": bool(settings.warning_en.strip() or settings.warning_zh.strip()),
        **{state: shown[state] for state in states},
    }


def shown_parts(parts: Mapping[str, int]) -> dict[str, int | None]:
    """Return the numbers of people in the parts of a whole, with small ones hidden (None).

    A single hidden part would follow from the whole, so the next smallest part is hidden with it.
    """
    hidden = {name for name, number in parts.items() if 0 < number < FEWEST_PEOPLE}
    rest = sorted((number, name) for name, number in parts.items() if number >= FEWEST_PEOPLE)
    if len(hidden) == 1 and rest:
        hidden.add(rest[0][1])
    return {name: None if name in hidden else number for name, number in parts.items()}
