"""Scores with known leaks, and a project that audits them."""

import math

import pandas as pd

from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.queue.leases import claim
from evenhand.core.model_bias import read_scores
from tests.support.projects import decide

WORDS = {
    "他": ("他/她", "male"),
    "她": ("他/她", "female"),
    "爸爸": ("爸爸/妈妈", "male"),
    "妈妈": ("爸爸/妈妈", "female"),
}


def scores(values: dict[str, list[float]], model: str = "m", first: int = 1) -> pd.DataFrame:
    """Return a row per value: keyword -> values; every sentence is its own."""
    rows = []
    for word, numbers in values.items():
        for value in numbers:
            n = first + len(rows)
            rows.append(
                {
                    "row": n, "sentence": f"第{n}天{word}去看海。", "pair": WORDS[word][0], "keyword": word,
                    "model": model, "p_male": 0.1, "p_female": 0.1, "pair_mass": 0.2, "bias_log10": value,
                    "bias_ln": value * math.log(10), "status": "ok", "signature": f"masked|{model}|weights:0|v1",
                    "start": len(f"第{n}天"), "end": len(f"第{n}天{word}"),
                }
            )  # fmt: skip
    return read_scores(pd.DataFrame(rows))


NUMBERS = {
    "他": [2.5, 2.0, 0.4, 0.3, -0.2, 0.1],
    "她": [0.5, 0.1, -0.1, -2.0, -2.5, -0.3],
    "爸爸": [2.8, 0.1, 0.2, 0.3],
    "妈妈": [-0.1, -3.0, 0.15, 0.05],
}


PEOPLE = ("Ada", "Bo", "Chen")


def judge(store, made, leaks, *, people=PEOPLE, reason="gender_term") -> None:
    """Let all label what the queue hands out: `leaks(text, person)` decides whether it leaks."""
    for person in annotators(store, made):
        if person.name not in people:
            continue
        while claimed := claim(store, made, person):
            operations = [
                decide(item, "reject", desk=person.name, reasons=(reason,))
                if leaks(item.text, person.name)
                else decide(item, desk=person.name)
                for item in claimed
            ]
            assert all(answer.stored for answer in store_operations(store, made, person, operations))
