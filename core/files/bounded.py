"""Reads what strangers send in a process of its own, with limits of time and memory that end only that process.

For parsers whose work does not follow from the size of a file (Excel), and for the first reading of what is uploaded
(`core.files.archives`). Starting it takes a tenth of a second.
"""

import importlib
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.errors import N_, BadFile

SECONDS = 120  # of processor time; by the clock twice as many and a minute
MEGABYTES = 2_000
ROOT = Path(__file__).resolve().parents[2]
TOO_LONG = N_(
    "{file} takes more than {seconds} seconds to read: it is too large, or was built to be slow. Split the file."
)
TOO_MUCH = N_(
    "{file} takes more than {megabytes} MB of memory to read: it is too large, or was built to exhaust memory."
    " Split the file."
)
ENDED = N_("{file} crashed the process that was reading it ({why}). Save the file again and retry.")


def run_bounded(
    work: Callable[..., None], *arguments: str, file: str, seconds: int = SECONDS, megabytes: int = MEGABYTES
) -> None:
    """Call *work*, a function of a module, with texts in another process; what it makes is in files that they name.

    Raises the BadFile that *work* raises, or BadFile, which names *file*, where a limit is reached.
    """
    command = [work.__module__, work.__qualname__, str(seconds), str(megabytes), *arguments]
    # The numeric libraries would take memory for threads that nobody needs.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__, *command],
            cwd=ROOT, env=environment, capture_output=True, timeout=2 * seconds + 60, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise BadFile(TOO_LONG, file=file, seconds=2 * seconds + 60) from error
    if done.returncode == 0:
        return
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise BadFile(TOO_LONG, file=file, seconds=seconds)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        why = done.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1] or f"exit {done.returncode}"
        raise BadFile(ENDED, file=file, why=why[:200]) from None
    if answer is None:
        raise BadFile(TOO_MUCH, file=file, megabytes=f"{megabytes:,}")
    raise BadFile(answer["message"], **answer["values"])


def _main(module: str, function: str, seconds: str, megabytes: str, *arguments: str) -> int:
    with suppress(OSError, ValueError):  # not every system has both limits
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (int(megabytes) << 20, int(megabytes) << 20))
    try:
        getattr(importlib.import_module(module), function)(*arguments)
    except MemoryError:
        sys.stdout.write("null")
        return 1
    except BadFile as error:
        sys.stdout.write(json.dumps({"message": error.message, "values": error.values}, default=str))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
