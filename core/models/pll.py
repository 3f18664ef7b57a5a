"""Pseudo-log-likelihood: every token of a sentence masked in turn; for comparison with masked scoring.

Source: Salazar et al. 2020, "Masked Language Model Scoring", equation 2:
PLL(W) = sum over t of log P(w_t | W without t). A probe's options are scored as
whole sentences, so Bias_c is PLL(sentence with the male word) - PLL(sentence
with the female word), natural logs, and holds what the word does to the
probability of every other token, not only its own.

For words of several tokens this is the original sum, which Kauf and Ivanova 2023
found to favour words whose tokens predict each other; their within-word
variant is not computed. Special tokens around the sentence are given, not scored.

Cost: one row of the length of the sentence for every token and option. What both sentences ask alike (a word of one
token, masked) is computed once: 2 L - 1 rows for a sentence of L tokens where masked scoring needs one.
"""

from collections.abc import Sequence

from evenhand.core.models.loaded import LoadedModel
from evenhand.core.models.masked import MaskedScorer, Question
from evenhand.core.models.probe_tokens import longest_input
from evenhand.core.models.sentence_tokens import SentenceReader
from evenhand.core.types import MaskedSentence, Score

AT_ONCE = 32  # probes whose questions are in memory together: some thousand rows


class PllScorer(MaskedScorer):
    """Scores probes by pseudo-log-likelihood; obeys `core.types.Scorer`. Not for several threads at once.

    `fillers` is that of masked scoring: the distribution at the slot.
    """

    method, version, joining = "pll", 1, "sum"

    def __init__(self, loaded: LoadedModel) -> None:
        super().__init__(loaded)
        self.joining, self.version = "sum", 1
        self.sentences = SentenceReader(loaded.tokenizer, longest_input(loaded.tokenizer, loaded.model.config))

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """One score per probe, in order: PLL of the whole sentence with each option, natural log."""
        return [score for i in range(0, len(probes), AT_ONCE) for score in self._score(probes[i : i + AT_ONCE])]

    def _score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        read = self.sentences.read_all(probes)
        questions = [
            [self._masked(ids, one.before, len(ids) - one.after) if ids else [] for ids in one.ids] for one in read
        ]
        answers = iter(self._answer([question for probe in questions for group in probe for question in group]))
        scores = []
        for one, groups in zip(read, questions, strict=True):
            sums = [sum(next(answers)[0][0] for _ in group) if group else None for group in groups]
            scores.append(self._signed(sums, one.reason))
        return scores

    def _masked(self, ids: tuple[int, ...], start: int, end: int) -> list[Question]:
        """One question per token of the text: what stands there, where everything else is given?"""
        mask = self.reader.mask_id
        return [Question((*ids[:i], mask, *ids[i + 1 :]), (i,), ((ids[i],),)) for i in range(start, end)]
