"""Sessions of pages that were closed end, even if no other page is opened or closed."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# In a process of its own: the app changes Streamlit and the server as it is loaded.
SCRIPT = """
import gc, time, weakref
from types import SimpleNamespace
import app
from evenhand.web.streamlit_patches import drop_expired_sessions
from streamlit.runtime.memory_session_storage import MemorySessionStorage

class Session:
    def __init__(self, id):
        self.id, self.itself = id, self

storage = MemorySessionStorage(ttl_seconds=0.05)
sessions = SimpleNamespace(_session_storage=storage)
held = []
for number in range(3):
    session = Session(str(number))
    storage.save(SimpleNamespace(session=session))
    held.append(weakref.ref(session))
del session
gone = [drop_expired_sessions(sessions)]
time.sleep(0.1)
gone.append(drop_expired_sessions(sessions))
gc.collect()
print([*gone, sum(one() is not None for one in held)])
"""


# A large file that a page offers, as Streamlit's route reads it, whole and in part; and an uploaded file.
FILES = """
import app
from streamlit.runtime.media_file_storage import MediaFileKind
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

storage = MemoryMediaFileStorage("/media")
data = bytes(range(256)) * 8192 + b"end"
large = storage.load_and_get_id(data, "text/csv", MediaFileKind.DOWNLOADABLE, "a.csv")
small = storage.load_and_get_id(b"small", "text/csv", MediaFileKind.DOWNLOADABLE, "b.csv")
found = storage.get_file(large).content

import io, time
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
uploads = MemoryUploadedFileManager("/upload")
uploads.add_file("s", UploadedFileRec("large", "a.csv", "text/csv", data))
uploads.add_file("s", UploadedFileRec("small", "b.csv", "text/csv", b"small"))
while isinstance(uploads.get_files("s", ["large"])[0].data, bytes):
    time.sleep(0.01)
moved, stayed = uploads.get_files("s", ["large", "small"])
assert io.BytesIO(moved.data).getvalue() == data and stayed.data == b"small"
uploads.remove_session_files("s")
assert uploads._total_bytes == 0
print([type(found).__name__, found == data, bytes(found[3:9]) == data[3:9], storage.get_file(large).content_size,
       storage.load_and_get_id(data, "text/csv", MediaFileKind.DOWNLOADABLE, "a.csv") == large,
       type(storage.get_file(small).content).__name__])
"""


@pytest.mark.long
def test_large_files_of_a_page_are_on_disk(tmp_path: Path) -> None:
    environment = os.environ | {"EVENHAND_DB": str(tmp_path / "evenhand.db")}
    done = subprocess.run([sys.executable, "-c", FILES], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert ast.literal_eval(done.stdout.splitlines()[-1]) == ["memoryview", True, True, 2_097_155, True, "bytes"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_closed_sessions_are_dropped() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ast.literal_eval(done.stdout.splitlines()[-1]) == [0, 3, 0]


# The worker as it is started with the server, or left to the first question.
WORKER = """
import app
from evenhand.core.worker import client
from evenhand.web.lifespan import preload_models, worker_state

preload_models()
print([worker_state(), client.shared.cache_info().currsize])
"""


@pytest.mark.long
@pytest.mark.parametrize(("asked", "found"), [("", ["running", 1]), ("later", ["not started", 0])])
def test_models_are_loaded_before_the_first_visitor(tmp_path: Path, asked: str, found: list[object]) -> None:
    environment = os.environ | {"EVENHAND_DB": str(tmp_path / "evenhand.db"), "EVENHAND_WORKER": asked}
    done = subprocess.run([sys.executable, "-c", WORKER], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert ast.literal_eval(done.stdout.splitlines()[-1]) == found
