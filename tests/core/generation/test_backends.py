"""Writing through a server that fails one request in five: all done, none twice, and no key anywhere."""

import io
import json
import logging
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.errors import EvenhandError, ModelUnavailable, Refused
from evenhand.core.generation.backends import Server
from evenhand.core.generation.inputs import Context, ContextInput
from evenhand.core.generation.run import GenerationReport, Settings, write_texts
from evenhand.core.typed_json import to_json
from tests.support.chat_server import JsonHandler

KEY = "sk-very-secret-4711"
SOURCE = ContextInput("made", tuple(Context(f"Kim went to town {n} and", "Kim", ("they",)) for n in range(30)))


class Fake(ThreadingHTTPServer):
    """A server whose text is made of the prompt and the seed; every fifth request fails, in another way each time."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.lock = threading.Lock()
        self.asked = 0
        self.failed = 0
        self.failed_for: Counter[str] = Counter()  # half as many as the tries of a request, in any order
        self.every = 5  # every so many requests fail; 0: none
        self.refuse: tuple[int, dict[str, Any]] | None = None  # what all are answered
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered: Counter[tuple[str, int]] = Counter()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that hang up while they are answered; raise other errors."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Answering(JsonHandler):
    server: Fake

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.asked += 1
            number = self.server.asked
            self.server.bodies.append(body)
            self.server.headers.append(dict(self.headers))
        if self.server.refuse is not None:
            self.answer(*self.server.refuse)
        elif self.server.every and number % self.server.every == 0 and self.server.failed_for[str(body)] < 4:
            with self.server.lock:
                self.server.failed += 1
                self.server.failed_for[str(body)] += 1
            self.fail(number // self.server.every % 5)
        else:
            self.write(body)

    def write(self, body: dict[str, Any]) -> None:
        chat = self.path.endswith("/chat/completions")
        prompt = body["messages"][0]["content"] if chat else body["prompt"]
        with self.server.lock:
            self.server.answered[prompt, body["seed"]] += 1
        text = f" wrote {body['seed']}."
        choice = {"message": {"content": text}} if chat else {"text": text}
        self.answer(200, {"choices": [choice], "usage": {"completion_tokens": 7}})

    def fail(self, way: int) -> None:
        if way == 0:
            self.answer(500, {"error": {"message": f"out of luck, {self.headers['Authorization']}"}})
        elif way == 1:
            self.answer(429, {"error": "slow down"}, {"Retry-After": "0"})
        elif way == 2:
            self.answer(200, {"choices": []})
        elif way == 3:
            self.answer(503, {})
        else:
            self.close_connection = True  # not a word


@pytest.fixture
def fake() -> Iterator[Fake]:
    with Fake() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("EVENHAND_API_KEY", KEY)


def ask(server: str, out: Path, **more: Any) -> GenerationReport:
    settings = Settings(contexts="", model="tiny", **({"each": 4, "server": server} | more))
    return write_texts(SOURCE, settings, out, pause_s=0.001)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("chat", [False, True])
def test_failing_requests_are_retried_and_all_texts_written_once(fake: Fake, tmp_path: Path, chat: bool) -> None:
    report = ask(fake.address, tmp_path / "a.jsonl", chat=chat, at_once=6)
    result = rows(tmp_path / "a.jsonl")
    assert report.written == len(result) == 120 and report.tokens == 7 * 120
    assert fake.failed >= 24 and fake.asked == 120 + fake.failed
    assert set(fake.answered.values()) == {1} and len(fake.answered) == 120
    assert [(row["context"], row["index"]) for row in result] == [
        (context.text, k) for context in SOURCE.contexts for k in range(4)
    ]
    assert all(row["completion"] == f" wrote {row['seed']}." for row in result)
    fake.every = 0
    ask(fake.address, tmp_path / "calm.jsonl", chat=chat)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "calm.jsonl").read_bytes()


def test_missing_texts_are_fetched_by_repeating_the_request(fake: Fake, tmp_path: Path) -> None:
    """A server that dies half-way: the rest is fetched later, and no stored text is requested again."""
    out = tmp_path / "a.jsonl"
    fake.every = 0

    class Half(Answering):
        def write(self, body: dict[str, Any]) -> None:
            if sum(fake.answered.values()) >= 25:
                self.answer(503, {}, {"Retry-After": "0"})
            else:
                super().write(body)

    fake.RequestHandlerClass = Half
    with pytest.raises(ModelUnavailable, match=r"failed 16 times in a row \(status 503\)"):
        ask(fake.address, out, at_once=1, each=2)
    assert not out.exists()
    before = Counter(fake.answered)
    fake.RequestHandlerClass = Answering
    report = ask(fake.address, out, each=2)
    assert report.resumed == before.total() == 25 and report.written == 35
    assert set(fake.answered.values()) == {1} and len(rows(out)) == 60


def test_requests_contain_sampling_settings_and_seeds(fake: Fake, tmp_path: Path) -> None:
    fake.every = 0
    ask(fake.address, tmp_path / "a.jsonl", top_k=7, temperature=0.5)
    ask(fake.address, tmp_path / "b.jsonl", standard=True, stop=True)
    first, last = fake.bodies[0], fake.bodies[-1]
    assert {key: first[key] for key in ("model", "max_tokens", "top_k", "top_p", "temperature", "ignore_eos")} == {
        "model": "tiny", "max_tokens": 50, "top_k": 7, "top_p": 0.95, "temperature": 0.5, "ignore_eos": True,
    }  # fmt: skip
    assert set(last) == {"model", "max_tokens", "top_p", "seed", "prompt"}
    assert all(0 <= body["seed"] < 2**31 for body in fake.bodies)
    assert len({body["seed"] for body in fake.bodies}) == 120


def test_the_key_goes_to_the_server_and_nowhere_else(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    log = io.StringIO()
    monkeypatch.setattr(logging.root, "handlers", [logging.StreamHandler(log)])
    monkeypatch.setattr(logging.root, "level", logging.DEBUG)
    logging.root.manager._clear_cache()  # type: ignore[attr-defined]
    report = ask(fake.address, tmp_path / "a.jsonl")
    assert {header["Authorization"] for header in fake.headers} == {f"Bearer {KEY}"}
    fake.refuse = (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    with pytest.raises(ModelUnavailable, match=r"status 401.*Incorrect API key provided: \*\*\*") as caught:
        ask(fake.address, tmp_path / "b.jsonl")
    results = [
        str(caught.value),
        repr(caught.value.values),
        json.dumps(to_json(report)),
        log.getvalue(),
        *capfd.readouterr(),
    ]
    assert fake.address in log.getvalue()
    assert not [text for text in results if KEY in text]
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_no_key_is_sent_if_switched_off(fake: Fake, tmp_path: Path) -> None:
    ask(fake.address, tmp_path / "a.jsonl", no_key=True)
    assert not any("Authorization" in header for header in fake.headers)


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refusal_ends_the_run_at_once(fake: Fake, tmp_path: Path, status: int) -> None:
    fake.refuse = (status, {"error": {"message": "no such model"}})
    with pytest.raises(ModelUnavailable, match="no such model"):
        ask(fake.address, tmp_path / "a.jsonl", at_once=4)
    assert fake.asked <= 8


def test_a_server_refusing_extra_fields_is_explained(fake: Fake, tmp_path: Path) -> None:
    fake.refuse = (422, {"detail": "Unexpected fields in the request: {'top_k', 'min_tokens', 'ignore_eos'}"})
    with pytest.raises(ModelUnavailable, match=r"status 422\).*'top_k'.*--standard"):
        ask(fake.address, tmp_path / "a.jsonl")
    fake.refuse = None
    ask(fake.address, tmp_path / "a.jsonl", standard=True)
    assert not {"top_k", "min_tokens", "ignore_eos"} & fake.bodies[-1].keys()


def test_an_absent_server_is_reported(tmp_path: Path) -> None:
    with Fake() as gone:
        address = gone.address
    with pytest.raises(ModelUnavailable, match="There is no server at 127"):
        ask(address, tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    "address",
    ["localhost:8000", "ftp://x/v1", "http://", "http://me:secret@host/v1", "http://host/v1?key=secret"],
)
def test_invalid_server_addresses_are_refused(address: str) -> None:
    with pytest.raises(EvenhandError) as caught:
        Server(address, "m")
    assert "secret" not in str(caught.value)


def test_an_instruction_needs_its_placeholder() -> None:
    with pytest.raises(Refused):
        Server("http://host/v1", "m", instruction="Go on.")


def test_the_limit_per_minute_spaces_requests(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 600 a minute, request n begins no earlier than n tenths of a second, as the pauses show."""
    waited: list[float] = []

    async def pause(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("evenhand.core.servers.client.asyncio.sleep", pause)
    monkeypatch.setattr("evenhand.core.servers.client.time.monotonic", lambda: 100.0)
    fake.every = 0
    ask(fake.address, tmp_path / "a.jsonl", per_minute=600)
    assert waited == pytest.approx([n / 10 for n in range(1, 120)])
