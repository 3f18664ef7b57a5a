"""What the page Try asks the models: through the worker, remembered per text, model, words and method."""

from dataclasses import dataclass

import streamlit as st

from evenhand.core import sentence_bias
from evenhand.core.errors import EvenhandError, WorkerDied
from evenhand.core.models import Joint
from evenhand.core.sentence_bias.keyword_packs import PackWord
from evenhand.core.worker import client


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every model: the sentence, the two words where they were typed, and how tokens are joined.

    `language`: that of the sentence, None where it is to be recognised; `own`: the visitor's own keywords.
    """

    text: str
    options: tuple[str, str] | None
    joint: Joint
    language: str | None = None
    own: tuple[PackWord, ...] = ()

    def signed(self) -> str:
        """One string that tells this question from every other, for keys of widgets."""
        return f"{self.text}\0{self.options}\0{self.joint}\0{self.language}\0{hash(self.own)}"

    def slot(self, text: str | None = None) -> sentence_bias.Slot:
        """The slot of the sentence, or of another *text* that is asked in the same way. Raises Refused."""
        return sentence_bias.find_slot(text or self.text, self.options, language=self.language, own=self.own)


@dataclass(frozen=True, slots=True)
class Answer:
    """One model's answer: a reading, or the error why there is none."""

    model: str
    reading: sentence_bias.Reading | None
    error: EvenhandError | None = None

    @property
    def died(self) -> bool:
        """Whether the inference process ended; asking again starts it anew."""
        return isinstance(self.error, WorkerDied)


def scorer(model: str, joint: Joint) -> client.RemoteScorer:
    """The model in the inference process that all visitors share."""
    return client.RemoteScorer(client.shared(), model, joint=joint)


@st.cache_data(max_entries=200, ttl=3600, show_spinner=False)
def prior_of(model: str, entry: PackWord | None, joint: Joint) -> sentence_bias.Prior:
    """The lean of a word pair itself in one model."""
    return sentence_bias.prior(entry, scorer(model, joint))


@st.cache_data(max_entries=500, ttl=3600, show_spinner=False)
def reading_of(model: str, question: Question) -> sentence_bias.Reading:
    """One model's reading of one sentence."""
    lean = prior_of(model, question.slot().entry, question.joint)
    return sentence_bias.read(
        question.text, scorer(model, question.joint), options=question.options, known_prior=lean,
        language=question.language, own=question.own,
    )  # fmt: skip


@st.cache_data(max_entries=500, ttl=3600, show_spinner=False)
def pushes_of(model: str, question: Question, unit: sentence_bias.Unit) -> list[sentence_bias.Push]:
    """Which words of one sentence push which way in one model."""
    return sentence_bias.pushes(question.slot(), scorer(model, question.joint), unit=unit)


@st.cache_data(max_entries=100, ttl=3600, show_spinner=False)
def compared(model: str, template: str, words: tuple[str, ...], question: Question) -> list[sentence_bias.WordReading]:
    """Each of *words* in the place of *template*, by one model; of the *question* everything but its sentence."""
    return sentence_bias.compare_words(
        template,
        words,
        {model: scorer(model, question.joint)},
        options=question.options,
        language=question.language,
        own=question.own,
    )


def answers(models: list[str], question: Question) -> list[Answer]:
    """Every model's answer, in order; a model that cannot answer says why and does not stop the others."""
    found = []
    for model in models:
        try:
            found.append(Answer(model, reading_of(model, question)))
        except EvenhandError as error:
            found.append(Answer(model, None, error))
    return found
