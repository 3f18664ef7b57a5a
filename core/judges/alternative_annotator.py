"""The alternative annotator test: may a judge replace an annotator (Calderon, Reichart and Dror 2025)?

See docs/judges.md#the-alternative-annotator-test.

For each annotator in turn, the test counts the items on which the judge agrees with the others at least as well as
this annotator, and the items on which the annotator does at least as well as the judge. The judge wins if a t test
rejects that its share is smaller by `eps` or more. `eps` allows for the lower cost of the judge. It is chosen in
advance: .2 compared with experts, .15 with skilled people, .1 with a crowd.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evenhand.core.errors import N_
from evenhand.core.statistics import Note

FEWEST = 30  # items of an annotator that others labelled too; an annotator with fewer is not tested
LEVEL = 0.05  # false discovery rate over annotators
PASSES = 0.5  # the winning rate from which the judge may replace an annotator
FEW_ITEMS = N_(
    "Only {items} items were also labelled by the judge and by another annotator; at least {fewest} are needed."
)
FEWEST_ANNOTATORS = 3  # that Calderon et al. (2025) want
FEW_ANNOTATORS = N_(
    "Annotators tested: {number}. Calderon et al. (2025) require at least three: with fewer, the"
    " winning rate depends on one or two people, so it does not support replacing an annotator."
)
NOBODY = Note(
    N_(
        "No annotator has enough items that were also labelled by the judge and by another annotator, so"
        " there is no test."
    )
)


@dataclass(frozen=True, slots=True)
class Against:
    """The judge against one annotator.

    `judge_share`, `own_share`: on which share of the `items` the judge, and the annotator, agree with the others at
    least as well as the other of the two; `p`: one-sided, of the judge being worse by eps or more. `won`: rejected
    after Benjamini and Yekutieli. None, with the `reason`, for an annotator with too few items.
    """

    annotator: str
    items: int
    judge_share: float | None = None
    own_share: float | None = None
    p: float | None = None
    won: bool | None = None
    reason: Note | None = None
    json_names: ClassVar = {"judge_share": "judge", "own_share": "annotator_share"}


@dataclass(frozen=True, slots=True)
class AltTestResult:
    """`winning_rate`: the share of tested annotators that the judge won against; `advantage`: the mean of its shares.

    Both from 0 to 1, None where no annotator could be tested. `passes`: whether the winning rate is at least a half.
    `note`: a warning where fewer than three annotators could be tested.
    """

    eps: float
    winning_rate: float | None
    advantage: float | None
    annotators: tuple[Against, ...]
    reason: Note | None = None
    note: Note | None = None
    also_in_json: ClassVar = ("passes",)
    written_with: ClassVar = {Note: str}

    @property
    def passes(self) -> bool | None:
        """True if the judge may replace an annotator; None where no annotator could be tested."""
        return None if self.winning_rate is None else self.winning_rate >= PASSES


def alternative_annotator_test(
    people: Iterable[tuple[Hashable, str, Hashable]], judge: Mapping[Any, Hashable], eps: float
) -> AltTestResult:
    """Test the labels of a *judge* by item against those of *people* (item, annotator, label); *eps* from 0 to 1.

    An annotator's last label of an item counts. Items that the judge did not label are left out.
    """
    labels: dict[Hashable, dict[str, Hashable]] = defaultdict(dict)
    for item, who, label in people:
        labels[item][who] = label
    names = list(dict.fromkeys(who for label in labels.values() for who in label))
    scores = {who: _scores(who, labels, judge) for who in names}
    tested = [who for who in names if len(scores[who]) >= FEWEST]
    p = [_p(scores[who], eps) for who in tested]
    from scipy import stats

    won = [bool(entry <= LEVEL) for entry in stats.false_discovery_control(p, method="by")] if p else []
    result = tuple(_against(who, scores[who], eps, dict(zip(tested, won, strict=True)).get(who)) for who in names)
    shares = [against.judge_share for against in result if against.judge_share is not None]
    if not shares:
        return AltTestResult(eps, None, None, result, NOBODY)
    few = Note(FEW_ANNOTATORS, {"number": len(won)}) if len(won) < FEWEST_ANNOTATORS else None
    return AltTestResult(eps, sum(won) / len(won), sum(shares) / len(shares), result, note=few)


def _scores(who: str, labels: Mapping[Hashable, Mapping[str, Hashable]], judge: Mapping[Any, Hashable]) -> np.ndarray:
    """Return a row per item that *who* and others labelled: 1 if the judge does at least as well as *who*, else 0, and
    1 if *who* does at least as well as the judge, else 0.
    """
    result = []
    for item, entry in labels.items():
        others = [label for name, label in entry.items() if name != who]
        if who in entry and others and item in judge:
            agrees = sum(label == judge[item] for label in others), sum(label == entry[who] for label in others)
            result.append((agrees[0] >= agrees[1], agrees[1] >= agrees[0]))
    return np.array(result, dtype=float).reshape(-1, 2)


def _p(scores: np.ndarray, eps: float) -> float:
    """Return p of a one-sided paired t test of whether the judge is worse by *eps* or more."""
    from scipy import stats  # scipy.stats takes a while to import

    worse = scores[:, 1] - scores[:, 0] - eps
    if np.ptp(worse) == 0:  # no spread: it is as it is
        return 0.0 if worse[0] < 0 else 1.0
    return float(stats.ttest_1samp(worse, 0, alternative="less").pvalue)


def _against(who: str, scores: np.ndarray, eps: float, won: bool | None) -> Against:
    if won is None:
        return Against(who, len(scores), reason=Note(FEW_ITEMS, {"items": len(scores), "fewest": FEWEST}))
    judge, own = scores.mean(axis=0)
    return Against(who, len(scores), float(judge), float(own), _p(scores, eps), won)
