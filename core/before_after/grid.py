"""A grid of changes: models x interventions x seeds, each cell a changed model with its figures, one model a worker.

A cell is a folder: the tuned model and `cell.json`, which is written last. So a grid that was ended goes on where it
was: finished cells are read, a cell that was being trained goes on at its checkpoint (`core.tune.run`). On Ray each
actor takes one cell after the other; the folder must be one that every machine sees. The table is written anew after
every cell, with a row for each, those that wait too.
"""

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

from evenhand.core.before_after.compare import against_placebos, over_runs
from evenhand.core.before_after.run import Asked, before_and_after, built_in_source
from evenhand.core.cluster import Pool
from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.files.csv_out import data_line
from evenhand.core.files.whole_file import make_folder, whole_file
from evenhand.core.models.tuning.settings import BERT_DROPOUT, Tuning
from evenhand.core.runs.loop import Watcher, made_now
from evenhand.core.runs.records import Failure, write_record
from evenhand.core.scoring.input import ScoreInput
from evenhand.core.scoring.rows import ScoreItem
from evenhand.core.swap.word_tables import word_table
from evenhand.core.tune.projections import project
from evenhand.core.tune.run import RECORD, tune
from evenhand.core.tune.texts import file_texts, training_texts
from evenhand.core.typed_json import to_json

Intervention = Literal["as-is", "none", "swap", "cda", "cds", "dropout", "sentence-debias", "inlp"]
INTERVENTIONS: tuple[Intervention, ...] = get_args(Intervention)
NO_SEED = ("as-is", "sentence-debias", "inlp")  # the same whatever the seed: done once
PLACEBO: Intervention = "none"
CELL = "cell.json"
WAITING, DONE = "waiting", "ok"
COLUMNS = (
    "model", "intervention", "seed", "status", "items", "size_before", "size_after", "change", "loss_before",
    "loss_after", "rise", "accuracy_before", "accuracy_after", "seconds", "resumed_at", "worker", "signature",
)  # fmt: skip
MAY_GROW = ("models", "interventions", "seeds", "threads")
NOTHING = N_("A grid needs at least one model and one intervention.")
OTHER_GRID = N_("{folder} contains a grid with other settings. Choose another name, or delete it first.")


@dataclass(frozen=True, slots=True)
class Cell:
    """One change to be made: a model, an intervention and a seed."""

    model: str
    intervention: Intervention
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        bare = re.sub(r"[^\w.+-]+", "_", self.model).strip("_.") or "model"
        return f"{bare[-60:]}.{self.intervention}.{self.seed}"


@dataclass(frozen=True, slots=True)
class Items:
    """The items that every model is measured on, as they travel to a worker."""

    name: str
    digest: str
    rows: tuple[ScoreItem, ...]

    @classmethod
    def of(cls, source: ScoreInput) -> "Items":
        """All items of a source."""
        return cls(source.name, source.digest, tuple(source.items()))

    def source(self) -> ScoreInput:
        """What scoring takes."""
        return ScoreInput("file", self.name, "sentences", len(self.rows), self.digest, lambda: iter(self.rows))


@dataclass(frozen=True, slots=True)
class Grid:
    """What is asked. `texts`: the file or folder to train on; `items`: what is measured on, None for the built-in
    neutral sentences; `language`, `pairs`: of the swap; `share`: of the texts that no step sees."""

    models: tuple[str, ...]
    interventions: tuple[Intervention, ...]
    texts: Path
    seeds: int = 3
    tuning: Tuning = field(default_factory=Tuning)
    items: Items | None = None
    language: str = "zh"
    pairs: Literal["released", "wide"] = "released"
    share: float = 0.05
    leave_out: tuple[str, ...] = ()
    threads: int | None = None

    def __post_init__(self) -> None:
        if not self.models or not self.interventions or self.seeds < 1:
            raise Refused(NOTHING)

    @property
    def cells(self) -> list[Cell]:
        """Model by model, seed by seed; what does not depend on a seed once."""
        every = product(self.models, range(self.seeds), self.interventions)
        return [Cell(model, kind, seed) for model, seed, kind in every if seed == 0 or kind not in NO_SEED]

    def as_json(self) -> dict[str, Any]:
        """For a record."""
        facts = asdict(replace(self, items=None)) | {"texts": self.texts.name, "tuning": self.tuning.as_json()}
        return facts | {"items": [self.items.name, self.items.digest] if self.items else "built-in"}


def run_grid(
    grid: Grid, folder: Path, out: Path, *, ray: str | None = None, workers: int = 1, watch: Watcher | None = None,
    record: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Make every cell in *folder* and write the table to *out* after each; the record of all.

    *ray*: the address of a cluster ("local" starts one here) with *workers* actors; None: here, one after the other. A
    cell that cannot be made has its reason in its row, and the others go on. Raises Refused, BadFile.
    """
    began, cells = time.time(), grid.cells
    make_folder(folder)
    _refuse_other(grid, folder)
    found = _finished(cells, folder)
    _write_table(out, cells, found)

    def say() -> None:
        if watch is not None:
            watch(len(found), len(cells), "")

    say()
    todo = [(asdict(cell), str(folder)) for cell in cells if cell.name not in found]
    for facts in _new_cells(grid, todo, ray, workers):
        found = _finished(cells, folder) | found | {facts["name"]: facts}
        _write_table(out, cells, found)
        say()
    report = _report(grid, cells, found) | {"seconds": round(time.time() - began, 3), "workers": workers, **made_now()}
    if record:
        write_record(out, report)
    return report


def _new_cells(grid: Grid, todo: Sequence[Any], ray: str | None, workers: int) -> Iterator[dict[str, Any]]:
    if not todo:
        return
    if ray is None:
        yield from map(cells_of(grid), todo)
        return
    with Pool(
        "evenhand.core.before_after.grid:cells_of", {"grid": grid}, address=ray, workers=min(workers, len(todo))
    ) as pool:
        yield from pool.map(todo)


def cells_of(grid: Grid) -> "Maker":
    """What a worker calls for each cell."""
    return Maker(grid)


class Maker:
    """Makes one cell after the other; a worker of a cluster keeps one."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __call__(self, asked: tuple[dict[str, Any], str]) -> dict[str, Any]:
        """The facts of a cell, which are also in its folder; those of a failure are not, so that it is tried again."""
        facts, folder = asked
        cell, began = Cell(**facts), time.time()
        if self._grid.threads:
            from evenhand.core.models.devices import use_threads

            use_threads(self._grid.threads)
        try:
            found = self._make(cell, Path(folder))
        except EvenhandError as error:
            failure = Failure.of(cell.model, error)
            return facts | {"name": cell.name, "status": failure.text, "failure": to_json(failure)}
        found = facts | {"name": cell.name, "status": DONE, "worker": os.getpid()} | found
        found["seconds"] = round(time.time() - began, 3)
        make_folder(Path(folder) / cell.name)
        with whole_file(Path(folder) / cell.name / CELL) as write:
            write(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
        return found

    def _make(self, cell: Cell, folder: Path) -> dict[str, Any]:
        if cell.intervention == "as-is":
            return self._measured(cell.model, cell.model)
        place = folder / cell.name
        tuned = json.loads((place / RECORD).read_text("utf-8")) if place.is_dir() else self._tuned(cell, place)
        held = tuned["held_out"]
        losses = {f"{key}_{time}": held[time][key] for key in ("loss", "accuracy") for time in ("before", "after")}
        more = {"rise": losses["loss_after"] - losses["loss_before"], "resumed_at": tuned.get("resumed_at")}
        return self._measured(cell.model, str(place)) | losses | more

    def _tuned(self, cell: Cell, place: Path) -> dict[str, Any]:
        grid, kind = self._grid, cell.intervention
        words = word_table(grid.language, words=grid.pairs).without(grid.leave_out)
        swap = kind if kind in ("swap", "cda", "cds") else "none"
        texts = training_texts(
            file_texts(grid.texts), grid.texts.name, swap=swap, words=words, share=grid.share, seed=cell.seed
        )
        if grid.leave_out:
            texts.facts["swap"]["left_out"] = list(grid.leave_out)
        if kind == "sentence-debias" or kind == "inlp":
            return project(cell.model, texts, words, place, kind, length=grid.tuning.length).record
        dropout = BERT_DROPOUT if kind == "dropout" else grid.tuning.dropout
        tuning = replace(grid.tuning, seed=cell.seed, dropout=dropout)
        return tune(cell.model, texts, tuning, place).record

    def _measured(self, before: str, after: str) -> dict[str, Any]:
        source = self._grid.items.source() if self._grid.items else built_in_source(self._grid.language)
        (model,) = before_and_after(Asked(before, (after,)), source).after
        return {
            "items": model.items, "size_before": model.before, "size_after": model.after, "change": model.size.value,
            "signature": model.signature,
        }  # fmt: skip


def _refuse_other(grid: Grid, folder: Path) -> None:
    """A folder holds the cells of one grid; more models, interventions or seeds may come to it."""
    asked = {key: value for key, value in grid.as_json().items() if key not in MAY_GROW}
    said, file = json.dumps(asked, ensure_ascii=False, sort_keys=True), folder / "grid.json"
    if file.is_file():
        if file.read_text(encoding="utf-8") != said:
            raise Refused(OTHER_GRID, folder=folder.name)
        return
    with whole_file(file) as write:
        write(said)


def _finished(cells: Sequence[Cell], folder: Path) -> dict[str, dict[str, Any]]:
    found = {}
    for cell in cells:
        try:
            found[cell.name] = json.loads((folder / cell.name / CELL).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
    return found


def _write_table(out: Path, cells: Sequence[Cell], found: dict[str, dict[str, Any]]) -> None:
    make_folder(out.parent)
    with whole_file(out) as write:
        write(data_line(COLUMNS))
        for cell in cells:
            facts = {"status": WAITING} | asdict(cell) | found.get(cell.name, {})
            write(data_line([facts.get(column) for column in COLUMNS]))


def _report(grid: Grid, cells: Sequence[Cell], found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Every cell, and of every model and intervention the change over its seeds against those of the placebo."""
    effects = []
    for model, kind in product(grid.models, grid.interventions):
        if kind in ("as-is", PLACEBO):
            continue
        some, placebo = _changes(cells, found, model, kind), _changes(cells, found, model, PLACEBO)
        effect = against_placebos(some, placebo) if placebo and kind not in NO_SEED else over_runs(some)
        effects.append({"model": model, "intervention": kind, "effect": effect.to_json("units", reasons="note")})
    failures = [facts["failure"] for facts in found.values() if "failure" in facts]
    return {
        "kind": "grid", "grid": grid.as_json(), "cells": [found.get(cell.name, asdict(cell)) for cell in cells],
        "effects": effects, "failed": failures, "sentences": len(cells),
        "models": [{"model": model, "signature": grid.tuning.signature} for model in grid.models],
        "source": {"name": grid.texts.name},
    }  # fmt: skip


def _changes(
    cells: Sequence[Cell], found: dict[str, dict[str, Any]], model: str, kind: Intervention
) -> list[float | None]:
    """The changes of size of all seeds; None for a cell that could not be made."""
    some = [cell for cell in cells if (cell.model, cell.intervention) == (model, kind)]
    return [found.get(cell.name, {}).get("change") for cell in some]
