"""The quantities of the changes from one release to the next: items, gold labels, and labels."""

from collections.abc import Mapping
from typing import Any

from evenhand.annotations.quantities.quantity import Population, Quantity, counted
from evenhand.core.errors import N_
from evenhand.core.statistics import Estimate

FORMULA = "release.md#changes"
Differences = Mapping[str, Any]  # of `annotations.release.changes.facts_compared`, or its numbers in release.json
OfChanges = Quantity[Differences, Estimate]
ITEM, LABEL = N_("item"), N_("label")
SET = Population("data_set", N_("the data sets of two releases"), "status = 'accepted'")
PUBLISHED_ITEMS = Population("published", N_("items with a published label or a gold label, of two releases"),
                             "annotations.release.changes.Contents")  # fmt: skip
GOLD = Population("gold", N_("items with a gold label in either release"), "gold IS NOT NULL")
PUBLISHED = Population("published_labels", N_("labels published one by one, of two releases"), "labels.jsonl")
EVERY = Population("all_labels", N_("valid labels of all annotators, of two releases"),
                   "annotations.release.changes.label_changes")  # fmt: skip


def _change(id_: str, name: str, population: Population, each: str, path: str) -> OfChanges:
    part, _, key = path.partition(".")
    in_facts = f"{part.removesuffix('_states')}_{key}"

    def items_in(differences: Differences) -> Any:
        return differences[in_facts] if in_facts in differences else (differences.get(part) or {}).get(key)

    def compute(differences: Differences) -> Estimate:
        items = items_in(differences)
        return counted(items if isinstance(items, int) else len(items))

    def known(differences: Differences) -> bool:
        return differences["from"] is not None and items_in(differences) is not None

    return Quantity(f"changes.{id_}", name, population, each, "count", compute, FORMULA, stated=known)


QUANTITIES = (
    _change("items_added", N_("Items added to the data set"), SET, ITEM, "kept.added"),
    _change("items_removed", N_("Items removed from the data set"), SET, ITEM, "kept.removed"),
    _change("reviewed_added", N_("Items with a published label or a gold label for the first time"), PUBLISHED_ITEMS,
            ITEM, "reviewed.added"),
    _change("reviewed_removed", N_("Items that no longer have either"), PUBLISHED_ITEMS, ITEM, "reviewed.removed"),
    _change("gold_same", N_("Items with the same gold label"), GOLD, ITEM, "gold_states.same"),
    _change("gold_another", N_("Items with a different gold label"), GOLD, ITEM, "gold_states.another"),
    _change("gold_none_now", N_("Items that no longer have a gold label"), GOLD, ITEM, "gold_states.none_now"),
    _change("gold_first", N_("Items with their first gold label"), GOLD, ITEM, "gold_states.first"),
    _change("all_labels_added", N_("New labels, of all annotators"), EVERY, LABEL, "all_labels.added"),
    _change("all_labels_changed", N_("Changed labels, of all annotators"), EVERY, LABEL, "all_labels.changed"),
    _change("all_labels_removed", N_("Labels no longer valid, of all annotators"), EVERY, LABEL, "all_labels.removed"),
    _change("labels_added", N_("New published labels"), PUBLISHED, LABEL, "labels.added"),
    _change("labels_changed", N_("Changed published labels"), PUBLISHED, LABEL, "labels.changed"),
    _change("labels_removed", N_("Removed published labels"), PUBLISHED, LABEL, "labels.removed"),
)  # fmt: skip


def change_estimates(differences: Differences) -> dict[str, Estimate]:
    """Return the changes by id; none for a first release, and none of all labels where the log does not reach back."""
    return {one.id: one.compute(differences) for one in QUANTITIES if one.stated(differences)}
