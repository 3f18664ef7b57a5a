"""Gold labels of a release decided again from its published labels and decisions (docs/methods.md#gold).

What the files do not tell (which items a sample holds, which labels were left out) is taken in every possible way: an
item is compared where all ways give one result.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from evenhand.annotations.items.gold import LabelRules, decide_gold, wanted_now
from evenhand.annotations.items.wanted_labels import is_shared
from evenhand.annotations.release.proof.checks import Difference, Result
from evenhand.annotations.release.proof.published import PENDING, Release
from evenhand.core.text.sentences import text_hash

State = tuple[str | None, str]  # gold label, status


@dataclass(slots=True)
class Rules:
    """The settings of the project, and what is known of single items.

    `pilots`, `known`: of items; None if the records cannot be read (`missing` says why).
    """

    project: Mapping[str, Any]
    people: Mapping[int, int]  # participants by number of pilot
    pilots: dict[str, int] | None = None
    known: set[str] = field(default_factory=set)
    any_known: bool = False
    missing: str = ""

    @classmethod
    def of(cls, release: Release) -> "Rules":
        """Read the rules of a release."""
        facts, published = release.facts, release.published
        people = {pilot["number"]: pilot["people"] for pilot in facts["pilots"]}
        found = cls(facts["project"], people, any_known=bool(facts["hidden_gold"]["items"]))
        found.missing = published.missing("package/records.jsonl")
        if not found.missing:
            rows = [row for row in published.rows("package/records.jsonl") if row["kind"] == "of_item"]
            found.pilots = {row["item"]: people.get(row["pilot"], 0) for row in rows if row["pilot"] is not None}
            found.known = {row["item"] for row in rows if row["known"] is not None}
        return found

    def shared(self, text: str | None) -> list[bool]:
        """Return whether an item is in the random share; both where its text is not published."""
        if self.project["plan"] != "stop":
            return [False]
        if text is None:
            return [False, True]
        return [is_shared(self.project["seed"], text_hash(text), self.project["share"])]

    def wanted_numbers(self, item: str, text: str | None, choices: list[str]) -> set[int]:
        """Return how many labels the item may want."""
        project = self.project
        pilots = [None, *self.people.values()] if self.pilots is None else [self.pilots.get(item)]
        known = [item in self.known] if self.pilots is not None else [False, True] if self.any_known else [False]
        before = [1, project["per_item"]] if project["doubled"] is not None else [0]
        return {
            wanted_now(LabelRules(project["per_item"], project["doubled"], project["plan"], *one), choices)
            for one in product(before, self.shared(text), pilots, known)
        }

    @property
    def unknown(self) -> str:
        """The reason why the wanted number of an item may be unknown."""
        return "sample" if self.project["doubled"] is not None else self.missing or "locked"


def decided(rules: Rules, choices: list[str], wanted: int, decision: str | None) -> State:
    """Return the gold label and status that follow from the blind choices of an item and a decision."""
    outcome = decide_gold(choices, wanted, rules.project["gold"])
    if decision and (decision != "accept" or outcome.status != "rejected" or rules.project["rescue"]):
        return decision, "rejected" if decision == "reject" else "accepted"
    return outcome.gold, outcome.status


@dataclass(slots=True)
class Recounted:
    """The comparison of all items: how many were compared, which differ, and how many could not be, by reason."""

    items: int = 0
    differ: list[Difference] = field(default_factory=list)
    unchecked: dict[str, int] = field(default_factory=dict)

    def leave(self, reason: str, number: int = 1) -> None:
        """Count items that could not be compared."""
        self.unchecked[reason] = self.unchecked.get(reason, 0) + number


def gold_labels(release: Release) -> Result:
    """Compare the stated gold label and status of every item with those that follow."""
    gold, labels, rules, found = release.gold, release.labels, Rules.of(release), Recounted()
    for item in sorted(labels.blind.keys() | gold.of.keys() | gold.cases.keys()):
        stated = gold.of.get(item)
        if stated is None and gold.missing:
            found.leave(gold.missing)
            continue
        choices = [choice for _, choice in sorted(labels.blind.get(item, {}).items())]
        ways = {
            decided(rules, choices, wanted, gold.decision(item))
            for wanted in rules.wanted_numbers(item, labels.texts.get(item), choices)
        }
        _compare(release, found, item, stated or PENDING, ways, choices, rules)
    _leave_imported(release, found)
    return result("gold.labels", found)


def _compare(
    release: Release, found: Recounted, item: str, stated: State, ways: set[State], choices: list[str], rules: Rules
) -> None:
    if ways == {stated} and not (release.left_out and release.gold.cases.get(item, {}).get("left_out")):
        found.items += 1
    elif _may_be_left_out(release, item, stated, choices):
        found.leave("consent")
    elif item in release.labels.unclear or (len(ways) > 1 and stated in ways):
        found.leave(rules.unknown)
    else:
        found.items += 1
        followed = " / ".join(sorted(in_words(way) for way in ways))
        found.differ.append(Difference(item, in_words(stated), followed))


def _may_be_left_out(release: Release, item: str, stated: State, choices: list[str]) -> bool:
    """Return whether labels that were not published explain the stated gold label."""
    if not release.left_out:
        return False
    case = release.gold.cases.get(item)
    if case is not None:
        return bool(case["left_out"])
    # All labels of an item outside the hard cases are the same, published or not.
    return stated != PENDING and all(choice == stated[0] for choice in choices)


def _leave_imported(release: Release, found: Recounted) -> None:
    """Take out as many differences as gold labels came without their labels: which items these are is not stated."""
    brought = sum(package["labels"] for package in release.facts["provenance"].get("gold_labels", ()))
    if found.differ and len(found.differ) <= brought:
        found.items -= len(found.differ)
        found.leave("imported", len(found.differ))
        found.differ = []


def in_words(state: State) -> str:
    """Return a gold label and status as text."""
    return f"{state[0] or '—'}, {state[1]}"


def result(check: str, found: Recounted) -> Result:
    """Return a comparison of items as the result of a check."""
    reason = next(iter(sorted(found.unchecked, key=lambda one: -found.unchecked[one])), "")
    number = sum(found.unchecked.values())
    state = "different" if found.differ else "equal" if found.items or not number else "unchecked"
    equal = found.items - len(found.differ)
    return Result(check, state, found.items, equal, tuple(found.differ), reason, number)  # type: ignore[arg-type]


def fully_labelled(release: Release, items: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return which items have all their labels, and of which this is unknown."""
    rules, labels = Rules.of(release), release.labels
    full: set[str] = set()
    unknown: set[str] = set()
    for item in items:
        choices = list(labels.blind[item].values())
        ways = {len(choices) >= wanted for wanted in rules.wanted_numbers(item, labels.texts.get(item), choices)}
        if len(ways) > 1:
            unknown.add(item)
        elif ways == {True}:
            full.add(item)
    return full, unknown
