"""A grid of changes: models x interventions x seeds. Each cell is a changed model with its figures; one model a worker.

A cell is a folder with the tuned model and `cell.json`, which is written last. So a grid that was ended continues:
finished cells are read, and a cell that was in training continues at its checkpoint (`core.tune.run`). On Ray each
actor takes one cell after the other; all machines must see the folder. The table is rewritten after every cell, with a
row for each cell, including those that wait.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import ClassVar

from evenhand.core.before_after.compare import against_placebos, over_runs
from evenhand.core.before_after.report import IN_RECORD, MeasuredModel
from evenhand.core.before_after.run import before_and_after, built_in_source
from evenhand.core.before_after.settings import NO_SEED, PLACEBO, Cell, GridSettings, Intervention, Settings
from evenhand.core.cluster import Pool
from evenhand.core.errors import N_, BadFile, EvenhandError, Refused
from evenhand.core.files.atomic_file import make_folder, whole_file
from evenhand.core.files.csv_out import data_line
from evenhand.core.models.tuning.settings import BERT_DROPOUT
from evenhand.core.runs.kinds import Place
from evenhand.core.runs.loop import Report
from evenhand.core.runs.records import TABLE, Failure, run_file, runs_folder, write_record
from evenhand.core.scoring.rows import ScoreItem
from evenhand.core.scoring.settings import ScoreInput
from evenhand.core.statistics import Estimate
from evenhand.core.tune.report import TrainingReport, TuneReport, tuned_model
from evenhand.core.tune.run import run
from evenhand.core.tune.settings import Settings as TuneSettings
from evenhand.core.typed_json import fields_of, from_json, to_json

CELL = "cell.json"
WAITING, DONE = "waiting", "ok"
MAY_GROW = ("models", "interventions", "seeds", "threads")
NO_RECORD = N_("The record of the model {folder} cannot be read. Delete that folder to create the model again.")
OTHER_GRID = N_("{folder} contains a grid with other settings. Choose another name, or delete it first.")


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
    """The change of size that an intervention makes to a model: over its seeds, minus that of the placebo."""

    model: str
    intervention: Intervention
    effect: Estimate
    written_with: ClassVar = IN_RECORD


@dataclass(frozen=True, slots=True, kw_only=True)
class GridReport(Report[MeasuredModel]):
    """The results of a grid."""

    kind: str = "grid"
    grid: dict[str, object]
    cells: list[MadeCell]
    effects: list[GridEffect]
    sentences: int
    source: dict[str, str]
    workers: int
    out: Path = Path()
    json_names: ClassVar = {"out": None}


@dataclass(frozen=True, slots=True)
class Items:
    """The items that every model is measured on, as they travel to a worker."""

    name: str
    digest: str
    rows: tuple[ScoreItem, ...]

    @classmethod
    def of(cls, source: ScoreInput) -> "Items":
        """Return all items of a source."""
        return cls(source.name, source.digest, tuple(source.items()))

    def source(self) -> ScoreInput:
        """Return the rows as input of scoring."""
        return ScoreInput("file", self.name, "sentences", len(self.rows), self.digest, lambda: iter(self.rows))


def run_grid(settings: GridSettings, place: Place, items: Items | None = None) -> GridReport:
    """Make every cell, and write the table after each.

    *items*: the items to measure on; None: the built-in neutral sentences. A cell that cannot be made has the reason
    in its row, and the others continue. Raises Refused, BadFile.
    """
    out, began, cells = _table(place.database, settings.run_name), time.time(), settings.cells
    folder, facts = out.with_suffix(""), _facts(settings, items)
    make_folder(folder)
    _refuse_other(facts, folder)
    made = _finished(cells, folder)
    todo = [(cell, folder) for cell in cells if cell.name not in made]
    results = _new_cells(settings, items, todo)
    while True:
        _write_table(out, cells, made)
        place.progress(len(made), len(cells))
        if (cell := next(results, None)) is None:
            break
        made = _finished(cells, folder) | made | {cell.name: cell}
    report = _report(settings, facts, made, out, round(time.time() - began, 3))
    write_record(out, report)
    return report


def _table(database: Path, name: str) -> Path:
    """Return the table of a grid, also of one that continues. Raises Refused for other names."""
    folder = runs_folder(database, "grids")
    table = folder / f"{name.strip()}{TABLE}"
    return table if table.is_file() else run_file(folder, name)


def _facts(settings: GridSettings, items: Items | None) -> dict[str, object]:
    """Return the settings in a record; another grid has other settings (but see MAY_GROW)."""
    names = ("models", "seeds", "language", "pairs", "share", "leave_out", "threads")
    return {name: getattr(settings, name) for name in names} | {
        "interventions": settings.kinds, "texts": settings.texts.name, "tuning": to_json(settings.tuning),
        "items": [items.name, items.digest] if items else "built-in",
    }  # fmt: skip


def _new_cells(settings: GridSettings, items: Items | None, todo: Sequence[tuple[Cell, Path]]) -> Iterator[MadeCell]:
    if not todo:
        return
    if settings.ray is None:
        yield from map(Maker(settings, items), todo)
        return
    workers, values = min(settings.workers, len(todo)), {"settings": settings, "items": items}
    with Pool("evenhand.core.before_after.grid:Maker", values, address=settings.ray, workers=workers) as pool:
        yield from pool.map(todo)


class Maker:
    """Makes one cell after the other; a worker of a cluster keeps one."""

    def __init__(self, settings: GridSettings, items: Items | None) -> None:
        self._settings, self._items = settings, items

    def __call__(self, asked: tuple[Cell, Path]) -> MadeCell:
        """Make a cell and store it in its folder; a failed cell is not stored, so that it is tried again."""
        cell, folder = asked
        began = time.time()
        if self._settings.threads:
            from evenhand.core.models.loaded import use_threads

            use_threads(self._settings.threads)
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
        grid, kind = self._settings, cell.intervention
        dropout = BERT_DROPOUT if kind == "dropout" else None
        settings = TuneSettings(
            **fields_of(replace(grid.tuning, seed=cell.seed, dropout=dropout)), model=cell.model, texts=str(grid.texts),
            out=place, method=kind if kind in ("sentence-debias", "inlp") else "training",
            swap=kind if kind in ("swap", "cda", "cds") else "none", language=grid.language, pairs=grid.pairs,
            leave_out=grid.leave_out, share=grid.share,
        )  # fmt: skip
        return run(settings, Place(place.parent))

    def _measured(self, cell: MadeCell, after: str) -> MadeCell:
        source = self._items.source() if self._items else built_in_source(self._settings.language)
        settings = Settings("", cell.model, (after,), no_cache=True)
        (model,) = before_and_after(settings, source, Place(Path())).after
        return replace(
            cell, items=model.items, size_before=model.before, size_after=model.after, change=model.size.value,
            signature=model.signature,
        )  # fmt: skip


def _refuse_other(facts: dict[str, object], folder: Path) -> None:
    """Raise Refused for a folder of another grid; models, interventions or seeds may be added to the same one."""
    values = {key: value for key, value in facts.items() if key not in MAY_GROW}
    text, file = json.dumps(values, ensure_ascii=False, sort_keys=True), folder / "grid.json"
    if file.is_file():
        if file.read_text(encoding="utf-8") != text:
            raise Refused(OTHER_GRID, folder=folder.name)
        return
    with whole_file(file) as write:
        write(text)


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
    settings: GridSettings, facts: dict[str, object], made: Mapping[str, MadeCell], out: Path, seconds: float
) -> GridReport:
    """Return every cell, and for every model and intervention the change over its seeds against the placebo."""

    cells = settings.cells

    def changes(model: str, kind: Intervention) -> list[float | None]:
        """Return the changes of size of all seeds; None for a cell that could not be made."""
        some = [cell.name for cell in cells if (cell.model, cell.intervention) == (model, kind)]
        return [made[name].change if name in made else None for name in some]

    effects = []
    for model, kind in product(settings.models, settings.kinds):
        if kind not in ("as-is", PLACEBO):
            some, placebo = changes(model, kind), changes(model, PLACEBO)
            effect = against_placebos(some, placebo) if placebo and kind not in NO_SEED else over_runs(some)
            effects.append(GridEffect(model, kind, effect))
    return GridReport(
        grid=facts, cells=[made.get(cell.name, MadeCell(**fields_of(cell))) for cell in cells],
        effects=effects, failed=tuple(cell.failure for cell in made.values() if cell.failure), sentences=len(cells),
        models=tuple(MeasuredModel(model, settings.tuning.signature) for model in settings.models),
        source={"name": settings.texts.name}, seconds=seconds, workers=settings.workers, out=out,
    )  # fmt: skip
