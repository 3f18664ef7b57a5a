"""Processes that write into one database at the same time."""

import subprocess
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

from tests.support.projects import PATIENT

ROOT = Path(__file__).resolve().parents[2]


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a separate Python process in the project's folder."""
    command = [sys.executable, "-c", PATIENT + textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def outputs(processes: Iterable[subprocess.Popen[str]]) -> list[list[str]]:
    """Return the lines that each process printed, once all have ended, each without an error.

    All are waited for before any is judged: one left running would fail a later test with its open pipes.
    """
    ended = [(process, *process.communicate(timeout=600)) for process in processes]
    for process, _out, err in ended:
        assert process.returncode == 0, err
    return [out.splitlines() for _process, out, _err in ended]
