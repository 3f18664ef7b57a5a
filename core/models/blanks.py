"""Scores of the words that fill a blank, as the published code of StereoSet computes them (Nadeem et al. 2021).

Masked models: the tokens of the word stand in the blank one after the other, each asked at a mask behind those before
it, with the rest of the context given; the score is the mean of their probabilities. Causal models: exp of the mean
ln p over all tokens of the whole sentence; the first has only a token that begins a text before it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from evenhand.core.errors import N_, ModelUnavailable
from evenhand.core.models.forward import padded_batches
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.loading import load_causal, load_masked, task_of
from evenhand.core.models.masked import MaskedScorer, Question
from evenhand.core.models.probe_tokens import longest_input
from evenhand.core.types import Signature

BLANK = "BLANK"
AT_ONCE = 64  # sentences
BUDGET = 512  # padded tokens a batch, whose logits are all kept
NO_BEGINNING = N_("{name} has no token that begins a text, so the first word has no probability.")


@dataclass(frozen=True, slots=True)
class Filled:
    """A context with BLANK, the word that stands there, and the whole sentence."""

    context: str
    word: str
    sentence: str


class BlankReader:
    """Asks one model, masked or causal, about filled blanks. `signature` says how."""

    def __init__(self, name: str, *, device: str = "auto", untrained: bool = False) -> None:
        """Raises ModelUnavailable."""
        self.task = task_of(name)
        load = load_causal if self.task == "causal" else load_masked
        self.loaded: LoadedModel = load(name, device=device, untrained=untrained)
        tokenizer = self.loaded.tokenizer
        self._longest = longest_input(tokenizer, self.loaded.model.config)
        self._first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        self._beginning: Any = None
        if self.task == "causal" and self._first is None:
            raise ModelUnavailable(NO_BEGINNING, name=name)

    @property
    def signature(self) -> str:
        """The signature of the measure."""
        joint = "sentence-mean" if self.task == "causal" else "blank-mean"
        loaded = self.loaded
        return str(Signature("stereoset", loaded.name, loaded.weights, joint, loaded.precision, 1))

    def read(self, asked: Sequence[Filled]) -> list[float | None]:
        """The score of each, 0 to 1; None where the model cannot read the sentence or the word."""
        found: list[float | None] = []
        for start in range(0, len(asked), AT_ONCE):
            part = asked[start : start + AT_ONCE]
            found += self._causal(part) if self.task == "causal" else self._masked(part)
        return found

    def _masked(self, asked: Sequence[Filled]) -> list[float | None]:
        questions = [self._questions(one) for one in asked]
        scorer = MaskedScorer(self.loaded)
        answers = iter(scorer._answer([question for some in questions for question in some]))
        return [
            sum(math.exp(next(answers)[0][0]) for _ in some) / len(some) if some else None for some in questions
        ]  # fmt: skip

    def _questions(self, one: Filled) -> list[Question]:
        """One question a token of the word; none where the sentence is too long or shows another mask."""
        tokenizer, found = self.loaded.tokenizer, []
        word = self._in_context(one)
        for number, token in enumerate(word):
            before = tokenizer.decode(word[:number]) if number else ""
            text = one.context.replace(BLANK, f"{before}{tokenizer.mask_token}")
            ids = tuple(tokenizer(text)["input_ids"])
            if ids.count(tokenizer.mask_token_id) != 1 or len(ids) > self._longest:
                return []
            found.append(Question(ids, (ids.index(tokenizer.mask_token_id),), ((token,),)))
        return found

    def _in_context(self, one: Filled) -> list[int]:
        """The tokens of the word; behind a space where its place in the context is, for tokenizers that mark it."""
        bare = self.loaded.tokenizer(one.word, add_special_tokens=False)["input_ids"]
        if f" {BLANK}" not in one.context:
            return list(bare)
        return list(self.loaded.tokenizer(f" {one.word}", add_special_tokens=False)["input_ids"])

    def _causal(self, asked: Sequence[Filled]) -> list[float | None]:
        rows = [list(self.loaded.tokenizer(one.sentence, add_special_tokens=False)["input_ids"]) for one in asked]
        found: list[float | None] = [None] * len(rows)
        fits = [i for i, ids in enumerate(rows) if 0 < len(ids) <= self._longest]
        for batch in padded_batches([len(rows[i]) for i in fits], BUDGET):
            chosen = [fits[i] for i in batch]
            for i, mean in zip(chosen, self._means([rows[i] for i in chosen]), strict=True):
                found[i] = math.exp(mean)
        return found

    @torch.inference_mode()
    def _means(self, rows: Sequence[list[int]]) -> list[float]:
        """Mean ln p of each: the first token behind the one that begins a text, the others without it, as published."""
        longest = max(map(len, rows))
        # What stands after a token cannot change it, so padding on the right needs no mask.
        logs = self._logs([[*ids, *[0] * (longest - len(ids))] for ids in rows])
        if self._beginning is None:
            self._beginning = self._logs([[self._first]])[0, 0]
        found = []
        for ids, row in zip(rows, logs, strict=True):
            rest = row[torch.arange(len(ids) - 1), torch.tensor(ids[1:], dtype=torch.long, device=row.device)]
            found.append((float(self._beginning[ids[0]]) + float(rest.sum())) / len(ids))
        return found

    def _logs(self, rows: list[list[int]]) -> Any:
        given: Any = torch.tensor(rows, device=self.loaded.model.device)
        return self.loaded.model(input_ids=given).logits.float().log_softmax(-1)
