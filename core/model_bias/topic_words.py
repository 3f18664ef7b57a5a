"""Topic words of the sentences that lean to one side: TF-IDF and TextRank, and whether the sides differ.

See docs/model_bias.md#topic-words.

The papers (Table 7) name no tool; jieba's defaults fit their lists best: TF-IDF without a filter of word classes and
with the median IDF for unknown words, TextRank on nouns and verbs. The weights are jieba's; the cuts are rjieba's,
the same words 40 times faster. Hidden are the keywords and words around one of two characters (小男孩); a word with
a single character of a pair (男篮) stays, as in the papers, and is marked. A high weight says that a word is common
on a side, not that the sides differ: that is the contrast.
"""

import copy
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
import rjieba
from numpy.typing import NDArray

from evenhand.core.resources import table
from evenhand.core.statistics.estimate import holm_adjusted
from evenhand.core.types import TableRow

Method = Literal["tfidf", "textrank"]
NOUNS_AND_VERBS = ("ns", "n", "vn", "v")  # jieba's own choice for TextRank
PERMUTATIONS = 2000
BLOCK = 4_000_000  # labels held in memory at a time
COLUMNS = (
    *("side", "method", "rank", "word", "weight", "male_rate", "female_rate"),
    *("contrast", "p", "p_holm", "stays", "holds_keyword"),
)


@dataclass(frozen=True, slots=True)
class _Token:
    """A word with its class, as jieba's extractors expect it."""

    word: str
    flag: str


class _Cut:
    """A replacement for jieba's tokenizer: the text is cut already, so jieba's dictionary is never loaded."""

    def __init__(self, tokens: Sequence[Any]) -> None:
        self.tokens = tokens

    def cut(self, _text: str) -> Sequence[Any]:
        return self.tokens


def topic_words(
    male_sentences: Sequence[str],
    female_sentences: Sequence[str],
    *,
    keywords: Iterable[str],
    top: int = 5,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
    strata: tuple[Sequence[str], Sequence[str]] | None = None,
) -> pd.DataFrame:
    """Return the *top* topic words of each side by each method, with the contrast of the sides.

    *male_sentences* are those that lean to the male word (obviously, |Bias_c| > 0.3), *female_sentences* the others.
    *keywords* are hidden first. Columns:

    side, method ("tfidf", "textrank"), rank, word, weight (jieba's, no unit, comparable within one side and method);
    male_rate, female_rate: the share of a side's sentences that hold the word, 0 to 1; contrast: male_rate -
    female_rate, -1 to 1, positive = more common where the model leans male; p: two-sided permutation p of the contrast
    (the sides of the sentences shuffled *permutations* times, within *strata*, such as the word pair, where given:
    what is left then is not the pair); p_holm: after Holm's adjustment over the distinct words shown; stays: p_holm
    < 0.05; holds_keyword: the word contains a keyword (男篮), so it may come from the word and not from the topic.

    An empty side gives no rows. `attrs["seconds"]` is the time taken. The words were chosen on the same sentences,
    so p describes these sentences. The same seed gives the same p.
    """
    began = time.monotonic()
    hidden = tuple(dict.fromkeys(keywords))
    sides = {
        side: [_tokens(s) for s in part] for side, part in (("male", male_sentences), ("female", female_sentences))
    }
    rows: list[tuple[str, TableRow]] = []
    for side in ("female", "male"):
        distinct = {token.word for sentence in sides[side] for token in sentence}
        left_out = _stop_words() | {word for word in distinct if _is_keyword(word, hidden)}
        for method, found in _weighed(sides[side], left_out, top).items():
            rows += [
                (word, {"side": side, "method": method, "rank": rank, "word": word, "weight": weight})
                for rank, (word, weight) in enumerate(found, 1)
            ]
    words = list(dict.fromkeys(word for word, _ in rows))
    contrasts = _contrasts(sides["male"], sides["female"], words, strata, permutations, seed)
    for word, row in rows:
        row.update(contrasts[word], holds_keyword=any(keyword in word for keyword in hidden))
    frame = pd.DataFrame([row for _, row in rows], columns=list(COLUMNS))
    frame.attrs["seconds"] = time.monotonic() - began
    return frame


def _tokens(sentence: str) -> list[_Token]:
    return [_Token(word, flag) for word, flag in rjieba.tag(sentence)]


def _is_keyword(word: str, keywords: Sequence[str]) -> bool:
    return any(word == keyword or (len(keyword) > 1 and keyword in word) for keyword in keywords)


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(row["word"] for row in table("topic_stop_words"))


@cache
def _extractors() -> tuple[Any, Any]:
    """Return jieba's two extractors, made once; importing them warns about a file that jieba leaves open."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba.analyse

        return jieba.analyse.default_tfidf, jieba.analyse.default_textrank


def _weighed(
    sentences: Sequence[Sequence[_Token]], left_out: frozenset[str], top: int
) -> dict[Method, list[tuple[str, float]]]:
    """Return jieba's TF-IDF and TextRank words of all sentences of one side as one text."""
    stream = [token for sentence in sentences for token in sentence]
    if not stream:
        return {}
    tfidf, textrank = (copy.copy(extractor) for extractor in _extractors())  # the originals belong to every thread
    tfidf.stop_words = textrank.stop_words = tfidf.stop_words | left_out
    tfidf.tokenizer, textrank.tokenizer = _Cut([token.word for token in stream]), _Cut(stream)
    return {
        "tfidf": tfidf.extract_tags("", topK=top, withWeight=True),
        "textrank": textrank.textrank("", topK=top, withWeight=True, allowPOS=NOUNS_AND_VERBS)
        if _has_edge(textrank, stream)
        else [],
    }


def _has_edge(textrank: Any, stream: Sequence[_Token]) -> bool:
    """Tell if any two words are close enough for an edge: jieba's rank of an empty graph divides by zero."""
    textrank.pos_filt = frozenset(NOUNS_AND_VERBS)
    places = [i for i, token in enumerate(stream) if textrank.pairfilter(token)]
    return any(b - a < textrank.span for a, b in pairwise(places))


def _contrasts(
    male: Sequence[Sequence[_Token]],
    female: Sequence[Sequence[_Token]],
    words: Sequence[str],
    strata: tuple[Sequence[str], Sequence[str]] | None,
    permutations: int,
    seed: int,
) -> dict[str, TableRow]:
    """Return rates, contrast and permutation p of each word."""
    places = {word: i for i, word in enumerate(words)}
    holds = np.zeros((len(male) + len(female), len(words)))
    for row, sentence in enumerate((*male, *female)):
        for token in sentence:
            if (column := places.get(token.word)) is not None:
                holds[row, column] = 1
    sides = np.arange(len(holds)) < len(male)
    rates = {
        name: holds[part].mean(axis=0) if part.any() else np.full(len(words), np.nan)
        for name, part in (("male", sides), ("female", ~sides))
    }
    if not words or sides.all() or not sides.any():
        p = np.full(len(words), np.nan)
    else:
        groups = pd.factorize(np.concatenate([*strata]))[0] if strata else np.zeros(len(holds), dtype=np.int64)
        p = _permuted(holds, sides, groups, permutations, seed)
    adjusted = p if not len(p) or np.isnan(p).any() else holm_adjusted(p)
    return {
        word: {
            "male_rate": rates["male"][i],
            "female_rate": rates["female"][i],
            "contrast": rates["male"][i] - rates["female"][i],
            "p": p[i],
            "p_holm": adjusted[i],
            "stays": bool(adjusted[i] < 0.05),
        }
        for i, word in enumerate(words)
    }


def _permuted(
    holds: NDArray[np.float64], sides: NDArray[np.bool_], groups: NDArray[np.int64], permutations: int, seed: int
) -> NDArray[np.float64]:
    """Return (1 + shuffles at least as far from the expectation) / (1 + shuffles), for each word.

    The count of a word on the male side is shuffled within each group; its expectation is the sum over groups of
    the group's share of male sentences times its count.
    """
    random = np.random.default_rng(seed)
    observed = sides @ holds
    members = [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
    expected = sum(sides[part].mean() * holds[part].sum(axis=0) for part in members)
    distance = np.abs(observed - expected) - 1e-9
    further, left = np.zeros(holds.shape[1]), permutations
    while left > 0:
        now = min(left, max(1, BLOCK // len(sides)))
        labels = np.empty((now, len(sides)), dtype=bool)
        for part in members:
            labels[:, part] = random.permuted(np.broadcast_to(sides[part], (now, len(part))), axis=1)
        further += (np.abs(labels.astype(float) @ holds - expected) >= distance).sum(axis=0)
        left -= now
    return np.asarray((1 + further) / (1 + permutations))
