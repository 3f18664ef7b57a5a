"""How often the intervals of two runs side by side hold the true change: `python -m benchmarks.coverage_two_runs`.

Professions, person words, occupations, templates and names are drawn with effects of their own on the model before and
on the change, so that rows of a unit go together. The truth is the mean over all units that could have been drawn; each
interval comes from the function that page and command call (`core.before_after.two_runs`, `core.nli.measure.changes`).
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from evenhand.core.before_after.two_runs import MEASURED
from evenhand.core.nli.measure import changes
from evenhand.core.nli.types import SETS, Label, Prediction
from evenhand.core.statistics import Estimate

Draw = np.random.Generator
KINDS = ("female", "male", "balanced")
MANY = 400_000  # draws of units for the truth
LABELS: tuple[Label, ...] = ("entailment", "contradiction", "neutral")


def associations(draw: Draw, professions: int, pairs: int, change: float) -> Iterator[tuple[str, Estimate, float]]:
    """Mean association of female person words: normal effects of professions and words before and on the change."""
    of_profession, of_word = draw.normal(0, 0.4, (2, professions)), draw.normal(0, 0.4, (2, pairs))
    rows = []
    for p, w in product(range(professions), range(pairs)):
        before = of_profession[0, p] + of_word[0, w] + draw.normal(0, 0.3)
        moved = change + 0.7 * (of_profession[1, p] + of_word[1, w]) + draw.normal(0, 0.3)
        words = {"profession_key": str(p), "person_key": str(w), "pair": f"{w}/", "person_gender": "female"}
        rows.append(words | {"class": KINDS[p % 3], "text": "", "value": before, "value_after": before + moved})
    found = MEASURED["associations"](pd.DataFrame(rows))
    yield "associations, female words", found.measures[1].change, change


def nli(draw: Draw, occupations: int, templates: int, change: float) -> Iterator[tuple[str, Estimate, float]]:
    """Shares of stereotyped answers of each occupation: logistic-normal before, the change a shift with a spread."""
    sides: tuple[list[Prediction], list[Prediction]] = ([], [])
    for o in range(2 * occupations):  # the first half has a stereotype, the others are the neutral occupations
        chances = _chances(draw, 1, change)[:, 0]
        for name in (SETS[:2] if o < occupations else SETS[2:]) * (1 + (o >= occupations)):
            for _ in range(templates):
                biased: Label = "contradiction" if name == "AS" else "entailment"
                for side, chance in zip(sides, chances, strict=True):
                    side.append(Prediction(name, biased if draw.random() < chance else "neutral", f"o{o}"))
    found = changes(*sides)[2]
    truth = _truth(change)
    yield "inference, directional", found["directional"], truth
    yield "inference, s", found["s"], truth
    yield "inference, neutral occupations", found["not_neutral_ns"], truth


def misgendering(draw: Draw, templates: int, names: int, change: float) -> Iterator[tuple[str, Estimate, float]]:
    """Right verdicts: logistic with effects of templates and names before, and on the change."""
    of_template, of_name = draw.normal(0, 0.9, (2, templates)), draw.normal(0, 0.6, (2, names))
    rows = []
    for t, n in product(range(templates), range(names)):
        before = of_template[0, t] + of_name[0, n]
        after = before + change + 0.7 * (of_template[1, t] + of_name[1, n])
        values = [float(draw.random() < 1 / (1 + np.exp(-one))) for one in (before, after)]
        row = {"instance": f"{t}.{n}", "template": str(t), "name": str(n), "pronoun": "she", "text": ""}
        row |= {"by_probability": values[0], "by_probability_after": values[1]}
        rows.append(
            row | {"by_writing": np.nan, "by_writing_after": np.nan, "value": values[0], "value_after": values[1]}
        )
    found = MEASURED["misgendering"](pd.DataFrame(rows))
    yield "misgendering, right by probability", found.measures[0].change, _truth_of_verdicts(change)


def _chances(draw: Draw, count: int, change: float) -> Any:
    """Chances of a stereotyped answer before and after [2, count]."""
    before = draw.normal(-1.0, 1.2, count)
    return 1 / (1 + np.exp(-np.stack([before, before + change + draw.normal(0, 0.7, count)])))


def _truth(change: float) -> float:
    before, after = _chances(np.random.default_rng(7), MANY, change)
    return float((after - before).mean())


def _truth_of_verdicts(change: float) -> float:
    draw = np.random.default_rng(8)
    before = draw.normal(0, 0.9, MANY) + draw.normal(0, 0.6, MANY)
    after = before + change + 0.7 * (draw.normal(0, 0.9, MANY) + draw.normal(0, 0.6, MANY))
    return float((1 / (1 + np.exp(-after)) - 1 / (1 + np.exp(-before))).mean())


DESIGNS: tuple[tuple[Callable[..., Iterator[tuple[str, Estimate, float]]], tuple[tuple[int, int], ...]], ...] = (
    (associations, ((10, 5), (20, 9), (60, 9))),
    (nli, ((10, 3), (20, 3), (60, 3))),
    (misgendering, ((10, 5), (20, 15), (50, 15))),
)


def main() -> None:
    """Print a table, a row a measure and design."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = np.random.default_rng(given.seed)
    print("| measure | units | true change | held | no interval |")
    print("|---|---|---|---|---|")
    for simulate, designs in DESIGNS:
        for units, change in product(designs, (0.0, -0.8)):
            held, withheld, truths = Counter[str](), Counter[str](), dict[str, float]()
            for _ in range(given.samples):
                for name, found, truth in simulate(draw, *units, change):
                    truths[name] = truth
                    if found.low is None or found.high is None:
                        withheld[name] += 1
                    else:
                        held[name] += found.low <= truth <= found.high
            for name, truth in truths.items():
                made = given.samples - withheld[name]
                share = f"{held[name] / made:.1%}" if made else "—"
                lost = withheld[name] / given.samples
                print(f"| {name} | {units[0]} x {units[1]} | {truth:+.3f} | {share} | {lost:.0%} |")


if __name__ == "__main__":
    main()
