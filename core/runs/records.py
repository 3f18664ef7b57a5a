"""Runs on disk, alike for every kind: the file that a run wrote, and a record of its request and its course.

`<name>.csv` (generations: `<name>.jsonl`) and `<name>.json` are in a folder next to the database, one folder per kind.
A file without a readable record does not count as a run: it is being written, or its run was ended.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

from evenhand.core.errors import N_, EvenhandError, Notice, Refused
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.language import message_of
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject

Kind = Literal[
    "scores", "generations", "associations", "nli", "misgendering", "mining", "tunes", "comparisons", "grids",
    "measures",
]  # fmt: skip
NO_TARGET = N_("Give an output for the table: --out FILE or --run NAME.")
TABLE, TEXTS, RECORD = ".csv", ".jsonl", ".json"
LONGEST_NAME = 120  # bytes; file systems allow 255, and a part file has a longer name
LONGEST_LABEL = 60  # code points of a proposed name, before the day
ROOM = len(" 2026-01-01 (1000)")  # bytes that the day and a number take
OWNER = "owner"  # the key of a record
# The owner of the runs that this process writes: {"project": public id, "account": public id}; {} in the open mode.
ordered_by: ContextVar[dict[str, str]] = ContextVar("ordered_by", default={})  # noqa: B039 (never changed in place)
NO_TEXTS = N_("Give an output for the generations: --out FILE or --run NAME.")
FORBIDDEN = '/\\\0<>:"|?*\n\r\t'


@dataclass(frozen=True, slots=True)
class Failure:
    """A model that could not be used: why, as a sentence with {names} to translate, and the values of the names."""

    model: str
    error: str
    values: Mapping[str, object] = field(default_factory=dict)
    also_in_json: ClassVar = ("text",)

    @classmethod
    def of(cls, model: str, error: EvenhandError) -> "Failure":
        """Return *error* as the failure of *model*."""
        return cls(model, error.message, _plain(error.values))

    @classmethod
    def read(cls, facts: JsonObject) -> "Failure":
        """Return a failure of a record; one without values (misgendering, until 0.4.0) has a whole English sentence."""
        model, message, values = str(facts.get("model") or ""), str(facts.get("error") or ""), facts.get("values")
        if isinstance(values, dict) and values:
            return cls(model, message, values)
        return cls(model, *message_of(str(facts.get("text") or message)))

    @property
    def text(self) -> str:
        """The English sentence."""
        return self.error.format(**self.values) if self.values else self.error


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run: its name, the file it wrote, and its record (settings, data, versions, what came of each model).

    A record may come from an earlier version or from elsewhere: a value that is missing or of another type counts as
    empty.
    """

    name: str
    table: Path
    record: JsonObject

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the requested order, without models that could not be used."""
        return tuple(str(entry.get("model") or "") for entry in self.answered)

    @property
    def signatures(self) -> tuple[str, ...]:
        """The signature of each model: how its numbers or texts were made."""
        return tuple(str(entry.get("signature") or "") for entry in self.answered)

    @property
    def answered(self) -> list[JsonObject]:
        """The entry of the record for each model that was used."""
        models = self.record.get("models")
        if isinstance(models, list):
            return [model for model in models if isinstance(model, dict)]
        return [self.record] if self.record.get("model") else []  # a run of generation has one model

    @property
    def failures(self) -> list[Failure]:
        """The models that could not be used."""
        return [Failure.read(entry) for entry in self._entries("failed")]

    @property
    def notices(self) -> list[Notice]:
        """Messages that users should read although the run continued."""
        result = ((str(entry.get("message") or ""), entry.get("values")) for entry in self._entries("notices"))
        return [Notice(message, values if isinstance(values, dict) else {}) for message, values in result]

    @property
    def sentences(self) -> int:
        """The number of rows of the input."""
        return self.count("sentences")

    @property
    def scored(self) -> int:
        """The number of input rows with a score, from the model that scored most; 0 without models."""
        return max((int(entry.get("scored") or 0) for entry in self.answered), default=0)

    @property
    def created(self) -> str:
        """The time when the run was finished: UTC, ISO 8601."""
        return str(self.record.get("created") or "")

    @property
    def seconds(self) -> float | None:
        """The duration in seconds; None where the record does not say."""
        value = self.record.get("seconds")
        return float(value) if isinstance(value, int | float) else None

    @property
    def source(self) -> JsonObject:
        """The input of the models: kind, name, format, rows, sha256."""
        return self.facts("source")

    @property
    def owner(self) -> tuple[str | None, str | None]:
        """Public ids of the project and of the account that the run was made for; None where not recorded."""
        facts = self.facts(OWNER)
        project, account = (facts.get(key) for key in ("project", "account"))
        return (project if isinstance(project, str) else None, account if isinstance(account, str) else None)

    def delete(self) -> None:
        """Delete the files of the run, with its record. The answers of models stay in the file of remembered scores."""
        for ending in (RECORD, TEXTS, TABLE):
            self.table.with_suffix(ending).unlink(missing_ok=True)

    def facts(self, key: str) -> JsonObject:
        """Return an object of the record; empty where there is none."""
        result = self.record.get(key)
        return result if isinstance(result, dict) else {}

    def count(self, key: str) -> int:
        """Return a number of the record; 0 where there is none."""
        value = self.record.get(key)
        return int(value) if isinstance(value, int | float) else 0

    def _entries(self, key: str) -> list[JsonObject]:
        result = self.record.get(key)
        return [entry for entry in result if isinstance(entry, dict)] if isinstance(result, list) else []


def runs_folder(database: Path | str, kind: Kind) -> Path:
    """Return the folder of the runs of a kind, next to the database: `<its name without ending>-<kind>`."""
    path = Path(database).resolve()
    return path.with_name(f"{path.stem}-{kind}")


def runs_in(folder: Path | str) -> list[Run]:
    """Return the finished runs of *folder*, the newest first."""
    runs = []
    for record in Path(folder).glob(f"*{RECORD}"):
        table = next((file for end in (TABLE, TEXTS) if (file := record.with_suffix(end)).is_file()), None)
        if table is not None and not record.name.startswith(".") and (facts := read_record(record)) is not None:
            runs.append(Run(record.stem, table, facts))
    return sorted(runs, key=lambda run: (run.created, run.name), reverse=True)


def sentences_scored(runs: Sequence[Run]) -> int | None:
    """Return the number of sentences scored in any of these runs, each data set once; None without runs."""
    most: dict[str, int] = {}
    for run in runs:
        data = str(run.source.get("sha256") or run.name)
        most[data] = max(most.get(data, 0), run.scored)
    return sum(most.values()) if most else None


def run_file(folder: Path, name: str, ending: str = TABLE) -> Path:
    """Return the file of a new run of that name. Raises Refused for an invalid name, or one that is taken."""
    bare = name.strip()
    if not bare or bare.startswith(".") or any(c in FORBIDDEN for c in bare) or len(bare.encode()) > LONGEST_NAME:
        message = N_(
            '{name} is not a valid run name. Use at most 120 bytes, no slash, none of < > : " | ? *, and no'
            " leading dot."
        )
        raise Refused(message, name=name or "''")
    file = folder / (bare + ending)
    if file.exists():
        raise Refused(N_("A run named {name} already exists. Choose another name."), name=bare)
    return file


def run_target(
    database: Path | str, kind: Kind, out: Path | str | None, name: str | None, *, ending: str = TABLE
) -> tuple[Path, bool]:
    """Return the file of a run, by --out FILE or --run NAME, and whether pages list it. Raises Refused without one."""
    if (out is None) == (name is None):
        raise Refused(NO_TEXTS if ending == TEXTS else NO_TARGET)
    if name is not None:
        return run_file(runs_folder(database, kind), name, ending), True
    return Path(out or ""), False


def target_or_none(
    database: Path | str, kind: Kind, out: Path | str | None, name: str | None
) -> tuple[Path | None, bool]:
    """Return `run_target` for a run that needs no file; (None, False) where neither option is set."""
    return (None, False) if out is None and name is None else run_target(database, kind, out, name)


def free_name(label: str, taken: Collection[str], now: datetime | None = None) -> str:
    """Return a name for a run that is not *taken*: *label*, the day, and a number where needed."""
    bare = " ".join("".join("-" if c in FORBIDDEN else c for c in label).split())
    bare = (
        bare.strip(". ")[:LONGEST_LABEL]
        .encode(errors="replace")[: LONGEST_NAME - ROOM]
        .decode(errors="ignore")
        .strip(". ")
        or "run"
    )
    first = name = f"{bare} {now or datetime.now(UTC):%Y-%m-%d}"
    number = 1
    while name in taken:
        number += 1
        name = f"{first} ({number})"
    return name


def write_record(file: Path, report: object) -> None:
    """Write the *report* next to the *file* of a run, with its owner (`ordered_by`); completely or not at all."""
    owner = {OWNER: ordered_by.get()} if ordered_by.get() else {}
    with whole_file(file.with_suffix(RECORD)) as write:
        write(json.dumps(to_json(report) | owner, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def first_rows(file: Path, number: int) -> list[JsonObject]:
    """Return the first rows of a file of JSON lines."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in islice(lines, number)]


def read_record(record: Path) -> JsonObject | None:
    """Return the JSON object in a file; None where it cannot be read."""
    try:
        facts = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) else None


def _plain(values: Mapping[str, object]) -> dict[str, int | float | str]:
    return {key: value if isinstance(value, int | float) else str(value) for key, value in values.items()}
