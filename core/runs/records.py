"""Runs of scoring on disk: the table of a run as CSV, and beside it what was asked, of what, and how it went."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import N_, Refused
from core.files.table_file import whole_file

TABLE, RECORD = ".csv", ".json"
LONGEST_NAME = 120  # bytes; file systems allow 255, and a part file has a longer name
FORBIDDEN = '/\\\0<>:"|?*\n\r\t'


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its name, its table, and its record (settings, data, versions, what came of each model)."""

    name: str
    table: Path
    record: dict[str, Any]

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order in which they were asked for, without those that could not be had."""
        return tuple(str(one.get("model", "")) for one in self._asked)

    @property
    def signatures(self) -> tuple[str, ...]:
        """How the numbers of each model were made."""
        return tuple(str(one.get("signature", "")) for one in self._asked)

    @property
    def sentences(self) -> int:
        """How many rows the input had."""
        return int(self.record.get("sentences") or 0)

    @property
    def scored(self) -> int:
        """How many of them at least one model gave a number to."""
        return max((int(one.get("scored") or 0) for one in self._asked), default=0)

    @property
    def created(self) -> str:
        """When it was finished: UTC, ISO 8601."""
        return str(self.record.get("created") or "")

    @property
    def seconds(self) -> float | None:
        """How long it took; None where the record does not say."""
        value = self.record.get("seconds")
        return float(value) if isinstance(value, int | float) else None

    @property
    def source(self) -> dict[str, Any]:
        """What was scored: kind, name, format, rows, sha256."""
        found = self.record.get("source")
        return found if isinstance(found, dict) else {}

    @property
    def _asked(self) -> list[dict[str, Any]]:
        found = self.record.get("models")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def runs_folder(database: Path | str) -> Path:
    """Where the runs of a database lie: `<its name without ending>-scores` beside it. Not made here."""
    path = Path(database).resolve()
    return path.with_name(f"{path.stem}-scores")


def runs(folder: Path | str) -> list[Run]:
    """The runs in *folder*, the newest first; a table without a readable record is none."""
    found = []
    for record in Path(folder).glob(f"*{RECORD}"):
        table = record.with_suffix(TABLE)
        if table.is_file() and not record.name.startswith(".") and (facts := _read(record)) is not None:
            found.append(Run(record.stem, table, facts))
    return sorted(found, key=lambda run: (run.created, run.name), reverse=True)


def sentences_scored(found: Sequence[Run]) -> int | None:
    """How many sentences have a number in any of these runs, each data set once; None where there is no run."""
    most: dict[str, int] = {}
    for run in found:
        data = str(run.source.get("sha256") or run.name)
        most[data] = max(most.get(data, 0), run.scored)
    return sum(most.values()) if most else None


def _read(record: Path) -> dict[str, Any] | None:
    try:
        facts = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) else None


def run_table(folder: Path, name: str) -> Path:
    """Where the table of a run of that name lies. Raises Refused for a name that is none, or is taken."""
    bare = name.strip()
    if not bare or bare.startswith(".") or any(c in FORBIDDEN for c in bare) or len(bare.encode()) > LONGEST_NAME:
        message = N_('{name} is no name for a run: at most 120 bytes, no slash, none of < > : " | ? *, no dot first.')
        raise Refused(message, name=name or "''")
    table = folder / (bare + TABLE)
    if table.exists():
        raise Refused(N_("There is a run named {name} already; choose another name."), name=bare)
    return table


def remove(run: Run) -> None:
    """Delete a run's table and record. What the models answered stays remembered."""
    run.table.with_suffix(RECORD).unlink(missing_ok=True)
    run.table.unlink(missing_ok=True)


def write_record(table: Path, facts: dict[str, Any]) -> None:
    """Put the record beside its table; whole or not at all."""
    with whole_file(table.with_suffix(RECORD)) as write:
        write(json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
