"""CrowS-Pairs (Nangia et al. 2020) as published, its variants, and AUL (Kaneko and Bollegala 2022): SPEC 9.4.

The measure is the share of pairs whose more stereotyping sentence scores higher. A score is, by variant:
published: the sum of ln p over the tokens that both sentences share, each masked in turn; changed: the same over the
tokens that differ; mean: the mean over the shared tokens; aul: the mean over all tokens with nothing masked. Scores
are rounded to 3 decimals; a tie counts in the denominator and for nobody.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.other_measures.figures import percent
from evenhand.core.statistics import Estimate, Note, wilson
from evenhand.core.statistics.posterior import share_of_rows

if TYPE_CHECKING:  # a page reads files and variants; torch stays out of it
    from evenhand.core.models.other_measures import SentenceTokens

Variant = Literal["published", "changed", "mean", "aul"]
VARIANTS: tuple[Variant, ...] = ("published", "changed", "mean", "aul")
COLUMNS = ("sent_more", "sent_less")
WRITER = "anon_writer"
DECIMALS = 3
METHODS = {
    "published": "crows-pairs", "changed": "crows-pairs-changed", "mean": "crows-pairs-mean", "aul": "aul",
}  # fmt: skip
# What is known against each, in one sentence with its source.
CRITICISM = N_(
    "Many pairs are flawed: they mix stereotypes with spelling, names or nonsense (Blodgett et al. 2021)."
    " With 262 gender pairs, the share is uncertain by about 6 percentage points."
)
NO_COLUMNS = N_("{file} is not a CrowS-Pairs file: it lacks the columns sent_more and sent_less.")
NO_ROWS = N_("{file} has no pair of the kind {bias}.")
UNREADABLE = N_("{file} cannot be read: {why}.")
NOTHING = Note(N_("No pair could be read by this model."))


@dataclass(frozen=True, slots=True)
class CrowsPairs:
    """The measure of a model: `score` 0 to 100 with its interval, pairs, ties, pairs left out as too long."""

    variant: Variant
    share: Estimate
    pairs: int
    ties: int
    left_out: int
    signature: str

    @property
    def score(self) -> Estimate:
        """The share of pairs as published, in percent; undefined where no pair could be read."""
        return percent(self.share)

    def to_json(self) -> dict[str, Any]:
        """Return the measure for `--json`."""
        score = self.score
        return {
            "score": score.value, **score.reason_of("score"), "low": score.low, "high": score.high, "pairs": self.pairs,
            "ties": self.ties, "left_out": self.left_out, "variant": self.variant, "signature": self.signature,
        }  # fmt: skip


def read_crows(path: Path, bias: str | None = None) -> list[tuple[str, str]]:
    """The pairs of a file, the more stereotyping sentence first; of one `bias_type` if it is named. Raises BadFile."""
    return [(row["sent_more"] or "", row["sent_less"] or "") for row in _rows(path, bias)]


def read_writers(path: Path, bias: str | None = None) -> list[str]:
    """Who wrote each of these pairs (`anon_writer`); "" where the file does not say. Raises BadFile."""
    return [row.get(WRITER) or "" for row in _rows(path, bias)]


def _rows(path: Path, bias: str | None) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = list(csv.DictReader(lines))
    except OSError as error:
        raise BadFile(UNREADABLE, file=path.name, why=error.strerror or str(error)) from error
    except (UnicodeDecodeError, csv.Error):
        rows = []
    if not rows or not set(COLUMNS) <= set(rows[0]):
        raise BadFile(NO_COLUMNS, file=path.name)
    found = [row for row in rows if bias is None or row.get("bias_type") == bias]
    if not found:
        raise Refused(NO_ROWS, file=path.name, bias=bias or "")
    return found


def sentence_score(tokens: "SentenceTokens", variant: Variant) -> float:
    """The score of a sentence, rounded as published; 0 where there is no such token."""
    terms = {"published": tokens.shared, "changed": tokens.changed, "mean": tokens.shared, "aul": tokens.unmasked}[
        variant
    ]
    total = sum(terms)
    return round(total / len(terms) if variant in ("mean", "aul") and terms else total, DECIMALS)


def crows_pairs(
    read: "Sequence[tuple[SentenceTokens, SentenceTokens] | None]", variant: Variant, signature: str,
    writers: Sequence[str] = (),
) -> CrowsPairs:  # fmt: skip
    """The measure from what a model said of each pair (`core.models.other_measures.PairReader.read`).

    *writers*: who wrote each pair: pairs of one writer resemble each other, so the interval is over writers; without
    them it is Wilson's.
    """
    known = [
        (sentence_score(more, variant), sentence_score(less, variant)) for more, less in (one for one in read if one)
    ]
    higher, ties = sum(more > less for more, less in known), sum(more == less for more, less in known)
    share = wilson(higher, len(known), nothing=NOTHING)
    if any(writers):
        units = [writer for writer, one in zip(writers, read, strict=True) if one]
        share = share_of_rows([more > less for more, less in known], units, nothing=NOTHING)
    return CrowsPairs(variant, share, len(known), ties, len(read) - len(known), signature)
