"""What each patch of Streamlit relies on: a new version that changes it fails here, by the name of the patch."""

import inspect
from contextlib import contextmanager

import pytest
from streamlit import logger as streamlit_logger
from streamlit import net_util
from streamlit.commands import navigation
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryFile, MemoryMediaFileStorage
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from evenhand.web import streamlit_patches
from evenhand.web.requests import sessions_that_made

LARGE = b"x" * (streamlit_patches.IN_MEMORY + 1)


@pytest.fixture(autouse=True)
def undo_patches(monkeypatch):
    """Restore what the patches replace after each test."""
    for owner, name in (
        (navigation, "send_page_not_found"),
        (net_util, "get_external_ip"),
        (net_util, "get_internal_ip"),
        (streamlit_logger, "setup_formatter"),
        (MediaFileManager, "execute_deferred"),
        (MemoryMediaFileStorage, "load_and_get_id"),
        (MemoryUploadedFileManager, "add_file"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))


def test_address_lookups_are_skipped():
    assert inspect.signature(net_util.get_external_ip).parameters.keys() == set()
    streamlit_patches.skip_address_lookups()
    assert net_util.get_external_ip() is net_util.get_internal_ip() is None


def test_no_message_is_sent_for_an_unknown_page():
    assert list(inspect.signature(navigation.send_page_not_found).parameters) == ["ctx"]
    assert "send_page_not_found(ctx)" in inspect.getsource(navigation._navigation)
    streamlit_patches.leave_unknown_pages_to_the_app()
    assert navigation.send_page_not_found(None) is None


def test_logs_of_later_loggers_are_limited(monkeypatch):
    limited = []
    monkeypatch.setattr(streamlit_patches.request_log, "limit", limited.append)
    monkeypatch.setattr(streamlit_patches.request_log, "set_up", lambda: None)
    streamlit_patches.limit_logs()
    logger = streamlit_logger.get_logger("evenhand-test-of-a-later-logger")
    assert limited == [logger]


def test_expired_sessions_are_dropped():
    class Sessions:
        _session_storage = MemorySessionStorage(ttl_seconds=0)

    Sessions._session_storage._cache["gone"] = object()
    assert streamlit_patches.drop_expired_sessions(Sessions) == 1
    assert len(Sessions._session_storage._cache._data) == 0


def test_the_session_of_a_deferred_file_is_recorded():
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    assert isinstance(manager._deferred_callables, dict)
    assert isinstance(manager._files_by_session_and_coord, dict)
    entered = []

    @contextmanager
    def visit_of(session):
        entered.append(session)
        yield

    streamlit_patches.record_file_sessions(visit_of)
    file = manager.add_deferred(lambda: b"labels", "text/csv", "coordinates", file_name="labels.csv")
    made_for = manager._deferred_callables[file]
    made_for["session_id"] = "session"
    address = manager.execute_deferred(file)
    assert entered == ["session"]
    assert sessions_that_made(address.rpartition("/")[2].partition(".")[0]) == {"session"}


def test_large_downloads_are_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "evenhand.db"))
    streamlit_patches.store_large_files_on_disk()
    storage = MemoryMediaFileStorage("/media")
    small, large = (storage.load_and_get_id(data, "text/plain", "media", None) for data in (b"few", LARGE))
    assert isinstance(storage.get_file(f"{small}.txt"), MemoryFile)
    assert storage._files_by_id[small].content == b"few"
    assert isinstance(storage._files_by_id[large].content, memoryview)
    assert storage._files_by_id[large].content == LARGE


def test_large_uploads_are_on_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DB", str(tmp_path / "evenhand.db"))
    monkeypatch.setattr(streamlit_patches, "Thread", _Now)
    streamlit_patches.store_large_files_on_disk()
    manager = MemoryUploadedFileManager("/upload")
    manager.add_file("session", UploadedFileRec("file", "labels.csv", "text/csv", LARGE))
    assert isinstance(manager.file_storage["session"]["file"].data, memoryview)
    assert manager.get_files("session", ["file"])[0].data == LARGE


class _Now:
    """A thread that runs at once, in the thread of its caller."""

    def __init__(self, target, args, daemon):
        self.start = lambda: target(*args)
