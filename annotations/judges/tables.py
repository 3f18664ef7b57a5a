"""Labels of a judge as a table, and beside those of people: what comparisons and estimates begin with."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges.judges import Judge, first_labels

if TYPE_CHECKING:
    import pandas as pd


def judge_labels(store: Store, found: Judge) -> "pd.DataFrame":
    """One row per label of a judge (not of a later round): item (public id), judge, judge_flag (1, 0, NaN), marks,
    shares, answered. Items that are examples in its own prompt are left out."""
    import pandas as pd

    shown = frozenset(found.spec.settings.get("example_items", ()))
    rows = [
        (
            uid,
            choice,
            float("nan") if flag is None else float(flag),
            _marks(spans),
            json.loads(shares or "{}"),
            answered,
        )
        for uid, choice, flag, spans, shares, answered in first_labels(store, found)
        if uid not in shown
    ]
    return pd.DataFrame(rows, columns=["item", "judge", "judge_flag", "judge_marks", "shares", "answered"])


def with_judge(table: "pd.DataFrame", labels: "pd.DataFrame", measures: Mapping[str, str]) -> "pd.DataFrame":
    """*table* of `item_table` with judge_<measure> beside it: 1, 0, or NaN where the judge says nothing of it."""
    merged = table.merge(labels[["item", "judge", "judge_flag"]], on="item", how="left", validate="one_to_one")
    for measure, choice in measures.items():
        known = merged["judge"].notna()
        values = (merged["judge"] == choice).astype(float).where(known) if choice else merged["judge_flag"]
        merged[f"judge_{measure}"] = values.astype(float)
    return merged


def _marks(spans: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((int(start), int(end), str(kind)) for start, end, kind in json.loads(spans))
