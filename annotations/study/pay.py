"""Time and implied hourly pay of a study, as it goes."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from evenhand.annotations.study.people import Participant
from evenhand.annotations.study.studies import Study

LEAST_LABELS = 5  # before somebody at work says something about the time that all will take


@dataclass(frozen=True, slots=True)
class Pay:
    """Minutes from consent to the last label, and what the reward comes to an hour; None: nobody says it yet.

    `finished`: medians of those who have; `at_work`: of those at work, if they go on as so far. `below`: whether one of
    the two is under the lead's floor.
    """

    people: int
    minutes: float | None
    hourly: float | None
    people_at_work: int
    minutes_at_work: float | None
    hourly_at_work: float | None
    below: bool


def pay(study: Study, people: Sequence[Participant]) -> Pay:
    """The pay of a study by its *people* so far. Time counts from the consent: test and instructions are work too."""
    done = [(one.completed - one.came) / 60 for one in people if one.completed is not None]
    going = [
        (one.seen - one.came) / 60 * study.settings.items / one.labelled
        for one in people
        if one.state == "working" and one.labelled >= LEAST_LABELS
    ]
    minutes, expected = (median(times) if times else None for times in (done, going))
    hourly, hourly_at_work = (_hourly(study, time) for time in (minutes, expected))
    below = any(one is not None and one < study.settings.floor for one in (hourly, hourly_at_work))
    return Pay(len(done), minutes, hourly, len(going), expected, hourly_at_work, below)


def _hourly(study: Study, minutes: float | None) -> float | None:
    return study.settings.reward * 60 / minutes if minutes else None
