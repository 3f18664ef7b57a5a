"""Write files of counterfactual texts from files with one text per line, as a stream, and count what happened.

swap: each text becomes its counterfactual. CDA (counterfactual data augmentation): each text stays, its counterfactual
comes after it. CDS (counterfactual data substitution): each text becomes its counterfactual with probability 1/2, by a
hash of seed and text. A text that is left or refused stays unchanged in all three.
"""

import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal, cast

from evenhand.core.errors import N_, BadFile
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.mining.sources import BROKEN, encoding_of_corpus
from evenhand.core.swap.swapping import Outcome, Swapped, Swapper
from evenhand.core.swap.word_tables import WordTable
from evenhand.core.types import JsonObject

Mode = Literal["swap", "cda", "cds"]
MODES: tuple[Mode, ...] = ("swap", "cda", "cds")
CHUNK = 1 << 20  # bytes, to tell the encoding
LONGEST = 1 << 20  # characters of a text
BATCH = 256  # texts that go to a worker of a cluster at once
EXAMPLES = 20  # refused texts that a report shows

UNREADABLE = N_("{file} cannot be read: {why}.")
LONG_LINE = N_("{file}, line {line}: a text of more than a million characters. Write one text per line.")
NOT_TEXT = N_("{file}, line {line} contains bytes that are not {encoding}.")
OWN_TEXT = N_("{file} is the input and would be overwritten. Name another file.")

Progress = Callable[[int, int | None], None]


@dataclass(slots=True)
class Counts:
    """Counts of the texts of a file. `written`: lines of the result; `words`: the number of swaps of each word;
    `reasons`: why places were left alone, as `core.swap.swapping.Why`; `refused_texts`: the first refused texts, each
    with the result of swapping it twice.
    """

    mode: Mode
    seed: int
    swapped: int = 0
    left: int = 0
    refused: int = 0
    substituted: int = 0
    written: int = 0
    words: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    refused_texts: list[tuple[str, str]] = field(default_factory=list)
    sha256: str = ""

    @property
    def texts(self) -> int:
        """The number of texts that were read."""
        return self.swapped + self.left + self.refused

    def add(self, counterfactual: Swapped) -> None:
        """Count a text."""
        outcome: Outcome = counterfactual.outcome
        setattr(self, outcome, getattr(self, outcome) + 1)
        if outcome == "swapped":
            self.words.update(f"{change.word}→{change.counterpart}" for change in counterfactual.changes)
        elif counterfactual.back is not None and len(self.refused_texts) < EXAMPLES:
            self.refused_texts.append((counterfactual.source, counterfactual.back))
        self.reasons.update(place.why for place in counterfactual.left)

    def as_json(self) -> JsonObject:
        """Return all counts, the most frequent words and reasons first."""
        result = asdict(self) | {"texts": self.texts}
        result["words"] = dict(self.words.most_common())
        result["reasons"] = dict(self.reasons.most_common())
        result["refused_texts"] = [{"text": text, "twice": twice} for text, twice in self.refused_texts]
        return result


def is_substituted(text: str, seed: int) -> bool:
    """Return whether CDS takes the counterfactual of a text: a toss of a coin by a hash of seed and text."""
    return hashlib.sha256(f"{seed}\n{text}".encode("utf-8", "surrogatepass")).digest()[0] % 2 == 1


def swap_file(
    source: Path,
    out: Path,
    words: WordTable,
    *,
    mode: Mode = "swap",
    seed: int = 0,
    diff: Path | None = None,
    progress: Progress | None = None,
    ray: str | None = None,
    workers: int = 1,
) -> Counts:
    """Write the counterfactual texts of *source* to *out*, in order; memory does not grow with the file.

    *diff*: a file with a JSON line for each text that contains a word of a pair or names a gender: the words that were
    swapped, the words that were left alone and why. *progress* counts bytes of the source. *ray*: a cluster whose
    *workers* swap; the result is the same.
    Raises BadFile where a file cannot be read or written.
    """
    if out.resolve() == source.resolve() or (diff is not None and diff.resolve() == source.resolve()):
        raise BadFile(OWN_TEXT, file=source.name)
    counts, sha = Counts(mode, seed), hashlib.sha256()
    with ExitStack() as opened:
        write = opened.enter_context(whole_file(out))
        write_diff = opened.enter_context(whole_file(diff)) if diff is not None else None
        lines = texts_of(source, progress)
        for swapped in _swapped(lines, words, diff is not None, ray, workers):
            counts.add(swapped)
            for line in _written(swapped, counts):
                write(f"{line}\n")
                sha.update(f"{line}\n".encode("utf-8", "backslashreplace"))
                counts.written += 1
            if write_diff is not None and (swapped.changes or swapped.left):
                write_diff(json.dumps(as_diff(swapped), ensure_ascii=False) + "\n")
    counts.sha256 = sha.hexdigest()
    return counts


def _written(counterfactual: Swapped, counts: Counts) -> Iterator[str]:
    if counts.mode == "swap" or counterfactual.outcome != "swapped":
        yield counterfactual.text
    elif counts.mode == "cda":
        yield from (counterfactual.source, counterfactual.text)
    else:
        chosen = is_substituted(counterfactual.source, counts.seed)
        counts.substituted += chosen
        yield counterfactual.text if chosen else counterfactual.source


def as_diff(counterfactual: Swapped) -> JsonObject:
    """Return a text, its counterfactual, and every place that was swapped or left, for JSON."""
    changes = [
        {"start": c.start, "end": c.end, "word": c.word, "counterpart": c.counterpart} for c in counterfactual.changes
    ]
    left = [
        {"start": p.start, "end": p.end, "word": counterfactual.source[p.start : p.end], "why": p.why}
        for p in counterfactual.left
    ]
    result: JsonObject = {
        "outcome": counterfactual.outcome,
        "text": counterfactual.source,
        "swapped": counterfactual.text,
    }
    result |= {"changes": changes, "left": left}
    return result if counterfactual.back is None else {**result, "twice": counterfactual.back}


def _swapped(
    lines: Iterator[str], words: WordTable, reported: bool, ray: str | None, workers: int
) -> Iterator[Swapped]:
    if ray is None:
        yield from map(Swapper(words, reported=reported), lines)
        return
    from evenhand.core.cluster import ordered_map

    arguments = {"words": words, "reported": reported}
    for batch in ordered_map(
        "evenhand.core.swap.files:batch_swapper", arguments, _batches(lines), address=ray, workers=workers
    ):
        yield from batch


def batch_swapper(words: WordTable, reported: bool) -> Callable[[list[str]], list[Swapped]]:
    """Return a function that swaps a batch of texts; each worker of a cluster makes it once."""
    swapper = Swapper(words, reported=reported)
    return lambda texts: [swapper(text) for text in texts]


def _batches(lines: Iterable[str]) -> Iterator[list[str]]:
    source = iter(lines)
    while batch := list(islice(source, BATCH)):
        yield batch


def texts_of(path: Path, progress: Progress | None = None) -> Iterator[str]:
    """Yield the lines of a text file without their ends, also of a .gz; UTF-8, GB18030 or Big5. Raises BadFile."""
    try:
        total = path.stat().st_size
        with path.open("rb") as packed, _unpacked(packed, path.suffix) as file:
            encoding = encoding_of_corpus(iter(lambda: file.read(CHUNK), b""), path.name)
        with path.open("rb") as packed, _unpacked(packed, path.suffix) as raw:
            text = TextIOWrapper(raw, encoding="utf-8-sig" if encoding == "utf-8" else encoding, newline="\n")
            number = 0
            while line := text.readline(LONGEST + 1):
                number += 1
                if len(line) > LONGEST:
                    raise BadFile(LONG_LINE, file=path.name, line=number)
                yield line.removesuffix("\n").removesuffix("\r")
                if progress is not None:
                    progress(min(packed.tell(), total), total)
    except UnicodeDecodeError:
        raise BadFile(NOT_TEXT, file=path.name, line=number + 1, encoding=encoding) from None
    except (OSError, *BROKEN) as error:
        raise BadFile(UNREADABLE, file=path.name, why=getattr(error, "strerror", None) or str(error)) from error


@contextmanager
def _unpacked(packed: BinaryIO, ending: str) -> Iterator[BinaryIO]:
    """Yield the file, unpacked if its name ends with .gz."""
    if ending == ".gz":
        with gzip.open(packed) as file:
            yield cast(BinaryIO, file)
    else:
        yield packed
