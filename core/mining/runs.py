"""Runs of mining on disk: one folder per run next to the database, with its candidates, its report and its settings."""

import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.errors import N_, NotFound
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.files.timestamps import timestamp
from evenhand.core.runs.records import OWNER, Run, read_record, runs_folder
from evenhand.core.types import JsonObject

NAMES = ("candidates.jsonl", "report.json")  # of one run, in its folder
OWNED = "owner.json"  # next to them, if the run has an owner


@dataclass(frozen=True, slots=True)
class MiningRun(Run):
    """A run of mining: its table are the candidates (JSON lines); its report says why the other sentences went.

    Reports are long, so `record` holds only when the run was finished and whose it is; `read` reads the report.
    """

    @property
    def candidates(self) -> Path:
        """The sentences that were found."""
        return self.table

    @property
    def report(self) -> Path:
        """The figures and settings, as JSON."""
        return self.table.with_name(NAMES[1])

    def delete(self) -> None:
        """Delete the folder of the run."""
        shutil.rmtree(self.table.parent, ignore_errors=True)

    def read(self) -> JsonObject:
        """Return the report of the run. Raises NotFound if it cannot be read."""
        record = read_record(self.report)
        if record is None:
            raise NotFound(N_("The report of {name} cannot be read; mine again."), name=self.name)
        return record


def mining_runs(database: Path | str) -> list[MiningRun]:
    """Return the finished runs, the newest first."""
    folders = runs_folder(database, "mining").glob("*")
    finished = [folder for folder in folders if all((folder / name).is_file() for name in NAMES)]
    newest = sorted((((folder / NAMES[1]).stat().st_mtime, folder) for folder in finished), reverse=True)
    return [
        MiningRun(
            folder.name, folder / NAMES[0], {"created": timestamp(when), OWNER: read_record(folder / OWNED) or {}}
        )
        for when, folder in newest
    ]


def new_mining_run(database: Path | str, name: str, owner: Mapping[str, str] | None = None) -> MiningRun:
    """An empty folder for a run, for its owner only; a number is added where the name is taken.

    *owner*: public ids of the "project" and the "account" it is made for.
    """
    place = runs_folder(database, "mining")
    place.mkdir(mode=0o700, exist_ok=True)
    folder, number = place / name, 1
    while True:
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            break
        number += 1
        folder = place / f"{name}-{number}"
    if owner:
        with whole_file(folder / OWNED) as write:
            write(json.dumps(dict(owner)) + "\n")
    return MiningRun(folder.name, folder / NAMES[0], {})
