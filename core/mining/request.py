"""A run of mining as it is asked for: texts, the files to write, and settings by name or from a file."""

import errno
import json
import math
import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from evenhand.core.errors import N_, BadFile
from evenhand.core.files.atomic_file import CANNOT_WRITE, whole_file
from evenhand.core.mining.report import Report
from evenhand.core.mining.run import candidates_file, mine
from evenhand.core.mining.settings import Quotes, Settings
from evenhand.core.mining.types import Mode
from evenhand.core.resources import keyword_pairs
from evenhand.core.runs.kinds import JobKind, Place
from evenhand.core.types import JsonObject, KeywordPair

UNREADABLE = N_("{file} cannot be read: {why}.")
NO_MODE = N_("--set takes FILTER=MODE or PAIR:FILTER=MODE, such as names=flag or 他/她:names=reject, not {text}.")
NO_LIMIT = N_("--limit takes a number of megabytes.")
SAME_PLACE = N_("{file} is given twice as an output file; each output needs its own file.")
OWN_TEXT = N_("{file} is an input text; writing there would destroy it. Name another file.")
NO_SETTINGS = N_("{file} contains no mining settings; the report of an earlier run has them under `settings`.")


@dataclass(frozen=True, slots=True)
class Request:
    """The parameters of the command `mine`.

    `out`: the candidates; `report_path`, `table`: the report as JSON and as a table. `settings_path`: a file of
    settings, or the report of an earlier run; the other settings are stronger. `limit`: megabytes that are read.
    `address`: of a Ray cluster.
    """

    paths: tuple[str, ...]
    out: Path
    report_path: Path | None = None
    table: Path | None = None
    pairs_of: str | None = None
    names: Mode | None = None
    given: tuple[str, ...] = ()
    quotes: Quotes | None = None
    convert: Literal["t2s"] | None = None
    column: str | None = None
    length: str | None = None
    seed: int | None = None
    settings_path: Path | None = None
    workers: int | None = None
    address: str | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """How many candidates a run found, and how they were found."""

    candidates: int
    signature: str
    seconds: float


def run(request: Request, place: Place) -> Report:
    """Read the texts and write the files. Raises BadFile."""
    settings = settings_of(request)
    own = {"out": request.out, "report": request.report_path, "table": request.table}
    files = {name: path for name, path in own.items() if path is not None}
    _refuse_places(list(files.values()), request.paths)
    # Output files are opened first, so that a run of hours does not end with a missing folder.
    with ExitStack() as opened:
        writers = {name: opened.enter_context(whole_file(path)) for name, path in files.items() if name != "out"}
        write = opened.enter_context(candidates_file(request.out))
        report = mine(
            request.paths,
            settings,
            on_candidate=write,
            progress=place.progress,
            workers=request.workers,
            ray=request.address,
            limit_bytes=_limit_bytes(request.limit),
            without=files.values(),
        )
        write.end(report.facts())
        if "report" in writers:
            writers["report"](json.dumps(report.to_json(), ensure_ascii=False, indent=1))
        if "table" in writers:
            writers["table"](report.to_csv())
    return report


def _candidates(request: Request, place: Place) -> Candidates:
    report = run(request, place)
    return Candidates(report.candidates, report.settings.signature, report.seconds)


MINE = JobKind(
    "mine",
    Request,
    Candidates,
    _candidates,
    unit="bytes",
    resuming=N_("Mining restarts from the beginning of the text; the interrupted run wrote nothing."),
    restarts=True,
    run_name=lambda request: request.out.parent.name,
    partial_file=lambda request, database: request.out,
)


def _refuse_places(own: list[Path], paths: Iterable[str]) -> None:
    """Raises BadFile if two output files are the same, one is an input, or its folder is missing."""
    read = {Path(path).expanduser().resolve() for path in paths}
    places = [path.resolve() for path in own]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise BadFile(SAME_PLACE, file=str(own[number]))
        if place in read:
            raise BadFile(OWN_TEXT, file=str(own[number]))
        if not place.parent.is_dir():
            raise BadFile(CANNOT_WRITE, file=str(own[number]), why=os.strerror(errno.ENOENT))


def _limit_bytes(megabytes: float | None) -> int | None:
    if megabytes is None:
        return None
    if not math.isfinite(megabytes):
        raise BadFile(NO_LIMIT)
    return max(1, int(megabytes * 1e6))


def settings_of(request: Request) -> Settings:
    """Return the settings that are asked for. Raises BadFile."""
    values = _from_file(request.settings_path) if request.settings_path else {}
    if request.pairs_of or "pairs" not in values:
        values["pairs"] = [asdict(pair) for pair in _pairs(request.pairs_of or "table1")]
    values |= {
        name: getattr(request, name)
        for name in ("quotes", "convert", "column", "seed")
        if getattr(request, name) is not None
    }
    if request.length:
        values["shortest"], values["longest"] = _length(request.length)
    modes: dict[str, Any] = {}
    pair_modes: list[dict[str, str]] = []
    for text in (*request.given, *([f"names={request.names}"] if request.names else [])):
        left, equals, mode = text.rpartition("=")
        if not (equals and left):
            raise BadFile(NO_MODE, text=text)
        pair, _, code = left.rpartition(":")
        if pair:
            pair_modes.append({"pair": pair, "filter": code, "mode": mode})
        else:
            modes[code] = mode
    try:
        modes = values.get("modes", {}) | modes
        return Settings.from_json(values | {"modes": modes, "pair_modes": values.get("pair_modes", []) + pair_modes})
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise BadFile(NO_SETTINGS, file=str(request.settings_path)) from error


def _from_file(path: Path) -> JsonObject:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(UNREADABLE, file=str(path), why=error.strerror or str(error)) from error
    except (ValueError, RecursionError):
        values = None
    if isinstance(values, dict) and "funnel" in values:  # the report of an earlier run
        values = values.get("settings")
    if not isinstance(values, dict):
        raise BadFile(NO_SETTINGS, file=str(path))
    return values


def _length(text: str) -> tuple[int, int]:
    shortest, _, longest = text.partition("-")
    if not shortest.isdecimal() or not longest.isdecimal():
        raise BadFile(N_("--length takes two numbers such as 9-119, not {text}."), text=text)
    return int(shortest), int(longest)


def _pairs(wanted: str) -> tuple[KeywordPair, ...]:
    if wanted == "table1" or wanted == "released":
        return keyword_pairs(wanted)
    from evenhand.core.mining.keyword_lists import read_pairs

    return read_pairs(Path(wanted))
