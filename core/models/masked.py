"""Log-probabilities of the options of a probe under a masked language model."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from core.errors import N_, Refused
from core.models import Joint
from core.models.loading import LoadedModel
from core.models.tokens import Prepared, TokenReader, longest_input
from core.types import Filler, MaskedSentence, Score, signature

VERSION = 1  # of this method; raise it when an answer changes
METHOD = "masked"
JOINTS: tuple[Joint, ...] = ("independent", "sequential", "geometric_mean")

# Padding waste against size of the matrices: measured best for thousands of
# sentences and for a handful (a large budget would pad a handful by a third).
BUDGET, BUDGET_SMALL, SMALL = 2048, 512, 128

NOT_A_NUMBER = N_("The model's answer is not a number.")


@dataclass(frozen=True, slots=True)
class Question:
    """Token ids with masks, the places that are asked about, and the token ids wanted at each place."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    wanted: tuple[tuple[int, ...], ...]


class MaskedScorer:
    """Scores probes with one loaded model; obeys `core.types.Scorer`. Not for several threads at once.

    Words of several tokens (SPEC 1.6, eq. 1 of the SlguSet paper leaves it open):
    "independent" sums the log-probabilities of one pass with all masks;
    "sequential" fills the word in from left to right; "geometric_mean" divides
    the independent sum by the number of tokens.
    """

    def __init__(self, loaded: LoadedModel, *, joint: Joint = "independent") -> None:
        if joint not in JOINTS:
            message = N_("{joint} is no way to join the tokens of a word; there are: {known}")
            raise Refused(message, joint=joint, known=", ".join(JOINTS))
        self.loaded = loaded
        self.joint: Joint = joint
        self.reader = TokenReader(loaded.tokenizer, longest_input(loaded.tokenizer, loaded.model.config))

    @property
    def signature(self) -> str:
        """`masked|model|weights:<8 digits>|joint|precision|v1`."""
        loaded = self.loaded
        return signature(METHOD, loaded.name, loaded.weights, self.joint, loaded.precision, VERSION)

    @property
    def cache_key(self) -> str:
        """The signature with the full SHA-256 of the weights."""
        loaded = self.loaded
        return f"{METHOD}|{loaded.name}|weights:{loaded.weights}|{self.joint}|{loaded.precision}|v{VERSION}"

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """One score per probe, in order: natural logs, None with a reason where undefined."""
        prepared = [self.reader.read(probe) for probe in probes]
        questions = [_questions(one, self.joint) for one in prepared]
        answers = iter(self._answer([question for group in questions for question in group]))
        scores = []
        for one, group in zip(prepared, questions, strict=True):
            logprobs = _fold(one, self.joint, [next(answers) for _ in group])
            broken = any(p is not None and not math.isfinite(p) for p in logprobs)
            scores.append(
                Score((None,) * len(logprobs), self.signature, NOT_A_NUMBER)
                if broken
                else Score(logprobs, self.signature, one.reason)
            )
        return scores

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Per mask token of the slot: the *top* likeliest tokens, then each of *words*; empty where undefined.

        All masks are open at once, whatever the joint. Special tokens are not
        listed, but their probability counts, so the list need not reach 1.
        """
        prepared = self.reader.read(probe)
        if not prepared.slots:
            return []
        logprobs = self._log_softmax([prepared.ids], [prepared.slots])
        spaced = self.reader.spaced(probe)
        asked = [(word, self.reader.token_of(word, spaced)) for word in words]
        return [self._likeliest(row, top) + _named(row, asked) for row in logprobs]

    def _likeliest(self, row: Tensor, top: int) -> list[Filler]:
        count = min(len(row), top + len(self.reader.special_ids))
        best = torch.topk(row, count).indices.tolist()
        ids = [i for i in best if i not in self.reader.special_ids][:top]
        return [Filler(self.reader.word(i), math.exp(float(row[i]))) for i in ids]

    def _answer(self, questions: Sequence[Question]) -> list[list[list[float]]]:
        """Per question and place, the log-probabilities of the wanted tokens; in the order of the questions."""
        answers: list[list[list[float]]] = [[] for _ in questions]
        budget = BUDGET if len(questions) > SMALL else BUDGET_SMALL
        for batch in _batches([len(question.ids) for question in questions], budget):
            group = [questions[i] for i in batch]
            logprobs = self._log_softmax([q.ids for q in group], [q.places for q in group])
            rows = iter(logprobs)
            for i in batch:
                answers[i] = [next(rows)[list(wanted)].tolist() for wanted in questions[i].wanted]
        return answers

    @torch.inference_mode()
    def _log_softmax(self, rows: Sequence[Sequence[int]], places: Sequence[Sequence[int]]) -> Tensor:
        """Natural-log distributions over the vocabulary at the places of each row, one after the other, in fp32."""
        longest = max(map(len, rows))
        padding = self.reader.padding_id
        ids = torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows])
        attention = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        row_of = torch.tensor([i for i, there in enumerate(places) for _ in there])
        place_of = torch.tensor([place for there in places for place in there])
        uneven = any(len(row) < longest for row in rows)
        logits = self._logits(ids, attention if uneven else None, row_of, place_of)
        return torch.log_softmax(logits.float(), dim=-1)

    def _logits(self, ids: Tensor, attention: Tensor | None, row_of: Tensor, place_of: Tensor) -> Tensor:
        """Run the encoder on everything and the head at the asked places only.

        The head works on each place by itself, so the encoder's output can be
        reduced to those places on its way to the head, for any architecture.
        """
        model = self.loaded.model

        def keep_places(_module: Any, _inputs: Any, output: Any) -> Any:
            output["last_hidden_state"] = output["last_hidden_state"][row_of, place_of].unsqueeze(0)
            return output

        hook = model.base_model.register_forward_hook(keep_places)
        try:
            logits: Tensor = model(input_ids=ids, attention_mask=attention).logits[0]
        finally:
            hook.remove()
        return logits


def _named(row: Tensor, asked: Sequence[tuple[str, int | None]]) -> list[Filler]:
    return [Filler(word, None if i is None else math.exp(float(row[i]))) for word, i in asked]


def _batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Indices of like lengths together, at most *budget* padded tokens a batch (one longer row is its own batch)."""
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[i] > budget:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _questions(prepared: Prepared, joint: Joint) -> list[Question]:
    """What the model must be asked for one probe; nothing where no option is defined."""
    options = [option for option in prepared.options if option]
    if not prepared.slots or not options:
        return []
    ids, slots = prepared.ids, prepared.slots
    if joint != "sequential":
        return [Question(ids, slots, tuple(tuple(option[k] for option in options) for k in range(len(slots))))]
    questions = [Question(ids, slots[:1], (tuple(option[0] for option in options),))]
    for option in options:
        filled = list(ids)
        for k in range(1, len(slots)):
            filled[slots[k - 1]] = option[k - 1]
            questions.append(Question(tuple(filled), (slots[k],), ((option[k],),)))
    return questions


def _fold(prepared: Prepared, joint: Joint, answers: Sequence[Sequence[Sequence[float]]]) -> tuple[float | None, ...]:
    """Log-probability per option from the answers to `_questions`."""
    if not answers:
        return (None,) * len(prepared.options)
    width = len(prepared.slots)
    defined = sum(option is not None for option in prepared.options)
    if joint == "sequential":
        later = iter(answers[1:])
        sums = [answers[0][0][j] + math.fsum(next(later)[0][0] for _ in range(1, width)) for j in range(defined)]
    else:
        sums = [math.fsum(place[j] for place in answers[0]) for j in range(defined)]
    if joint == "geometric_mean":
        sums = [total / width for total in sums]
    found = iter(sums)
    return tuple(next(found) if option is not None else None for option in prepared.options)
