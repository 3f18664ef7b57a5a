"""Opening the database must not drop the locks that the process holds on it already.

POSIX drops every lock of a process on a file when the process closes any
handle of that file (sqlite.org/howtocorrupt.html, section 2.2).
"""

import subprocess
import sys
from pathlib import Path

from annotations.store import Store

ROOT = Path(__file__).resolve().parents[1]
WRITE_AND_CLOSE = """
import sys
from annotations.store import Store
with Store.open(sys.argv[1]) as store:
    with store.write() as db:
        db.execute("INSERT INTO annotator (uid, name, created) VALUES ('u', 'Ada', '')")
"""


def test_another_process_keeps_the_log_that_this_one_reads(tmp_path):
    path = tmp_path / "labels.db"
    with Store.open(path) as reader:
        assert reader.db.execute("SELECT count(*) FROM annotator").fetchone()[0] == 0
        Store.open(path).close()  # as every other page and request of the app does
        done = subprocess.run(
            [sys.executable, "-c", WRITE_AND_CLOSE, str(path)], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        # The last connection to close removes the log. This one is still open, so it must be there.
        assert path.with_name("labels.db-wal").exists()
        assert reader.db.execute("SELECT name FROM annotator").fetchall() == [("Ada",)]


def test_a_new_database_is_for_its_owner_alone(tmp_path):
    path = tmp_path / "labels.db"
    Store.open(path).close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["labels.db"]
