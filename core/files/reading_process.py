"""The process that `core.files.sandbox` asks: it forks a child for each reading, with limits that end only that child.

It loads the requested module before it forks, so that the next child has it. It ends with the process that started it.
"""

import gc
import importlib
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from evenhand.core.errors import EvenhandError
from evenhand.core.files.sandbox import MODULE_BYTES, become_child, exactly, received, send

_endings: dict[int, int] = {}  # id of a child -> where its end is told


def serve(connection: socket.socket) -> None:
    """Fork a child for each module that is named, until the other side is gone."""
    signal.signal(signal.SIGCHLD, _tell_endings)
    while True:
        name, files, *_rest = socket.recv_fds(connection, MODULE_BYTES, 2)
        if not name:
            return
        name += exactly(connection, MODULE_BYTES - len(name)) or b""
        module = name.rstrip(b"\0").decode()
        before = len(sys.modules)
        with suppress(Exception):  # the child says what is wrong
            importlib.import_module(module)
        if len(sys.modules) != before:
            gc.collect()
            gc.freeze()  # children share what they do not touch
        _fork(connection, module, files)


def _fork(connection: socket.socket, module: str, files: list[int]) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # until it is known where to tell its end
    child = os.fork()
    if child == 0:
        connection.close()
        for place in (files[1], *_endings.values()):
            os.close(place)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        _work(module, socket.socket(fileno=files[0]))
    os.close(files[0])
    _endings[child] = files[1]
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def _tell_endings(_number: int, _frame: object) -> None:
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        place = _endings.pop(child)
        with suppress(OSError):
            os.write(place, str(status).encode())
        os.close(place)


def _work(module: str, connection: socket.socket) -> None:
    """Run the function that the parent asks for and send its result; the child ends here."""
    try:
        question: Any = received(connection)
        if question is not None:
            name, arguments, named, seconds, megabytes = question
            _limit(seconds, megabytes)
            become_child()
            _answer(connection, getattr(importlib.import_module(module), name), arguments, named)
    finally:
        os._exit(0)


def _answer(connection: socket.socket, work: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    try:
        found = work(*arguments, **named)
        if not isinstance(found, Iterator):
            send(connection, ("value", found))
            return
        for part in found:
            send(connection, ("value", part))
        send(connection, ("end", None))
    except MemoryError:
        send(connection, ("memory", None))
    except EvenhandError as error:
        send(connection, ("error", error))
    except Exception as error:  # an error that the parser does not expect
        send(connection, ("crash", f"{type(error).__name__}: {error}"[:200]))


def _limit(seconds: int, megabytes: int) -> None:
    """Limit this process: *seconds* of processor time, more by the clock, and *megabytes* above its present memory."""
    signal.setitimer(signal.ITIMER_REAL, 2 * seconds + 60)
    with suppress(OSError):  # where memory runs out all the same, the kernel ends this process and not the server
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    held = 0
    with suppress(OSError):
        held = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    most = held + (megabytes << 20)
    for kind, limit in ((resource.RLIMIT_CORE, (0, 0)), (resource.RLIMIT_CPU, (seconds, seconds + 1)),
                        (resource.RLIMIT_AS, (most, most))):  # fmt: skip
        with suppress(OSError, ValueError):  # not every system has each
            resource.setrlimit(kind, limit)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
