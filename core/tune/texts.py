"""The texts that train a model and the held-out texts: from a file or folder, split by a hash, swapped or not."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.core.errors import N_, Refused
from evenhand.core.swap.files import Counts, is_substituted, texts_of
from evenhand.core.swap.swapping import Swapper
from evenhand.core.swap.word_tables import WordTable
from evenhand.core.tune.report import SwapFacts, TextFacts

Swap = Literal["none", "swap", "cda", "cds"]
SWAPS: tuple[Swap, ...] = ("none", "swap", "cda", "cds")
LEAST = 2  # texts on either side
MOST_HELD_OUT = 400  # texts; more cost time at every look and tell little more

NOT_ENOUGH = N_(
    "{name} has {trained} texts for training and {untouched} held out; at least {least} of each are needed."
)


@dataclass(frozen=True, slots=True)
class TrainingTexts:
    """Texts that are trained on, in the order of the source, and texts that stay untouched, unswapped.

    `facts`: what a record says of them.
    """

    name: str
    trained: tuple[str, ...]
    untouched: tuple[str, ...]
    facts: TextFacts


def file_texts(path: Path) -> Iterator[str]:
    """Yield the texts of a text file, one a line, or the paragraphs and rows that `mine` reads below *path*."""
    if path.is_file() and path.suffix.lower() in (".txt", ".gz", ""):
        yield from texts_of(path)
        return
    from evenhand.core.concordance.passages import passages

    for passage in passages([path]):
        yield passage.text


def training_texts(
    texts: Iterable[str],
    name: str,
    *,
    swap: Swap = "none",
    words: WordTable | None = None,
    leave_out: Sequence[str] = (),
    share: float = 0.05,
    seed: int = 0,
) -> TrainingTexts:
    """Set a *share* of the texts aside, by a hash of the text, so that a text is on the same side in every run; swap
    the others. Each distinct text counts once. *leave_out*: pairs that *words* lack, for the record. Raises Refused
    where too few are left.
    """
    distinct = list(dict.fromkeys(stripped for text in texts if (stripped := text.strip())))
    untouched = [text for text in distinct if _is_untouched(text, share)][:MOST_HELD_OUT]
    apart = set(untouched)
    trained = [text for text in distinct if text not in apart and not _is_untouched(text, share)]
    if min(len(trained), len(untouched)) < LEAST:
        raise Refused(NOT_ENOUGH, name=name, trained=len(trained), untouched=len(untouched), least=LEAST)
    number, facts = len(trained), SwapFacts(swap, left_out=tuple(leave_out))
    if swap != "none" and words is not None:
        trained, counts = _swapped(trained, swap, words, seed)
        pairs = sorted({"/".join(sorted(pair)) for pair in words.counterparts.items()})
        numbers = (counts.swapped, counts.left, counts.refused, counts.substituted)
        facts = SwapFacts(swap, words.language, tuple(pairs), *numbers, tuple(leave_out))
    of = TextFacts(name, len(distinct), number, len(untouched), _digest(distinct), share, facts, len(trained))
    return TrainingTexts(name, tuple(trained), tuple(untouched), of)


def _is_untouched(text: str, share: float) -> bool:
    return int.from_bytes(_hash(text)[:4], "big") < share * 2**32


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _digest(texts: Sequence[str]) -> str:
    sha = hashlib.sha256()
    for text in texts:
        sha.update(_hash(text))
    return sha.hexdigest()


def _swapped(texts: Sequence[str], swap: Swap, words: WordTable, seed: int) -> tuple[list[str], Counts]:
    swapper, counts = Swapper(words), Counts("cds" if swap == "none" else swap, seed)
    result: list[str] = []
    for text in texts:
        counterfactual = swapper(text)
        counts.add(counterfactual)
        if counterfactual.outcome != "swapped":
            result.append(text)
        elif swap == "cda":
            result += [text, counterfactual.text]
        elif swap == "swap" or is_substituted(text, seed):
            counts.substituted += 1
            result.append(counterfactual.text)
        else:
            result.append(text)
    return result, counts
