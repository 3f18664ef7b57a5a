"""What a model is trained on and what it never sees: texts of a file or folder, apart by a hash, swapped or not."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from evenhand.core.errors import N_, Refused
from evenhand.core.swap.files import Counts, is_substituted, texts_of
from evenhand.core.swap.swapping import Swapper
from evenhand.core.swap.word_tables import WordTable

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

    `facts`: what a record says of them: source, numbers, SHA-256 of all texts in their order, the swap.
    """

    name: str
    trained: tuple[str, ...]
    untouched: tuple[str, ...]
    facts: dict[str, Any] = field(default_factory=dict)


def file_texts(path: Path) -> Iterator[str]:
    """The texts of a text file, one a line, or of everything that `mine` reads below *path*, one a paragraph or row."""
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
    share: float = 0.05,
    seed: int = 0,
) -> TrainingTexts:
    """Set a *share* of the texts aside, by a hash of the text, so that a text is on the same side in every run; swap
    the others. Each distinct text counts once. Raises Refused where too few are left.
    """
    distinct = list(dict.fromkeys(stripped for text in texts if (stripped := text.strip())))
    untouched = [text for text in distinct if _is_untouched(text, share)][:MOST_HELD_OUT]
    apart = set(untouched)
    trained = [text for text in distinct if text not in apart and not _is_untouched(text, share)]
    if min(len(trained), len(untouched)) < LEAST:
        numbers = {"trained": len(trained), "untouched": len(untouched), "least": LEAST}
        raise Refused(NOT_ENOUGH, name=name, **numbers)
    facts: dict[str, Any] = {"name": name, "texts": len(distinct), "trained": len(trained)}
    facts |= {"untouched": len(untouched), "sha256": _digest(distinct), "share": share, "swap": {"mode": swap}}
    if swap != "none" and words is not None:
        trained, counts = _swapped(trained, swap, words, seed)
        facts["swap"] |= _swap_facts(words, counts)
        facts["lines"] = len(trained)
    return TrainingTexts(name, tuple(trained), tuple(untouched), facts)


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
    found: list[str] = []
    for text in texts:
        one = swapper(text)
        counts.add(one)
        if one.outcome != "swapped":
            found.append(text)
        elif swap == "cda":
            found += [text, one.text]
        elif swap == "swap" or is_substituted(text, seed):
            counts.substituted += 1
            found.append(one.text)
        else:
            found.append(text)
    return found, counts


def _swap_facts(words: WordTable, counts: Counts) -> dict[str, Any]:
    pairs = sorted({tuple(sorted(pair)) for pair in words.counterparts.items()})
    return {
        "language": words.language,
        "pairs": ["/".join(pair) for pair in pairs],
        "swapped": counts.swapped,
        "left": counts.left,
        "refused": counts.refused,
        "substituted": counts.substituted,
    }
