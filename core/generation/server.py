"""Any server that speaks the OpenAI protocol (vLLM, llama.cpp, hosted ones) as a writer.

One request per text, several at once; what fails is asked again with growing pauses, as long as the server says
(Retry-After) or up to a minute. The key comes from the environment alone and stands in no file, record or message.
"""

import asyncio
import os
import random
import socket
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx

from core.errors import N_, EvenhandError, ModelUnavailable, Refused
from core.generation.contexts import Context, Task
from core.generation.writers import Keep, Written

Way = Literal["completions", "chat"]
SERVER, SERVERS = "EVENHAND_SERVER", "EVENHAND_SERVERS"
# Where clouds hand out the keys of a machine, beside the addresses of a link.
METADATA = frozenset({"metadata", "metadata.google.internal", "fd00:ec2::254", "100.100.100.200"})
KEYS = ("EVENHAND_API_KEY", "OPENAI_API_KEY")
AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
INSTRUCTION = "Continue the following text. Write only what comes next, not the text itself.\n\n{context}"
LONGEST_PAUSE_S = 60.0
SEEDS = 1 << 31  # servers read seeds as 32-bit numbers


def is_internal(host: str) -> bool:
    """Whether a host is one at which clouds hand out the keys of their machines: the addresses of a link, and names.

    An address may be written in any way that the system's resolver takes: 169.254.169.254, 0xa9fea9fe, 2852039166.
    """
    bare = host.rstrip(".").lower()
    if bare in METADATA:
        return True
    try:
        found = ip_address(bare.partition("%")[0])
    except ValueError:
        try:
            found = ip_address(socket.inet_aton(bare))
        except OSError:
            return False
    mapped = getattr(found, "ipv4_mapped", None) or found
    return mapped.is_link_local or str(mapped) in METADATA


def servers_allowed() -> list[str]:
    """The addresses that leads of a server with accounts may use: EVENHAND_SERVER, and those of EVENHAND_SERVERS
    (separated by commas)."""
    named = [os.environ.get(SERVER, ""), *os.environ.get(SERVERS, "").split(",")]
    return list(dict.fromkeys(one.strip() for one in named if one.strip()))


@dataclass(frozen=True, slots=True)
class Server:
    """A server and how to ask it.

    `address`: up to and with /v1. `way`: "completions" goes on from the context; "chat" asks with `instruction`, in
    which {context} is replaced. `at_once`: requests under way; `per_minute`: their limit (None: none); `tries`: how
    often a text is asked for; `pause_s`: the first pause before another try; `standard`: send only what OpenAI's own
    protocol knows (no top-k, no fixed length).
    """

    address: str
    model: str
    way: Way = "completions"
    instruction: str = INSTRUCTION
    at_once: int = 8
    per_minute: float | None = None
    tries: int = 8
    pause_s: float = 1.0
    timeout_s: float = 300.0
    standard: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            message = N_("{address} is not a server address; it should look like http://localhost:8000/v1.")
            raise Refused(message, address=parts.hostname or "''")
        if is_internal(parts.hostname):
            raise Refused(N_("{address} is not the address of a model server."), address=parts.hostname)
        if parts.username or parts.password or parts.query or parts.fragment:
            raise Refused(
                N_("Do not put a key into the server address; set the environment variable EVENHAND_API_KEY.")
            )
        if "{context}" not in self.instruction:
            raise Refused(N_("The instruction needs the placeholder {place} for the text."), place="{context}")

    @property
    def url(self) -> str:
        """Where requests go."""
        return self.address.rstrip("/") + ("/chat/completions" if self.way == "chat" else "/completions")


class _Unfinished(EvenhandError):
    """A request that may be repeated; `after` is how long the server asks to wait, in seconds."""

    after: float | None = None


class ServerWriter:
    """Writes through a server; see `core.generation.writers.Writer`."""

    def __init__(self, server: Server, how: Any, *, key: str | None = None) -> None:
        """*how*: sampling with top_k, top_p, temperature (None: the server's own), tokens and stop."""
        self.server, self.how = server, how
        self._key = key or ""
        self._answered = False
        self._next = 0.0  # when the next request may begin, by the clock of the loop

    @property
    def signature(self) -> str:
        """`server|model|address|settings|v1`; which weights a server has it does not say."""
        how, one = self.how, self.server
        limits = f"p{how.top_p:g}" if one.standard else f"k{how.top_k},p{how.top_p:g}"
        heat = "tdefault" if how.temperature is None else f"t{how.temperature:g}"
        fixed = "" if how.stop or one.standard else ",full"
        return f"server|{one.model}|{one.url.partition('://')[2]}|{limits},{heat},n{how.tokens}{fixed}|v1"

    def refusal(self, context: Context) -> EvenhandError | None:
        """See `Writer`: the server says so itself when its turn comes."""
        return None if context.text else Refused(N_("The context is empty."))

    def write(self, found: Sequence[Task], there: Collection[int], keep: Keep) -> list[EvenhandError]:
        """See `Writer`; texts come in the order in which the server finishes them."""
        waiting = [task for task in found if task.number not in there]
        return asyncio.run(self._write_all(waiting, keep)) if waiting else []

    async def _write_all(self, waiting: list[Task], keep: Keep) -> list[EvenhandError]:
        queue = iter(waiting)
        errors: list[EvenhandError] = []
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        limits = httpx.Limits(max_connections=self.server.at_once)
        async with httpx.AsyncClient(timeout=self.server.timeout_s, limits=limits, headers=headers) as client:

            async def work() -> None:
                for task in queue:
                    try:
                        keep([await self._one(client, task)])
                    except _Unfinished as error:
                        errors.append(error)

            hands = [asyncio.create_task(work()) for _ in range(max(1, min(self.server.at_once, len(waiting))))]
            try:
                await asyncio.gather(*hands)
            finally:
                for hand in hands:
                    hand.cancel()
                await asyncio.gather(*hands, return_exceptions=True)
        return errors

    async def _one(self, client: httpx.AsyncClient, task: Task) -> Written:
        pause = self.server.pause_s
        for attempt in range(1, self.server.tries + 1):
            await self._turn()
            try:
                return await self._request(client, task)
            except _Unfinished as error:
                # If nothing has ever answered, there is probably no server: three tries are enough.
                if attempt == self.server.tries or (
                    isinstance(error, _Unreachable) and not self._answered and attempt > 2
                ):
                    if isinstance(error, _Unreachable) and not self._answered:
                        raise ModelUnavailable(NOBODY, **error.values) from error
                    raise
                spread = 0.5 + random.random()  # noqa: S311 - so that requests that failed together do not return so
                await asyncio.sleep(min(LONGEST_PAUSE_S, pause * spread) if error.after is None else error.after)
                pause = min(LONGEST_PAUSE_S, 2 * pause)
        raise AssertionError("at least one try")

    async def _turn(self) -> None:
        """Wait until the limit per minute allows another request."""
        if not self.server.per_minute:
            return
        now = time.monotonic()
        begins = max(now, self._next)
        self._next = begins + 60 / self.server.per_minute
        if begins > now:
            await asyncio.sleep(begins - now)

    def _body(self, task: Task) -> dict[str, Any]:
        one, how = self.server, self.how
        body: dict[str, Any] = {"model": one.model, "max_tokens": how.tokens, "top_p": how.top_p}
        body["seed"] = task.seed % SEEDS
        if how.temperature is not None:
            body["temperature"] = how.temperature
        if not one.standard:
            body["top_k"] = how.top_k
            if not how.stop:  # as published: exactly so many tokens (vLLM and llama.cpp)
                body |= {"ignore_eos": True, "min_tokens": how.tokens}
        if one.way == "chat":
            content = one.instruction.replace("{context}", task.context.text)
            return body | {"messages": [{"role": "user", "content": content}]}
        return body | {"prompt": task.context.text}

    async def _request(self, client: httpx.AsyncClient, task: Task) -> Written:
        values = {"address": _place(self.server.url)}
        try:
            answer = await client.post(self.server.url, json=self._body(task))
        except httpx.TimeoutException as error:
            raise _Unfinished(N_("The server at {address} did not answer in time."), **values) from error
        except httpx.TransportError as error:
            raise _Unreachable(BROKEN, **values, why=self._clean(str(error) or type(error).__name__)) from error
        self._answered = True
        if answer.status_code in AGAIN:
            unfinished = _Unfinished(BUSY, **values, status=answer.status_code)
            unfinished.after = _after(answer.headers.get("retry-after"))
            raise unfinished
        if answer.status_code != 200:
            raise ModelUnavailable(REFUSES, **values, status=answer.status_code, why=self._clean(_refusal_of(answer)))
        return self._read(answer, task, values)

    def _read(self, answer: httpx.Response, task: Task, values: dict[str, Any]) -> Written:
        try:
            data = answer.json()
            choice = data["choices"][0]
            text = choice["message"]["content"] if self.server.way == "chat" else choice["text"]
            used = (data.get("usage") or {}).get("completion_tokens")
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise _Unfinished(
                N_("The response of the server at {address} does not follow the protocol."), **values
            ) from error
        tokens = used if isinstance(used, int) else None
        return Written(task, str(text or ""), tokens, task.seed % SEEDS)

    def _clean(self, text: str) -> str:
        """*text* without the key, whatever the server put into it."""
        bare = text.replace(self._key, "***") if self._key else text
        return " ".join(bare.split())[:200]


class _Unreachable(_Unfinished):
    """No answer at all."""


NOBODY = N_("There is no server at {address} ({why}). Start it, or check the address.")
BROKEN = N_("The connection to the server at {address} was lost ({why}).")
BUSY = N_("The server at {address} failed repeatedly (status {status}).")
REFUSES = N_("The server at {address} rejected the request (status {status}): {why}")


def key_from_environment() -> str | None:
    """The key of the server: EVENHAND_API_KEY, else OPENAI_API_KEY; None where neither is set."""
    return next((os.environ[name] for name in KEYS if os.environ.get(name)), None)


def _place(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)


def _after(header: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, at most ten minutes; None where it says nothing that can be read."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return min(600.0, max(0.0, seconds))


def _refusal_of(answer: httpx.Response) -> str:
    """The reason of a refusal in the server's answer."""
    try:
        error = answer.json()["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        return answer.text or answer.reason_phrase
