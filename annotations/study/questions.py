"""The test of a study: items with a known answer, two tries."""

import hashlib
from collections.abc import Mapping

from evenhand.annotations.database.store import Store
from evenhand.annotations.study.studies import Question, Study, questions

TRIES = 2


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
