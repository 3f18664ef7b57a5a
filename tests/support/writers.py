"""Processes that write into one database beside each other."""

import subprocess
import sys
import textwrap
from pathlib import Path

from tests.support.projects import PATIENT

ROOT = Path(__file__).resolve().parents[2]


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process of its own in the project's folder."""
    command = [sys.executable, "-c", PATIENT + textwrap.dedent(script), *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str]) -> list[str]:
    """What a process printed, once it is over; it must have ended well."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    return out.splitlines()
