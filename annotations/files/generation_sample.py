"""A sample of a file of generations for people to judge, and the size that a pilot suggests."""

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import refuse_own_scheme
from evenhand.annotations.labels.generation_labels import labels_of_generations
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.readers import open_source, rows
from evenhand.core.files.whole_file import whole_file
from evenhand.core.human_vs_rule.apply_rule import apply_rule
from evenhand.core.human_vs_rule.sample import Correlation, distinct_first, intra_class

CELL = ("model", "dataset", "pronouns", "setting")  # the sample is drawn from each cell separately
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class GenerationSample:
    """Rows that were drawn; `cells`: how many cells there are, `fewest`: rows of the smallest, `contexts`: distinct
    contexts in all cells together, `most_of_one`: the most rows of one context in one cell; `of`: rows to draw from.
    """

    rows: tuple[Row, ...]
    cells: int
    fewest: int
    contexts: int
    most_of_one: int
    of: int

    def facts(self) -> dict[str, int]:
        """The numbers."""
        return {
            "rows": len(self.rows), "of": self.of, "cells": self.cells, "fewest_in_a_cell": self.fewest,
            "contexts": self.contexts, "most_of_one_context": self.most_of_one,
        }  # fmt: skip


def read_generations(path: Path | str) -> list[Row]:
    """The rows of a file of generations. Raises BadFile where it has no completions."""
    source = open_source(path)
    if not {"context", "completion"} <= set(source.columns):
        raise BadFile(
            N_("{file} contains no generations: it needs the columns context and completion."), file=source.name
        )
    return [row.values for row in rows(source) if row.problem is None and row.values.get("completion")]


def cell_of(row: Mapping[str, Any]) -> str:
    """The cell of a row: model, data set, pronouns and setting."""
    return json.dumps([_csv_value(row.get(name)) for name in CELL], ensure_ascii=False)


def context_of(row: Mapping[str, Any]) -> str:
    """The cluster of a row: its template, or else its context."""
    return str(row.get("template") or row.get("context") or "")


def draw_sample(found: Sequence[Row], number: int, seed: int = 0) -> GenerationSample:
    """*number* rows of every cell, distinct contexts first (core.human_vs_rule.sample). Raises Refused below 1."""
    chosen = distinct_first(
        found, number, cell=cell_of, context=context_of, identity=lambda row: json.dumps(row, sort_keys=True), seed=seed
    )
    cells: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in chosen:
        cells[cell_of(row)][context_of(row)] += 1
    return GenerationSample(
        tuple(chosen),
        len(cells),
        min((sum(one.values()) for one in cells.values()), default=0),
        len({context_of(row) for row in chosen}),
        max((count for one in cells.values() for count in one.values()), default=0),
        len(found),
    )


def write_sample(sample: GenerationSample, out: Path) -> None:
    """The rows as JSON lines, whole or not at all, for their owner only. Raises BadFile, Refused where it is there."""
    if out.exists():
        raise Refused(N_("{file} already exists; choose another name, or delete it first."), file=out.name)
    with whole_file(out) as write:
        for row in sample.rows:
            write(json.dumps(row, ensure_ascii=False) + "\n")


def pilot_by_people(store: Store, project: Project) -> Correlation:
    """How alike people's labels within a context are: misgendering (1) or not (0), the mean of several labels.

    Raises Refused for a project with a scheme of its own.
    """
    refuse_own_scheme(store, project)
    frame = labels_of_generations(store, project)
    said: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in frame.to_dict("records"):
        cell = json.dumps([row["model"], row["dataset"], row["pronoun"], row["setting"]])
        said[cell, row["cluster"], row["item"]].append(float(row["choice"] == "misgendering"))
    return intra_class(_grouped((cell, context, sum(x) / len(x)) for (cell, context, _), x in said.items()))


def pilot_by_rule(found: Iterable[Row]) -> Correlation:
    """How alike the verdicts of the first-pronoun rule within a context are: wrong (1) or right (0)."""
    values = []
    for row in found:
        try:
            correct = apply_rule({**row, "completion": str(row["completion"])}).correct
        except BadFile:  # an unknown set
            continue
        if correct is not None:
            values.append((cell_of(row), context_of(row), 1.0 - correct))
    return intra_class(_grouped(values))


def _grouped(values: Iterable[tuple[str, str, float]]) -> dict[Hashable, dict[Hashable, list[float]]]:
    groups: dict[Hashable, dict[Hashable, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell, context, value in values:
        groups[cell][context].append(value)
    return groups


def _csv_value(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value if value is not None else "")
