"""The log of the server: no flood, no secret, one JSON object a line."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from evenhand.web import request_log
from evenhand.web.request_log import Json, Repeats, request_id

SECRET = "她 wrote this, and my password is hunter2"


@pytest.fixture
def lines() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    logger, out = logging.getLogger("evenhand.test"), io.StringIO()
    handler = logging.StreamHandler(out)
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, out
    logger.removeHandler(handler)


def test_repeated_errors_are_limited(lines: tuple[logging.Logger, io.StringIO]) -> None:
    (logger, out), now = lines, [0.0]
    logger.handlers[0].addFilter(Repeats(clock=lambda: now[0]))
    for number in range(5000):
        logger.error("socket %d cannot be accepted", number)
    logger.error("something else")
    assert len(out.getvalue().splitlines()) == 11
    now[0] = 61.0
    logger.error("socket %d cannot be accepted", 5000)
    assert out.getvalue().splitlines()[-1] == "socket 5000 cannot be accepted (4990 more like this)"


def test_different_exceptions_are_different_lines(lines: tuple[logging.Logger, io.StringIO]) -> None:
    logger, out = lines
    logger.handlers[0].addFilter(Repeats(each_minute=1))
    for error in (ValueError("a"), ValueError("b"), KeyError("c")):
        logger.error("Exception in ASGI application", exc_info=error)
    assert out.getvalue().count("Exception in ASGI application") == 2


def test_a_query_is_cut_off(lines: tuple[logging.Logger, io.StringIO]) -> None:
    logger, out = lines
    logger.handlers[0].addFilter(Repeats())
    logger.warning('%s - "WebSocket %s" [accepted]', "127.0.0.1", "/_stcore/stream?token=abc&text=她")
    assert out.getvalue() == '127.0.0.1 - "WebSocket /_stcore/stream?..." [accepted]\n'


def test_json_lines_have_the_request_id_but_no_exception_text(lines: tuple[logging.Logger, io.StringIO]) -> None:
    logger, out = lines
    logger.handlers[0].setFormatter(Json())
    token = request_id.set("0123456789abcdef")
    try:
        raise ValueError(SECRET)
    except ValueError:
        logger.exception("A request\nfailed")
    finally:
        request_id.reset(token)
    (line,) = out.getvalue().splitlines()
    data = json.loads(line)
    assert (data["message"], data["request"], data["level"]) == ("A request\nfailed", "0123456789abcdef", "error")
    assert data["error"] == "ValueError"
    assert "test_json_lines" in data["where"][0]
    assert "hunter2" not in line


def test_json_logs_are_optional(lines: tuple[logging.Logger, io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    logger, _ = lines
    monkeypatch.delenv("EVENHAND_LOG", raising=False)
    request_log.limit(logger)
    assert not isinstance(logger.handlers[0].formatter, Json)
    monkeypatch.setenv("EVENHAND_LOG", "json")
    request_log.limit(logger)
    request_log.limit(logger)
    assert isinstance(logger.handlers[0].formatter, Json)
    assert len(logger.handlers[0].filters) == 1
