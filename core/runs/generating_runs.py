"""Runs of generating on disk: the generations of a run as JSON lines, and beside it what was asked for and how it went.

A run that is not finished has neither: it lies in the hidden files of `core.generation.growing_file`.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import N_, Refused
from core.runs.records import RECORD, run_table

ROWS = ".jsonl"


@dataclass(frozen=True, slots=True)
class GenerationRun:
    """A finished run: its name, its generations, and its record."""

    name: str
    rows: Path
    record: dict[str, Any]

    @property
    def model(self) -> str:
        """Who wrote."""
        return str(self.record.get("model") or "")

    @property
    def generations(self) -> int:
        """How many texts there are."""
        return int(self.record.get("generations") or 0)

    @property
    def contexts(self) -> int:
        """How many contexts they go on from."""
        return int(self.record.get("contexts") or 0)

    @property
    def created(self) -> str:
        """When it was finished: UTC, ISO 8601."""
        return str(self.record.get("created") or "")

    @property
    def signature(self) -> str:
        """How the texts were made."""
        return str(self.record.get("signature") or "")


def generations_folder(database: Path | str) -> Path:
    """`<name of the database without ending>-generations` beside it. Not made here."""
    path = Path(database).resolve()
    return path.with_name(f"{path.stem}-generations")


def generation_runs(folder: Path | str) -> list[GenerationRun]:
    """The finished runs in *folder*, the newest first."""
    found = []
    for rows in Path(folder).glob(f"*{ROWS}"):
        record = _record(rows.with_suffix(RECORD))
        if record is not None and not rows.name.startswith("."):
            found.append(GenerationRun(rows.stem, rows, record))
    return sorted(found, key=lambda run: (run.created, run.name), reverse=True)


def generation_file(folder: Path, name: str) -> Path:
    """Where the generations of a run of that name lie. Raises Refused for a name that is none, or is taken."""
    path = run_table(folder, name).with_suffix("")
    path = path.with_name(path.name + ROWS)
    if path.exists():
        raise Refused(N_("There is a run named {name} already; choose another name."), name=name.strip())
    return path


def remove_run(run: GenerationRun) -> None:
    """Delete the generations of a run and its record. What is in a project stays."""
    run.rows.with_suffix(RECORD).unlink(missing_ok=True)
    run.rows.unlink(missing_ok=True)


def first_rows(path: Path, number: int) -> list[dict[str, Any]]:
    """The first generations of a file."""
    rows: list[dict[str, Any]] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if len(rows) == number:
                break
            rows.append(json.loads(line))
    return rows


def _record(path: Path) -> dict[str, Any] | None:
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) else None
