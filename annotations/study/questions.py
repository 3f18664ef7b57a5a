"""The test of a study: items with a known answer, two tries."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.annotations.database.store import Store
from evenhand.annotations.study.studies import Study

TRIES = 2


@dataclass(frozen=True, slots=True)
class Question:
    """One question: a text with its keyword (half-open code points) and the answer, which is never sent."""

    id: int
    text: str
    context: str
    start: int | None
    stop: int | None
    answer: str

    @property
    def parts(self) -> tuple[str, str, str]:
        """The text before the keyword, the keyword, and after it."""
        if self.start is None or self.stop is None:
            return self.text, "", ""
        return self.text[: self.start], self.text[self.start : self.stop], self.text[self.stop :]


def questions(store: Store, study: Study) -> list[Question]:
    """Every question of a study, in the order in which they were chosen."""
    query = "SELECT id, text, context, start, stop, answer FROM study_question WHERE study = ? ORDER BY id"
    return store.rows(Question, query, (study.id,))


def questions_of_try(store: Store, study: Study, person: str, tries: int) -> list[Question]:
    """What a person (public id) is asked after so many tries: the second time others, as far as there are."""

    def place(question: Question) -> bytes:
        return hashlib.sha256(f"{person}|{question.id}".encode()).digest()

    number, order = study.settings.questions, sorted(questions(store, study), key=place)
    first = tries * number
    return [order[(first + at) % len(order)] for at in range(number)] if order else []


def right_answers(questions: list[Question], answers: Mapping[str, str]) -> int:
    """How many answers (by the id of the question) are the known ones."""
    return sum(answers.get(str(one.id)) == one.answer for one in questions)
