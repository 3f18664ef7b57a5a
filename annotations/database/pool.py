"""Open stores, lent to one request at a time: opening one costs as much as storing a label."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from evenhand.annotations.database.store import Store, database_path
from evenhand.core.errors import Busy

MOST_KEPT = 8

Key = tuple[str, int]


class Pool:
    """Stores of the database that EVENHAND_DB names, kept open between requests; safe for threads.

    `in_memory`: what SQLite otherwise writes into temporary files stays in memory. For small pieces of work only: a
    sort of a whole project would stay there too.
    """

    def __init__(self, *, in_memory: bool = False) -> None:
        self._in_memory = in_memory
        self._lock = threading.Lock()
        self._kept: list[tuple[Key, Store]] = []

    @contextmanager
    def borrow(self) -> Iterator[Store]:
        """Lend a store for one request or one run of a page; it is reused only if that ends without an error.

        Raises what `Store.open` and leaving a `with` block of a store raise.
        """
        store = self._take() or self._open()
        try:
            with ExitStack() as closing:
                closing.push(store)
                yield store
                closing.pop_all()
        except Busy:
            self.close()  # opened while the disk was read-only, they would stay so, and all that this process opens
            raise
        self._give_back(store)

    def close(self) -> None:
        """Close all idle stores."""
        with self._lock:
            kept, self._kept = self._kept, []
        for _, store in kept:
            store.close()

    def _open(self) -> Store:
        store = Store.open(any_thread=True)
        if self._in_memory:
            store.db.execute("PRAGMA temp_store = MEMORY")
        return store

    def _take(self) -> Store | None:
        key, result, stale = _key(), None, list[Store]()
        with self._lock:
            while self._kept and result is None:
                kept, store = self._kept.pop()
                if kept == key:
                    result = store
                else:  # the file has been replaced since
                    stale.append(store)
        for store in stale:
            store.close()
        return result

    def _give_back(self, store: Store) -> None:
        key = _key()
        with self._lock:
            whole = not store.frozen and not store.db.in_transaction
            if key is not None and len(self._kept) < MOST_KEPT and whole:
                self._kept.append((key, store))
                return
        store.close()


def _key() -> Key | None:
    path = database_path().absolute()
    try:
        return str(path), path.stat().st_ino
    except OSError:
        return None


stores = Pool()  # those of the app: its routes and its pages
