"""Answer requests to models, one after another; run as `python -m evenhand.core.worker.process`.

It serves one connection, from `core.worker.client.Inference`, over a Unix socket
whose key it finds in its environment. It ends when that connection closes or
when its standard input does, which the system closes for an app that is killed.
"""

import argparse
import logging
import os
import sys
import threading
from collections import OrderedDict
from contextlib import suppress
from multiprocessing.connection import Connection, Listener
from typing import TYPE_CHECKING, Any

from evenhand.core.errors import N_, NOT_INSTALLED, EvenhandError
from evenhand.core.models.catalogue import locate
from evenhand.core.models.planted.names import is_planted

if TYPE_CHECKING:
    from evenhand.core.models.classifier import Classifier
    from evenhand.core.models.whole_sentences import LocalScorer

KEY = "EVENHAND_WORKER_KEY"
PATIENCE = 5.0  # seconds that a request waits for a model that must be fetched
CARD_LENGTH = 8000

log = logging.getLogger("evenhand.core.worker.process")


class LoadedModels:
    """The models in memory; the one used least recently makes room."""

    def __init__(self, capacity: int, threads: int = 1) -> None:
        self.capacity, self.threads = capacity, threads
        self._scorers: OrderedDict[str, dict[str, LocalScorer]] = OrderedDict()
        self._classifier: tuple[tuple[str, tuple[str, ...] | None], Classifier] | None = None

    def scorer(self, name: str, joint: Any) -> "LocalScorer":
        """Return the scorer of a model, which is loaded if needed; its ways to join tokens share the weights.

        A causal model reads whole sentences, whose tokens are joined in one way only.
        """
        if name not in self._scorers:
            locate(name, patience=PATIENCE)  # refuses an unknown model at once, before torch is loaded
            loaded = self._load(name)
            while len(self._scorers) >= self.capacity:
                self._scorers.popitem(last=False)
            self._scorers[name] = {"independent": loaded}
        self._scorers.move_to_end(name)
        kept = self._scorers[name]
        if joint not in kept:
            kept[joint] = with_joint(kept["independent"], joint)
        return kept[joint]

    def classifier(self, name: str, labels: tuple[str, ...] | None) -> "Classifier":
        """Return the classifier of that name with *labels*; the latest one is kept."""
        if self._classifier is None or self._classifier[0] != (name, labels):
            if not is_planted(name):
                locate(name, patience=PATIENCE)
            import torch

            from evenhand.core.models.classifier import Classifier, load_classifier

            torch.set_num_threads(self.threads)
            self._classifier = (name, labels), Classifier(load_classifier(name, labels=labels, patience=PATIENCE))
        return self._classifier[1]

    def _load(self, name: str) -> "LocalScorer":
        import torch

        from evenhand.core.models.whole_sentences import open_here

        torch.set_num_threads(self.threads)
        return open_here(name, device="cpu", patience=PATIENCE)


def with_joint(scorer: "LocalScorer", joint: Any) -> "LocalScorer":
    """Return a scorer of the same weights with another way to join the tokens of a word.

    Raises Refused for whole sentences.
    """
    from evenhand.core.models.masked import MaskedScorer
    from evenhand.core.models.whole_sentences import refuse_joint

    if not isinstance(scorer, MaskedScorer):
        refuse_joint(scorer.method, joint)
    return MaskedScorer(scorer.loaded, joint=joint)


def answer(shelf: LoadedModels, request: tuple[Any, ...]) -> Any:
    """Return the result of a request; raises EvenhandError with a sentence where the request fails."""
    kind, model, joint, *rest = request
    if kind == "classify":
        return shelf.classifier(model, joint).score(rest[0])
    scorer = shelf.scorer(model, joint)
    if kind == "score":
        return scorer.score(rest[0])
    if kind == "fillers":
        probe, top, words = rest
        return scorer.fillers(probe, top=top, words=words)
    loaded = scorer.loaded
    return {
        "name": loaded.name,
        "signature": scorer.signature,
        "cache_key": scorer.cache_key,
        "weights": loaded.weights,
        "parameters": loaded.parameters,
        "longest": scorer.reader.longest,
        "card": loaded.card[:CARD_LENGTH],
    }


def reply(shelf: LoadedModels, request: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return ("ok", value), or ("error", class name, message, values) for the other side to raise again."""
    try:
        return "ok", answer(shelf, request)
    except EvenhandError as error:
        return "error", type(error).__name__, error.message, error.values
    except ModuleNotFoundError as error:
        log.exception("request %s of %s", request[0], request[1])
        return "error", "EvenhandError", NOT_INSTALLED, {"package": str(error.name)}
    except Exception as error:
        log.exception("request %s of %s", request[0], request[1])
        message = N_("The model {name} failed on this request ({problem}). The log of the app holds the details.")
        return "error", "EvenhandError", message, {"name": request[1], "problem": type(error).__name__}


def serve(connection: Connection, shelf: LoadedModels) -> None:
    """Answer until the other side closes the connection."""
    while True:
        try:
            request = connection.recv()
        except (EOFError, OSError):
            return
        connection.send(reply(shelf, request))


def _end_with_the_app() -> None:
    """End at once when standard input closes, even in the middle of a long answer."""
    while sys.stdin.buffer.read(1024):
        pass
    os._exit(0)


def main() -> None:
    """Listen on the socket, say so on standard output, serve one connection."""
    parser = argparse.ArgumentParser(description="The inference process of Evenhand; started by the app.")
    parser.add_argument("--socket", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--capacity", type=int, default=3)
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="worker: %(message)s")
    key = bytes.fromhex(os.environ.pop(KEY))
    threading.Thread(target=_end_with_the_app, daemon=True).start()
    listener = Listener(options.socket, family="AF_UNIX", authkey=key)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # standard output has no reader any more
    connection = listener.accept()
    with suppress(FileNotFoundError):  # the app removes the folder as soon as it is connected
        listener.close()
    serve(connection, LoadedModels(options.capacity, options.threads))


if __name__ == "__main__":
    main()
