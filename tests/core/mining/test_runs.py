"""Runs of mining: a folder each, for the owner only; one without candidates or report is not finished."""

import pytest

from evenhand.core.errors import NotFound
from evenhand.core.mining.runs import mining_runs, new_mining_run
from evenhand.core.runs.records import runs_folder


def test_each_run_has_its_own_private_folder(tmp_path):
    database = tmp_path / "labels.db"
    first, second = new_mining_run(database, "2026-01-02"), new_mining_run(database, "2026-01-02")
    assert (first.name, second.name) == ("2026-01-02", "2026-01-02-2")
    assert mining_runs(database) == []
    first.candidates.write_text("", encoding="utf-8")
    first.report.write_text('{"signature": "mine|1"}', encoding="utf-8")
    assert [run.name for run in mining_runs(database)] == ["2026-01-02"]
    assert mining_runs(database)[0].read() == {"signature": "mine|1"}
    first.report.write_text("{", encoding="utf-8")
    with pytest.raises(NotFound, match="2026-01-02"):
        mining_runs(database)[0].read()
    assert runs_folder(database, "mining").stat().st_mode & 0o077 == 0
