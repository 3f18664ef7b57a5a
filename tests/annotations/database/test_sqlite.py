"""sqlite-utils is loaded without pandas and numpy, and only while no other thread could be misled."""

import subprocess
import sys
import threading

import pytest

from annotations.database.sqlite import Database, Migrations, _missing
from tests.conftest import ROOT

ALONE = """
import sys
{before}
from annotations.database.sqlite import Database
print(sorted({{"pandas", "numpy"}} & set(sys.modules)))
import pandas, numpy
print(Database(memory=True).execute("SELECT 1").fetchone()[0], pandas.__name__, numpy.__name__)
"""


@pytest.mark.parametrize(
    ("before", "there"),
    [("", "[]"), ("import numpy", "['numpy']")],
    ids=["neither", "numpy came first"],
)
def test_pandas_and_numpy_are_left_to_who_needs_them(before: str, there: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE.format(before=before)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [there, "1 pandas numpy"], done.stderr


def test_what_is_held_back_is_there_again_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), _missing("wave"):
        raise ZeroDivisionError
    import wave

    assert wave.__name__ == "wave"


def test_beside_another_thread_nothing_is_held_back() -> None:
    end = threading.Event()
    beside = threading.Thread(target=end.wait)
    beside.start()
    try:
        sys.modules.pop("wave", None)
        with _missing("wave"):
            import wave
    finally:
        end.set()
        beside.join()
    assert wave.__name__ == "wave"


def test_it_is_the_same_sqlite_utils() -> None:
    import sqlite_utils

    assert (Database, Migrations) == (sqlite_utils.Database, sqlite_utils.Migrations)
