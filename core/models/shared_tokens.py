"""Two sentences that differ in a few tokens, under a masked model: log-probabilities of the shared tokens, of the
changed ones, and of all tokens unmasked.

CrowS-Pairs (Nangia et al. 2020) masks each shared token in turn; which tokens are shared says difflib's matcher over
token ids, as in its published code. AUL (Kaneko and Bollegala 2022) masks nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import torch

from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.loading import load_masked
from evenhand.core.models.masked import MaskedScorer, Question

AT_ONCE = 16  # pairs


@dataclass(frozen=True, slots=True)
class SentenceTokens:
    """Natural-log probabilities of one sentence of a pair: of each shared token and of each changed one (that token
    masked), and of every token with nothing masked."""

    shared: tuple[float, ...]
    changed: tuple[float, ...]
    unmasked: tuple[float, ...]


def shared_places(first: Sequence[int], second: Sequence[int]) -> tuple[list[int], list[int]]:
    """The places of the tokens that both rows share, in the same order; frames that both have are among them."""
    matcher = SequenceMatcher(None, [str(i) for i in first], [str(i) for i in second])
    ones: list[int] = []
    others: list[int] = []
    for kind, start, end, begin, stop in matcher.get_opcodes():
        if kind == "equal":
            ones += range(start, end)
            others += range(begin, stop)
    return ones, others


class PairReader:
    """Asks one masked model about pairs of sentences. `signature` says how."""

    def __init__(self, name: str, *, device: str = "auto", untrained: bool = False) -> None:
        """*untrained*: see `load_masked`. Raises ModelUnavailable for a model that cannot be had or fills no mask."""
        self.loaded: LoadedModel = load_masked(name, device=device, untrained=untrained)
        self._scorer = MaskedScorer(self.loaded)
        self._special = set(self.loaded.tokenizer.all_special_ids) - {self.loaded.tokenizer.unk_token_id}

    def signature(self, method: str) -> str:
        """The signature of a measure: method, model, weights, precision, version."""
        from evenhand.core.types import Signature

        return str(Signature(method, self.loaded.name, self.loaded.weights, "sum", self.loaded.precision, 1))

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[SentenceTokens, SentenceTokens] | None]:
        """Both sentences of each pair; None where one is longer than the model reads."""
        found: list[tuple[SentenceTokens, SentenceTokens] | None] = []
        for start in range(0, len(pairs), AT_ONCE):
            found += self._read(pairs[start : start + AT_ONCE])
        return found

    def _read(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[SentenceTokens, SentenceTokens] | None]:
        longest = self._scorer.reader.longest
        rows = [tuple(list(self.loaded.tokenizer(text)["input_ids"]) for text in pair) for pair in pairs]
        fits = [all(len(ids) <= longest for ids in pair) for pair in rows]
        questions, plans = [], []
        for pair, known in zip(rows, fits, strict=True):
            if not known:
                continue
            shared = shared_places(*pair)
            for ids, same in zip(pair, shared, strict=True):
                text = [i for i, token in enumerate(ids) if token not in self._special]
                places = [i for i in text if i in set(same)], [i for i in text if i not in set(same)]
                plans.append((ids, text, tuple(map(len, places))))
                questions += [self._masked(ids, i) for part in places for i in part]
        answers = iter(self._scorer._answer(questions))
        plain = iter(self._unmasked([(ids, text) for ids, text, _ in plans]))
        read = []
        for _ids, _text, (same_count, other_count) in plans:
            known_same = tuple(next(answers)[0][0] for _ in range(same_count))
            known_other = tuple(next(answers)[0][0] for _ in range(other_count))
            read.append(SentenceTokens(known_same, known_other, next(plain)))
        sentences = iter(read)
        return [(next(sentences), next(sentences)) if known else None for known in fits]

    def _masked(self, ids: Sequence[int], place: int) -> Question:
        mask = self._scorer.reader.mask_id
        return Question((*ids[:place], mask, *ids[place + 1 :]), (place,), ((ids[place],),))

    @torch.inference_mode()
    def _unmasked(self, rows: Sequence[tuple[list[int], list[int]]]) -> list[tuple[float, ...]]:
        found = []
        for ids, places in rows:
            given: Any = torch.tensor([ids], device=self.loaded.model.device)
            logprobs = self.loaded.model(input_ids=given).logits[0].float().log_softmax(-1)
            found.append(tuple(float(logprobs[i, ids[i]]) for i in places))
        return found
