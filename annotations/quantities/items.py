"""The quantities of items: mined, imported, reviewed, accepted by all, kept, adjudicated, the share all accept."""

from collections.abc import Callable

from evenhand.annotations.labels.blind_labels import COMPARED, REVIEWED, SAME_CHOICE
from evenhand.annotations.progress.cells import ACCEPTED_BY_ALL
from evenhand.annotations.quantities.quantity import Interval, OfProject, Population, Quantity, counted
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate

FORMULA = "progress.md#progress"
ITEM = N_("item")
SHARE = Interval(
    N_("Wilson's, modified for rare counts; over source articles where one holds several items"), "coverage.md#shares"
)


def _sum(*names: str) -> Callable[[Snapshot], Estimate]:
    return lambda snapshot: counted(sum(getattr(row, name) for row in snapshot.items for name in names))


def _rate(snapshot: Snapshot) -> Estimate:
    estimate: Estimate = snapshot.total["rate"]
    return estimate


def _single(snapshot: Snapshot) -> Estimate:
    return counted(sum(row.reviewed - row.compared for row in snapshot.items))


def _of_sentences(snapshot: Snapshot) -> bool:
    return snapshot.sentences


def _of_generations(snapshot: Snapshot) -> bool:
    return not snapshot.sentences


def _count(
    name: str, title: str, words: str, condition: str, compute: Callable[[Snapshot], Estimate],
    stated: Callable[[Snapshot], bool] = lambda _: True,
) -> OfProject:  # fmt: skip
    population = Population(name, words, condition)
    return Quantity(f"items.{name}", title, population, ITEM, "count", compute, FORMULA, stated=stated)


def _mined(title: str, words: str, each: str, read: bool, key: str) -> OfProject:
    def compute(snapshot: Snapshot) -> Estimate:
        found = snapshot.mining["read"] if read else snapshot.mining
        return counted(sum(found[key].values()) if key == "rejected" else found[key])

    population = Population("mined", words, "annotations.progress.cells.mining")
    return Quantity(f"mining.{key}", title, population, each, "count", compute, "release.md#numbers",
                    stated=lambda snapshot: bool(snapshot.mining["runs"]))  # fmt: skip


def _settled(name: str, title: str, words: str, condition: str, compute: Callable[[Snapshot], Estimate]) -> OfProject:
    return Quantity(f"adjudication.{name}", title, Population(name, words, condition), ITEM, "count", compute,
                    "release.md#numbers")  # fmt: skip


SENTENCE, RUNS = N_("sentence"), N_("text read by the mining runs whose candidates were imported")
DIFFERING = N_("fully labelled items whose valid labels differ in choice or flag")
ALIKE = N_("adjudicated items whose valid labels do not differ now")
KEPT = N_("items of the data set: accepted, or generations with a gold label")
OPEN = N_("sentences of the active projects of the reader, a sentence in several projects once")


def _open(name: str, title: str, condition: str, key: str) -> OfProject:
    return Quantity(
        f"open.{name}", title, Population(name, OPEN, condition), SENTENCE, "count",
        lambda snapshot: counted(getattr(snapshot.pipeline, key)), "progress.md#progress",
        stated=_of_sentences,
    )  # fmt: skip


# The stations of the page Home, over several projects.
OPEN_PROJECTS = {
    "candidates": _open("mined", N_("Mined"), "TRUE", "candidates"),
    "reviewed": _open("reviewed", N_("Reviewed"), REVIEWED, "reviewed"),
    "unanimous": _open("same_choice", N_("Same choice"), SAME_CHOICE, "unanimous"),
    "kept": _open("kept", N_("Accepted"), "status = 'accepted'", "kept"),
}
_MINING = (
    _mined(N_("Characters read during mining"), RUNS, N_("character"), True, "characters"),
    _mined(N_("Files read during mining"), RUNS, N_("file"), True, "files"),
    _mined(N_("Sentences read during mining"), RUNS, SENTENCE, True, "sentences"),
    _mined(N_("Exactly one keyword"), RUNS, SENTENCE, False, "exactly_one"),
    _mined(N_("Rejected by filters"), RUNS, SENTENCE, False, "rejected"),
    _mined(N_("Candidates"), RUNS, SENTENCE, False, "candidates"),
    _mined(N_("Imported candidates"), RUNS, SENTENCE, False, "imported"),
)
_ADJUDICATION = (
    _settled("decided", N_("Decided by an adjudicator"), DIFFERING, "split = 1 AND action = 'decide'",
             lambda s: counted(s.adjudication.decided_differing)),
    _settled("confirmed", N_("Labels confirmed by an adjudicator"), DIFFERING, "split = 1 AND action = 'leave'",
             lambda s: counted(s.adjudication.confirmed_differing)),
    _settled("open", N_("Not adjudicated"), DIFFERING, "split = 1 AND settlement IS NULL",
             lambda s: counted(s.adjudication.open)),
    _settled("decided_alike", N_("Decided by an adjudicator"), ALIKE, "split = 0 AND action = 'decide'",
             lambda s: counted(s.adjudication.not_split["decide"])),
    _settled("confirmed_alike", N_("Labels confirmed by an adjudicator"), ALIKE, "split = 0 AND action = 'leave'",
             lambda s: counted(s.adjudication.not_split["leave"])),
    _settled("alike", N_("Adjudicated"), ALIKE, "split = 0 AND settlement IS NOT NULL",
             lambda s: counted(sum(s.adjudication.not_split.values()))),
    _settled("lacking", N_("Adjudicated, labels missing"), ALIKE, "split = 0 AND labels < wanted",
             lambda s: counted(s.adjudication.lacking)),
)  # fmt: skip
QUANTITIES: tuple[OfProject, ...] = (
    *_MINING,
    _count("imported", N_("Imported"), N_("items of published imports"), "TRUE", _sum("mined")),
    _count("labelled", N_("Labelled"), N_("items with at least one blind label"), "labels > 0", _sum("labelled")),
    _count("reviewed", N_("Reviewed"), N_("items with all the blind labels that they need"), REVIEWED,
           _sum("reviewed")),
    _count("compared", N_("Reviewed, at least two blind labels"), N_("reviewed items with at least two blind labels"),
           COMPARED, _sum("compared")),
    _count("single", N_("Reviewed, a single label"), N_("reviewed items with one blind label"),
           f"{REVIEWED} AND NOT {COMPARED}", _single),
    _count("accepted_by_all", N_("Accepted by all annotators"),
           N_("reviewed items that every annotator who labelled them accepted, regardless of adjudication"),
           ACCEPTED_BY_ALL, _sum("unanimous"), _of_sentences),
    _count("same_choice", N_("All of these labels have the same choice"),
           N_("reviewed items with at least two blind labels, all with the same choice"), SAME_CHOICE,
           _sum("unanimous"), _of_generations),
    _count("kept", N_("Accepted"), KEPT, "status = 'accepted'", _sum("accepted")),
    _count("rejected", N_("Rejected"), N_("items with the gold label reject"), "status = 'rejected'",
           _sum("rejected"), _of_sentences),
    _count("gold", N_("With a gold label"), N_("items with a gold label, from labels, adjudication or a package"),
           "status <> 'pending'", _sum("accepted", "rejected")),
    _count("undecided", N_("Undecided"), N_("items without a gold label"), "status = 'pending'", _sum("left", "aside")),
    _count("differing", N_("Labels differ"), DIFFERING,
           "split = 1", _sum("split")),
    Quantity(
        id="items.accepted_share", name=N_("Share accepted by all annotators"),
        population=Population("reviewed", N_("reviewed items, also with a single label"), REVIEWED), each=ITEM,
        unit="share", compute=_rate, formula="release.md#numbers", interval=SHARE, stated=_of_sentences,
    ),
    *_ADJUDICATION,
)  # fmt: skip
