"""The outermost middleware: each request gets an id, is counted and, with EVENHAND_LOG=json, written to the log.

What is written: the id, the route (a name of ours, not the address), method, status and milliseconds. Never an address
with its query, a cookie, a token or a text. What is counted is given out in the text form of Prometheus. Repeated lines
of the log are limited, and with EVENHAND_LOG=json each is one JSON object, without the text of an exception: that can
hold what people wrote or a secret.
"""

import json
import logging
import os
import re
import secrets
import sys
import threading
import time
import traceback
from bisect import bisect_left
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Mapping, MutableMapping
from contextvars import ContextVar
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from starlette.requests import ClientDisconnect

from evenhand.web.gate import Receive, Scope, Send
from evenhand.web.requests import folder_of

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
STARTED = time.time()
FIXED = ("sign-in", "sign-out", "account", "study", "healthz", "metrics", "media", "static", "component")

Labels = Mapping[str, str]
Sample = tuple[Labels, float]


def route_of(path: str) -> str:
    """Return the route of a path: one of a few dozen names, never an id, a name or a secret from an address."""
    parts = path.strip("/").split("/")
    if parts[:2] == ["api", "desk"] and len(parts) == 3:
        return f"/api/desk/{parts[2] if parts[2] in DESK else 'other'}"
    if parts[0] == "_stcore":
        return f"/_stcore/{parts[1]}" if parts[1:] and parts[1] in STCORE else "/_stcore"
    return f"/{parts[0]}" if parts[0] in FIXED else "page"


DESK = ("sync", "heartbeat", "history", "item", "opinion", "told")
STCORE = ("health", "host-config", "stream", "upload_file", "bidi-components")
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS")


class Requests:
    """Requests that were answered, by route and status, with a histogram of how long they took."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answered: Counter[tuple[str, str, int]] = Counter()
        self._times: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: Counter[str] = Counter()
        self.sockets = 0  # open now

    def count(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        method = method if method in METHODS else "other"
        with self._lock:
            self._answered[route, method, status] += 1
            self._times[route][bisect_left(BOUNDS, seconds)] += 1
            self._seconds[route] += seconds  # type: ignore[assignment]

    def text(self) -> list[str]:
        """Return the lines of Prometheus."""
        with self._lock:
            answered, seconds = dict(self._answered), dict(self._seconds)
            times = {route: list(counts) for route, counts in self._times.items()}
        found: list[Sample] = [
            ({"route": route, "method": method, "status": str(status)}, n)
            for (route, method, status), n in sorted(answered.items())
        ]
        lines = metric("evenhand_http_requests_total", "counter", "Requests that were answered.", found)
        name = "evenhand_http_request_seconds"
        lines += [f"# HELP {name} Time from a request to the end of its answer.", f"# TYPE {name} histogram"]
        for route, counts in sorted(times.items()):
            total = 0
            for bound, n in zip((*map(str, BOUNDS), "+Inf"), counts, strict=True):
                total += n
                lines.append(sample(f"{name}_bucket", {"route": route, "le": bound}, total))
            lines.append(sample(f"{name}_sum", {"route": route}, round(seconds[route], 6)))
            lines.append(sample(f"{name}_count", {"route": route}, total))
        return lines + metric("evenhand_sockets_open", "gauge", "Open sockets of pages.", [({}, self.sockets)])


requests = Requests()


def metric(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> list[str]:
    """Return the lines of one metric."""
    return [f"# HELP {name} {help_text}", f"# TYPE {name} {kind}", *(sample(name, *row) for row in samples)]


def sample(name: str, labels: Labels, value: float) -> str:
    """Return one line; the values of labels are names of ours, without quotes or backslashes."""
    inside = ",".join(f'{key}="{text}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {value}" if inside else f"{name} {value}"


HEADER = b"x-request-id"
GONE = 499  # the visitor left before the answer, as nginx writes it
logger = logging.getLogger("evenhand.request")
request_id: ContextVar[str] = ContextVar("request_id", default="")


class Watch:
    """ASGI middleware; *base* is `server.baseUrlPath`."""

    def __init__(self, app: Any, base: str = "") -> None:
        self.app, self.folder = app, folder_of(base)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request or socket on, and note how it ended."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        socket = scope["type"] == "websocket"
        name, status, started = secrets.token_hex(8), 0, time.perf_counter()
        request_id.set(name)

        async def sent(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message.get("headers", []), (HEADER, name.encode())]}
            elif message["type"] == "websocket.accept":
                status, requests.sockets = 101, requests.sockets + 1
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except ClientDisconnect:
            status = GONE  # the client is gone, and nothing is wrong here
        except BaseException:
            status = status or 500
            raise
        finally:
            self._note(scope, socket, status or (403 if socket else GONE), time.perf_counter() - started)

    def _note(self, scope: Scope, socket: bool, status: int, seconds: float) -> None:
        route = route_of(str(scope.get("path", "")).removeprefix(self.folder))
        method = "SOCKET" if socket else str(scope["method"])
        if socket and status == 101:
            requests.sockets -= 1
        else:  # how long a page stays open says nothing about the server
            requests.count(route, method, status, seconds)
        logger.info(
            "request", extra={"route": route, "method": method, "status": status, "ms": round(seconds * 1000, 1)}
        )


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
        """Return whether a line is written; remove the query from addresses in it."""
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
        """Return time in UTC, level, logger, message, id of the request; of an exception its class and its place."""
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
    """Return whether the log is in JSON (EVENHAND_LOG=json)."""
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
