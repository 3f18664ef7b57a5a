"""`sampling`: drawn, shown, closed, and how many labels are needed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.judges.run import Request, run_judge
from tests.support.judged_generations import all_written, judged_project
from tests.support.projects import new_store


def answer(*arguments: object) -> dict[str, object]:
    done = CliRunner().invoke(cli, [*map(str, arguments), "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_a_sample_is_drawn_shown_and_closed_by_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenhand.core.sampling.labels_needed.TIMES", 2)
    path = tmp_path / "a.db"
    with new_store(path) as store:
        run_judge(store, judged_project(store, all_written(1)), Request(rule=True))
    result = answer("sampling", "needed", "made", "--width", 0.3, "--by", "model", "--db", path)
    assert [design["design"] for design in result["designs"]] == ["simple", "stratified", "clusters"]  # type: ignore[attr-defined]
    assert result["of"] == 80 and result["judge"] == "first-pronoun rule"
    assumed = answer("sampling", "needed", "made", "--rate", 0.2, "--width", 0.5, "--db", path)
    assert assumed["judge"] == "" and all(design["items"] for design in assumed["designs"])  # type: ignore[attr-defined]
    made = answer("sampling", "start", "made", "--items", 8, "--design", "stratified", "--by", "model", "--db", path)
    assert (made["items"], made["frame"], made["by"]) == (8, 80, ["model"]) and made["least"] == pytest.approx(0.1)
    assert answer("sampling", "close", "made", "--db", path)["closed"]
    assert len(answer("sampling", "show", "made", "--db", path)["samples"]) == 1  # type: ignore[arg-type]
    done = CliRunner().invoke(cli, ["sampling", "show", "made", "--db", str(path)])
    assert "Sample 1, closed: stratified by model, 8 of 80 items" in done.stdout
