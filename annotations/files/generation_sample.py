"""Generations for people to judge: a sample of a file, the size that a pilot suggests, and comparisons.

A comparison is two texts of one context by different models, drawn at random. In each context the models are put into
a random order and paired by the circle method of tournaments: in each round every model meets another one. The first
pairs of these rounds are taken. So models take part about equally often in every context, and any two of its m models
are compared with the same probability, k / (m (m - 1) / 2) for k pairs. If a model has several texts, one is drawn. A
row keeps the probability of its two texts.
"""

import json
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.guideline.versions import PREFERENCE, compares, refuse_own_scheme
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.generation_labels import labels_of_generations
from evenhand.annotations.projects.projects import create_project
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.files.readers import open_source, rows
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
        """Return the numbers of a draw."""
        return {
            "rows": len(self.rows), "of": self.of, "cells": self.cells, "fewest_in_a_cell": self.fewest,
            "contexts": self.contexts, "most_of_one_context": self.most_of_one,
        }  # fmt: skip


def read_generations(path: Path | str) -> list[Row]:
    """Return the rows of a file of generations. Raises BadFile if it has no completions."""
    source = open_source(path)
    if not {"context", "completion"} <= set(source.columns):
        raise BadFile(
            N_("{file} contains no generations: it needs the columns context and completion."), file=source.name
        )
    return [row.values for row in rows(source) if row.problem is None and row.values.get("completion")]


def cell_of(row: Mapping[str, Any]) -> str:
    """Return the cell of a row: model, data set, pronouns and setting."""
    values = ("" if row.get(name) is None else row[name] for name in CELL)
    parts = ["+".join(map(str, value)) if isinstance(value, list | tuple) else str(value) for value in values]
    return json.dumps(parts, ensure_ascii=False)


def context_of(row: Mapping[str, Any]) -> str:
    """Return the cluster of a row: its template, or else its context."""
    return str(row.get("template") or row.get("context") or "")


def draw_sample(found: Sequence[Row], number: int, seed: int = 0) -> GenerationSample:
    """Draw *number* rows of every cell, distinct contexts first (core.human_vs_rule.sample). Raises Refused below 1."""
    chosen = distinct_first(
        found, number, cell=cell_of, context=context_of, identity=lambda row: json.dumps(row, sort_keys=True), seed=seed
    )
    cells: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in chosen:
        cells[cell_of(row)][context_of(row)] += 1
    return GenerationSample(
        tuple(chosen),
        len(cells),
        min((sum(cell.values()) for cell in cells.values()), default=0),
        len({context_of(row) for row in chosen}),
        max((count for cell in cells.values() for count in cell.values()), default=0),
        len(found),
    )


def write_sample(sample: GenerationSample, out: Path) -> None:
    """Write the rows as JSON lines for their owner only, completely or not at all.

    Raises BadFile; Refused if *out* exists.
    """
    if out.exists():
        raise Refused(N_("{file} already exists; choose another name, or delete it first."), file=out.name)
    with whole_file(out) as write:
        for row in sample.rows:
            write(json.dumps(row, ensure_ascii=False) + "\n")


def pilot_by_people(store: Store, project: Project) -> Correlation:
    """Return how alike people's labels within a context are: 1 is misgendering, 0 not; labels of an item are averaged.

    Raises Refused for a project with a scheme of its own.
    """
    refuse_own_scheme(store, project)
    frame = labels_of_generations(store, project)
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in frame.to_dict("records"):
        cell = json.dumps([row["model"], row["dataset"], row["pronoun"], row["setting"]])
        values[cell, row["cluster"], row["item"]].append(float(row["choice"] == "misgendering"))
    return intra_class(_grouped((cell, context, sum(x) / len(x)) for (cell, context, _), x in values.items()))


def pilot_by_rule(found: Iterable[Row]) -> Correlation:
    """Return how alike the verdicts of the first-pronoun rule within a context are: wrong (1) or right (0)."""
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


ASKED = ("context", "name", "pronouns", "dataset", "setting", "template")  # what both texts of a comparison share
FILE = "comparisons.jsonl"
NO_PAIR = N_(
    "No context has different texts of two models, so there is nothing to compare; the models must continue the same"
    " contexts."
)
COMPARED_ALREADY = N_("{project} already holds comparisons; choose a project of single texts.")


@dataclass(frozen=True, slots=True)
class DrawnComparisons:
    """`rows`: the comparisons; `contexts`: how many have one; `alone`: contexts with texts of one model only; `same`:
    pairs that were left out because both models wrote the same; `compared`: how often each model takes part."""

    rows: tuple[Row, ...]
    contexts: int
    alone: int
    same: int
    compared: Mapping[str, int]


def draw_comparisons(texts: Sequence[Row], *, per_context: int = 1, seed: int = 0) -> DrawnComparisons:
    """Draw at most *per_context* pairs of each context of *texts*, whose `model` names the author.

    The first text of a pair is drawn too; desks draw left and right again. Raises Refused if no context has two models.
    """
    entries: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in texts:
        values = {name: row[name] for name in ASKED if row.get(name) not in (None, "", [])}
        entries[json.dumps(values, ensure_ascii=False, sort_keys=True)][str(row.get("model") or "")].add(
            str(row["completion"])
        )
    rows, same, alone = list[Row](), 0, 0
    for context, by_model in sorted(entries.items()):
        chance = random.Random(f"{seed}/{context}")  # noqa: S311
        named = sorted(name for name in by_model if name)
        if len(named) < 2:
            alone += 1
            continue
        schedule = _rounds(named, chance)
        of = min(per_context, len(schedule))
        for pair in schedule[:of]:
            first, second = chance.sample(pair, 2)
            text, other = (chance.choice(sorted(by_model[name])) for name in (first, second))
            if text == other:
                same += 1
                continue
            probability = of / len(schedule) / len(by_model[first]) / len(by_model[second])
            rows.append(
                json.loads(context) | {"completion": text, "second": other, "model": first, "second_model": second,
                                       "probability": round(probability, 6)}
            )  # fmt: skip
    if not rows:
        raise Refused(NO_PAIR)
    random.Random(seed).shuffle(rows)  # noqa: S311
    contexts = len({json.dumps([row.get(name) for name in ASKED]) for row in rows})
    compared = Counter(row[side] for row in rows for side in ("model", "second_model"))
    return DrawnComparisons(tuple(rows), contexts, alone, same, dict(sorted(compared.items())))


def _rounds(models: Sequence[str], chance: random.Random) -> list[tuple[str, str]]:
    """Return every two of *models* once, in rounds in which each takes part once; with an odd number one rests."""
    circle: list[str | None] = [*chance.sample(models, len(models)), *([None] if len(models) % 2 else [])]
    made = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        games = list(zip(circle[:half], reversed(circle[half:]), strict=True))
        chance.shuffle(games)
        made += [(one, other) for one, other in games if one is not None and other is not None]
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return made


def texts_of_files(files: Sequence[Path]) -> list[Row]:
    """Return the generations of *files*. If two files name the same model, its name gets the file name in brackets."""
    found = [(file, read_generations(file)) for file in files]
    said = [{str(row.get("model") or file.stem) for row in rows} for file, rows in found]
    twice = {name for name, files_with in Counter(name for names in said for name in names).items() if files_with > 1}
    made = []
    for file, texts in found:
        for row in texts:
            name = str(row.get("model") or file.stem)
            made.append({**row, "model": f"{name} ({file.stem})" if name in twice else name})
    return made


def texts_of_project(store: Store, project: Project) -> list[Row]:
    """Return the generations of a project as rows. Raises Refused for sentences and for comparisons."""
    if project.kind != "generations":
        raise Refused(N_("{project} holds sentences, not generations."), project=project.name)
    if compares(store, project):
        raise Refused(COMPARED_ALREADY, project=project.name)
    return [{**item.extra, "context": item.context or "", "completion": item.text} for item in items(store, project)]


def comparisons_project(
    store: Store, name: str, texts: Sequence[Row], *, annotators: Iterable[str] = (), per_item: int = 3,
    per_context: int = 1, seed: int = 0, language: str = "en",
) -> tuple[Project, DrawnComparisons]:  # fmt: skip
    """Make a project with the built-in scheme of comparisons, drawn from *texts*.

    Raises Refused, and NotAllowed if the name is taken.
    """
    drawn = draw_comparisons(texts, per_context=per_context, seed=seed)
    made = create_project(
        store, name, kind="generations", annotators=annotators, per_item=per_item, seed=seed, language=language,
        choices=PREFERENCE.choices, reasons=PREFERENCE.flags, scheme=PREFERENCE.more,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        file.write_text(file_text(drawn.rows), encoding="utf-8")
        import_file(store, made, file, format="generations", name=FILE)
    return made, drawn


def file_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return comparisons as JSON lines."""
    return "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
