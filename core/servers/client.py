"""Ask a server until it answers: several requests at once, growing pauses, a limit per minute.

A failed request is repeated after the time that the server asks for (Retry-After), or after up to a minute. If a server
gives the same failure again and again, without an answer between, all requests end with its message.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from evenhand.core.errors import N_, EvenhandError, ModelUnavailable
from evenhand.core.servers.addresses import place_of
from evenhand.core.servers.connecting import client_of

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
LATER = frozenset({408, 409, 425, 429, 503, 529})  # the server is busy or still loading, and says so
LONGEST_PAUSE_S = 60.0
SAME = 5  # equal failures in a row from which on they do not count as an accident
SOON = 3  # tries of one request while the server has never answered
NOBODY = N_("There is no server at {address} ({why}). Start it, or check the address.")
BROKEN = N_("The connection to the server at {address} was lost ({why}).")
BUSY = N_("The server at {address} failed repeatedly (status {status}): {why}")
FAILS = N_(
    "The server at {address} failed {number} times in a row (status {status}): “{why}”. Correct the"
    " server or the settings, and start again; answers received so far are stored."
)
NO_PROTOCOL = N_(
    "{number} consecutive responses from the server at {address} did not follow the protocol. Check"
    " the address, the model and the answer format, and start again; answers received so far are"
    " stored."
)
SILENT = N_(
    "{number} consecutive requests to the server at {address} timed out. Check whether it is"
    " overloaded, and start again; answers received so far are stored."
)
REFUSES = N_("The server at {address} rejected the request (status {status}): {why}")
ODD = N_("The response from the server at {address} does not follow the protocol.")
LATE = N_("The server at {address} did not answer in time.")
Answer = TypeVar("Answer")
Work = TypeVar("Work")


class Unfinished(EvenhandError):
    """A failed request that may be repeated; `after`: the seconds that the server asks to wait, or None."""

    after: float | None = None


class Unreachable(Unfinished):
    """A request without any answer."""


@dataclass(slots=True)
class _Streak:
    """Equal failures in a row of one server, over all requests. `worked`: True once the server has answered."""

    worked: bool = False
    kind: tuple[Any, ...] = ()
    number: int = 0
    requests: set[int] = field(default_factory=set)

    def answered(self) -> None:
        """End the streak: the server answers."""
        self.worked, self.kind, self.number = True, (), 0

    def failed(self, error: Unfinished, request: int) -> None:
        """Count a failure; a failure of another kind begins a new streak."""
        kind = (error.message, error.values.get("status"))
        if kind != self.kind:
            self.kind, self.number, self.requests = kind, 0, set()
        self.number += 1
        self.requests.add(request)

    def tries(self, error: Unfinished, most: int) -> int:
        """Return how many tries a request gets: fewer where the server has never answered and is not merely busy."""
        if self.worked or self.number < SAME or error.values.get("status") in LATER:
            return most
        return min(most, SOON if self.is_of_several else SAME)

    @property
    def is_of_several(self) -> bool:
        """True if several requests failed; a single one may be at fault itself."""
        return self.number >= SAME and len(self.requests) > 1


@dataclass(frozen=True, slots=True)
class Pace:
    """The load that a server gets: requests at once, their limit per minute (None: no limit), tries per request, the
    first pause before another try, and the longest time for an answer; both in seconds."""

    at_once: int = 8
    per_minute: float | None = None
    tries: int = 8
    pause_s: float = 1.0
    timeout_s: float = 300.0


class Asker:
    """Asks one address. Not for several event loops at once."""

    def __init__(self, url: str, pace: Pace, key: str | None = None) -> None:
        self.url, self.pace = url, pace
        self.place = {"address": place_of(url)}
        self._key = key or ""
        self._answered = False
        self._streak, self._asked = _Streak(), 0
        self._next = 0.0  # when the next request may begin, by the clock of the loop

    def work_off(self, waiting: Iterable[Work], work: Callable[[httpx.AsyncClient, Work], Awaitable[None]]) -> None:
        """Call *work* for each element of *waiting*, as many at once as the pace says; an exception ends all of it."""
        asyncio.run(self._work_off(iter(waiting), work))

    async def _work_off(
        self, queue: Iterable[Work], work: Callable[[httpx.AsyncClient, Work], Awaitable[None]]
    ) -> None:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        limits = httpx.Limits(max_connections=self.pace.at_once)
        async with client_of(self.url, limits, self.pace.timeout_s, headers) as client:

            async def hand() -> None:
                for one in queue:
                    await work(client, one)

            hands = [asyncio.create_task(hand()) for _ in range(max(1, self.pace.at_once))]
            try:
                await asyncio.gather(*hands)
            finally:
                for one in hands:
                    one.cancel()
                await asyncio.gather(*hands, return_exceptions=True)

    async def ask(
        self, client: httpx.AsyncClient, body: dict[str, Any], read: Callable[[dict[str, Any]], Answer]
    ) -> Answer:
        """Return the result of *read* for the answer to *body*; ask again where it fails with a KeyError or the like.

        Raises Unfinished after the last try; ModelUnavailable where no server is there, where it refuses, or where it
        gives the same failure again and again.
        """
        pause, self._asked = self.pace.pause_s, self._asked + 1
        request = self._asked
        for attempt in range(1, self.pace.tries + 1):
            await self._turn()
            try:
                answer = await self._once(client, body, read)
            except Unfinished as error:
                self._streak.failed(error, request)
                if attempt >= self._tries(error):
                    raise self._given_up(error) from error
                spread = 0.5 + random.random()  # noqa: S311 - so that requests that failed together do not return so
                await asyncio.sleep(min(LONGEST_PAUSE_S, pause * spread) if error.after is None else error.after)
                pause = min(LONGEST_PAUSE_S, 2 * pause)
            else:
                self._streak.answered()
                return answer
        raise AssertionError("at least one try")

    def _tries(self, error: Unfinished) -> int:
        """Return how many tries a request gets. If nothing has ever answered, there is probably no server."""
        if isinstance(error, Unreachable):
            return self.pace.tries if self._answered else min(SOON, self.pace.tries)
        return self._streak.tries(error, self.pace.tries)

    def _given_up(self, error: Unfinished) -> EvenhandError:
        """Return the exception to raise after the last try: it ends all requests, or only this one."""
        if isinstance(error, Unreachable):
            return error if self._answered else ModelUnavailable(NOBODY, **error.values)
        if not self._streak.is_of_several:
            return error
        message = {BUSY: FAILS, ODD: NO_PROTOCOL}.get(error.message, SILENT)
        return ModelUnavailable(message, **error.values, number=self._streak.number)

    async def _turn(self) -> None:
        """Wait until the limit per minute allows another request."""
        if not self.pace.per_minute:
            return
        now = time.monotonic()
        begins = max(now, self._next)
        self._next = begins + 60 / self.pace.per_minute
        if begins > now:
            await asyncio.sleep(begins - now)

    async def _once(
        self, client: httpx.AsyncClient, body: dict[str, Any], read: Callable[[dict[str, Any]], Answer]
    ) -> Answer:
        try:
            answer = await client.post(self.url, json=body)
        except httpx.TimeoutException as error:
            raise Unfinished(LATE, **self.place) from error
        except httpx.TransportError as error:
            raise Unreachable(BROKEN, **self.place, why=self._clean(str(error) or type(error).__name__)) from error
        self._answered = True
        if answer.status_code in AGAIN:
            why = self._clean(_refusal_of(answer))
            unfinished = Unfinished(BUSY, **self.place, status=answer.status_code, why=why)
            unfinished.after = seconds_of(answer.headers.get("retry-after"))
            raise unfinished
        if answer.status_code != 200:
            raise ModelUnavailable(
                REFUSES, **self.place, status=answer.status_code, why=self._clean(_refusal_of(answer))
            )
        try:
            return read(answer.json())
        except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise Unfinished(ODD, **self.place) from error

    def _clean(self, text: str) -> str:
        """Return *text* on one line, without the key and control characters, at most 200 characters."""
        bare = text.replace(self._key, "***") if self._key else text
        return "".join(filter(str.isprintable, " ".join(bare.split())))[:200]


def seconds_of(header: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for, 0 to 600; None without a readable header."""
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
    """Return the reason of a refusal from the server's answer."""
    try:
        error = answer.json()["error"]
        return str(error["message"] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError):
        return answer.text or answer.reason_phrase
