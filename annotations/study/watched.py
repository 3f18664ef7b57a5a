"""How long a process has watched its clock: who was away for an hour is known after an hour without a jump.

The time of day jumps when somebody sets it or when a machine finds out what time it is, and goes on while a server
stands still. A moment in the database is of that clock. So nobody's part ends before the process that ends it has seen
that much time pass by a clock that cannot be set.
"""

import time
from collections.abc import Callable
from threading import Lock

JUMP_S = 30.0  # between two looks; a clock that is put right bit by bit drifts by 2 s an hour


class Watched:
    """The watch of one process over its clock; safe for threads."""

    def __init__(
        self, clock: Callable[[], float] = lambda: time.time(), steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._steady, self._lock = clock, steady, Lock()
        self._since = steady()
        self._offset = clock() - self._since

    def seconds(self) -> float:
        """For how long this process has seen its clock go on without a jump. Look once a minute or so."""
        with self._lock:
            now = self._steady()
            offset = self._clock() - now
            if abs(offset - self._offset) > JUMP_S:
                self._since = now
            self._offset = offset
            return now - self._since


watched = Watched()  # by this process
