"""Log-probabilities of a word in a sentence, other words of it given or hidden: what associations are made of.

Source: Kurita et al. 2019 (target and prior), Bartl et al. 2020. Every option of a probe is asked at as many masks as
it has pieces, all open at once, and the log-probabilities are summed ("all"); or at one mask for its first piece
alone, as the code of Bartl et al. does ("first_piece"). A hidden part has one mask ("word": the caller hides word by
word) or one per piece ("piece").
"""

import math
from collections.abc import Sequence

from evenhand.core.association.sets import Attribute, Target
from evenhand.core.models import Precision
from evenhand.core.models.fetching import locate
from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.loading import load_masked
from evenhand.core.models.masked import MaskedScorer, Question
from evenhand.core.models.probe_tokens import TokenReader, longest_input
from evenhand.core.models.signature import NOT_A_NUMBER
from evenhand.core.types import MaskedSentence, Score


class TargetScorer(MaskedScorer):
    """Scores probes of one option each; obeys `core.types.Scorer`. Not for several threads at once.

    A probability of 0 is -inf here, not undefined. `passes` counts the distinct masked sentences that the model read:
    within one call of `score` the same one is read once, whatever words are asked for in it.
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
        """How many pieces the word in the slot has in this model, whether all are asked or only the first."""
        return self.reader.pieces(probe.text, (probe.start, probe.end))

    def masks(self, probe: MaskedSentence) -> int | None:
        """How many masks stand in the sentence as the model reads it; None where it cannot be read."""
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
    name: str,
    *,
    target: Target = "all",
    attribute: Attribute = "word",
    precision: Precision = "fp32",
    threads: int | None = None,
    device: str = "auto",
) -> TargetScorer:
    """Load a masked model into this process; see `core.models.open_scorer`. Raises ModelUnavailable."""
    locate(name)
    import torch

    if threads is not None:
        torch.set_num_threads(threads)
    return TargetScorer(load_masked(name, precision=precision, device=device), target=target, attribute=attribute)
