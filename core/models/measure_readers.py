"""Readers for published measures: vectors (SEAT, WEAT), pairs of sentences (CrowS-Pairs, AUL), blanks (StereoSet).

`VectorReader`: vectors of sentences and words from any language model. A sentence's vector is a hidden state of one
layer: of the first token ([CLS]), of the last, or the mean over the tokens of the text. May et al. 2019 take the first
of the last layer from BERT and the last from GPT. A word's vector is the mean of the input embeddings of its tokens,
which no context touches.

`SentencePairReader`: two sentences that differ in a few tokens, under a masked model: log-probabilities of shared,
of changed, and of all tokens unmasked. CrowS-Pairs (Nangia et al. 2020) masks each shared token in turn;
difflib's matcher over token ids decides which tokens are shared, as in the published code. AUL (Kaneko and Bollegala
2022) masks nothing.

`BlankReader`: scores of the words that fill a blank, as the published code of StereoSet computes them (Nadeem et al.
2021). Masked models: the tokens of the word fill the blank one by one. Each is asked at a mask after the tokens that
are already filled in, with the rest of the context given; the score is the mean of their probabilities. Causal models:
exp of the mean ln p over all tokens of the whole sentence; only the token that begins a text precedes the first.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from evenhand.core.errors import N_, ModelUnavailable, Refused
from evenhand.core.models.forward import padded, padded_batches
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.loading import load_masked, load_model, task_of
from evenhand.core.models.masked import MaskedScorer, Question
from evenhand.core.models.probe_tokens import longest_input
from evenhand.core.types import Signature

Pooling = Literal["first", "mean", "last"]
Vector = NDArray[np.float64]

BUDGET = 2048  # padded tokens a batch
VERSION = 1  # of each of the methods
NO_LAYER = N_("{name} has {layers} layers; layer {layer} does not exist (0 is the input, -1 the last).")


def _special(loaded: LoadedModel) -> set[int]:
    """Return the ids that stand for no part of a text."""
    return set(loaded.tokenizer.all_special_ids) - {loaded.tokenizer.unk_token_id}


def _signature(loaded: LoadedModel, method: str, joint: str) -> str:
    return str(Signature(method, loaded.name, loaded.weights, joint, loaded.precision, VERSION))


class VectorReader:
    """Asks one model for vectors. `signature` says how: method, model, weights, layer and pooling, precision."""

    def __init__(
        self, name: str, *, layer: int = -1, pooling: Pooling | None = None, device: str = "auto",
        untrained: bool = False,
    ) -> None:  # fmt: skip
        """Load a model.

        *layer*: 0 is the input embeddings, -1 the last. *pooling* None: first of a masked model, last of a causal one.

        Raises ModelUnavailable, and Refused for a layer that the model does not have.
        """
        task = task_of(name)
        self.loaded = load_model(name, task, device=device, untrained=untrained)
        self.pooling: Pooling = pooling or ("last" if task == "causal" else "first")
        layers = int(self.loaded.model.config.num_hidden_layers)
        if not -layers - 1 <= layer <= layers:
            raise Refused(NO_LAYER, name=name, layers=layers, layer=layer)
        self.layer = layer if layer >= 0 else layers + 1 + layer
        self._special = _special(self.loaded)
        self._longest = longest_input(self.loaded.tokenizer, self.loaded.model.config)

    def signature(self, method: str) -> str:
        """Return the signature of a measure on sentence vectors ("seat") or on input embeddings ("weat")."""
        joint = "embeddings" if method == "weat" else f"layer{self.layer},{self.pooling}"
        return _signature(self.loaded, method, joint)

    def sentences(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each text, without texts that are empty in the model or too long for it."""
        distinct = list(dict.fromkeys(texts))
        rows = [list(self.loaded.tokenizer(text)["input_ids"]) for text in distinct]
        fits = [i for i, row in enumerate(rows) if len(row) <= self._longest and set(row) - self._special]
        result: dict[str, Vector] = {}
        for batch in padded_batches([len(rows[i]) for i in fits], BUDGET):
            chosen = [fits[i] for i in batch]
            for i, vector in zip(chosen, self._states([rows[i] for i in chosen]), strict=True):
                result[distinct[i]] = vector
        return result

    def words(self, words: Sequence[str]) -> dict[str, Vector]:
        """Return the mean input embedding of each known word's tokens, written as inside a text."""
        table = self.loaded.model.get_input_embeddings().weight.detach().float().cpu().numpy()
        unknown, result = self.loaded.tokenizer.unk_token_id, {}
        for word in dict.fromkeys(words):
            # A word that follows a space, as nearly all words of a text do.
            ids = self.loaded.tokenizer(f" {word}", add_special_tokens=False)["input_ids"]
            ids = [i for i in ids if i not in self._special]
            if ids and unknown not in ids:
                result[word] = table[ids].mean(0).astype(float)
        return result

    @torch.inference_mode()
    def _states(self, rows: Sequence[list[int]]) -> list[Vector]:
        model, padding = self.loaded.model, self.loaded.tokenizer.pad_token_id or 0
        given: Any = padded(rows, padding, model.device)
        seen = padded([[1] * len(row) for row in rows], 0, model.device)
        out = model(input_ids=given, attention_mask=seen, output_hidden_states=True)
        states = out.hidden_states[self.layer].float().cpu().numpy().astype(float)
        return [self._pooled(state, row) for state, row in zip(states, rows, strict=True)]

    def _pooled(self, state: Vector, row: Sequence[int]) -> Vector:
        if self.pooling == "first":
            return np.asarray(state[0])
        text = [i for i, token in enumerate(row) if token not in self._special]
        return np.asarray(state[text[-1]] if self.pooling == "last" else state[text].mean(0))


PAIRS_AT_ONCE = 16  # pairs


@dataclass(frozen=True, slots=True)
class SentenceTokens:
    """Natural-log probabilities of one sentence of a pair: of each shared token and of each changed one (that token
    masked), and of every token with nothing masked."""

    shared: tuple[float, ...]
    changed: tuple[float, ...]
    unmasked: tuple[float, ...]


def shared_places(first: Sequence[int], second: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the places of the tokens that both rows share, in the same order, shared frame tokens included."""
    matcher = SequenceMatcher(None, [str(i) for i in first], [str(i) for i in second])
    ones: list[int] = []
    others: list[int] = []
    for kind, start, end, begin, stop in matcher.get_opcodes():
        if kind == "equal":
            ones += range(start, end)
            others += range(begin, stop)
    return ones, others


class SentencePairReader:
    """Asks one masked model about pairs of sentences. `signature` says how."""

    def __init__(self, name: str, *, device: str = "auto", untrained: bool = False) -> None:
        """Load a model; *untrained*: see `load_masked`. Raises ModelUnavailable if it is missing or fills no mask."""
        self.loaded: LoadedModel = load_masked(name, device=device, untrained=untrained)
        self._scorer = MaskedScorer(self.loaded)
        self._special = _special(self.loaded)

    def signature(self, method: str) -> str:
        """Return the signature of a measure: method, model, weights, precision, version."""
        return _signature(self.loaded, method, "sum")

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[SentenceTokens, SentenceTokens] | None]:
        """Return both sentences of each pair; None where one is too long for the model."""
        result: list[tuple[SentenceTokens, SentenceTokens] | None] = []
        for start in range(0, len(pairs), PAIRS_AT_ONCE):
            result += self._read(pairs[start : start + PAIRS_AT_ONCE])
        return result

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
                questions += [self._scorer.question_at(ids, i) for part in places for i in part]
        answers = iter(self._scorer._answer(questions))
        plain = iter(self._unmasked([(ids, text) for ids, text, _ in plans]))
        read = []
        for _ids, _text, (same_count, other_count) in plans:
            known_same = tuple(next(answers)[0][0] for _ in range(same_count))
            known_other = tuple(next(answers)[0][0] for _ in range(other_count))
            read.append(SentenceTokens(known_same, known_other, next(plain)))
        sentences = iter(read)
        return [(next(sentences), next(sentences)) if known else None for known in fits]

    @torch.inference_mode()
    def _unmasked(self, rows: Sequence[tuple[list[int], list[int]]]) -> list[tuple[float, ...]]:
        result = []
        for ids, places in rows:
            given: Any = torch.tensor([ids], device=self.loaded.model.device)
            logprobs = self.loaded.model(input_ids=given).logits[0].float().log_softmax(-1)
            result.append(tuple(float(logprobs[i, ids[i]]) for i in places))
        return result


BLANK = "BLANK"
BLANKS_AT_ONCE = 64  # sentences
BLANKS_BUDGET = 512  # padded tokens a batch, whose logits are all kept
NO_BEGINNING = N_("{name} has no beginning-of-text token, so the first word has no probability.")


@dataclass(frozen=True, slots=True)
class Filled:
    """A context with BLANK, the word in the blank, and the whole sentence."""

    context: str
    word: str
    sentence: str


class BlankReader:
    """Asks one model, masked or causal, about filled blanks. `signature` says how."""

    def __init__(self, name: str, *, device: str = "auto", untrained: bool = False) -> None:
        """Load a model. Raises ModelUnavailable."""
        self.task = task_of(name)
        self.loaded = load_model(name, self.task, device=device, untrained=untrained)
        tokenizer = self.loaded.tokenizer
        self._longest = longest_input(tokenizer, self.loaded.model.config)
        self._first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        self._beginning: Any = None
        if self.task == "causal" and self._first is None:
            raise ModelUnavailable(NO_BEGINNING, name=name)

    @property
    def signature(self) -> str:
        """The signature of the measure."""
        return _signature(self.loaded, "stereoset", "sentence-mean" if self.task == "causal" else "blank-mean")

    def read(self, asked: Sequence[Filled]) -> list[float | None]:
        """Return the score of each, 0 to 1; None where the model cannot read the sentence or the word."""
        result: list[float | None] = []
        for start in range(0, len(asked), BLANKS_AT_ONCE):
            part = asked[start : start + BLANKS_AT_ONCE]
            result += self._causal(part) if self.task == "causal" else self._masked(part)
        return result

    def _masked(self, asked: Sequence[Filled]) -> list[float | None]:
        questions = [self._questions(filled) for filled in asked]
        scorer = MaskedScorer(self.loaded)
        answers = iter(scorer._answer([question for some in questions for question in some]))
        return [
            sum(math.exp(next(answers)[0][0]) for _ in some) / len(some) if some else None for some in questions
        ]  # fmt: skip

    def _questions(self, one: Filled) -> list[Question]:
        """Return one question per token of the word; none where the sentence is too long or contains another mask."""
        tokenizer, questions = self.loaded.tokenizer, []
        # The word behind a space where its place in the context is, for tokenizers that mark it.
        written = f" {one.word}" if f" {BLANK}" in one.context else one.word
        word = list(tokenizer(written, add_special_tokens=False)["input_ids"])
        for number, token in enumerate(word):
            before = tokenizer.decode(word[:number]) if number else ""
            text = one.context.replace(BLANK, f"{before}{tokenizer.mask_token}")
            ids = tuple(tokenizer(text)["input_ids"])
            if ids.count(tokenizer.mask_token_id) != 1 or len(ids) > self._longest:
                return []
            questions.append(Question(ids, (ids.index(tokenizer.mask_token_id),), ((token,),)))
        return questions

    def _causal(self, asked: Sequence[Filled]) -> list[float | None]:
        rows = [list(self.loaded.tokenizer(filled.sentence, add_special_tokens=False)["input_ids"]) for filled in asked]
        result: list[float | None] = [None] * len(rows)
        fits = [i for i, ids in enumerate(rows) if 0 < len(ids) <= self._longest]
        for batch in padded_batches([len(rows[i]) for i in fits], BLANKS_BUDGET):
            chosen = [fits[i] for i in batch]
            for i, mean in zip(chosen, self._means([rows[i] for i in chosen]), strict=True):
                result[i] = math.exp(mean)
        return result

    @torch.inference_mode()
    def _means(self, rows: Sequence[list[int]]) -> list[float]:
        """Return the mean ln p of each row; the first token follows only the beginning-of-text token, as published."""
        # Later tokens cannot change an earlier one, so padding on the right needs no mask.
        logs = self._logs(rows)
        if self._beginning is None:
            self._beginning = self._logs([[self._first]])[0, 0]
        means = []
        for ids, row in zip(rows, logs, strict=True):
            rest = row[torch.arange(len(ids) - 1), torch.tensor(ids[1:], dtype=torch.long, device=row.device)]
            means.append((float(self._beginning[ids[0]]) + float(rest.sum())) / len(ids))
        return means

    def _logs(self, rows: Sequence[list[int]]) -> Any:
        given: Any = padded(rows, 0, self.loaded.model.device)
        return self.loaded.model(input_ids=given).logits.float().log_softmax(-1)
