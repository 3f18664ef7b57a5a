"""The quantities of labels: their numbers and times, retests, known answers, and the people who made them."""

from collections.abc import Callable

from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.quantities.quantity import Interval, OfProject, Population, Quantity, counted
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate, Note

ITEM, LABEL, PAIR, PERSON = N_("item"), N_("label"), N_("pair of labels"), N_("annotator")
NO_TIME = Note(N_("No label has a recorded time."))
VALID = Population("valid", N_("valid labels of all annotators"), "standing_label")
TIMED = Population("timed", N_("valid labels with a time"), "standing_label, seconds IS NOT NULL")
FLAGGED = Population("flag", N_("valid labels that answer the question"), "standing_label, extraneous IS NOT NULL")
TWICE = Population(
    "retest", N_("items labelled twice by one annotator under the same guideline, both labels blind"),
    "annotations.quality.retest_agreement.PAIRS",
)  # fmt: skip
ANSWERED = Population(
    "answers", N_("blind labels on items with a known answer, of annotators who had no part in the answer"),
    "annotations.quality.known_answers.ANSWERS",
)  # fmt: skip
MODIFIED = Interval(N_("Wilson's, modified for rare counts"), "coverage.md#shares")
OVER_ARTICLES = Interval(
    N_("Wilson's, modified for rare counts; over source articles where one holds several items"), "coverage.md#shares"
)
KAPPA = Interval(N_("Dirichlet posterior over pairs of labels"), "coverage.md#two-raters-who-differ")


def _or_reason(value: float | None, units: int, why: Note) -> Estimate:
    return Estimate.undefined(why) if value is None else Estimate(value, units=units)


def _total(key: str) -> Callable[[Snapshot], Estimate]:
    return lambda snapshot: counted(getattr(snapshot.label_totals, key))


def _valid(snapshot: Snapshot) -> Estimate:
    return counted(snapshot.store.count("standing_label WHERE project = ?", (snapshot.project.id,)))


def _people(which: str) -> Callable[[Snapshot], Estimate]:
    def compute(snapshot: Snapshot) -> Estimate:
        if which == "labelled":
            return counted(len(snapshot.label_totals.people))
        return counted(len(annotators(snapshot.store, snapshot.project, active=which == "active")))

    return compute


def _flag(snapshot: Snapshot) -> Estimate:
    together = snapshot.retests.together
    return together.flag or Estimate.undefined(NO_TIME)


def _count(
    id_: str, title: str, population: Population, each: str, compute: Callable[[Snapshot], Estimate], formula: str,
    stated: Callable[[Snapshot], bool] = lambda _: True,
) -> OfProject:  # fmt: skip
    return Quantity(id_, title, population, each, "count", compute, formula, stated=stated)


def _timed(snapshot: Snapshot) -> int:
    return len(snapshot.label_totals.seconds)


NUMBERS = "release.md#numbers"
RECORDED = Population("joined", N_("annotators of the project, also former ones"), "member")
ACTIVE = Population("active", N_("annotators who have not left"), "active_member")
LABELLED = Population("labelled", N_("annotators with valid labels"), "standing_label")

QUANTITIES: tuple[OfProject, ...] = (
    _count("labels.valid", N_("Valid labels"), VALID, LABEL, _valid, "progress.md#progress"),
    _count("labels.timed", N_("Labels with a time"), TIMED, LABEL, lambda s: counted(_timed(s)), NUMBERS),
    Quantity("labels.hours", N_("Hours of labelling"), TIMED, LABEL, "hours",
             lambda s: _or_reason(s.label_totals.hours, _timed(s), NO_TIME), NUMBERS),
    Quantity("labels.median_seconds", N_("Median time of a label"), TIMED, LABEL, "seconds",
             lambda s: _or_reason(s.label_totals.median_seconds, _timed(s), NO_TIME), NUMBERS),
    _count("labels.breaks", N_("Labels that took longer than 300 seconds"), TIMED, LABEL, _total("breaks"), NUMBERS),
    _count("labels.flagged", N_("Labels flagged for extraneous gendered language"), FLAGGED, LABEL,
           lambda s: counted(s.label_totals.flags[True]), "human_vs_rule.md#labels-of-generations",
           lambda s: not s.sentences),
    _count("labels.flag_answers", N_("Labels that answer the question of the flag"), FLAGGED, LABEL,
           lambda s: counted(s.label_totals.flags.total()), "human_vs_rule.md#labels-of-generations",
           lambda s: not s.sentences),
    _count("labels.marks", N_("Marked spans"), VALID, LABEL, _total("marks"), NUMBERS, lambda s: not s.sentences),
    _count("annotators.recorded", N_("Annotators"), RECORDED, PERSON, _people("recorded"), "progress.md#annotators"),
    _count("annotators.labelled", N_("Annotators with labels"), LABELLED, PERSON, _people("labelled"), NUMBERS),
    _count("annotators.active", N_("Active annotators"), ACTIVE, PERSON, _people("active"), "progress.md#annotators"),
    _count("retest.pairs", N_("Pairs of labels compared"), TWICE, PAIR, lambda s: counted(s.retests.together.compared),
           "quality.md#retests"),
    Quantity("retest.agreement", N_("Same choice both times"), TWICE, PAIR, "share",
             lambda s: s.retests.together.agreed, "quality.md#retests", MODIFIED),
    Quantity("retest.kappa", N_("Kappa of retests"), TWICE, PAIR, "coefficient",
             lambda s: s.retests.together.kappa, "quality.md#retests", KAPPA, "Cohen 1960"),
    Quantity("retest.flag", N_("Same flag both times"), TWICE, PAIR, "share", _flag, "quality.md#retests",
             MODIFIED, stated=lambda s: not s.sentences),
    _count("known.items", N_("Items with a known answer"), Population("known", N_("items of published imports"),
           "known IS NOT NULL"), ITEM, lambda s: counted(s.answers.items), "quality.md#known-answers"),
    _count("known.labels", N_("Labels on items with a known answer"), ANSWERED, LABEL,
           lambda s: counted(s.answers.labels), "quality.md#known-answers"),
    Quantity("known.share", N_("Accuracy on known answers"), ANSWERED, LABEL, "share", lambda s: s.answers.share,
             "quality.md#known-answers", OVER_ARTICLES),
)  # fmt: skip
