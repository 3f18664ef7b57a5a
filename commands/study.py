"""`study [create|list|show|ids|consent|close|reopen|withdraw|sweep]`: people who come by a link, without an account."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import allowed
from evenhand.annotations.projects.consent import USES, Use
from evenhand.annotations.quality.known_answers import known_items
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.quantities.studies import pay_estimates
from evenhand.annotations.study import people, studies
from evenhand.annotations.study.default_texts import ADULT, CONSENT
from evenhand.annotations.study.people import finish_withdrawals, pay
from evenhand.annotations.study.people import withdraw as withdraw_labels
from evenhand.annotations.study.studies import Settings, Study, path_for
from evenhand.commands.permissions import acting_person, guarded
from evenhand.commands.shared import answer, existing_store, opened_project, option, table
from evenhand.core.errors import N_, NotFound
from evenhand.core.language import Language
from evenhand.core.types import JsonObject

_url = option(
    "--url", envvar="EVENHAND_URL", default="http://localhost:8501",
    help="The address of the server, for the link.",
)  # fmt: skip
_author = option("--author", default="", help="Who does this, for the log.")
_ask_use = option(
    "--ask-use", "uses", multiple=True, type=click.Choice(USES),
    help="A use of single labels that the form asks about, as a box to tick; repeat for several.",
)  # fmt: skip
_file = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("study")
def study() -> None:
    """Manage studies, whose participants come by a link: consent, a short test, a desk, a completion code."""


def _address(store: Store, stored_study: Study, url: str) -> str:
    return f"{url.rstrip('/')}{path_for(store, stored_study)}"


def _own(stored_study: Study) -> bool:
    """Check whether the acting person may change the project of a study."""
    return allowed(acting_person(), "change_projects", project=stored_study.project)


def _study(store: Store, name: str) -> Study:
    """Return the study of that name. Raises NotFound, also for a study in a project that the user may not see."""
    stored_study = studies.study_named(store, name)
    if not _own(stored_study):
        raise NotFound(studies.NO_SUCH, name=name)
    return stored_study


def _texts(en: Path | None, zh: Path | None) -> dict[Language, str]:
    read: dict[Language, Path | None] = {"en": en, "zh": zh}
    return {one: file.read_text(encoding="utf-8") if file else CONSENT[one] for one, file in read.items()}


@study.command()
@click.argument("project")
@click.argument("name")
@option("--contact", required=True, help="Who answers the people's questions: an address or a name.")
@option(
    "--service",
    type=click.Choice(studies.SERVICES),
    default="link",
    help="The service that sends the participants.",
)
@option("--items", type=int, default=40, help="Texts per participant.")
@option("--places", type=int, default=30, help="Number of participants.")
@option("--reward", type=float, default=0.0, help="Reward per participant.")
@option("--currency", default="EUR")
@option("--floor", type=float, default=0.0, help="Minimum hourly pay; below it there is a warning.")
@option("--minutes", type=int, default=60, help="Minutes of inactivity after which a place is free again.")
@option("--pause", type=int, default=20, help="Minutes until a break is suggested; 0: never.")
@option("--cover/--no-cover", default=True, help="Blur each text until it is opened.")
@option("--questions", type=int, default=0, help="Known answers of the project asked in a try of the test.")
@option("--pass-mark", type=int, default=0, help="How many of them must be right to pass.")
@option("--keep-days", type=int, default=30, help="Days that the service's ids are stored.")
@option("--minimum-age", type=int, default=ADULT, help="Minimum age, which the consent states.")
@option(
    "--kept-years", type=int, default=0,
    help="Years that labels are stored after the end of the study, which the consent states; 0: as long as the data set"
    " exists.",
)  # fmt: skip
@option("--consent-en", type=_file, help="The consent in English, Markdown.")
@option("--consent-zh", type=_file, help="The consent in Chinese, Markdown.")
@_ask_use
@_author
@_url
@guarded("change_projects", "project")
def create(
    project: str, name: str, consent_en: Path | None, consent_zh: Path | None, uses: tuple[Use, ...],
    questions: int, minimum_age: int, kept_years: int, author: str, url: str,
    db: str, **fields: Any,
) -> None:  # fmt: skip
    """Make a study NAME in PROJECT and print its link. Its test asks about items with known answers."""
    with opened_project(db, project) as (store, place):
        known = (
            [(known_item.item, known_item.choice) for known_item in known_items(store, place)][: studies.MOST_QUESTIONS]
            if questions
            else []
        )
        settings = Settings(**{**fields, "pause": fields["pause"] or None, "questions": questions})
        texts = _texts(consent_en, consent_zh)
        made = studies.create_study(store, place, name, settings, questions=known, consent=texts, uses=uses,
                                    minimum_age=minimum_age, kept_years=kept_years, author=author)  # fmt: skip
        link = _address(store, made, url)
    codes = {outcome: made.code(outcome) for outcome in studies.OUTCOMES}
    lines = [f"{made.name}: {link}", *(f"code, {one.replace('_', ' ')}: {code}" for one, code in codes.items())]
    answer({"name": made.name, "link": link, "codes": codes}, "\n".join(lines))


@study.command("list")
@_url
@guarded("change_projects")
def list_studies(url: str, db: str) -> None:
    """List the studies with their links and the number of people at each stage."""
    with existing_store(db) as store:
        rows = [_row(store, stored_study, url) for stored_study in studies.every_study(store) if _own(stored_study)]
    lines = []
    for row in rows:
        counts = ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in row["people"].items()) or "nobody yet"
        lines.append(f"{row['name']}{' (closed)' if row['closed'] else ''}: {counts}\n  {row['link']}")
    answer({"studies": rows}, "\n".join(lines) or "No study.")


def _row(store: Store, stored_study: Study, url: str) -> JsonObject:
    counts: dict[str, int] = {}
    for participant in people.participants(store, stored_study):
        counts[participant.state] = counts.get(participant.state, 0) + 1
    return {
        "name": stored_study.name,
        "closed": stored_study.closed,
        "people": counts,
        "link": _address(store, stored_study, url),
    }


@study.command()
@click.argument("name")
@_url
@guarded("change_projects")
def show(name: str, url: str, db: str) -> None:
    """Print the stage of each participant of the study NAME, under the names in the data, and the hourly pay."""
    with existing_store(db) as store:
        stored_study = _study(store, name)
        everybody = people.participants(store, stored_study)
        row, money = _row(store, stored_study, url), pay(stored_study, everybody)
    listed = [
        {
            "name": participant.pseudonym, "state": participant.state, "labels": participant.labelled,
            "consent": participant.consent,
            "right": participant.right, "minutes": round((participant.seen - participant.came) / 60, 1),
        }
        for participant in everybody
    ]  # fmt: skip
    currency = stored_study.settings.currency
    people_rows = [(entry["name"] or "-", entry["state"], f"{entry['labels']} labels") for entry in listed]
    lines = [row["link"], table(people_rows)]
    for kind, hourly in (("finished", money.hourly), ("at work", money.hourly_at_work)):
        lines += [f"pay an hour, {kind}: {hourly:.2f} {currency}"] if hourly is not None else []
    if money.below:
        lines.append(f"This is less than the {stored_study.settings.floor:.2f} {currency} that you set.")
    answer(
        {**row, "pay": asdict(money), "participants": listed, "quantities": quantities_json(pay_estimates(money))},
        lines,
    )


@study.command()
@click.argument("name")
@guarded("change_projects")
def ids(name: str, db: str) -> None:
    """Print the ids of the service with their outcomes, for payment; without the names in the data."""
    with existing_store(db) as store:
        rows = people.outcomes_by_id(store, _study(store, name))
    found = [{"id": outside, "state": state} for outside, state in rows]
    answer({"ids": found}, "\n".join(f"{outside}\t{state}" for outside, state in rows))


@study.command()
@click.argument("name")
@option("--en", type=_file, required=True, help="The consent in English, Markdown.")
@option("--zh", type=_file, required=True, help="The consent in Chinese, Markdown.")
@_ask_use
@_author
@guarded("change_projects")
def consent(name: str, en: Path, zh: Path, uses: tuple[Use, ...], author: str, db: str) -> None:
    """Store the next version of the consent of the study NAME; without --ask-use it asks about the same uses."""
    with existing_store(db) as store:
        made = studies.change_consent(store, _study(store, name), _texts(en, zh), uses or None, author=author)
    answer({"version": made.version}, f"Version {made.version} of the consent.")


@study.command()
@click.argument("name")
@_author
@guarded("change_projects")
def close(name: str, author: str, db: str) -> None:
    """Close the study NAME to new participants; those at work continue."""
    _set_closed(name, True, author, db)


@study.command()
@click.argument("name")
@_author
@guarded("change_projects")
def reopen(name: str, author: str, db: str) -> None:
    """Reopen the study NAME to new participants."""
    _set_closed(name, False, author, db)


def _set_closed(name: str, closed: bool, author: str, db: str) -> None:
    with existing_store(db) as store:
        stored_study = studies.set_closed(store, _study(store, name), closed, author=author)
    answer({"closed": stored_study.closed}, f"{stored_study.name} is {'closed' if closed else 'open'}.")


@study.command()
@click.argument("name")
@click.argument("outside")
@guarded("change_projects")
def withdraw(name: str, outside: str, db: str) -> None:
    """Withdraw the labels of the participant of the study NAME with the id OUTSIDE of the service, who has asked for
    it."""
    with existing_store(db) as store:
        stored_study = _study(store, name)
        who = people.participant_of_id(store, stored_study, outside)
        if who is None:
            raise NotFound(N_("No participant has the id {id}, or the id has been erased."), id=outside)
        labels = withdraw_labels(store, stored_study, who)
    answer({"withdrawn": labels}, f"{labels} labels no longer count.")


@study.command()
@guarded("change_projects", "server")
def sweep(db: str) -> None:
    """End the participation of people who are away for too long, and erase ids that have expired. For a system
    timer."""
    with existing_store(db) as store:
        finish_withdrawals(store)
        away = people.sweep_all(store)
    answer({"away": away}, f"{away} were away for too long.")
