"""Sentences that were read before, exactly or nearly; the first one read stays.

Memory: 8 bytes for each sentence that comes this far, and about 250 bytes for
each that may have near-duplicates, up to MOST_COMPARED of them.
"""

import hashlib
from array import array
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

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
    """Return *sentence* with one mark in place of its keyword."""
    return f"{sentence[:start]}{MASK}{sentence[end:]}"


def band_keys(texts: Sequence[str]) -> Keys:
    """Return a row of 12 band keys (64 bits each) per text.

    Two texts are compared if they share a key of the same band.

    MinHash (Broder, "On the resemblance and containment of documents", 1997) with bands as in Leskovec, Rajaraman and
    Ullman, "Mining of Massive Datasets", 3.4. 48 hash functions in 12 bands of 4: two sentences with Jaccard
    similarity s of their three-character pieces meet in some band with probability 1 - (1 - s^4)^12 (s = 0.8: 0.998).
    """
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


LEAST_RATIO = 80.0  # rapidfuzz.fuzz.ratio: 100 (1 - insertions and deletions / characters of both)
MOST_COMPARED = 1_000_000  # sentences that later ones are compared with
BUCKET = 32  # sentences of one band that are compared, the first ones read
_MERGE = 200_000  # keys outside the sorted ones before they are merged


def text_key(text: str) -> int:
    """Return 64 bits of a hash of exactly these characters."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


class Exact:
    """Which texts have been seen, by 64 bits of their hash.

    Among a million texts two agree by chance in one run of 37 million.
    """

    def __init__(self) -> None:
        self._sorted: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
        self._recent: set[int] = set()

    def known(self, keys: list[int]) -> list[bool]:
        """Tell for each key whether it was seen in an earlier block."""
        wanted = np.array(keys, dtype=np.uint64)
        at = np.searchsorted(self._sorted, wanted)
        at[at == len(self._sorted)] = 0
        result = self._sorted[at] == wanted if len(self._sorted) else np.zeros(len(keys), dtype=bool)
        return [bool(entry) for entry in result]

    def add(self, key: int) -> bool:
        """Note *key*; False where it was noted since the last merge."""
        if key in self._recent:
            return False
        self._recent.add(key)
        return True

    def settle(self) -> None:
        """Merge what was noted; call it between blocks."""
        if len(self._recent) > _MERGE:
            recent = np.fromiter(self._recent, dtype=np.uint64, count=len(self._recent))
            self._sorted = np.sort(np.concatenate((self._sorted, recent)))
            self._recent = set()


class Near:
    """Which sentences, keyword masked, are nearly one that was read before."""

    def __init__(self) -> None:
        self._text = bytearray()
        self._ends = array("Q", [0])
        self._keys: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
        self._owners: NDArray[np.uint32] = np.zeros(0, dtype=np.uint32)
        self._recent: dict[int, int] = {}  # the first sentence with a key; the later ones are in _more
        self._more: dict[int, list[int]] = {}
        self._recent_keys: list[int] = []
        self._recent_owners: list[int] = []

    def __len__(self) -> int:
        return len(self._ends) - 1

    @property
    def full(self) -> bool:
        """True once later sentences are compared with the first MOST_COMPARED only."""
        return len(self) >= MOST_COMPARED

    def earlier(self, keys: Keys) -> list[set[int]]:
        """Return, for each row of band keys, the sentences of earlier blocks that share one."""
        result: list[set[int]] = [set() for _ in range(len(keys))]
        if len(self._keys):
            flat = keys.ravel()
            left = np.searchsorted(self._keys, flat, "left")
            inside = np.minimum(left, len(self._keys) - 1)
            for hit in np.flatnonzero(self._keys[inside] == flat):
                start = int(left[hit])
                stop = start + BUCKET
                same = self._keys[start:stop] == flat[hit]
                result[int(hit) // BANDS].update(self._owners[start:stop][same].tolist())
        return result

    def like(self, text: str, keys: list[int], earlier: set[int]) -> str | None:
        """Return the first sentence read that *text* nearly equals, else None."""
        if not earlier and self._recent.keys().isdisjoint(keys):  # of nearly every sentence
            return None
        shared = set(earlier)
        for key in keys:
            if key in self._recent:
                shared.add(self._recent[key])
                shared.update(self._more.get(key, ())[:BUCKET])
        for number in sorted(shared):
            other = self._text[self._ends[number] : self._ends[number + 1]].decode("utf-16-le", "surrogatepass")
            if fuzz.ratio(text, other, score_cutoff=LEAST_RATIO):
                return other
        return None

    def add(self, text: str, keys: list[int]) -> None:
        """Remember *text*, unless MOST_COMPARED are remembered already."""
        if self.full:
            return
        number = len(self)
        self._text += text.encode("utf-16-le", "surrogatepass")
        self._ends.append(len(self._text))
        new = self._recent.keys().isdisjoint(keys)
        if new:
            self._recent.update(dict.fromkeys(keys, number))
        for key in () if new else keys:
            if self._recent.setdefault(key, number) != number:
                self._more.setdefault(key, []).append(number)
        self._recent_keys += keys
        self._recent_owners += [number] * len(keys)

    def settle(self) -> None:
        """Merge what was remembered; call it between blocks."""
        if len(self._recent_keys) > _MERGE:
            keys = np.concatenate((self._keys, np.array(self._recent_keys, dtype=np.uint64)))
            owners = np.concatenate((self._owners, np.array(self._recent_owners, dtype=np.uint32)))
            order = np.argsort(keys, kind="stable")  # stable: within a key the first one read comes first
            self._keys, self._owners = keys[order], owners[order]
            self._recent, self._more, self._recent_keys, self._recent_owners = {}, {}, [], []
