"""Where runs of misgendering lie: tables of verdicts with their records, as runs of scoring do (core.runs.records)."""

from pathlib import Path


def misgendering_folder(database: Path | str) -> Path:
    """`<name of the database without ending>-misgendering` beside it. Not made here."""
    path = Path(database).resolve()
    return path.with_name(f"{path.stem}-misgendering")
