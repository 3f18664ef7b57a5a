"""A grid of changes: every cell made once, kept, measured; what cannot be made has its reason; the table fills in."""

import csv
import json
from pathlib import Path

import pytest

from evenhand.core.before_after.grid import COLUMNS, Cell, Grid, Items, run_grid
from evenhand.core.before_after.run import built_in_source
from evenhand.core.errors import Refused
from evenhand.core.models.tuning.settings import Tuning
from evenhand.core.scoring.input import ScoreInput

TUNING = Tuning(steps=2, batch=4, length=16, every=1, patience=0, rate=1e-3)


def few() -> Items:
    """One sentence of each pair."""
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
    grid = Grid(("a/b", "c"), ("none", "cds", "inlp", "as-is"), texts, seeds=2)
    assert [(cell.model, cell.intervention, cell.seed) for cell in grid.cells[:6]] == [
        ("a/b", "none", 0), ("a/b", "cds", 0), ("a/b", "inlp", 0), ("a/b", "as-is", 0), ("a/b", "none", 1),
        ("a/b", "cds", 1),
    ]  # fmt: skip
    assert len(grid.cells) == 12 and Cell("a/b", "cds", 1).name == "a_b.cds.1"
    with pytest.raises(Refused, match="at least one model"):
        Grid((), ("none",), texts)


def test_a_grid_goes_on_where_it_was(texts: Path, tmp_path: Path) -> None:
    grid = Grid(("planted:+1",), ("as-is", "none"), texts, 1, TUNING, few(), share=0.3)
    folder, out = tmp_path / "grid", tmp_path / "grid.csv"
    seen: list[tuple[int, int]] = []
    record = run_grid(grid, folder, out, watch=lambda done, total, _: seen.append((done, total)), record=True)
    assert seen == [(0, 2), (1, 2), (2, 2)] and record.failed == ()
    first, second = rows(out)
    assert tuple(first) == COLUMNS and {first["status"], second["status"]} == {"ok"}
    assert float(first["size_before"]) == float(first["size_after"]) == pytest.approx(1, abs=1e-4)
    assert second["loss_after"] and (folder / "planted_+1.none.0" / "tuning.json").is_file()
    assert json.loads((tmp_path / "grid.json").read_text(encoding="utf-8"))["kind"] == "grid"
    made = (folder / "planted_+1.none.0" / "cell.json").read_bytes()
    more = Grid(("planted:+1", "nowhere"), ("as-is",), texts, 1, TUNING, few(), share=0.3)
    again = run_grid(more, folder, out)
    assert (folder / "planted_+1.none.0" / "cell.json").read_bytes() == made
    assert [row["status"] == "ok" for row in rows(out)] == [True, False]
    assert again.failed[0].model == "nowhere" and rows(out)[1]["size_after"] == ""
    other = Grid(("planted:+1",), ("none",), texts, 1, TUNING, few(), share=0.4)
    with pytest.raises(Refused, match="other settings"):
        run_grid(other, folder, out)
