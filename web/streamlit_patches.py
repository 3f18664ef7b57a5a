"""Patch Streamlit's private parts: one function per patch, and nowhere else.

tests/web/test_streamlit_patches.py has a test per patch, which fails where a new version of Streamlit has changed what
the patch relies on.
"""

import logging
import mmap
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from tempfile import TemporaryFile
from threading import Thread
from typing import Any

from streamlit import logger as streamlit_logger
from streamlit import net_util, runtime
from streamlit.commands import navigation
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from evenhand.annotations.database.store import database_path
from evenhand.web import request_log
from evenhand.web.requests import remember_file, sessions_that_made

IN_MEMORY = 1 << 20  # bytes up to which a file that a page offers, or an upload, stays in memory


def apply(visit_of: Callable[[str], AbstractContextManager[None]]) -> None:
    """Apply all patches. *visit_of*: the context in which a file is made for the session with an id."""
    skip_address_lookups()
    limit_logs()
    record_file_sessions(visit_of)
    store_large_files_on_disk()
    leave_unknown_pages_to_the_app()


def skip_address_lookups() -> None:
    """Stop Streamlit from looking up the addresses of this machine.

    Streamlit asks an outside server, in the event loop, at start and each time a socket has another origin. Behind a
    firewall the server then hangs for seconds. The gate has already compared the origin with the requested host.
    """
    net_util.get_external_ip = lambda: None
    net_util.get_internal_ip = lambda: None


def leave_unknown_pages_to_the_app() -> None:
    """Stop Streamlit from opening a window about an address without a page: pages/main.py says so above Home."""
    navigation.send_page_not_found = lambda ctx: None


def limit_logs() -> None:
    """Limit the size of the log, also for loggers that Streamlit creates later."""
    set_up = streamlit_logger.setup_formatter

    def limited(logger: logging.Logger) -> None:
        set_up(logger)
        request_log.limit(logger)

    streamlit_logger.setup_formatter = limited
    request_log.set_up()


def drop_expired_sessions(sessions: Any) -> int:
    """Drop the sessions whose page closed two minutes ago; return their number.

    Streamlit itself expires them only when the next page closes.
    """
    kept = sessions._session_storage._cache
    before = len(kept._data)  # len() would drop them too
    kept.expire()
    return before - len(kept._data)


def sessions_of(file: str) -> list[str]:
    """Return the ids of the sessions that offer *file* (its name without ending) or created it by a click."""
    offered = runtime.get_instance().media_file_mgr._files_by_session_and_coord if runtime.exists() else {}
    return [*sessions_that_made(file), *(one for one, files in list(offered.items()) if file in list(files.values()))]


def record_file_sessions(visit_of: Callable[[str], AbstractContextManager[None]]) -> None:
    """Record the session of each file that is created by a click, and create it as the person of that session.

    Streamlit records the session of other files only, and creates deferred files outside any run.
    """
    execute_deferred = MediaFileManager.execute_deferred

    def noted(self: MediaFileManager, file_id: str) -> str:
        made_for = self._deferred_callables.get(file_id)
        with visit_of(made_for["session_id"] if made_for is not None else ""):
            address = execute_deferred(self, file_id)
        if made_for is not None:
            remember_file(address.rpartition("/")[2].partition(".")[0], made_for["session_id"])
        return address

    MediaFileManager.execute_deferred = noted  # type: ignore[method-assign]


def memory_map(data: bytes) -> memoryview:
    """Return *data* from an unnamed file in the folder of the database. Raises OSError if the disk is full."""
    with TemporaryFile(dir=database_path().absolute().parent) as out:
        out.write(data)
        out.flush()
        return memoryview(mmap.mmap(out.fileno(), 0, access=mmap.ACCESS_READ))


def store_large_files_on_disk() -> None:
    """Keep large downloads and uploads on disk instead of in memory.

    Streamlit holds downloads until the page has run again, and uploads until two minutes after the page has closed.
    """
    load, add = MemoryMediaFileStorage.load_and_get_id, MemoryUploadedFileManager.add_file

    def loaded(self: MemoryMediaFileStorage, *args: Any, **named: Any) -> str:
        file = load(self, *args, **named)
        held = self._files_by_id[file]
        if isinstance(held.content, bytes) and len(held.content) > IN_MEMORY:
            with suppress(OSError):  # the file then stays in memory
                self._files_by_id[file] = held._replace(content=memory_map(held.content))  # type: ignore[arg-type]  # read like bytes
        return file

    def moved(self: MemoryUploadedFileManager, session: str, file: UploadedFileRec) -> None:
        with suppress(OSError):
            mapped = file._replace(data=memory_map(file.data))  # type: ignore[arg-type]
            with self._lock:
                held = self.file_storage.get(session, {})
                if held.get(file.file_id) is file:
                    held[file.file_id] = mapped

    def added(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        add(self, session_id, file)
        if len(file.data) > IN_MEMORY:  # not in the event loop, which calls this
            Thread(target=moved, args=(self, session_id, file), daemon=True).start()

    MemoryMediaFileStorage.load_and_get_id = loaded  # type: ignore[method-assign]
    MemoryUploadedFileManager.add_file = added  # type: ignore[method-assign]
