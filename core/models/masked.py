"""Log-probabilities of the options of a probe under a masked language model.

`TargetScorer`: of a word in a sentence, other words of it given or hidden: what associations are made of. Source:
Kurita et al. 2019 (target and prior), Bartl et al. 2020. Every option of a probe is asked at as many masks as it has
pieces, all open at once, and the log-probabilities are summed ("all"); or at one mask for its first piece alone, as the
code of Bartl et al. does ("first_piece"). A hidden part has one mask ("word": the caller hides word by word) or one per
piece ("piece").
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from evenhand.core.association.sets import Attribute, Target
from evenhand.core.errors import N_, Refused
from evenhand.core.models import Joint, Precision
from evenhand.core.models.loaded import NOT_A_NUMBER, LoadedModel, Signed, use_threads
from evenhand.core.models.loading import load_masked
from evenhand.core.models.probe_tokens import Prepared, TokenReader, longest_input
from evenhand.core.types import Filler, MaskedSentence, Score

JOINTS: tuple[Joint, ...] = ("independent", "sequential", "geometric_mean")


@dataclass(frozen=True, slots=True)
class Question:
    """Token ids with masks, the places that are asked about, and the token ids wanted at each place."""

    ids: tuple[int, ...]
    places: tuple[int, ...]
    wanted: tuple[tuple[int, ...], ...]


Asked = tuple[tuple[int, ...], tuple[int, ...]]  # ids and places


class MaskedScorer(Signed):
    """Scores probes with one loaded model; obeys `core.types.Scorer`. Not for several threads at once.

    Words of several tokens (docs/methods.md#bias-of-a-sentence, eq. 1 of the SlguSet paper leaves it open):
    "independent" sums the log-probabilities of one pass with all masks;
    "sequential" fills the word in from left to right; "geometric_mean" divides
    the independent sum by the number of tokens.
    """

    method, version = "masked", 1

    def __init__(self, loaded: LoadedModel, *, joint: Joint = "independent") -> None:
        if joint not in JOINTS:
            message = N_("{joint} is not a method of combining the tokens of a word; choose one of {known}.")
            raise Refused(message, joint=joint, known=", ".join(JOINTS))
        self.loaded = loaded
        self.joint: Joint = joint
        self.joining: str = joint
        self.reader = TokenReader(loaded.tokenizer, longest_input(loaded.tokenizer, loaded.model.config))
        if self.reader.in_place:
            self.version = 2  # version 1 encoded an option alone: a mask too many for the mark before it

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Return one score per probe, in order: natural logs, None with a reason where undefined."""
        prepared = self.reader.read_all(probes)
        questions = [_questions(one, self.joint) for one in prepared]
        answers = iter(self._answer([question for group in questions for question in group]))
        scores = []
        for one, group in zip(prepared, questions, strict=True):
            logprobs = _fold(one, self.joint, [next(answers) for _ in group])
            scores.append(self._signed(logprobs, one.reason))
        return scores

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Return, per mask token of the slot, the *top* most likely tokens, then all *words*; empty where undefined.

        All masks are open at once, for every joint. Special tokens are not
        listed, but their probability counts, so the sum of a list may be below 1.
        """
        prepared = self.reader.read(probe)
        if not prepared.slots:
            return []
        logprobs = torch.log_softmax(self.loaded.forward([prepared.ids], [prepared.slots]).float(), dim=-1)
        asked = [(word, self.reader.token_in(probe, word)) for word in words]
        return [self._likeliest(row, top) + _named(row, asked) for row in logprobs]

    def question_at(self, ids: Sequence[int], place: int) -> Question:
        """Return the question for the token at a place of a text, with all other tokens given."""
        return Question((*ids[:place], self.reader.mask_id, *ids[place + 1 :]), (place,), ((ids[place],),))

    def _likeliest(self, row: Tensor, top: int) -> list[Filler]:
        count = min(len(row), top + len(self.reader.special_ids))
        best = torch.topk(row, count).indices.tolist()
        ids = [i for i in best if i not in self.reader.special_ids][:top]
        return [Filler(self.reader.word(i), math.exp(float(row[i]))) for i in ids]

    def _answer(self, questions: Sequence[Question]) -> list[list[list[float]]]:
        """Return the log-probabilities of the wanted tokens, per question and place; in the order of the questions.

        The model is asked once about the same ids and places, for all tokens that are wanted there: a sentence with
        the male word and its twin with the female word are the same masked sentence.
        """
        known: dict[Asked, list[dict[int, float]]] = {}
        for question in questions:
            tables = known.setdefault((question.ids, question.places), [{} for _ in question.places])
            for table, wanted in zip(tables, question.wanted, strict=True):
                table.update(dict.fromkeys(wanted, math.nan))
        asked, forward = list(known), self.loaded.forward
        for batch in forward.batches([len(ids) for ids, _ in asked], [len(places) for _, places in asked]):
            group = [asked[i] for i in batch]
            tables = [table for row in group for table in known[row]]
            self._fill(tables, forward([ids for ids, _ in group], [places for _, places in group]))
        return [
            [
                [table[i] for i in wanted]
                for table, wanted in zip(known[question.ids, question.places], question.wanted, strict=True)
            ]
            for question in questions
        ]

    def _fill(self, tables: Sequence[dict[int, float]], logits: Tensor) -> None:
        """Put the natural-log probabilities into the *tables*, one per row of *logits*, keyed by token id."""
        widest = max(map(len, tables))
        wanted = torch.tensor([[*table, *[0] * (widest - len(table))] for table in tables], device=logits.device)
        found = torch.log_softmax(logits.float(), dim=-1).gather(1, wanted)
        for table, row in zip(tables, found.tolist(), strict=True):
            table.update(zip(table, row, strict=False))


def _named(row: Tensor, asked: Sequence[tuple[str, int | None]]) -> list[Filler]:
    return [Filler(word, None if i is None else math.exp(float(row[i]))) for word, i in asked]


def _questions(prepared: Prepared, joint: Joint) -> list[Question]:
    """Return the questions to the model for one probe; none where no option is defined."""
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
    """Return the log-probability of each option from the answers to `_questions`; None for undefined options."""
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
    result = iter(sums)
    return tuple(next(result) if option is not None else None for option in prepared.options)


class TargetScorer(MaskedScorer):
    """Scores probes of one option each; obeys `core.types.Scorer`. Not for several threads at once.

    A probability of 0 is -inf here, not undefined. `passes` counts the distinct masked sentences that the model read:
    within one call of `score` each of these is read once, for all requested words.
    """

    method, version = "target", 1

    def __init__(self, loaded: LoadedModel, *, target: Target = "all", attribute: Attribute = "word") -> None:
        super().__init__(loaded)
        self.joining = f"{target},{attribute}"
        self.passes = 0
        longest = longest_input(loaded.tokenizer, loaded.model.config)
        first, word = target == "first_piece", attribute == "word"
        self.reader = TokenReader(loaded.tokenizer, longest, one_mask=word, first_piece=first)

    def pieces(self, probe: MaskedSentence) -> int:
        """Return how many pieces the word in the slot has in this model, even if only the first is scored."""
        return self.reader.pieces(probe.text, (probe.start, probe.end))

    def masks(self, probe: MaskedSentence) -> int | None:
        """Return the number of masks in the sentence as the model reads it; None where it cannot be read."""
        prepared = self.reader.read(probe)
        return prepared.ids.count(self.reader.mask_id) if prepared.slots else None

    def _answer(self, questions: Sequence[Question]) -> list[list[list[float]]]:
        self.passes += len({(question.ids, question.places) for question in questions})
        return super()._answer(questions)

    def _signed(self, logprobs: Sequence[float | None], reason: str | None) -> Score:
        if any(p is not None and (math.isnan(p) or p == math.inf) for p in logprobs):
            return Score((None,) * len(logprobs), self.signature, NOT_A_NUMBER)
        return Score(tuple(logprobs), self.signature, reason)


def open_targets(
    name: str, *, target: Target = "all", attribute: Attribute = "word", precision: Precision = "fp32",
    threads: int | None = None, device: str = "auto",
) -> TargetScorer:  # fmt: skip
    """Load a masked model into this process; see `core.models.open_scorer`. Raises ModelUnavailable."""
    use_threads(threads)
    return TargetScorer(load_masked(name, precision=precision, device=device), target=target, attribute=attribute)
