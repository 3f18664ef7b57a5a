"""A file that is written whole or not at all: what is at its place before, while and after, and when a process dies."""

import csv
import math
import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as some

from evenhand.core.errors import BadFile
from evenhand.core.files.atomic_file import whole_file
from evenhand.core.files.csv_out import csv_line, data_line, has_formula, restored, spreadsheet_lines
from tests.conftest import ROOT


def test_a_csv_line_quotes_and_guards_cells():
    line = csv_line([1, "=SUM(A1)", "", None, -0.25, 1 / 3, -math.inf, 'a "b", c', "-3"])
    assert line == f'1,\'=SUM(A1),,,-0.25,{1 / 3!r},-inf,"a ""b"", c",\'-3\r\n'


def test_a_data_line_is_exact_and_its_copy_guarded():
    cells = ["=1", "'=1", "-他\u2028来", "a\r\nb", "a\rb", 'a "b", c', ""]
    line = data_line([*cells, None, -0.5])
    assert next(csv.reader([line])) == [*cells, "", "-0.5"]
    [head, copy] = spreadsheet_lines([data_line(["句子"]), line])
    assert head == "\ufeff句子\r\n"
    assert [restored(cell) for cell in next(csv.reader([copy]))] == [*cells, "", "-0.5"]
    assert not any(cell[:1] in tuple("=-") for cell in next(csv.reader([copy])))
    assert has_formula(line) and not has_formula(data_line(["他", "", 1]))


@given(some.lists(some.text(alphabet="'=+-@\uff1d\t\r\n\",a他 "), min_size=1, max_size=4))
def test_a_row_has_a_formula_if_its_copy_differs(cells):
    line = data_line(cells)
    assert has_formula(line) == (line != csv_line(cells))
    lines = [part + "\n" for part in line.split("\n")[:-1]]  # as a file is read: a cell may have several lines
    assert list(spreadsheet_lines([line])) == ["\ufeff" + csv_line(cells)] == list(spreadsheet_lines(lines))


def test_a_file_is_written_completely_or_not_at_all(tmp_path):
    path = tmp_path / "scores.csv"
    with pytest.raises(ZeroDivisionError), whole_file(path) as write:
        write("half")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), whole_file(path) as write:
        write("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    with whole_file(path) as write:
        write("new")
    assert path.read_text() == "new"
    assert [file.name for file in tmp_path.iterdir()] == ["scores.csv"]


FULL = """
import resource, signal, sys
from pathlib import Path
from evenhand.core.errors import BadFile
from evenhand.core.files.atomic_file import whole_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    with whole_file(Path(sys.argv[1])) as write:
        for _ in range(10_000):
            write("他在这里。" * 10)
except BadFile as error:
    print(error)
"""


def test_a_table_too_large_for_the_disk_is_one_sentence(tmp_path):
    """The limit of the system on the size of a file stands for a full disk: the write fails half-way."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "s.csv")], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout == "s.csv cannot be written: File too large.\n", done.stderr
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from evenhand.core.files.atomic_file import whole_file
with whole_file(Path(sys.argv[1])) as write:
    write("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_parts_left_by_a_killed_process_are_deleted(tmp_path):
    path = tmp_path / "s [1].csv"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, check=False)
    assert [file.suffix for file in tmp_path.iterdir()] == [".part"]
    with whole_file(path) as write:
        write("whole")
        parts = [file.name for file in tmp_path.iterdir()]
        assert len(parts) == 1
        assert f".{os.getpid()}-" in parts[0]
    assert [file.name for file in tmp_path.iterdir()] == ["s [1].csv"]


def test_parts_of_another_file_are_deleted_after_an_hour(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "other.csv")], cwd=ROOT, check=False)
    (left,) = tmp_path.iterdir()
    (tmp_path / ".mine.1-deadbeef.txt").touch()
    for age_s, stays in ((600, True), (7_200, False)):
        os.utime(left, (time.time() - age_s,) * 2)
        with whole_file(tmp_path / "s.csv") as write:
            write("whole")
        assert left.exists() is stays
    assert sorted(file.name for file in tmp_path.iterdir()) == [".mine.1-deadbeef.txt", "s.csv"]


def test_a_written_file_is_readable_by_its_owner_only(tmp_path):
    old = os.umask(0)
    try:
        with whole_file(tmp_path / "a" / "b" / "s.csv") as write:
            write("x")
    finally:
        os.umask(old)
    assert [oct(folder.stat().st_mode & 0o777) for folder in (tmp_path / "a", tmp_path / "a" / "b")] == ["0o700"] * 2
    assert oct((tmp_path / "a" / "b" / "s.csv").stat().st_mode & 0o777) == "0o600"


def test_an_unwritable_place_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match=r"s\.csv cannot be written"), whole_file(tmp_path / "file" / "s.csv"):
        pass


def test_an_error_of_the_input_is_not_reported_for_the_output(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "s.csv"):
        raise FileNotFoundError("the input")
    assert list(tmp_path.iterdir()) == []
