"""Every occupation: how often its answers follow a bias, with the counts of each set."""

from typing import TYPE_CHECKING, Literal

import streamlit as st

from evenhand.core.nli.types import LABELS, SETS
from evenhand.pages.ui.charts import downloads
from evenhand.pages.ui.choose import choose
from evenhand.pages.ui.numbers import DASH
from evenhand.pages.ui.text import _, caption, named

if TYPE_CHECKING:
    from evenhand.core.nli.measure import ByOccupation, Inference

ROWS = 9  # that fit into the height of the table


def show_occupations(found: "Inference") -> None:
    """The table, those with the largest share of biased answers first; the stereotyped words or the neutral ones."""
    if not found.occupations:
        return
    st.subheader(_("By occupation"), anchor=False)
    groups = {
        "stereo": [one for one in found.occupations if "NS" not in one.sets],
        "neutral": [one for one in found.occupations if "NS" in one.sets],
    }
    names = {"stereo": _("stereotyped (PS and AS)"), "neutral": _("neutral (NS)")}
    kept = {group: name for group, name in names.items() if groups[group]}
    group = choose(_("Occupations"), kept, "nli-group", heading=False)
    words = sorted(groups[group], key=lambda one: -(one.biased.value or 0.0))
    if group == "stereo":
        caption("Biased: entailment with the stereotyped gender, contradiction with the other.")
    else:
        caption("Biased: any answer other than neutral.")
    rows = [_row(one, [name for name in SETS if any(name in each.sets for each in words)]) for one in words]
    share = st.column_config.ProgressColumn(_("biased"), format="percent", min_value=0.0, max_value=1.0)
    height: int | Literal["auto"] = 360 if len(rows) > ROWS else "auto"
    st.dataframe(rows, hide_index=True, column_config={_("Biased"): share}, key="nli-occupations", height=height)
    downloads([_exact(one) for one in words], key="nli-occupations-table")
    caption("95% Wilson intervals over the answers for one word. Ten templates are few: read the intervals with care.")


def _row(one: "ByOccupation", sets: list[str]) -> dict[str, object]:
    counts = {name: " / ".join(map(str, row)) if sum(row) else DASH for name, row in zip(SETS, one.counts, strict=True)}
    found: dict[str, object] = {
        _("Occupation"): one.word,
        _("Biased"): one.biased.value,
        _("95% interval"): _span(one),
    }
    return found | {named(name, "e / c / n"): text for name, text in counts.items() if name in sets}


def _span(one: "ByOccupation") -> str:
    low, high = one.biased.low, one.biased.high
    return DASH if low is None or high is None else f"{100 * low:.0f}–{100 * high:.0f}%"


def _exact(one: "ByOccupation") -> dict[str, object]:
    cells: dict[str, object] = {
        f"{name}_{label}": one.counts[i][k] for i, name in enumerate(SETS) for k, label in enumerate(LABELS)
    }
    head: dict[str, object] = {"occupation": one.word, "biased": one.biased.value}
    return head | {"low": one.biased.low, "high": one.biased.high} | cells
