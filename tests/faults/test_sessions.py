"""Pages that were left: their sessions go, though nobody else comes or leaves."""

import ast
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
gone = [app.forget_sessions(sessions)]
time.sleep(0.1)
gone.append(app.forget_sessions(sessions))
gc.collect()
print([*gone, sum(one() is not None for one in held)])
"""


@pytest.mark.long
def test_sessions_that_have_gone_are_dropped() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert ast.literal_eval(done.stdout.splitlines()[-1]) == [0, 3, 0]
