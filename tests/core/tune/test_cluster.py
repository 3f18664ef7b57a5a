"""Reports on a run of tuning elsewhere. The worker itself, also one that is killed: tests/core/test_cluster.py."""

from pathlib import Path

from evenhand.core.tune.run import last_step


def test_progress_is_read_from_the_last_complete_line_of_a_curve(tmp_path: Path) -> None:
    curve = tmp_path / "curve.jsonl"
    assert last_step(curve) is None
    curve.write_text("", encoding="utf-8")
    assert last_step(curve) is None
    curve.write_text('{"step": 20, "loss": 1.5}\n{"step": 40, "loss": 1.2}\n{"step": 6', encoding="utf-8")
    assert last_step(curve) == 40
