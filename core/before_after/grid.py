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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from evenhand.core.before_after.compare import against_placebos, over_runs
from evenhand.core.before_after.report import IN_RECORD, MeasuredModel
from evenhand.core.before_after.run import Asked, before_and_after, built_in_source
from evenhand.core.cluster import Pool
from evenhand.core.errors import N_, BadFile, EvenhandError, Refused
from evenhand.core.files.csv_out import data_line
from evenhand.core.files.whole_file import make_folder, whole_file
from evenhand.core.models.tuning.settings import BERT_DROPOUT, Tuning
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.loop import Report, Watcher
from evenhand.core.runs.records import Failure, write_record
from evenhand.core.scoring.input import ScoreInput
from evenhand.core.scoring.rows import ScoreItem
from evenhand.core.statistics import Estimate
from evenhand.core.tune.report import TrainingReport, TuneReport, tuned_model
from evenhand.core.tune.run import run
from evenhand.core.tune.settings import Settings
from evenhand.core.typed_json import fields_of, from_json, to_json

Intervention = Literal["as-is", "none", "swap", "cda", "cds", "dropout", "sentence-debias", "inlp"]
INTERVENTIONS: tuple[Intervention, ...] = get_args(Intervention)
NO_SEED = ("as-is", "sentence-debias", "inlp")  # the same whatever the seed: done once
PLACEBO: Intervention = "none"
CELL = "cell.json"
WAITING, DONE = "waiting", "ok"
MAY_GROW = ("models", "interventions", "seeds", "threads")
NOTHING = N_("A grid needs at least one model and one intervention.")
NO_RECORD = N_("The record of the model {folder} cannot be read. Delete that folder, and it is made again.")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCell(Cell):
    """A cell with what came of it: sizes of Bias_c (log10), held-out loss and accuracy, each before and after."""

    status: str = WAITING
    items: int | None = None
    size_before: float | None = None
    size_after: float | None = None
    change: float | None = None
    loss_before: float | None = None
    loss_after: float | None = None
    rise: float | None = None
    accuracy_before: float | None = None
    accuracy_after: float | None = None
    seconds: float | None = None
    resumed_at: int | None = None
    worker: int | None = None
    signature: str | None = None
    failure: Failure | None = None
    also_in_json: ClassVar = ("name",)


COLUMNS = tuple(field.name for field in fields(MadeCell) if field.name != "failure")


@dataclass(frozen=True, slots=True)
class GridEffect:
    """The change of size that an intervention makes to a model: over its seeds, less that of the placebo."""

    model: str
    intervention: Intervention
    effect: Estimate
    written_with: ClassVar = IN_RECORD


@dataclass(frozen=True, slots=True, kw_only=True)
class GridReport(Report[MeasuredModel]):
    """What a grid gave."""

    kind: str = "grid"
    grid: dict[str, Any]
    cells: list[MadeCell]
    effects: list[GridEffect]
    sentences: int
    source: dict[str, str]
    workers: int


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
    language: Literal["zh", "en"] = "zh"
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
        facts = asdict(replace(self, items=None)) | {"texts": self.texts.name, "tuning": to_json(self.tuning)}
        return facts | {"items": [self.items.name, self.items.digest] if self.items else "built-in"}


def run_grid(
    grid: Grid, folder: Path, out: Path, *, ray: str | None = None, workers: int = 1, watch: Watcher | None = None,
    record: bool = False,
) -> GridReport:  # fmt: skip
    """Make every cell in *folder* and write the table to *out* after each.

    *ray*: the address of a cluster ("local" starts one here) with *workers* actors; None: here, one after the other. A
    cell that cannot be made has its reason in its row, and the others go on. Raises Refused, BadFile.
    """
    began, cells = time.time(), grid.cells
    make_folder(folder)
    _refuse_other(grid, folder)
    made = _finished(cells, folder)
    todo = [(cell, folder) for cell in cells if cell.name not in made]
    results = _new_cells(grid, todo, ray, workers)
    while True:
        _write_table(out, cells, made)
        if watch is not None:
            watch(len(made), len(cells), "")
        if (cell := next(results, None)) is None:
            break
        made = _finished(cells, folder) | made | {cell.name: cell}
    report = _report(grid, cells, made, round(time.time() - began, 3), workers)
    if record:
        write_record(out, report)
    return report


def _new_cells(grid: Grid, todo: Sequence[tuple[Cell, Path]], ray: str | None, workers: int) -> Iterator[MadeCell]:
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

    def __call__(self, asked: tuple[Cell, Path]) -> MadeCell:
        """Make a cell, which is also in its folder; one that failed is not, so that it is tried again."""
        cell, folder = asked
        began = time.time()
        if self._grid.threads:
            from evenhand.core.models.devices import use_threads

            use_threads(self._grid.threads)
        made = MadeCell(**fields_of(cell))
        try:
            made = self._make(made, folder / cell.name)
        except EvenhandError as error:
            failure = Failure.of(cell.model, error)
            return replace(made, status=failure.text, failure=failure)
        made = replace(made, status=DONE, worker=os.getpid(), seconds=round(time.time() - began, 3))
        make_folder(folder / cell.name)
        with whole_file(folder / cell.name / CELL) as write:
            write(json.dumps(to_json(made), ensure_ascii=False, indent=1) + "\n")
        return made

    def _make(self, cell: MadeCell, place: Path) -> MadeCell:
        if cell.intervention == "as-is":
            return self._measured(cell, cell.model)
        tuned = tuned_model(place) if place.is_dir() else self._tuned(cell, place)
        if tuned is None:
            raise BadFile(NO_RECORD, folder=place.name)
        before, after = tuned.held_out["before"], tuned.held_out["after"]
        return replace(
            self._measured(cell, str(place)), loss_before=before.loss, loss_after=after.loss,
            rise=after.loss - before.loss, accuracy_before=before.accuracy, accuracy_after=after.accuracy,
            resumed_at=tuned.resumed_at if isinstance(tuned, TrainingReport) else None,
        )  # fmt: skip

    def _tuned(self, cell: Cell, place: Path) -> TuneReport:
        grid, kind = self._grid, cell.intervention
        dropout = BERT_DROPOUT if kind == "dropout" else grid.tuning.dropout
        settings = Settings(
            **fields_of(replace(grid.tuning, seed=cell.seed, dropout=dropout)), model=cell.model, texts=str(grid.texts),
            out=place, method=kind if kind in ("sentence-debias", "inlp") else "training",
            swap=kind if kind in ("swap", "cda", "cds") else "none", language=grid.language, pairs=grid.pairs,
            leave_out=grid.leave_out, share=grid.share,
        )  # fmt: skip
        return run(settings, Place(place.parent, lambda *_: None))

    def _measured(self, cell: MadeCell, after: str) -> MadeCell:
        source = self._grid.items.source() if self._grid.items else built_in_source(self._grid.language)
        (model,) = before_and_after(Asked(cell.model, (after,)), source).after
        return replace(
            cell, items=model.items, size_before=model.before, size_after=model.after, change=model.size.value,
            signature=model.signature,
        )  # fmt: skip


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


def _finished(cells: Sequence[Cell], folder: Path) -> dict[str, MadeCell]:
    made = {}
    for cell in cells:
        try:
            data = json.loads((folder / cell.name / CELL).read_text(encoding="utf-8"))
            made[cell.name] = from_json(MadeCell, data)
        except (OSError, ValueError, BadFile):
            continue
    return made


def _write_table(out: Path, cells: Sequence[Cell], made: Mapping[str, MadeCell]) -> None:
    make_folder(out.parent)
    with whole_file(out) as write:
        write(data_line(COLUMNS))
        for cell in cells:
            row = made.get(cell.name, MadeCell(**fields_of(cell)))
            write(data_line([getattr(row, column) for column in COLUMNS]))


def _report(
    grid: Grid, cells: Sequence[Cell], made: Mapping[str, MadeCell], seconds: float, workers: int
) -> GridReport:
    """Every cell, and of every model and intervention the change over its seeds against those of the placebo."""

    def changes(model: str, kind: Intervention) -> list[float | None]:
        """The changes of size of all seeds; None for a cell that could not be made."""
        some = [cell.name for cell in cells if (cell.model, cell.intervention) == (model, kind)]
        return [made[name].change if name in made else None for name in some]

    effects = []
    for model, kind in product(grid.models, grid.interventions):
        if kind not in ("as-is", PLACEBO):
            some, placebo = changes(model, kind), changes(model, PLACEBO)
            effect = against_placebos(some, placebo) if placebo and kind not in NO_SEED else over_runs(some)
            effects.append(GridEffect(model, kind, effect))
    return GridReport(
        grid=grid.as_json(), cells=[made.get(cell.name, MadeCell(**fields_of(cell))) for cell in cells],
        effects=effects, failed=tuple(cell.failure for cell in made.values() if cell.failure), sentences=len(cells),
        models=tuple(MeasuredModel(model, grid.tuning.signature) for model in grid.models),
        source={"name": grid.texts.name}, seconds=seconds, workers=workers,
    )  # fmt: skip
