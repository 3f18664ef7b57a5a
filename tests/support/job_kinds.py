"""Kinds of jobs that do what a test needs, and the command line that runs them."""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from evenhand.annotations.jobs import kinds
from evenhand.core.errors import BadFile
from evenhand.core.runs.kinds import JobKind, Place


@dataclass(frozen=True, slots=True)
class Gate:
    """A run that waits until `gate` exists, and writes to `trace` when it begins and ends."""

    gate: Path
    trace: Path


@dataclass(frozen=True, slots=True)
class Text:
    """A text or the name of a file."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """How many lines a run read, and a name."""

    lines: int = 0
    name: str = ""


def _gated(settings: Gate, place: Place) -> Lines:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with settings.trace.open("a") as out:
        out.write(f"begun {child.pid}\n")
    try:
        print("reading", file=sys.stderr, flush=True)
        place.progress(3, 10)
        while not settings.gate.exists():
            time.sleep(0.02)
        place.progress(10, 10)
        return Lines(10, "甲")
    finally:
        child.kill()
        child.wait()
        with settings.trace.open("a") as out:
            out.write("unwound\n")


def _refused(settings: Text, place: Place) -> Lines:
    raise BadFile("{file} is no table.", file="a<b>.csv")


def _broken(settings: Text, place: Place) -> Lines:
    raise RuntimeError("no such luck")


def _words(settings: Text, place: Place) -> Lines:
    return Lines(name=Path(settings.text).read_text(encoding="utf-8"))


GATED = JobKind("gated", Gate, Lines, _gated)
REFUSED = JobKind("refused", Text, Lines, _refused)
BROKEN = JobKind("broken", Text, Lines, _broken)
WORDS = JobKind("words", Text, Lines, _words)


def add_kinds() -> None:
    """Let jobs of this process find these kinds."""
    kinds.KINDS.update(
        {name.lower(): f"tests.support.job_kinds:{name}" for name in ("GATED", "REFUSED", "BROKEN", "WORDS")}
    )
