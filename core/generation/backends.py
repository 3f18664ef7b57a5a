"""Writers of texts: a model in this process, or any server that speaks the OpenAI protocol, one request per text.

Servers are vLLM, llama.cpp and hosted ones. Both kinds of writers get tasks and report the texts.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import httpx

from evenhand.core.errors import N_, EvenhandError, ModelUnavailable, Refused
from evenhand.core.generation.inputs import CHUNK, Context, Task, chunks
from evenhand.core.servers.addresses import check_address
from evenhand.core.servers.client import REFUSES, Asker, Pace, Unfinished
from evenhand.core.types import JsonObject

if TYPE_CHECKING:
    from evenhand.core.models.generating import Generator


@dataclass(frozen=True, slots=True)
class Written:
    """A text that was written; `tokens` None where a server does not say, `seed` the one it was drawn with."""

    task: Task
    completion: str
    tokens: int | None
    seed: int


Keep = Callable[[Sequence[Written]], object]


class Writer(Protocol):
    """A writer of texts: a model or a server."""

    @property
    def signature(self) -> str:
        """Everything but the seeds that decides a text."""
        ...

    def refusal(self, context: Context) -> EvenhandError | None:
        """Return the error that prevents writing after a context; None if nothing does."""
        ...

    def write(self, found: Sequence[Task], there: Collection[int], keep: Keep) -> list[EvenhandError]:
        """Write the tasks whose numbers are not *there*, and hand each text to *keep* as soon as it is done.

        *found* are all tasks of the run, so that batches are the same when it is resumed. Returns what went wrong
        with single texts; raises what stops the run.
        """
        ...


class LocalWriter:
    """A causal model in this process."""

    def __init__(self, generator: "Generator", chunk: int = CHUNK) -> None:
        self.generator, self.chunk = generator, chunk

    @property
    def signature(self) -> str:
        """See `Writer`."""
        return self.generator.signature

    def refusal(self, context: Context) -> EvenhandError | None:
        """See `Writer`."""
        return self.generator.refusal(context.text)

    def write(self, tasks: Sequence[Task], there: Collection[int], keep: Keep) -> list[EvenhandError]:
        """See `Writer`. A batch of which a part is there is written again as a whole: only so it comes out the same."""
        from evenhand.core.models.generating import Prompt

        for chunk in chunks(tasks, self.chunk):
            if all(task.number in there for task in chunk):
                continue
            made = self.generator.write([Prompt(task.context.text, task.seed) for task in chunk])
            keep(
                [
                    Written(task, text.completion, text.tokens, task.seed)
                    for task, text in zip(chunk, made, strict=True)
                    if task.number not in there
                ]
            )
        return []


Way = Literal["completions", "chat"]
INSTRUCTION = "Continue the following text. Write only what comes next, not the text itself.\n\n{context}"
EXTENSIONS = ("top_k", "ignore_eos", "min_tokens")  # of vLLM and llama.cpp
NOT_STANDARD = N_(
    "The server at {address} rejected the request (status {status}): {why} — Send only standard"
    " OpenAI options: use --standard on the command line, or “Standard OpenAI options only” in the"
    " form."
)
SEEDS = 1 << 31  # servers read seeds as 32-bit numbers


@dataclass(frozen=True, slots=True)
class Server:
    """A server and how to ask it.

    `address`: up to and with /v1. `way`: "completions" continues the context; "chat" asks with `instruction`, in
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
        check_address(self.address)
        if "{context}" not in self.instruction:
            raise Refused(N_("The instruction needs the placeholder {place} for the text."), place="{context}")

    @property
    def url(self) -> str:
        """The address to which requests are sent."""
        return self.address.rstrip("/") + ("/chat/completions" if self.way == "chat" else "/completions")


class ServerWriter:
    """Writes through a server; see `Writer`."""

    def __init__(self, server: Server, how: Any, *, key: str | None = None) -> None:
        """Prepare to write through *server*.

        *how*: sampling with top_k, top_p, temperature (None: the server's own), tokens and stop.
        """
        self.server, self.how = server, how
        pace = Pace(server.at_once, server.per_minute, server.tries, server.pause_s, server.timeout_s)
        self._asker = Asker(server.url, pace, key)

    @property
    def signature(self) -> str:
        """The signature `server|model|address|settings|v1`; a server does not tell its weights."""
        how, server = self.how, self.server
        limits = f"p{how.top_p:g}" if server.standard else f"k{how.top_k},p{how.top_p:g}"
        heat = "tdefault" if how.temperature is None else f"t{how.temperature:g}"
        fixed = "" if how.stop or server.standard else ",full"
        return f"server|{server.model}|{server.url.partition('://')[2]}|{limits},{heat},n{how.tokens}{fixed}|v1"

    def refusal(self, context: Context) -> EvenhandError | None:
        """See `Writer`: the server says so itself when its turn comes."""
        return None if context.text else Refused(N_("The context is empty."))

    def write(self, tasks: Sequence[Task], there: Collection[int], keep: Keep) -> list[EvenhandError]:
        """See `Writer`; texts come in the order in which the server finishes them."""
        waiting = [task for task in tasks if task.number not in there]
        errors: list[EvenhandError] = []

        async def work(client: httpx.AsyncClient, task: Task) -> None:
            try:
                keep([await self._asker.ask(client, self._body(task), lambda data: self._written(data, task))])
            except Unfinished as error:
                errors.append(error)
            except ModelUnavailable as error:
                raise self._with_cure(error) from error

        if waiting:
            self._asker.work_off(waiting, work)
        return errors

    def _with_cure(self, error: ModelUnavailable) -> ModelUnavailable:
        """Return a refusal with what helps, where the server names a field that is not in OpenAI's protocol."""
        why = str(error.values.get("why", ""))
        if error.message != REFUSES or not any(field in why for field in EXTENSIONS):
            return error
        return ModelUnavailable(NOT_STANDARD, **error.values)

    def _body(self, task: Task) -> JsonObject:
        server, how = self.server, self.how
        body: JsonObject = {"model": server.model, "max_tokens": how.tokens, "top_p": how.top_p}
        body["seed"] = task.seed % SEEDS
        if how.temperature is not None:
            body["temperature"] = how.temperature
        if not server.standard:
            body["top_k"] = how.top_k
            if not how.stop:  # as published: exactly so many tokens (vLLM and llama.cpp)
                body |= {"ignore_eos": True, "min_tokens": how.tokens}
        if server.way == "chat":
            content = server.instruction.replace("{context}", task.context.text)
            return body | {"messages": [{"role": "user", "content": content}]}
        return body | {"prompt": task.context.text}

    def _written(self, data: JsonObject, task: Task) -> Written:
        choice = data["choices"][0]
        text = choice["message"]["content"] if self.server.way == "chat" else choice["text"]
        used = (data.get("usage") or {}).get("completion_tokens")
        return Written(task, str(text or ""), used if isinstance(used, int) else None, task.seed % SEEDS)
