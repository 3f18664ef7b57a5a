"""Draw the audit of extremes: do the sentences with the strongest Bias_c show bias, or give the answer away?

A sentence in which something other than the keyword says whom it is about (他 and, later, 这位父亲) has a huge |Bias_c|
and no bias in it. Such *leaks* gather at both ends of the list. The audit draws the N most extreme sentences each
way and, for each of them, a random sentence of the same keyword pair and the same side of the source word; people
judge all of them blind, and the share of leaks among extremes is compared with that among controls.

This module draws the sentences. `annotations.audit.audit_projects` sends them and collects labels, and `leak_rates`
compares the shares.
"""

import math
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from evenhand.core.errors import N_, NotFound, Refused
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.keywords import candidate, occurrences
from evenhand.core.types import Candidate, KeywordPair, Side

if TYPE_CHECKING:
    import pandas as pd

Stratum = Literal["extreme", "control"]
Order = Literal["bias", "corrected"]
MOST = 500  # extremes each way: 2,000 sentences are more than three people judge in a week


@dataclass(frozen=True, slots=True)
class AuditItem:
    """One sentence of a sample. `toward`: the end of the list that it, or for a control its extreme, belongs to."""

    row: str
    sentence: str
    pair: str
    side: Side
    start: int | None
    bias_log10: float
    stratum: Stratum
    toward: Side


@dataclass(frozen=True, slots=True)
class Shortage:
    """A cell with fewer controls than extremes; no sentence of another pair or side is taken instead."""

    pair: str
    side: Side
    wanted: int
    found: int


@dataclass(frozen=True, slots=True)
class AuditSample:
    """Extremes each way and matched controls, in a random order.

    `finite`: the number of sentences to draw from, each text once; `left_out`: sentences without a finite value;
    `repeated`: further copies of a text. `wanted`: the requested number of extremes each way.
    """

    model: str
    signature: str
    by: Order
    seed: int
    wanted: int
    items: tuple[AuditItem, ...]
    shortages: tuple[Shortage, ...]
    finite: int
    left_out: int
    repeated: int
    json_names: ClassVar = {"items": None, "wanted": None, "finite": "drawn_from"}
    also_in_json: ClassVar = ("extremes", "controls", "reach", "reach_reason")

    @property
    def extremes(self) -> dict[Side, int]:
        """The number of extremes each way."""
        return {"male": self.count("extreme", "male"), "female": self.count("extreme", "female")}

    @property
    def controls(self) -> int:
        """The number of controls."""
        return self.count("control")

    @property
    def reach(self) -> float | None:
        """The difference of shares, 0 to 1, that an audit of this size may miss; None without controls."""
        return reach(self.count("extreme"), self.controls)

    @property
    def reach_reason(self) -> str | None:
        """The reason for a missing reach; None if the reach is known."""
        return "There are no controls to compare with." if self.reach is None else None

    def count(self, stratum: Stratum, toward: Side | None = None) -> int:
        """Return the number of items of a stratum, in total or towards one end."""
        return sum(item.stratum == stratum and toward in (None, item.toward) for item in self.items)


def draw(frame: "pd.DataFrame", model: str, n: int = 25, seed: int = 0, *, by: Order = "bias") -> AuditSample:
    """Draw the *n* sentences of *model* with the highest and the *n* with the lowest Bias_c, and matched controls.

    *frame*: scores as `core.model_bias.read_scores` gives them. Only values above 0 are extremes towards the male
    word, only values below 0 towards the female word. *by* "corrected" takes the extremes of Bias_c minus the mean of
    its pair (docs/methods.md#pair-and-context), so that a pair with a strong lean of its own does not fill the list.
    Ties are broken by a hash of the text and the seed. Controls are drawn without replacement, as many per (pair, side)
    as there are extremes, from all other sentences; where too few are left, the shortage is listed. The same frame and
    seed give the same sample. Raises NotFound for a model without rows, Refused where nothing can be drawn.
    """
    if not 1 <= n <= MOST:
        raise Refused(N_("An audit draws 1 to {most} extremes per direction, not {n}."), most=MOST, n=n)
    rows = frame[frame["model"] == model]
    if not len(rows):
        raise NotFound(N_("These scores have no rows of the model {model}."), model=model)
    usable = rows[np.isfinite(rows["bias_log10"].astype(float)) & rows["side"].isin(["male", "female"])]
    distinct = usable.drop_duplicates("sentence")
    order = distinct["bias_log10"].astype(float)
    if by == "corrected":
        order = order - order.groupby(distinct["pair"]).transform("mean")
    ends = {"male": _top(distinct, order, n, seed), "female": _top(distinct, -order, n, seed)}
    if not len(ends["male"]) and not len(ends["female"]):
        raise Refused(N_("No sentence of {model} leans either way, so there are no extremes to audit."), model=model)
    rest = distinct.drop(index=[*ends["male"].index, *ends["female"].index])
    items = [item for toward, part in ends.items() for item in _items(part, "extreme", _side(toward))]
    controls, shortages = _controls(rest, items, seed)
    items += controls
    shuffled = np.random.default_rng([seed, 2]).permutation(len(items))
    return AuditSample(
        model=model,
        signature=str(rows["signature"].iloc[0]),
        by=by,
        seed=seed,
        wanted=n,
        items=tuple(items[i] for i in shuffled),
        shortages=tuple(shortages),
        finite=len(distinct),
        left_out=len(rows) - len(usable),
        repeated=len(usable) - len(distinct),
    )


def _side(text: object) -> Side:
    return "male" if text == "male" else "female"


def _top(rows: "pd.DataFrame", order: "pd.Series[float]", n: int, seed: int) -> "pd.DataFrame":
    keys = zip(-order, (zlib.crc32(f"{seed} {text}".encode()) for text in rows["sentence"]), rows.index, strict=True)
    return rows.loc[[label for size, _tie, label in sorted(keys) if size < 0][:n]]


def _items(rows: "pd.DataFrame", stratum: Stratum, toward: Side) -> list[AuditItem]:
    starts = rows["start"] if "start" in rows else [None] * len(rows)
    columns = zip(rows["row"], rows["sentence"], rows["pair"], rows["side"], starts, rows["bias_log10"], strict=True)
    return [
        AuditItem(str(row), str(text), str(pair), _side(side), _as_whole_number(start), float(value), stratum, toward)
        for row, text, pair, side, start, value in columns
    ]


def _as_whole_number(value: object) -> int | None:
    try:
        return int(value)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError):  # empty, NaN or NA
        return None


def _controls(rest: "pd.DataFrame", extremes: Sequence[AuditItem], seed: int) -> tuple[list[AuditItem], list[Shortage]]:
    """Draw for every extreme one of *rest* of the same pair and side; which end gets a scarce one is random too."""
    random = np.random.default_rng([seed, 1])
    pools = {cell: part.index.to_numpy() for cell, part in rest.groupby(["pair", "side"], sort=True)}
    audit_items: list[AuditItem] = []
    shortages = []
    for (pair, side), wanted in Counter((item.pair, item.side) for item in extremes).items():
        ends = [item.toward for item in extremes if (item.pair, item.side) == (pair, side)]
        pool = pools.get((pair, side), np.array([], dtype=int))
        taken = random.choice(pool, size=min(wanted, len(pool)), replace=False)
        if len(taken) < wanted:
            shortages.append(Shortage(pair, side, wanted, len(taken)))
        for label, toward in zip(taken, random.permutation(ends), strict=False):
            audit_items += _items(rest.loc[[label]], "control", _side(toward))
    return audit_items, shortages


def labels_needed(sentences: int, per_item: int) -> int:
    """Return the number of labels that an audit of *sentences* sentences takes."""
    return sentences * per_item


def reach(extremes: int, controls: int) -> float | None:
    """Return the half width of the 95% interval of the difference of two shares, at its widest (both one half).

    A difference smaller than this can be missed by a sample of this size. None where a side is empty.
    """
    if not extremes or not controls:
        return None
    return 1.96 * math.sqrt(0.25 / extremes + 0.25 / controls)


def candidate_of(item: AuditItem) -> Candidate:
    """Return the keyword of an item with its spans; see `keyword_in`."""
    return keyword_in(item.sentence, item.pair, item.side, item.start, row=item.row)


def keyword_in(sentence: str, pair_name: str, side: Side, start: int | None, *, row: object) -> Candidate:
    """Return the keyword of a scored sentence. Raises NotFound if it is not at *start* and does not occur just once."""
    pair = next((pair for pair in keyword_pairs() if pair.name == pair_name), None) or pair_named(pair_name)
    word = pair.word(side)
    if start is None or sentence[start : start + len(word)] != word:
        starts = [hit.start for hit in occurrences(sentence, [pair]) if hit.side == side]
        if len(starts) != 1:
            message = N_("Row {row} of the scores does not give the position of {word} in its sentence.")
            raise NotFound(message, row=row, word=word)
        start = starts[0]
    return candidate(sentence, start, pair, side)


def pair_named(name: str) -> KeywordPair:
    """Return a pair of no table, from its name; the stem is the word without the shared beginning and end."""
    male, _, female = name.partition("/")
    head = next((i for i, (a, b) in enumerate(zip(male, female, strict=False)) if a != b), 0)
    tails = zip(male[head:][::-1], female[head:][::-1], strict=False)
    tail = next((i for i, (a, b) in enumerate(tails) if a != b), 0)
    return KeywordPair(male, female, (head, len(male) - tail), (head, len(female) - tail))
