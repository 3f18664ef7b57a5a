"""sqlite-utils without the libraries it would load only to know the types of their columns.

It imports pandas and numpy where they are installed, half of the time that a
command needs to start, and Evenhand hands it neither. A program that needs them
imports them itself, before or after.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def _missing(*names: str) -> Iterator[None]:
    # A None makes `import` say that the module is not there. A thread beside this one would be told the same: then
    # everything is loaded, as it is without this.
    held_back = [name for name in names if name not in sys.modules] if threading.active_count() == 1 else []
    sys.modules.update(dict.fromkeys(held_back))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in held_back:
            del sys.modules[name]


with _missing("pandas", "numpy"):
    from sqlite_utils import Database, Migrations

__all__ = ["Database", "Migrations"]
