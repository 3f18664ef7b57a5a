"""MinHash of short sentences: sentences that share most of their three-character pieces share a band.

Broder, "On the resemblance and containment of documents" (1997); bands as in
Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets", 3.4. 48 hash
functions in 12 bands of 4: two sentences with Jaccard similarity s of their
pieces meet in some band with probability 1 - (1 - s^4)^12 (s = 0.8: 0.998).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

PERMUTATIONS, BANDS = 48, 12
ROWS = PERMUTATIONS // BANDS
PIECE = 3
MASK = "\x00"  # stands for the keyword, so that 他 and 她 of the same sentence meet

_random = np.random.default_rng(20_200_814)  # fixed: it is part of the method
_FACTORS = _random.integers(1, 2**64, PERMUTATIONS, dtype=np.uint64) | np.uint64(1)
_SUMMANDS = _random.integers(0, 2**64, PERMUTATIONS, dtype=np.uint64)
_FOLD = _random.integers(1, 2**64, ROWS, dtype=np.uint64) | np.uint64(1)
_CHARACTERS = np.array([1_000_003, 998_244_353, 0x9E3779B97F4A7C15], dtype=np.uint64)


def masked(sentence: str, start: int, end: int) -> str:
    """*sentence* with one mark in place of its keyword."""
    return f"{sentence[:start]}{MASK}{sentence[end:]}"


def band_keys(texts: Sequence[str]) -> Keys:
    """One row of 12 band keys (64 bits each) per text; two texts are compared if they share a key of the same band."""
    if not texts:
        return np.zeros((0, BANDS), dtype=np.uint64)
    padded = [text if len(text) >= PIECE else text.ljust(PIECE, "\x01") for text in texts]
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.uint64)
    lengths = np.array([len(text) for text in padded])
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    pieces = codes[:-2] * _CHARACTERS[0] + codes[1:-1] * _CHARACTERS[1] + codes[2:] * _CHARACTERS[2]
    pieces ^= pieces >> np.uint64(29)
    pieces *= np.uint64(0xBF58476D1CE4E5B9)
    pieces ^= pieces >> np.uint64(32)
    # The last two pieces of a text reach into the next one.
    whole = np.ones(len(codes), dtype=bool)
    whole[starts + lengths - 1] = whole[starts + lengths - 2] = False
    pieces = pieces[whole[:-2]]
    at = starts - np.arange(len(padded)) * 2
    rows = np.empty((BANDS, len(padded)), dtype=np.uint64)
    hashed = np.empty_like(pieces)
    for band in range(BANDS):
        key = np.full(len(padded), band + 1, dtype=np.uint64)
        for row in range(ROWS):
            number = band * ROWS + row
            np.multiply(pieces, _FACTORS[number], out=hashed)
            hashed += _SUMMANDS[number]
            key = (key ^ (np.minimum.reduceat(hashed, at) >> np.uint64(32))) * _FOLD[row]
            key ^= key >> np.uint64(31)
        rows[band] = key
    return rows.T.copy()
