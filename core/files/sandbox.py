"""Reads what strangers send in a process of its own, with limits of time and memory that end only that process.

For every parser of what people upload: its work may not follow from the size of a file (Excel), or not as anybody
thinks. One process waits, with the modules that earlier readings needed; it forks a child for each reading, which sends
back the result, row by row if it is a generator (`core.files.reading_process`). That costs a few milliseconds.

YAML is read so too: short, not deep, and without aliases, which unfold a few lines to gigabytes.
"""

import atexit
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

import evenhand
from evenhand.core.errors import N_, BadFile

SECONDS = 120  # of processor time; by the clock twice as many and a minute
MEGABYTES = 2_000
IMPORT_FOLDER = Path(evenhand.__file__).resolve().parent.parent
PROCESS = "evenhand.core.files.reading_process"
LENGTH = struct.Struct("!Q")
MODULE_BYTES = 200  # of the name of a module, padded
TOO_LONG = N_("{file} takes more than {seconds} seconds to read: it is too large or malformed. Split the file.")
TOO_MUCH = N_("{file} takes more than {megabytes} MB of memory to read: it is too large or malformed. Split the file.")
ENDED = N_("{file} crashed the process that was reading it ({why}). Save the file again and retry.")
T = TypeVar("T")

_guard = threading.Lock()
_in_children: list[bool] = []  # in the server: whether every reader of tables and archives asks here
_this_is_one: list[bool] = []
_waiting: list[tuple["subprocess.Popen[bytes]", socket.socket]] = []  # the process that forks, if it runs


def read_in_children(wanted: bool = True) -> None:
    """Read tables and archives of this process in child processes from now on, because it serves many users."""
    _in_children[:] = [True] * wanted


def reads_in_children() -> bool:
    """Return True if this process reads files in children; a command and a job, which serve one person, do not."""
    return bool(_in_children)


def become_child() -> None:
    """Mark this process as a child, which reads files itself."""
    _this_is_one.append(True)


def is_child() -> bool:
    """Return True if this process is a child: it has limits, and ends after one reading."""
    return bool(_this_is_one)


def run_bounded(
    work: Callable[..., T], *arguments: Any, file: str, seconds: int = SECONDS, megabytes: int = MEGABYTES, **named: Any
) -> T:
    """Return the result of *work*, a function of a module, for these arguments in another process.

    Arguments and result are pickled. Raises the EvenhandError that *work* raises, or BadFile, which names *file*, where
    a limit is reached.
    """
    if is_child():
        return work(*arguments, **named)
    with closing(_messages(work, arguments, named, file, seconds, megabytes)) as messages:
        result: T = next(messages)
        return result


def rows_bounded(work: Callable[..., Iterator[list[T]]], *arguments: Any, file: str) -> Iterator[T]:
    """Yield the rows that *work* yields in lists in another process, which reads ahead a few lists at most.

    Pickles and raises like `run_bounded`. A caller that closes the generator ends that process.
    """
    with closing(_messages(work, arguments, {}, file, SECONDS, MEGABYTES)) as messages:
        for part in messages:
            yield from part


def _messages(
    work: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any], file: str, seconds: int, megabytes: int
) -> Generator[Any, None, None]:
    """Yield each value that the other process sends."""
    ours, theirs = socket.socketpair()
    status, told = os.pipe()
    with ours, os.fdopen(status, "rb") as ending:
        with theirs, os.fdopen(told, "wb", buffering=0) as end:
            _ask_for_a_child(work.__module__, [theirs.fileno(), end.fileno()])
        with suppress(BrokenPipeError, ConnectionResetError):  # what it ended with says why
            send(ours, (work.__qualname__, arguments, named, seconds, megabytes))
        while (message := received(ours)) is not None:
            kind, value = message
            if kind == "error":
                raise value
            if kind == "memory":
                raise BadFile(TOO_MUCH, file=file, megabytes=f"{megabytes:,}")
            if kind == "crash":
                raise BadFile(ENDED, file=file, why=value)
            if kind == "end":
                return
            yield value
        ours.close()
        raise _refusal(int(ending.read() or b"-1"), file, seconds, megabytes)


def _refusal(status: int, file: str, seconds: int, megabytes: int) -> BadFile:
    """Return the error for a child that ended without an answer. *status*: as `os.wait` returns it."""
    ended_by = os.WTERMSIG(status) if status >= 0 and os.WIFSIGNALED(status) else 0
    if ended_by in (signal.SIGXCPU, signal.SIGKILL):
        return BadFile(TOO_LONG, file=file, seconds=seconds)
    if ended_by == signal.SIGALRM:
        return BadFile(TOO_LONG, file=file, seconds=2 * seconds + 60)
    why = signal.Signals(ended_by).name if ended_by else f"exit {status}"
    return BadFile(ENDED, file=file, why=why)


def _ask_for_a_child(module: str, files: list[int]) -> None:
    """Have a child forked that has *module* and these file descriptors; start the process that does so if need be."""
    name = module.encode().ljust(MODULE_BYTES, b"\0")
    with _guard:
        for again in (True, False):
            if not _waiting:
                _waiting.append(_start())
            try:
                socket.send_fds(_waiting[0][1], [name], files)
                return
            except OSError:  # it was killed
                _stop()
                if not again:
                    raise


def _start() -> tuple["subprocess.Popen[bytes]", socket.socket]:
    ours, theirs = socket.socketpair()
    # The numeric libraries would take memory for threads that are not needed, and threads do not outlive a fork.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(IMPORT_FOLDER)}
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", PROCESS, str(theirs.fileno())], cwd=IMPORT_FOLDER, env=environment,
            pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    return process, ours


@atexit.register
def _stop() -> None:
    """End the process that forks; its children are not waited for."""
    while _waiting:
        process, connection = _waiting.pop()
        connection.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)


os.register_at_fork(after_in_child=_waiting.clear)  # the process belongs to who started it


def send(connection: socket.socket, message: object) -> None:
    """Send one message to the other side. Raises BrokenPipeError, ConnectionResetError where it is gone."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    connection.sendall(LENGTH.pack(len(data)) + data)


def received(connection: socket.socket) -> Any:
    """Return the next message; None where the other side is gone."""
    head = exactly(connection, LENGTH.size)
    data = None if head is None else exactly(connection, LENGTH.unpack(head)[0])
    return None if data is None else pickle.loads(data)  # noqa: S301  (of our own program)


def exactly(connection: socket.socket, size: int) -> bytes | None:
    """Return exactly *size* bytes; None where the other side ended before."""
    parts = []
    while size:
        try:
            part = connection.recv(min(size, 1 << 20))
        except ConnectionResetError:
            return None
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


LARGEST_BYTES = 64_000
DEEPEST = 40  # lists and mappings, one in the other
YAML_SECONDS, YAML_MEGABYTES = 10, 500
NO_YAML = N_("{file} cannot be read as YAML: {why}")


def yaml_value(text: str, *, most: int = LARGEST_BYTES) -> Any:
    """Return the value of YAML *text*. Raises ValueError for an alias, a tag, and long, deep or invalid text."""
    import yaml  # type: ignore[import-untyped]

    if len(text.encode("utf-8", "replace")) > most:
        raise ValueError(f"more than {most // 1000} kB")
    depth = 0
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("YAML with an alias (*)")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise ValueError(f"more than {DEEPEST} levels")
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error)[:200]) from error
    except (
        TypeError,
        AttributeError,
        KeyError,
        IndexError,
        OverflowError,
    ) as error:  # a key that is a list, an odd date
        raise ValueError(type(error).__name__) from error


def read_yaml(text: str, file: str) -> Any:
    """Return the value of YAML *text* of *file*; servers read it in another process. Raises BadFile."""
    if reads_in_children():
        return run_bounded(_read_yaml, text, file, file=file, seconds=YAML_SECONDS, megabytes=YAML_MEGABYTES)
    return _read_yaml(text, file)


def _read_yaml(text: str, file: str) -> Any:
    try:
        return yaml_value(text)
    except ValueError as error:
        raise BadFile(NO_YAML, file=file, why=str(error)) from error
