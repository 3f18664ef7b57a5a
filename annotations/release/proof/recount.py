"""The checks of a release that need only its files, by the ids of `checks.CHECKS`.

The scripts in static/ make the same checks in a browser.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from evenhand.annotations.agreement.measures import VERSION as METHOD
from evenhand.annotations.release.changes import PARTS, content_hash, contents_of
from evenhand.annotations.release.proof.checks import MEASURED, Difference, Result
from evenhand.annotations.release.proof.gold import Recounted, Rules, fully_labelled, gold_labels, in_words, result
from evenhand.annotations.release.proof.published import DASH, PENDING, Published, Release, UnstatedError, label_cells
from evenhand.core.statistics import Estimate, Tally, fleiss_kappa, gwet_ac1, krippendorff_alpha, pairwise_agreement
from evenhand.core.statistics.many_raters import unanimity

CLOSE = 1e-9  # numbers that differ by less are equal
# Of MEASURED, after the counts.
MEASURES: tuple[Callable[[Tally], Estimate], ...] = (
    unanimity, pairwise_agreement, fleiss_kappa, krippendorff_alpha, gwet_ac1,
)  # fmt: skip


def recount(published: Published) -> list[Result]:
    """Return the result of every check but that of the sums; a file that cannot be read makes its check "different"."""
    release = Release(published)
    found: list[Result] = []
    for ids, check in _CHECKS.items():
        try:
            found += check(release)
        except UnstatedError:
            found += [unchecked(each, "unstated") for each in ids]
        except (ValueError, KeyError, TypeError, AttributeError):
            found += [Result(each, "different", reason="damaged") for each in ids]
    return found


def same(check: str, expected: Any, found: Any) -> Result:
    """Return the comparison of two values; numbers are equal within CLOSE."""
    both = isinstance(expected, int | float) and isinstance(found, int | float)
    equal = math.isclose(expected, found, rel_tol=0, abs_tol=CLOSE) if both else expected == found
    return Result(check, "equal" if equal else "different", expected, found)


def unchecked(check: str, reason: str, expected: Any = None, number: int = 0) -> Result:
    """Return that a check cannot be made."""
    return Result(check, "unchecked", expected, reason=reason, unchecked=number)


def _content(release: Release) -> list[Result]:
    published, expected = release.published, release.facts["release"]["hash"]
    names = [f"package/{part}" for part in PARTS]
    if reason := published.missing(*names):
        return [unchecked("content.hash", reason, expected)]
    found = content_hash(contents_of(*map(published.rows, names)).entries.values())
    return [same("content.hash", expected, found)]


def _label_tables(release: Release) -> list[Result]:
    published = release.published
    if reason := published.missing("package/labels.jsonl", "package/records.jsonl"):
        return [unchecked("labels.tables", reason)]
    standing = {
        (row["item"], row["annotator"]): row["latest"]
        for row in published.rows("package/records.jsonl")
        if row["kind"] == "standing"
    }
    valid: dict[tuple[str, str], tuple[str, ...] | None] = dict.fromkeys(standing)
    for row in published.rows("package/labels.jsonl"):
        key = row["item"], row["annotator"]
        if row["op_id"] == standing[key] if key in standing else not row["superseded"]:
            valid[key] = None if row["choice"] is None else label_cells(row)
    stated = {key: cells for key, cells in valid.items() if cells is not None}
    found = {key: label.cells for key, label in release.labels.valid.items()}
    return [compared("labels.tables", _by_name(stated), _by_name(found))]


def _by_name(cells: Mapping[tuple[str, str], tuple[str, ...]]) -> dict[str, str]:
    return {" ".join(key): ", ".join(row) for key, row in cells.items()}


def compared(
    check: str, stated: Mapping[str, str], found: Mapping[str, str], unread: Mapping[str, int] | None = None
) -> Result:
    """Return the comparison of two tables; *unread*: what could not be compared, by reason."""
    counted = Recounted(len(stated.keys() | found.keys()), unchecked=dict(unread or {}))
    counted.differ = [
        Difference(key, stated.get(key, DASH), found.get(key, DASH))
        for key in sorted(stated.keys() | found.keys())
        if stated.get(key) != found.get(key)
    ]
    return result(check, counted)


def _decision_tables(release: Release) -> list[Result]:
    if reason := release.published.missing("package/decisions.jsonl"):
        return [unchecked("decisions.tables", reason)]
    stated: dict[str, str] = {}
    for row in release.published.rows("package/decisions.jsonl"):
        if row["kind"] == "settlement":
            stated[row["item"]] = _act(row)
    found = {item: _act(case["settlement"]) for item, case in release.gold.cases.items() if case["settlement"]}
    in_force = {item: act for item, act in stated.items() if not act.startswith("reopen")}
    return [compared("decisions.tables", in_force, found)]


def _act(row: Mapping[str, Any]) -> str:
    return ", ".join(filter(None, (row["action"], row["choice"])))


def _gold_tables(release: Release) -> list[Result]:
    published, gold = release.published, release.gold
    if reason := published.missing("package/gold.jsonl"):
        return [unchecked("gold.tables", reason)]
    stated = {item: in_words(state) for item, state in gold.of.items()}
    found = dict(stated)
    if not published.missing("kept.jsonl"):
        kept = {row["item"] for row in published.rows("kept.jsonl")}
        found = {item: text for item, text in found.items() if (gold.of[item][1] == "accepted") == (item in kept)}
        found |= {item: "kept.jsonl" for item in kept if gold.of.get(item, PENDING)[1] != "accepted"}
    for item, case in gold.cases.items():
        state = case["gold"], case["status"]
        if item in stated or state != PENDING:
            found[item] = in_words(state)
    return [compared("gold.tables", stated, found)]


def _stated(release: Release, id_: str) -> Any:
    """Return the value that release.json states of a quantity of the catalogue."""
    return release.facts["quantities"][id_]["value"]


def _agreement(release: Release) -> list[Result]:
    scope = "share" if release.facts["agreement"]["on"] == "share" else "labelled"
    ids = [f"agreement.{name}.{scope}" for name in MEASURED]
    stated = [_stated(release, check) for check in ids]
    reason, tally = _why_not(release), None
    if not reason:
        usual, unsure = _population(release)
        reason, tally = Rules.of(release).unknown if unsure else "", _tally(release, usual)
    if reason or tally is None:
        return [unchecked(check, reason, value) for check, value in zip(ids, stated, strict=True)]
    values = [tally.units, int(tally.labels @ tally.sizes), *(measure(tally).value for measure in MEASURES)]
    return list(map(same, ids, stated, values))


def _full_agreement(release: Release) -> list[Result]:
    """Return full agreement of the reviewed and of the released items, where the release states it."""
    blind, gold = release.labels.blind, release.gold
    reviewed, unknown = fully_labelled(release, blind)
    kept = {item for item in blind if gold.of.get(item, PENDING)[1] == "accepted"}
    why = [Rules.of(release).unknown if unknown else "", gold.missing]
    results = []
    for name, items, missing in zip(("reviewed", "released"), (reviewed, kept), why, strict=True):
        check = f"agreement.full.{name}"
        stated = release.facts["quantities"].get(check)
        if stated is None or stated["value"] is None:
            continue
        reason, value = _why_not(release) or missing, stated["value"]
        share = None if reason else unanimity(_tally(release, items)).value
        results.append(unchecked(check, reason, value) if reason else same(check, value, share))
    return results


def _why_not(release: Release) -> str:
    """Return why agreement cannot be computed from the published labels; "" if it can."""
    facts = release.facts["agreement"]
    if not facts["signature"].endswith(f"|v{METHOD}"):
        return "method"
    if release.left_out:
        return "consent"
    if facts["ended_at_reject"] or facts["imported_ended_at_reject"]:
        return "ended"
    return Rules.of(release).unknown if release.labels.unclear else ""


def _population(release: Release) -> tuple[set[str], bool]:
    """Return the items that agreement is over, and whether some of them are not known."""
    blind = release.labels.blind
    if release.facts["agreement"]["on"] != "share":
        return set(blind), False
    rules = Rules.of(release)
    shared = {item: rules.shared(release.labels.texts.get(item)) for item in blind}
    full, unknown = fully_labelled(release, blind)
    unsure = any(len(ways) > 1 for ways in shared.values()) or any(shared[item] == [True] for item in unknown)
    return {item for item in full if shared[item] == [True]}, unsure


def _tally(release: Release, items: Iterable[str]) -> Tally:
    """Return how many annotators chose each category, one row an item, over all categories of the scheme."""
    blind = release.labels.blind
    codes = dict.fromkeys(choice for item in sorted(items) for choice in blind[item].values())
    columns = max(release.facts["agreement"]["categories"]["scheme"], len(codes))
    place = {code: number for number, code in enumerate(codes)}
    counts = np.zeros((len(list(items)), columns), dtype=np.int64)
    for row, item in enumerate(sorted(items)):
        np.add.at(counts[row], [place[choice] for choice in blind[item].values()], 1)
    return Tally.of(counts)


def _counts(release: Release) -> list[Result]:
    published, facts, gold = release.published, release.facts, release.gold
    consent, valid = facts["provenance"]["consent"]["released"], release.labels.valid
    people = {annotator for _, annotator in valid}
    decisions = Counter(filter(None, map(gold.decision, gold.cases)))
    return [
        _lines(published, "items.imported", "package/items.jsonl", _stated(release, "items.imported")),
        *_reviewed(release),
        _lines(published, "items.kept", "kept.jsonl", _stated(release, "items.kept")),
        _of_everybody(release, "labels.valid", _stated(release, "labels.valid"), len(valid)),
        _of_everybody(release, "annotators.labelled", _stated(release, "annotators.labelled"), len(people)),
        same("labels.published", consent["labels"], len(valid)),
        same("annotators.published", consent["people"], len(people)),
        _of_everybody(release, "labels.choices", _listed(facts["labels"]["by_choice"]),
                      _listed(Counter(label.choice for label in valid.values()))),
        same("decisions.choices", _listed(facts["adjudication"]["decided"]), _listed(decisions)),
    ]  # fmt: skip


def _of_everybody(release: Release, check: str, expected: Any, value: Any) -> Result:
    """Return the comparison of a number of all labels, which needs that all are published."""
    return unchecked(check, "consent", expected, release.left_out) if release.left_out else same(check, expected, value)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{code} {number}" for code, number in sorted(counts.items())) or "0"


def _lines(published: Published, check: str, name: str, expected: int) -> Result:
    if reason := published.missing(name):
        return unchecked(check, reason, expected)
    return same(check, expected, sum(1 for _ in published.rows(name)))


def _reviewed(release: Release) -> list[Result]:
    blind = release.labels.blind
    full, unknown = fully_labelled(release, blind)
    values = {"items.reviewed": len(full), "items.compared": sum(len(blind[item]) > 1 for item in full)}
    if not release.left_out and (unknown or release.labels.unclear):
        reason, number = Rules.of(release).unknown, len(unknown | release.labels.unclear)
        return [unchecked(check, reason, _stated(release, check), number) for check in values]
    return [_of_everybody(release, check, _stated(release, check), value) for check, value in values.items()]


_COUNTED = (
    "items.imported", "items.reviewed", "items.compared", "items.kept", "labels.valid", "annotators.labelled",
    "labels.published", "annotators.published", "labels.choices", "decisions.choices",
)  # fmt: skip
_CHECKS: dict[tuple[str, ...], Callable[[Release], list[Result]]] = {
    ("content.hash",): _content,
    ("labels.tables",): _label_tables,
    ("decisions.tables",): _decision_tables,
    ("gold.tables",): _gold_tables,
    ("gold.labels",): lambda release: [gold_labels(release)],
    tuple(f"agreement.{name}.labelled" for name in MEASURED): _agreement,
    ("agreement.full.reviewed", "agreement.full.released"): _full_agreement,
    _COUNTED: _counts,
}
