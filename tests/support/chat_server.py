"""A fake server that speaks the OpenAI protocol and judges; of every so many requests one fails."""

import json
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Says = Callable[[dict[str, Any]], Any]


class ChatServer(ThreadingHTTPServer):
    """`says`: the body of a request -> the text of the message, or the logprobs of the first token (a dict).

    Of `every` requests one fails, in turn: 500, 429, a broken line, an answer that is not JSON, a slow one.
    """

    daemon_threads = True
    request_queue_size = 64  # requests that come together wait; with five places some come a second later

    def __init__(self, says: Says) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.says, self.every, self.model = says, 0, "planted-1"
        self.lock = threading.Lock()
        self.asked = self.failed = 0
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered: Counter[str] = Counter()  # by the user's first message
        self.failed_for: Counter[str] = Counter()  # half as many as the tries of a request, in any order
        self.refuse: tuple[int, dict[str, Any]] | None = None
        self.recovers_after: int | None = None  # requests that it refuses
        self.poison: str | None = None  # a message that always fails
        self.fails_from: int | None = None  # the first of the requests that all fail
        self.stops_after: int | None = None  # answers; then it hangs until `goes_on`
        self.goes_on = threading.Event()
        self.hangs = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that hang up while they are answered; raise other errors."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class JsonHandler(BaseHTTPRequestHandler):
    """Answers with JSON, and prints nothing on the terminal."""

    def answer(self, status: int, data: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        content = json.dumps(data).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing on the terminal."""


class _Answering(JsonHandler):
    server: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.asked += 1
            number = server.asked
            server.bodies.append(body)
            server.headers.append(dict(self.headers))
            stops = server.stops_after is not None and sum(server.answered.values()) >= server.stops_after
        if stops:
            server.hangs.set()
            server.goes_on.wait(60)
        if server.refuse is not None and (server.recovers_after is None or number <= server.recovers_after):
            self.answer(*server.refuse)
            return
        poisoned = server.poison is not None and server.poison in str(body["messages"])
        if poisoned or (server.fails_from is not None and number >= server.fails_from):
            self.answer(500, {"error": "out of memory"})
            return
        way = number // server.every % 5 if server.every else 0
        again = way == 3 and len(body["messages"]) > 2  # a repair is repaired no more: it gets its answer
        if server.every and number % server.every == 0 and server.failed_for[str(body)] < 4 and not again:
            with server.lock:
                server.failed += 1
                server.failed_for[str(body)] += 1
            if not self.fail(way, body):
                return
        self.say(body)

    def say(self, body: dict[str, Any], text: str | None = None) -> None:
        content = self.server.says(body) if text is None else text
        with self.server.lock:
            self.server.answered[next(m["content"] for m in body["messages"] if m["role"] == "user")] += 1
        choice: dict[str, Any] = {"message": {"content": content if isinstance(content, str) else "A"}}
        if isinstance(content, dict):
            tops = [{"token": token, "logprob": value} for token, value in content.items()]
            choice["logprobs"] = {"content": [{"top_logprobs": tops}]}
        usage = {"prompt_tokens": 100, "completion_tokens": 10}
        self.answer(200, {"choices": [choice], "usage": usage, "model": self.server.model})

    def fail(self, way: int, body: dict[str, Any]) -> bool:
        """Fail the request in one of the ways; return True if it is still answered afterwards."""
        if way == 0:
            self.answer(500, {"error": {"message": f"out of luck, {self.headers['Authorization']}"}})
        elif way == 1:
            self.answer(429, {"error": "slow down"}, {"Retry-After": "0"})
        elif way == 2:
            self.close_connection = True  # not a word
        elif way == 3:
            self.say(body, "Well, I should say {this is not JSON")
        else:
            time.sleep(0.05)
            return True
        return False


@contextmanager
def chat_server(says: Says) -> Iterator[ChatServer]:
    """Run a server in the block."""
    with ChatServer(says) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.goes_on.set()
            server.shutdown()
            thread.join()
