"""What the page Try asks the models: through the worker, remembered per text, model, words and method."""

from dataclasses import dataclass

import streamlit as st

from core import sentence_bias
from core.errors import EvenhandError, WorkerDied
from core.models import Joint
from core.resources import keyword_pairs
from core.worker import client


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of every model: the sentence, the two words where they were typed, and how tokens are joined."""

    text: str
    options: tuple[str, str] | None
    joint: Joint

    def signed(self) -> str:
        """One string that tells this question from every other, for keys of widgets."""
        return f"{self.text}\0{self.options}\0{self.joint}"


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
def prior_of(model: str, pair: str, joint: Joint) -> sentence_bias.Prior:
    """The lean of a word pair itself in one model."""
    known = {one.name: one for one in keyword_pairs()}
    return sentence_bias.prior(known.get(pair), scorer(model, joint))


@st.cache_data(max_entries=500, ttl=3600, show_spinner=False)
def reading_of(model: str, text: str, options: tuple[str, str] | None, joint: Joint) -> sentence_bias.Reading:
    """One model's reading of one sentence."""
    pair = sentence_bias.find_slot(text, options).pair
    lean = prior_of(model, pair.name if pair else "", joint)
    return sentence_bias.read(text, scorer(model, joint), options=options, known_prior=lean)


@st.cache_data(max_entries=500, ttl=3600, show_spinner=False)
def pushes_of(
    model: str, text: str, options: tuple[str, str] | None, joint: Joint, unit: sentence_bias.Unit
) -> list[sentence_bias.Push]:
    """Which words of one sentence push which way in one model."""
    return sentence_bias.pushes(sentence_bias.find_slot(text, options), scorer(model, joint), unit=unit)


@st.cache_data(max_entries=100, ttl=3600, show_spinner=False)
def compared(
    model: str, template: str, words: tuple[str, ...], options: tuple[str, str] | None, joint: Joint
) -> list[sentence_bias.WordReading]:
    """Each of *words* in the place of *template*, by one model."""
    return sentence_bias.compare_words(template, words, {model: scorer(model, joint)}, options=options)


def answers(models: list[str], question: Question) -> list[Answer]:
    """Every model's answer, in order; a model that cannot answer says why and does not stop the others."""
    found = []
    for model in models:
        try:
            found.append(Answer(model, reading_of(model, question.text, question.options, question.joint)))
        except EvenhandError as error:
            found.append(Answer(model, None, error))
    return found
