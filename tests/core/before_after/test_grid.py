"""A grid of changes: every cell made once, kept, measured; what cannot be made has its reason; the table fills in."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.before_after.grid import COLUMNS, GridReport, Items, run_grid
from evenhand.core.before_after.run import built_in_source
from evenhand.core.before_after.settings import Cell, GridSettings, Intervention
from evenhand.core.errors import Refused
from evenhand.core.runs.kinds import Place
from evenhand.core.scoring.settings import ScoreInput
from evenhand.core.typed_json import from_json, to_json

TUNING: dict[str, Any] = {"steps": 2, "batch": 4, "length": 16, "every": 1, "rate": 1e-3, "run_name": "grid"}


def few() -> Items:
    """Return one sentence of each pair."""
    items = [item for item in built_in_source().items() if item.row % 10 == 1]
    return Items.of(ScoreInput("file", "few", "sentences", len(items), "0" * 64, lambda: iter(items)))


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    file = tmp_path / "t.txt"
    lines = [f"{word}来了，今天第{i}天。" for i in range(20) for word in ("他", "她")]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def rows(out: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))


def test_cells_are_models_seeds_and_interventions(texts: Path) -> None:
    kinds: tuple[Intervention, ...] = ("none", "cds", "inlp", "as-is")
    grid = GridSettings(texts=texts, models=("a/b", "c"), interventions=kinds, seeds=2, run_name="grid")
    assert [(cell.model, cell.intervention, cell.seed) for cell in grid.cells[:6]] == [
        ("a/b", "none", 0), ("a/b", "cds", 0), ("a/b", "inlp", 0), ("a/b", "as-is", 0), ("a/b", "none", 1),
        ("a/b", "cds", 1),
    ]  # fmt: skip
    assert len(grid.cells) == 12 and Cell("a/b", "cds", 1).name == "a_b.cds.1"
    with pytest.raises(Refused, match="at least one model"):
        GridSettings(texts=texts, models=(), run_name="grid")


def test_an_extended_grid_reuses_finished_cells(texts: Path, tmp_path: Path) -> None:
    def made(*models: str, kinds: tuple[Intervention, ...], share: float = 0.3) -> GridReport:
        settings = GridSettings(texts=texts, models=models, interventions=kinds, seeds=1, share=share, **TUNING)
        return run_grid(
            settings, Place(tmp_path / "lab.db", lambda done, total=None, _="": seen.append((done, total))), few()
        )

    folder, seen = tmp_path / "lab-grids" / "grid", list[tuple[int, int | None]]()
    out = folder.with_suffix(".csv")
    report = made("planted:+1", kinds=("as-is", "none"))
    assert seen == [(0, 2), (1, 2), (2, 2)] and report.failed == ()
    first, second = rows(out)
    assert tuple(first) == COLUMNS and {first["status"], second["status"]} == {"ok"}
    assert float(first["size_before"]) == float(first["size_after"]) == pytest.approx(1, abs=1e-4)
    assert second["loss_after"] and (folder / "planted_+1.none.0" / "tuning.json").is_file()
    assert json.loads(folder.with_suffix(".json").read_text(encoding="utf-8"))["kind"] == "grid"
    cell = (folder / "planted_+1.none.0" / "cell.json").read_bytes()
    again = made("planted:+1", "nowhere", kinds=("as-is",))
    assert (folder / "planted_+1.none.0" / "cell.json").read_bytes() == cell
    assert [row["status"] == "ok" for row in rows(out)] == [True, False]
    assert again.failed[0].model == "nowhere" and rows(out)[1]["size_after"] == ""
    assert from_json(GridReport, to_json(again)).cells == again.cells
    with pytest.raises(Refused, match="other settings"):
        made("planted:+1", kinds=("none",), share=0.4)
