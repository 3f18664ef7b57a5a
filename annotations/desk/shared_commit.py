"""Requests of desks that arrive together share one commit.

A commit waits for the disk, and two threads a request cost more than the label that is stored. So one thread does the
work of requests that write. What has arrived while it was busy is one transaction, in which each request is a part that
holds or fails alone. Each is answered after the commit.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from evenhand.annotations.database.connections import is_readable, note_damage
from evenhand.annotations.database.pool import Pool
from evenhand.annotations.database.store import Store
from evenhand.core.errors import Busy, EvenhandError

WRITE_BACK_S = 0.5  # between two write-backs of the log, while commits continue
MOST = 40  # requests of one commit: others wait meanwhile, importing processes too
# A commit costs as much as a label. Where this many requests came together, the next ones are given a moment to do so:
# they wait longer for their answer than alone, but not in a queue. Who labels alone, or among fifty, never waits.
MANY, GATHER_S = 3, 0.008


@dataclass(slots=True)
class _PendingRequest:
    """The work of one request: its part before the transaction, its part inside, and the result."""

    before: Callable[[Store], Any]
    work: Callable[[Store, Any], Any]
    loop: asyncio.AbstractEventLoop
    future: "asyncio.Future[Any]"
    context: Context = field(default_factory=copy_context)
    known: Any = None
    found: Any = None
    error: BaseException | None = None

    def authorize(self, store: Store) -> None:
        """Ask what the work needs to know before the transaction; keep an error as the answer."""
        self.found = self.error = None
        try:
            self.known = self.context.run(self.before, store)
        except Exception as error:
            self.error = error

    def do(self, store: Store) -> None:
        """Do the work as a part of the open transaction; raises what may have undone more than this part."""
        try:
            with store.savepoint():
                self.found = self.context.run(self.work, store, self.known)
        except EvenhandError as error:
            if isinstance(error, Busy) or not store.db.in_transaction:
                raise
            self.error = error

    def resolve(self) -> None:
        """Give the answer to the request, unless its client has left."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.found)


class SharedCommit:
    """The thread that does it, for stores of a pool; it is started by the first request."""

    def __init__(self, stores: Pool) -> None:
        self._stores = stores
        self._waiting: SimpleQueue[_PendingRequest] = SimpleQueue()
        self._starting = Lock()
        self._process = 0  # which one has the threads: a forked process has none
        self._committed, self._path = Event(), Path()
        self._pause = Event()  # never set; not time.sleep, which fails under some clocks

    async def run(self, before: Callable[[Store], Any], work: Callable[[Store, Any], Any]) -> Any:
        """Return the result of *work* after its commit; *work* gets the store and the result of *before*.

        *before* runs ahead of the transaction. An error of *before* or *work* is raised, and then nothing of *work* is
        stored.
        """
        loop = asyncio.get_running_loop()
        request = _PendingRequest(before, work, loop, loop.create_future())
        self._waiting.put(request)
        if self._process != os.getpid():
            self._start()
        return await request.future

    def _start(self) -> None:
        with self._starting:
            if self._process != os.getpid():
                self._process = os.getpid()
                Thread(target=self._serve, name="desk", daemon=True).start()
                Thread(target=self._write_back, name="desk-log", daemon=True).start()

    def _serve(self) -> None:
        requests: list[_PendingRequest] = []
        while True:
            many, requests = len(requests) >= MANY, [self._waiting.get()]
            try:
                self._gather(requests, many)
                self._do(requests)
            except Exception as error:  # without this thread desks could not label: report it and continue
                for request in requests:
                    request.error = request.error or error
            self._answer(requests)

    def _gather(self, requests: list[_PendingRequest], many: bool) -> None:
        """Take what else waits; where *many* came together before, wait for them."""
        if many:
            self._pause.wait(GATHER_S)
        with suppress(Empty):
            while len(requests) < MOST:
                requests.append(self._waiting.get_nowait())

    def _write_back(self) -> None:
        """Write the log back during commits, so that no request waits for it; check whether the file still opens."""
        store: Store | None = None
        while True:
            self._committed.wait()
            self._committed.clear()
            try:
                if store is None or store.path != self._path:
                    _close(store)
                    store = Store.open(self._path)
                self._pause.wait(WRITE_BACK_S)
                store.write_back()
                if not is_readable(self._path):  # a connection that is open may not notice it for hours
                    note_damage(self._path)
            except Exception:  # the next commit reports any fault of the disk
                _close(store)
                store = None

    def _answer(self, requests: list[_PendingRequest]) -> None:
        for loop in {request.loop for request in requests}:
            answered = [request for request in requests if request.loop is loop]
            with suppress(RuntimeError):  # a loop that was closed meanwhile
                loop.call_soon_threadsafe(_tell, answered)

    def _do(self, requests: list[_PendingRequest]) -> None:
        """Run all requests in one transaction; if it fails, run each in its own, so that no request undoes another."""
        began = False
        try:
            with self._stores.borrow() as store:
                for request in requests:
                    request.authorize(store)
                if pending_requests := [request for request in requests if request.error is None]:
                    with store.write():
                        began = True
                        for request in pending_requests:
                            request.do(store)
                    self._path = store.path
                    self._committed.set()
        except Exception as error:
            if began and len(requests) > 1:
                for request in requests:
                    self._do([request])
                return
            for request in requests:
                request.error = request.error or error


def _close(store: Store | None) -> None:
    if store is not None:
        store.close()


def _tell(requests: list[_PendingRequest]) -> None:
    for request in requests:
        request.resolve()
