"""Score whole files of sentences: each distinct probe once, like lengths together, rows in their order.

Sources: docs/methods.md#bias-of-a-sentence (Bias_c), 6.1 (pair mass). Direction: positive leans to the male word.
Memory does not grow with the file: it is processed in windows, and inside a window probes are sorted by length.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from evenhand.core.errors import N_
from evenhand.core.scoring.cache import CachedScorer
from evenhand.core.sentence_bias.bias import as_ln, bias, masks_in, why_undefined, word_mass
from evenhand.core.text.keywords import unspaced
from evenhand.core.types import AgreeingForm, Candidate, MaskedSentence, Score, Scorer, Side

WINDOW = 20_000  # sentences that are sorted together; padding is 0.3% from here on (docs/scoring.md)
CHUNK = 1_024  # probes that are asked and remembered together
OK = "ok"

COLUMNS = (
    *("row", "sentence", "pair", "keyword", "model", "p_male", "p_female", "pair_mass", "bias_log10", "bias_ln"),
    *("status", "signature", "side", "masks", "start", "end", "source", "logp_male", "logp_female"),
)
NOT_ASKED = N_("The sentence was not scored.")


@dataclass(frozen=True, slots=True)
class ScoreItem:
    """One row of the input: a sentence with its keyword, or the reason why it cannot be asked.

    `row` counts the rows of the input from 1, bad ones too. `start`, `end` are the span of the word,
    `stem_start`, `stem_end` of what is masked; `options` the stems of both sides, male first; `masks` their
    width in characters. `agreeing`: words elsewhere that go along with the option. `source` names the document, empty
    where that is not known. A row that cannot be asked has `problem` (a sentence), `reason` (its code) and no options.
    """

    row: int
    sentence: str
    start: int | None = None
    end: int | None = None
    stem_start: int | None = None
    stem_end: int | None = None
    pair: str = ""
    side: Side | Literal[""] = ""
    keyword: str = ""
    options: tuple[str, ...] = ()
    source: str = ""
    problem: str | None = None
    reason: str | None = None
    agreeing: tuple[AgreeingForm, ...] = ()

    @property
    def masks(self) -> int | None:
        """The number of masked characters; None without a word, or where the model decides how to cut the word."""
        if not self.options or not unspaced("".join(self.options)):
            return None
        return max(map(len, self.options))

    @property
    def probe(self) -> MaskedSentence | None:
        """The question for the model; None for a row that cannot be scored."""
        if self.stem_start is None or self.stem_end is None or not self.options:
            return None
        return MaskedSentence(self.sentence, self.stem_start, self.stem_end, self.options, agreeing=self.agreeing)


def item_of(row: int, candidate: Candidate, source: str = "") -> ScoreItem:
    """Return the row of a sentence whose keyword was found."""
    spans = (candidate.start, candidate.end, candidate.stem_start, candidate.stem_end)
    pair, named = candidate.pair, source or candidate.source
    return ScoreItem(row, candidate.sentence, *spans, pair.name, candidate.side, candidate.keyword, pair.stems, named)


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One row of the output: what one model says to one row of the input."""

    item: ScoreItem
    model: str
    signature: str
    logp_male: float | None
    logp_female: float | None
    status: str

    @property
    def bias_log10(self) -> float | None:
        """Bias_c in log10; positive leans male, infinite where one word has probability 0, None where undefined."""
        return bias(self.logp_male, self.logp_female)

    def values(self) -> tuple[Any, ...]:
        """Return the cells in the order of COLUMNS; None where undefined."""
        item, value = self.item, self.bias_log10
        power = masks_in(self.signature, item.masks or 1)
        # The mean over masks whose number is not known here cannot be turned back into the word's probability.
        known = item.masks is not None or masks_in(self.signature, 2) == 1
        logs = (self.logp_male, self.logp_female) if known else (None, None)
        p_male, p_female = (None if p is None else math.exp(p * power) for p in logs)
        mass = word_mass(*logs, self.signature, item.masks or 1)
        return (
            *(item.row, item.sentence, item.pair, item.keyword, self.model, p_male, p_female, mass),
            *(value, as_ln(value), self.status, self.signature, item.side, item.masks, item.start, item.end),
            *(item.source, self.logp_male, self.logp_female),
        )


@dataclass(slots=True)
class Tally:
    """The counts of the rows of one model so far; `score_items` updates them.

    `rows` = `scored` + all of `undefined` once they are written. `asked`: distinct probes that the model
    answered now. `remembered`: rows answered from an earlier run. `saved`: rows that did not have to be asked
    because another row of this run has the same probe (a sentence with 他 and its twin with 她).
    `worked`: rows settled by asking; `free`: rows settled without (remembered, or not askable).
    """

    rows: int = 0
    scored: int = 0
    infinite: int = 0
    asked: int = 0
    remembered: int = 0
    saved: int = 0
    worked: int = 0
    free: int = 0
    undefined: Counter[str] = field(default_factory=Counter)
    examples: dict[str, tuple[int, str]] = field(default_factory=dict)

    def count(self, row: ScoredRow) -> None:
        """Count a finished row."""
        self.rows += 1
        if row.status == OK:
            self.scored += 1
            self.infinite += math.isinf(row.bias_log10 or 0.0)
            return
        reason = row.item.reason or row.status
        self.undefined[reason] += 1
        self.examples.setdefault(reason, (row.item.row, row.status))


Progress = Callable[[Tally], object]


def score_items(
    items: Iterable[ScoreItem],
    scorer: Scorer,
    *,
    model: str,
    tally: Tally | None = None,
    progress: Progress = lambda tally: None,
    chunk: int = CHUNK,
    window: int = WINDOW,
) -> Iterator[ScoredRow]:
    """Yield finished rows in the order of *items*; a row that cannot be asked is included with its reason.

    *scorer*: give a `CachedScorer` for scores to be remembered from run to run; each *chunk* of probes is
    committed before the next is asked, so that a run which is killed loses at most one. `progress(tally)` is
    called after each chunk. At most *window* items are in memory.
    """
    if not isinstance(scorer, CachedScorer):
        with CachedScorer(scorer, None) as forgetful:
            yield from score_items(
                items, forgetful, model=model, tally=tally, progress=progress, chunk=chunk, window=window
            )
        return
    counted = tally if tally is not None else Tally()
    remaining, seen = iter(items), set[bytes]()
    while some := list(islice(remaining, window)):
        answers = _answers(some, scorer, seen, counted, progress, chunk)
        for item, score in zip(some, answers, strict=True):
            row = scored_row(item, model, score, scorer.signature)
            counted.count(row)
            yield row


def _answers(
    some: Sequence[ScoreItem],
    cached: CachedScorer,
    seen: set[bytes],
    tally: Tally,
    progress: Progress,
    chunk: int,
) -> list[Score | None]:
    """Return the score of each item; None for an item that cannot be asked.

    *seen*: which probes this run has met, as 8 bytes each: to tell what was saved from what was remembered.
    """
    probes = [item.probe for item in some]
    keys = [None if probe is None else cached.key(probe) for probe in probes]
    known = cached.remembered([key for key in keys if key is not None])
    waiting: dict[bytes, MaskedSentence] = {}
    rows_of: Counter[bytes] = Counter()
    for key, probe in zip(keys, probes, strict=True):
        if key is None or probe is None:
            tally.free += 1
            continue
        new = key[:8] not in seen
        seen.add(key[:8])
        tally.saved += not new
        if key in known:
            tally.free += 1
            tally.remembered += new
        else:
            waiting[key] = probe
            rows_of[key] += 1
    progress(tally)
    order = sorted(waiting, key=lambda key: len(waiting[key].text))
    for i in range(0, len(order), chunk):
        part = order[i : i + chunk]
        known |= dict(zip(part, cached.score([waiting[key] for key in part]), strict=True))
        tally.asked += len(part)
        tally.worked += sum(rows_of[key] for key in part)
        progress(tally)
    return [None if key is None else known[key] for key in keys]


def scored_row(item: ScoreItem, model: str, score: Score | None, signature: str) -> ScoredRow:
    """Return the row of *item* with the model's answer; `status` says why a value is undefined."""
    if score is None:
        return ScoredRow(item, model, signature, None, None, item.problem or NOT_ASKED)
    male, female = score.logprobs
    status = score.reason or why_undefined(male, female) or OK
    if status != OK and bias(male, female) is not None:
        status = OK
    return ScoredRow(item, model, score.signature, male, female, status)
