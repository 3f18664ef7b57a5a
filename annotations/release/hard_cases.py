"""The hard cases of a release: items that were rejected, split or adjudicated, with labels and outcome."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.read import ItemLabels
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary
from evenhand.annotations.types import Project

CASES = """
SELECT item.uid, item.status, item.gold, item.split, settlement.action, settlement.choice, settlement.reasons,
       settlement.extraneous, settlement.why, settlement.adjudicator, settlement.created
FROM published_item AS item
     LEFT JOIN settlement ON settlement.id = item.settlement
WHERE item.project = ? AND (item.status = 'rejected' OR item.split = 1 OR item.settlement IS NOT NULL)
"""
ACT = ("action", "choice", "reasons", "extraneous", "why", "adjudicator", "created")
KEPT = ("choice", "reasons", "extraneous", "spans", "note", "form_shown", "guideline")


class HardCases:
    """The hard cases of a project: one object per case, the item, its gold label, why it is here, its blind labels, the
    adjudication (or null). Of annotators who did not consent, `left_out` counts the labels.

    All have the same keys with values of the same kinds, as the `datasets` library wants it (features of the card).
    `why_here`: "rejected_by_all", "split", "rejected" (by the adjudicator, or at a first reject) or "settled". Texts,
    notes and reasons in words are left out unless `with_text`.
    """

    def __init__(
        self, store: Store, project: Project, codes: Mapping[str, str], may: Collection[str], *, with_text: bool
    ) -> None:
        self.project, self.codes, self.may, self.with_text = project, codes, may, with_text
        self.cases = {row[0]: row[1:] for row in store.db.execute(CASES, (project.id,))}
        self.canary = {CANARY_KEY: CANARY} if with_text and needs_canary(project) else {}
        self.made = 0

    def of(self, items: Iterable[ItemLabels]) -> Iterator[dict[str, Any]]:
        """Those among *items* which have blind labels."""
        for one in items:
            if one.blind and one.item in self.cases:
                yield self._object(one.item, one.blind)

    def left(self) -> Iterator[dict[str, Any]]:
        """Those that were not among them: settled, and the labels were undone or sent for relabelling."""
        for uid in list(self.cases):
            yield self._object(uid, [])

    def _object(self, uid: str, labels: list[dict[str, Any]]) -> dict[str, Any]:
        self.made += 1
        found = _case(self.project, uid, self.cases.pop(uid), labels, self.codes, self.may, self.with_text)
        return found | self.canary


def _case(
    project: Project,
    uid: str,
    case: tuple[Any, ...],
    labels: list[dict[str, Any]],
    codes: Mapping[str, str],
    may: Collection[str],
    with_text: bool,
) -> dict[str, Any]:
    status, gold, split, *act = case
    names = ["pair", "side", "keyword"] if project.kind == "sentences" else ["pair"]
    if with_text:
        names += ["text"] if project.kind == "sentences" else ["context", "text"]
    found: dict[str, Any] = {"item": uid} | {name: labels[0][name] if labels else None for name in names}
    found |= {"status": status, "gold": gold, "why_here": _why(status, split, act[0], labels)}
    found["labels"] = [
        {"annotator": codes.get(row["annotator"], "")} | {k: row[k] for k in KEPT if with_text or k != "note"}
        | {"spans": [{"start": start, "end": end, "kind": kind} for start, end, kind in row["spans"]]}
        for row in labels if row["annotator"] in may
    ]  # fmt: skip
    found["left_out"] = len(labels) - len(found["labels"])
    found["settlement"] = None
    if act[0] is not None:
        settled = dict(zip(ACT, act, strict=True))
        settled |= {"reasons": json.loads(settled["reasons"]), "adjudicator": codes.get(settled["adjudicator"], "")}
        settled["extraneous"] = None if settled["extraneous"] is None else bool(settled["extraneous"])
        found["settlement"] = {key: value for key, value in settled.items() if with_text or key != "why"}
    return found


def _why(status: str, split: int, action: str | None, labels: list[dict[str, Any]]) -> str:
    if split:
        return "split"
    if status == "rejected" and action is None and len({row["choice"] for row in labels}) == 1 and len(labels) > 1:
        return "rejected_by_all"
    return "rejected" if status == "rejected" else "settled"
