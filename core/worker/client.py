"""The app's side of the inference process (core/worker/process.py). Never imports torch.

One process per `Inference`, started at the first question and again after it
died. Questions of several threads are answered in the order they came.
"""

import atexit
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cache
from multiprocessing.connection import Client, Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from evenhand.core import errors
from evenhand.core.errors import N_, EvenhandError, WorkerDied
from evenhand.core.models import Joint
from evenhand.core.models.catalogue import ModelEntry, is_open_to_all, is_open_to_leads, known_models
from evenhand.core.nli.types import SentencePair
from evenhand.core.resources import IMPORT_FOLDER
from evenhand.core.types import Filler, MaskedSentence, Score

__all__ = [
    "Inference", "ModelEntry", "RemoteScorer", "is_open_to_all", "is_open_to_leads", "known_models", "shared",
]  # fmt: skip

KEY = "EVENHAND_WORKER_KEY"
START_SECONDS = 120.0  # a process that dies is noticed at once; a busy machine or a slow disk may need long
LONGEST_SOCKET = 100  # the system allows 107 bytes for the path of a socket
SHUTTING_DOWN = N_("The app is shutting down; the model was not run.")
PROBES_A_REQUEST = 256  # so that a long list lets a person's single sentence in between

Task = tuple["Future[Any]", Callable[..., Any], tuple[Any, ...]]


class Inference:
    """A handle on the inference process; safe to share between threads.

    *threads*: torch threads of the process. *capacity*: models kept in memory.
    *limit*: seconds that one request may take before the process is stopped.
    """

    def __init__(self, *, threads: int = 1, capacity: int = 3, limit: float = 120.0) -> None:
        self.threads, self.capacity, self.limit = threads, capacity, limit
        self._process: subprocess.Popen[str] | None = None
        self._connection: Connection | None = None
        # One thread owns the process and the connection; its queue is first come, first served. A daemon,
        # so that an app which ends does not wait for an answer without a reader.
        self._queue: SimpleQueue[Task | None] = SimpleQueue()
        self._closing = threading.Event()
        threading.Thread(target=self._work, name="inference", daemon=True).start()

    @property
    def pid(self) -> int | None:
        """The process id of the worker, None before the first question and after its end."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def score(self, model: str, probes: Sequence[MaskedSentence], *, joint: Joint = "independent") -> list[Score]:
        """Return one score per probe, in order. Raises ModelUnavailable or WorkerDied."""
        scores: list[Score] = []
        for i in range(0, len(probes), PROBES_A_REQUEST):
            scores += self._ask("score", model, joint, list(probes[i : i + PROBES_A_REQUEST]))
        return scores

    def fillers(
        self, model: str, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()
    ) -> list[list[Filler]]:
        """Return for each mask token of the slot the *top* most likely tokens, then each of *words*."""
        result: list[list[Filler]] = self._ask("fillers", model, "independent", probe, top, tuple(words))
        return result

    def classify(
        self, model: str, pairs: Sequence[SentencePair], *, labels: Sequence[str] | None = None
    ) -> list[Score]:
        """Return one score per pair of sentences: log-probabilities of entailment, contradiction and neutral, in order.

        *labels* say by hand what the outputs of the model mean. Raises ModelUnavailable, Refused or WorkerDied.
        """
        scores: list[Score] = self._ask("classify", model, None if labels is None else tuple(labels), list(pairs))
        return scores

    def describe(self, model: str, *, joint: Joint = "independent") -> dict[str, Any]:
        """Return name, signature, cache_key, weights (SHA-256), parameters, longest (tokens) and card of a model."""
        facts: dict[str, Any] = self._ask("describe", model, joint)
        return facts

    def close(self) -> None:
        """End the process permanently, without waiting for answers under way."""
        if self._closing.is_set():
            return
        self._closing.set()
        if process := self._process:
            process.kill()
        self._submit(self._stop).result()
        self._queue.put(None)

    def __enter__(self) -> "Inference":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, *request: Any) -> Any:
        if self._closing.is_set():
            raise WorkerDied(SHUTTING_DOWN)
        return self._submit(self._exchange, request).result()

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        self._queue.put((future, function, arguments))
        return future

    def _work(self) -> None:
        while task := self._queue.get():
            future, function, arguments = task
            try:
                future.set_result(function(*arguments))
            except BaseException as error:  # the one who asked gets it
                future.set_exception(error)

    def _exchange(self, request: tuple[Any, ...]) -> Any:
        """Send one request and wait for its answer; runs in the owning thread only."""
        if self._closing.is_set():
            raise WorkerDied(SHUTTING_DOWN)
        connection = self._running()
        try:
            connection.send(request)
            if not connection.poll(self.limit):
                self._stop()
                message = N_("The model {name} took longer than {seconds:g} s and was stopped. Send less at once.")
                raise WorkerDied(message, name=request[1], seconds=self.limit)
            kind, *rest = connection.recv()
        except (EOFError, OSError):
            self._stop()
            raise WorkerDied(N_("The model process ended unexpectedly. It restarts with the next request.")) from None
        if kind == "ok":
            return rest[0]
        name, message, values = rest
        raise getattr(errors, name, EvenhandError)(message, **values)

    def _running(self) -> Connection:
        """Return the connection to a living process, which is started if needed."""
        if self._connection and self.pid:
            return self._connection
        self._stop()
        key = secrets.token_bytes(32)
        folder = Path(tempfile.mkdtemp(prefix="evenhand-"))  # mode 0700
        if len(str(folder)) > LONGEST_SOCKET - len("/socket"):
            folder.rmdir()
            folder = Path(tempfile.mkdtemp(prefix="evenhand-", dir="/tmp"))
        try:
            self._process = self._launch(folder / "socket", key)
            self._connection = self._connect(folder / "socket", key)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return self._connection

    def _launch(self, socket: Path, key: bytes) -> subprocess.Popen[str]:
        sizes = ["--threads", str(self.threads), "--capacity", str(self.capacity)]
        settings = {KEY: key.hex(), "OMP_NUM_THREADS": str(self.threads), "TOKENIZERS_PARALLELISM": "false"}
        return subprocess.Popen(
            [sys.executable, "-m", "evenhand.core.worker.process", "--socket", str(socket), *sizes],
            cwd=IMPORT_FOLDER,
            env=os.environ | settings,
            stdin=subprocess.PIPE,  # held open: the worker ends when the system closes it
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C in the terminal is for the app, which then closes the worker
        )

    def _connect(self, socket: Path, key: bytes) -> Connection:
        process = self._process
        assert process is not None and process.stdout is not None
        timer = threading.Timer(START_SECONDS, process.kill)
        timer.start()
        text = process.stdout.readline()  # empty when it ended
        timer.cancel()
        if text.strip() != "ready":
            self._stop()
            raise WorkerDied(
                N_("The model process could not start within {seconds:g} s. See the log."),
                seconds=START_SECONDS,
            )
        return Client(str(socket), family="AF_UNIX", authkey=key)

    def _stop(self) -> None:
        connection, process = self._connection, self._process
        self._connection = self._process = None
        if connection:
            connection.close()
        if process:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    pipe.close()


class RemoteScorer:
    """A model of the inference process as a `core.types.Scorer`."""

    def __init__(self, inference: Inference, model: str, *, joint: Joint = "independent") -> None:
        self.inference, self.model, self.joint = inference, model, joint
        self._facts: dict[str, Any] | None = None

    def describe(self) -> dict[str, Any]:
        """See `Inference.describe`; asked once."""
        if self._facts is None:
            self._facts = self.inference.describe(self.model, joint=self.joint)
        return self._facts

    @property
    def signature(self) -> str:
        """Everything that can change the number; loads the model when first asked."""
        return str(self.describe()["signature"])

    @property
    def cache_key(self) -> str:
        """The signature with the full SHA-256 of the weights."""
        return str(self.describe()["cache_key"])

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        """Return one score per probe, in order."""
        return self.inference.score(self.model, probes, joint=self.joint)

    def fillers(self, probe: MaskedSentence, *, top: int = 10, words: Sequence[str] = ()) -> list[list[Filler]]:
        """Return for each mask token of the slot the *top* most likely tokens, then each of *words*."""
        return self.inference.fillers(self.model, probe, top=top, words=words)


@cache
def shared() -> Inference:
    """Return the shared handle of this process, for every page and visitor; it is closed when the process ends."""
    inference = Inference()
    atexit.register(inference.close)
    return inference
