"""The quality of the labels for the lead: retest agreement and known answers."""

from dataclasses import dataclass

from evenhand.annotations.database.store import Store, at_one_moment
from evenhand.annotations.quality.known_answers import SIGNATURE, KnownAnswerScore, KnownItem, known_items, scores
from evenhand.annotations.quality.retest_agreement import RetestReport, retest_report
from evenhand.annotations.types import Project
from evenhand.core.statistics import Resampling


@dataclass(frozen=True, slots=True)
class Quality:
    """Both measures of a project; `known` is every item with a known answer."""

    consistency: RetestReport
    scores: tuple[KnownAnswerScore, ...]
    known: tuple[KnownItem, ...]
    known_signature: str


@at_one_moment
def quality(store: Store, project: Project, *, resampling: Resampling | None = None) -> Quality:
    """Retest agreement and agreement with the known answers, each with 95% intervals. For leads only."""
    return Quality(
        retest_report(store, project, resampling=resampling),
        tuple(scores(store, project)),
        tuple(known_items(store, project)),
        SIGNATURE,
    )
