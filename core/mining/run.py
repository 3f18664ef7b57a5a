"""A run of mining: blocks of text to candidates, in one process, in several, or on a cluster.

Blocks are examined anywhere and in any number of processes; what they gave is
taken in the order of the text, and only then compared for duplicates. So the
same text and settings give the same candidates in the same order.
"""

import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from evenhand.core.errors import N_, EvenhandError
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.files.csv_out import json_line
from evenhand.core.mining.blocks import Block, blocks, total_size
from evenhand.core.mining.duplicates import Exact, Near
from evenhand.core.mining.examine import Examined, Examiner, Mined, examiner, example_of, gc_paused
from evenhand.core.mining.filters import tagger
from evenhand.core.mining.find_keywords import counterpart
from evenhand.core.mining.report import CellCounts, Problem, Report, example_key
from evenhand.core.mining.settings import Settings
from evenhand.core.mining.types import Finding
from evenhand.core.processes import end_with_parent, processors
from evenhand.core.text.dictionary import dictionary
from evenhand.core.types import JsonObject

BYTES_PER_PROCESS = 8_000_000  # bytes for which a process more is worth its start
PREFETCH_BLOCKS = 4  # blocks per process that are under way or wait for their turn
DAMAGED = N_("{file}: {count} sentences were skipped because they contain bytes that are not {encoding}.")
COMPARED = N_("Near-duplicates were searched for among the first million candidates only.")
NO_TAGGER = N_(
    "Only a few certain rules looked for personal names; `pip install -r requirements-names.txt` adds the tagger that "
    "finds most of the others."
)
CANCELLED = "This run was cancelled."  # not shown: the process that asked is ending
WORKER_ENDED = N_("A worker process ended unexpectedly, often for lack of memory. Try fewer workers.")

Line = JsonObject
OnCandidate = Callable[[Line], None]
OnProgress = Callable[[int, int | None], None]


def mine(
    paths: Iterable[Path | str],
    settings: Settings,
    *,
    on_candidate: OnCandidate,
    progress: OnProgress | None = None,
    workers: int | None = 1,
    ray: str | None = None,
    limit_bytes: int | None = None,
    without: Iterable[Path] = (),
) -> Report:
    """Read *paths*, call `on_candidate` with each candidate as a line of the candidates file, and report.

    `progress(done, total)` counts bytes on the disk. `workers` processes (None: a
    processor for each 8 MB, as many as there are), or as many actors of the Ray
    cluster at address *ray* ("local" starts one here), change nothing but the time.
    `limit_bytes` ends after so much text (a dry run); files *without* are not read.
    Raises BadFile where nothing can be read.
    """
    began = time.monotonic()
    paths, without = list(paths), list(without)
    report = Report(settings)
    total = total_size(paths, without)
    total = total if limit_bytes is None else min(limit_bytes, total)
    collector = _Collector(report, on_candidate)
    source = blocks(paths, report.read, column=settings.column, limit=limit_bytes, without=without)
    done = 0
    workers = workers or max(1, min(processors(), total // BYTES_PER_PROCESS))
    for examined in _examined(source, settings, workers, ray):
        with gc_paused():
            collector.take(examined)
        done = max(done, min(total, examined.position))
        if progress:
            progress(done, total)
    collector.finish()
    if progress:
        progress(total, total)
    report.seconds = time.monotonic() - began
    return report


def _examined(
    source: Iterator[tuple[Block, int]], settings: Settings, workers: int, ray: str | None
) -> Iterator[Examined]:
    if ray is not None:
        from evenhand.core.cluster import ordered_map

        arguments = {"settings": settings.to_json()}
        yield from ordered_map("evenhand.core.mining.examine:examiner", arguments, source, address=ray, workers=workers)
    elif workers <= 1:
        yield from map(Examiner(settings), source)
    else:
        yield from _in_processes(source, settings, workers)


_examiner: Examiner | None = None
_cancelled = False


def _prepare(settings: JsonObject) -> None:
    global _examiner
    signal.signal(signal.SIGTERM, _cancel)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    end_with_parent()
    _examiner = _examiner or examiner(settings)


def _cancel(*_: object) -> None:
    """The SIGTERM of a job reaches its workers too. A worker that ends while it sends leaves half a message in the
    pipe, and the run waits for the rest without end. So it finishes its block and begins no other."""
    global _cancelled
    _cancelled = True


def _examine(item: tuple[Block, int]) -> Examined:
    assert _examiner is not None
    if _cancelled:
        raise EvenhandError(CANCELLED)
    return _examiner(item)


def _pool(settings: Settings, workers: int) -> ProcessPoolExecutor:
    """Processes that are copies of this one, made with the first block.

    They begin with its modules, lists and dictionary: each would need a second of its processor to load them.
    """
    global _examiner
    if sys.platform == "linux":
        _examiner = Examiner(settings)
        dictionary()
    way = get_context("fork" if sys.platform == "linux" else "spawn")
    return ProcessPoolExecutor(workers, way, initializer=_prepare, initargs=(settings.to_json(),))


@contextmanager
def _defer_sigterm() -> Iterator[None]:
    """A process begun meanwhile does not end as this one does, which would tidy up this one's files."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def _in_processes(source: Iterator[tuple[Block, int]], settings: Settings, workers: int) -> Iterator[Examined]:
    pool = _pool(settings, workers)
    waiting: deque[Future[Examined]] = deque()
    try:
        for item in source:
            with _defer_sigterm():
                waiting.append(pool.submit(_examine, item))
            if len(waiting) >= workers * PREFETCH_BLOCKS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise EvenhandError(WORKER_ENDED) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@dataclass(slots=True)
class _Damage:
    """Sentences of one file that were left out, and its encoding."""

    file: str
    encoding: str
    count: int = 0


class _Collector:
    """Takes what blocks gave in their order, drops duplicates, counts, hands out lines."""

    def __init__(self, report: Report, on_candidate: OnCandidate) -> None:
        self.report, self.on_candidate = report, on_candidate
        self.settings = report.settings
        self.modes = self.settings.all_modes()
        self.exact, self.near = Exact(), Near()
        self.damage: _Damage | None = None

    def take(self, examined: Examined) -> None:
        """Everything of the next block."""
        read = self.report.read
        read.characters += examined.characters
        read.sentences += examined.sentences
        read.damaged += examined.damaged
        read.report(examined.problems)
        self._note_damage(examined)
        for where, counts in examined.cells.items():
            self.report.cells[where].merge(counts)
        known = self.exact.known([mined.key for mined in examined.mined])
        earlier, keys = self.near.earlier(examined.keys), examined.keys.tolist()
        for number, mined in enumerate(examined.mined):
            near = (keys[number], earlier[number]) if keys else ([], set())
            self._judge(mined, known[number], *near)
        self.exact.settle()
        self.near.settle()

    def _note_damage(self, examined: Examined) -> None:
        if self.damage is not None and self.damage.file != examined.file:
            self._report_damage()
        if examined.damaged:
            self.damage = self.damage or _Damage(examined.file, examined.encoding)
            self.damage.count += examined.damaged

    def _report_damage(self) -> None:
        if self.damage is not None:
            values = {"file": self.damage.file, "count": self.damage.count, "encoding": self.damage.encoding}
            self.report.read.report([Problem(self.damage.file, 0, "damaged", DAMAGED, values)])
        self.damage = None

    def _judge(self, one: Mined, known: bool, keys: list[int], earlier: set[int]) -> None:
        findings = list(one.findings)
        counts, modes = self.report.cells[one.word.cell], self.modes[one.word.cell[0]]
        mode = modes["duplicate"]
        if mode != "off" and (not self.exact.add(one.key) or known):
            finding = Finding("same")
            if mode == "reject":
                self._reject(counts, one, "duplicate", finding, "")
                return
            findings.append(("duplicate", finding))
        mode = modes["near_duplicate"]
        if mode != "off":
            text = one.masked
            like = self.near.like(text, keys, earlier)
            if like is None:
                self.near.add(text, keys)
            else:
                finding = Finding("near")
                if mode == "reject":
                    self._reject(counts, one, "near_duplicate", finding, like)
                    return
                findings.append(("near_duplicate", finding))
        self._keep(counts, one, findings)

    def _reject(self, counts: CellCounts, one: Mined, code: str, finding: Finding, like: str) -> None:
        counts.rejected[code] += 1
        self._show(counts, one, code, finding, like)

    def _show(self, counts: CellCounts, one: Mined, code: str, finding: Finding, like: str = "") -> None:
        key = example_key(one.sentence, self.settings.seed)
        if counts.sample(code).wants(key):
            like = like.replace("\x00", "□")
            counts.sample(code).add(key, example_of(one.candidate, finding, one.file, one.offset, like))

    def _keep(self, counts: CellCounts, one: Mined, findings: list[tuple[str, Finding]]) -> None:
        counts.candidates += 1
        counts.flagged_candidates += bool(findings)
        for code, finding in findings:
            counts.flagged[code] += 1
            self._show(counts, one, code, finding)
        self.on_candidate(line(one, findings))

    def finish(self) -> None:
        """The report at the end."""
        self._report_damage()
        if self.near.full:
            self.report.notices.append(COMPARED)
        if self.settings.finds_names and not tagger.installed():
            self.report.notices.append(NO_TAGGER)


def line(one: Mined, findings: list[tuple[str, Finding]]) -> Line:
    """Return a candidate as a line of the candidates file."""
    candidate = one.candidate
    source: JsonObject = {"file": one.file, "offset": one.offset, "name": one.name, "date": one.date}
    if one.columns:
        source["columns"] = dict(one.columns)
    text: Line = {
        "sentence": candidate.sentence,
        "start": candidate.start,
        "end": candidate.end,
        "stem_start": candidate.stem_start,
        "stem_end": candidate.stem_end,
        "keyword": candidate.keyword,
        "counterpart": counterpart(candidate),
        "pair": candidate.pair.name,
        "side": candidate.side,
        "source": source,
        "flags": [code for code, _ in findings],
    }
    if findings:
        text["findings"] = [_finding(candidate.sentence, code, finding) for code, finding in findings]
    if one.original is not None:
        text["original"] = one.original
    return text


def _finding(sentence: str, code: str, finding: Finding) -> Line:
    word = sentence[slice(*finding.span)] if finding.span else None
    return {"filter": code, "reason": finding.reason, "word": word}


class CandidateWriter:
    """Writes one candidate a line (JSON). The last one is held back: it carries the facts of the whole run."""

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._last: Mapping[str, Any] | None = None

    def __call__(self, line: Mapping[str, Any]) -> None:
        """The next candidate."""
        self.end()
        self._last = line

    def end(self, run: Mapping[str, Any] | None = None) -> None:
        """Write the last line, with the facts of the *run* under `run` if given."""
        if self._last is not None:
            line = self._last if run is None else {**self._last, "run": run}
            self._write(json_line(line))
        self._last = None


@contextmanager
def candidates_file(path: Path) -> Iterator[CandidateWriter]:
    """Yield a writer of candidates to *path*; the file appears complete or not at all."""
    with whole_file(path) as write:
        writer = CandidateWriter(write)
        yield writer
        writer.end()
