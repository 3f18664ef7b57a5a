"""The log of the server: repeated lines are limited, and with EVENHAND_LOG=json each line is one JSON object.

A line of JSON has no text of an exception and no query of an address: both can hold what people wrote or a secret.
"""

import json
import logging
import os
import re
import sys
import threading
import time
import traceback
from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any

from evenhand.web.watch import request_id

EACH_MINUTE = 10  # lines of one kind
KINDS = 1000  # that are remembered
QUERY = re.compile(r"\?[^\s\"'\]]+")
OWN = ("route", "method", "status", "ms")


class Repeats(logging.Filter):
    """Lets ten lines of a kind a minute through; the first of a later minute says how many were left out.

    The kind of a line is its logger, its text before values are filled in, and the class of its exception.
    """

    def __init__(self, each_minute: int = EACH_MINUTE, clock: Any = time.monotonic) -> None:
        super().__init__()
        self.each_minute, self.clock = each_minute, clock
        self._seen: OrderedDict[tuple[str, str, str], tuple[float, int]] = OrderedDict()
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written; its address loses the query."""
        if record.name == "evenhand.request" or getattr(record, "counted", False):
            return True  # one for each request, and a line that another handler has counted
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        key, now = (record.name, str(record.msg)[:200], kind), self.clock()
        with self._lock:
            since, n = self._seen.pop(key, (now, 0))
            left_out = 0
            if now - since >= 60:
                left_out, since, n = max(0, n - self.each_minute), now, 0
            self._seen[key] = since, n + 1
            while len(self._seen) > KINDS:
                self._seen.popitem(last=False)
        if n >= self.each_minute:
            return False
        record.counted = True
        message = QUERY.sub("?...", record.getMessage())
        record.msg, record.args = (f"{message} ({left_out} more like this)" if left_out else message), None
        return True


class Json(logging.Formatter):
    """A line of the log as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Time in UTC, level, logger, message, the id of the request; of an exception its class and where it arose."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request": request_id.get() or None,
        }
        line |= {key: getattr(record, key) for key in OWN if hasattr(record, key)}
        if record.exc_info and record.exc_info[0]:
            frames = traceback.extract_tb(record.exc_info[2])
            line["error"] = record.exc_info[0].__name__
            line["where"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]]
        return json.dumps(line, ensure_ascii=True)


_repeats = Repeats()


def as_json() -> bool:
    """Whether the log is in JSON (EVENHAND_LOG=json)."""
    return os.environ.get("EVENHAND_LOG") == "json"


def limit(logger: logging.Logger) -> None:
    """Limit what *logger* writes to the console, and write it as JSON where that is asked for."""
    for handler in logger.handlers:
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            if _repeats not in handler.filters:
                handler.addFilter(_repeats)
            if as_json():
                handler.setFormatter(Json())
                handler.setStream(sys.stderr)


def set_up() -> None:
    """Limit every log of this process; call it as the server starts."""
    if not logging.root.handlers:
        logging.root.addHandler(logging.StreamHandler())
    for logger in (logging.root, *logging.root.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger):
            limit(logger)
    if as_json():
        logging.getLogger("evenhand").setLevel(logging.INFO)
        threading.excepthook = _log_thread
        logging.captureWarnings(True)


def _log_thread(failed: threading.ExceptHookArgs) -> None:
    trace = (failed.exc_type, failed.exc_value or failed.exc_type(), failed.exc_traceback)
    logging.getLogger("evenhand.thread").error("A thread ended with an error", exc_info=trace)
