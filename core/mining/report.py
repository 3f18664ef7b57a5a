"""The report of a run: the input, and per pair and side the sentences after each step with reasons of rejection."""

import csv
import hashlib
import io
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from evenhand.core.files.csv_out import neutralised
from evenhand.core.mining.settings import CODES, Settings
from evenhand.core.typed_json import to_json
from evenhand.core.types import JsonObject, Side
from evenhand.core.types import Problem as LineProblem
from evenhand.core.version import VERSION

EXAMPLES = 10  # rejected (or flagged) sentences shown per filter, pair and side
NUMBERS = ("with_keyword", "exactly_one", "candidates", "flagged_candidates")
Cell = tuple[str, Side]


class Problem(LineProblem):
    """Something that could not be read: a line (0: the file as a whole), a reason code, a sentence with {names}."""

    @property
    def text(self) -> str:
        """The English sentence with its values."""
        return self.message.format(**self.values) if self.values else self.message

    def to_json(self) -> JsonObject:
        """The keys of docs/mining.md#what-to-expect; `template` and `values` are for pages that translate."""
        result = {"file": self.file, "line": self.line, "reason": self.reason, "message": self.text}
        return result | {"template": self.message, "values": dict(self.values)}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> "Problem":
        """Return the problem that `to_json` wrote."""
        return cls(row["file"], row["line"], row["reason"], row["template"], row["values"])


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence that a filter rejected or flagged.

    `start`, `end`: the keyword; `span`: what the filter means, None for the whole
    sentence; `like`: the earlier sentence that it repeats, "" elsewhere.
    """

    sentence: str
    start: int
    end: int
    reason: str
    span: tuple[int, int] | None
    file: str
    offset: int
    like: str = ""

    def key(self, seed: int) -> int:
        """Return its place in a random order that does not depend on how the text was divided among processes."""
        return example_key(self.sentence, seed)


def example_key(sentence: str, seed: int) -> int:
    """Return a number of 64 bits from a sentence and the seed."""
    hashed = _salted(seed).copy()
    hashed.update(sentence.encode())
    return int.from_bytes(hashed.digest())


@cache
def _salted(seed: int) -> hashlib.blake2b:
    return hashlib.blake2b(digest_size=8, salt=str(seed).encode()[:16])


class Sample:
    """The sentences with the smallest keys: a random sample that does not depend on order, workers or blocks."""

    def __init__(self) -> None:
        self.kept: list[tuple[int, Example]] = []

    def wants(self, key: int) -> bool:
        """Tell whether a sentence with that key would be shown."""
        return len(self.kept) < EXAMPLES or key < self.kept[-1][0]

    def add(self, key: int, example: Example) -> None:
        """Keep *example* if its key is among the smallest; a sentence that is there already is not shown twice."""
        if self.wants(key) and all(key != other for other, _ in self.kept):
            insort(self.kept, (key, example), key=lambda one: one[0])
            del self.kept[EXAMPLES:]


@dataclass(slots=True)
class CellCounts:
    """One pair and side. A sentence with 他 twice counts in `with_keyword` once and not in `exactly_one`.

    `rejected`: by the filter that rejected it, the first one in order; `flagged`: candidates that
    carry the flag. exactly_one = candidates + all that were rejected.
    """

    with_keyword: int = 0
    exactly_one: int = 0
    candidates: int = 0
    flagged_candidates: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    samples: dict[str, Sample] = field(default_factory=dict)

    def sample(self, code: str) -> Sample:
        """Return the examples of a filter."""
        return self.samples.setdefault(code, Sample())

    def merge(self, other: "CellCounts") -> None:
        """Add what another part of the text gave."""
        self.with_keyword += other.with_keyword
        self.exactly_one += other.exactly_one
        self.candidates += other.candidates
        self.flagged_candidates += other.flagged_candidates
        self.rejected += other.rejected
        self.flagged += other.flagged
        for code, sample in other.samples.items():
            for key, example in sample.kept:
                self.sample(code).add(key, example)


@dataclass(slots=True)
class Read:
    """What went in. `characters`: of the text itself, after decoding; `sentences`: after the split.

    `damaged`: sentences left out because a byte in them does not decode. `encodings`: files by encoding.
    `skipped`: files of a folder that were left alone, by ending. `problems`: at most MOST_PROBLEMS,
    all of `problem_count`. `whole` is False where a limit ended the reading.
    """

    files: int = 0
    bytes: int = 0
    characters: int = 0
    sentences: int = 0
    damaged: int = 0
    encodings: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    whole: bool = True

    def report(self, problems: Iterable[Problem]) -> None:
        """Note problems; beyond MOST_PROBLEMS they are only counted."""
        for problem in problems:
            self.problem_count += 1
            if len(self.problems) < MOST_PROBLEMS:
                self.problems.append(problem)


MOST_PROBLEMS = 200


@dataclass(slots=True)
class Report:
    """All of a run; `notices` say what else is to be known."""

    settings: Settings
    read: Read = field(default_factory=Read)
    cells: dict[Cell, CellCounts] = field(default_factory=dict)
    seconds: float = 0.0
    notices: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        sides: tuple[Side, Side] = ("male", "female")
        for pair in self.settings.pairs:
            for side in sides:
                self.cells.setdefault((pair.name, side), CellCounts())

    @property
    def candidates(self) -> int:
        """All candidates, flagged ones too."""
        return sum(cell.candidates for cell in self.cells.values())

    def total(self) -> CellCounts:
        """All pairs and sides together; `with_keyword` then counts a sentence once per word it holds."""
        whole = CellCounts()
        for cell in self.cells.values():
            whole.merge(cell)
        return whole

    def to_json(self) -> JsonObject:
        """Return the report as values of JSON; `from_json` reads them back."""
        return {
            "read": to_json(self.read),
            "funnel": [self._row(*cell) for cell in self.cells],
            "total": _counts(self.total()),
            "candidates": self.candidates,
            "settings": self.settings.to_json(),
            "modes": self.settings.all_modes(),
            "signature": self.settings.signature,
            "version": VERSION,
            "seconds": round(self.seconds, 3),
            "notices": self.notices,
        }

    def facts(self) -> JsonObject:
        """The facts of a run that its candidates hold: counts of the input and of each step; no example, file or time.

        `cells`: pair -> side -> counts, of the pairs that were found at all.
        """
        total = self.total()
        cells: dict[str, JsonObject] = {}
        for (pair, side), counts in self.cells.items():
            cells.setdefault(pair, {})[side] = {name: getattr(counts, name) for name in NUMBERS}
        read = {
            name: getattr(self.read, name) for name in ("files", "bytes", "characters", "sentences", "damaged", "whole")
        }
        result = {pair: sides for pair, sides in cells.items() if any(side["with_keyword"] for side in sides.values())}
        return {"signature": self.settings.signature, "read": read} | _counts(total) | {"cells": result}

    def _row(self, pair: str, side: Side) -> JsonObject:
        counts = self.cells[pair, side]
        word = next(keyword_pair.word(side) for keyword_pair in self.settings.pairs if keyword_pair.name == pair)
        filters = {
            code: {
                "mode": self.settings.mode(pair, code),
                "rejected": counts.rejected[code],
                "flagged": counts.flagged[code],
                "examples": [asdict(example) for _, example in counts.samples.get(code, Sample()).kept],
            }
            for code in CODES
        }
        return {"pair": pair, "side": side, "keyword": word} | _counts(counts) | {"filters": filters}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "Report":
        """Return the report that `to_json` wrote. Raises KeyError where *values* are something else."""
        settings = Settings.from_json(values["settings"])
        given = dict(values["read"])
        given |= {name: Counter(given[name]) for name in ("encodings", "skipped")}
        given["problems"] = [Problem.from_json(row) for row in given["problems"]]
        report = cls(settings, Read(**given), {}, values["seconds"], list(values["notices"]))
        for row in values["funnel"]:
            report.cells[row["pair"], row["side"]] = _cell(row, settings.seed)
        return report

    def to_csv(self) -> str:
        """Return the funnel as CSV that is safe in spreadsheet programs.

        It has a row per pair and side, and two columns per filter.
        """
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        steps = ["with_keyword", "exactly_one"]
        columns = [f"{code}_{what}" for code in CODES for what in ("rejected", "flagged")]
        writer.writerow(["pair", "side", "keyword", *steps, *columns, "candidates", "signature"])
        for (pair, side), counts in self.cells.items():
            word = next(one.word(side) for one in self.settings.pairs if one.name == pair)
            numbers = [number for code in CODES for number in (counts.rejected[code], counts.flagged[code])]
            first = [neutralised(pair), side, neutralised(word), counts.with_keyword, counts.exactly_one]
            writer.writerow([*first, *numbers, counts.candidates, self.settings.signature])
        return table.getvalue()


def _counts(counts: CellCounts) -> JsonObject:
    whole = {name: getattr(counts, name) for name in NUMBERS}
    return whole | {"rejected": dict(counts.rejected), "flagged": dict(counts.flagged)}


def _cell(row: Mapping[str, Any], seed: int) -> CellCounts:
    first, second, third, fourth = (int(row[name]) for name in NUMBERS)
    cell_counts = CellCounts(first, second, third, fourth)
    cell_counts.rejected.update(row["rejected"])
    cell_counts.flagged.update(row["flagged"])
    for code, value in row["filters"].items():
        for entry in value["examples"]:
            example = Example(**entry | {"span": tuple(entry["span"]) if entry["span"] else None})
            cell_counts.sample(code).add(example.key(seed), example)
    return cell_counts
