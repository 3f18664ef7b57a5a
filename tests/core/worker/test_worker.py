"""The inference process seen from the app: answers, errors, death, several askers, and no torch on this side."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from evenhand.core import errors
from evenhand.core.errors import ModelUnavailable, Refused, WorkerDied
from evenhand.core.models import open_scorer
from evenhand.core.resources import ROOT
from evenhand.core.types import MaskedSentence
from evenhand.core.worker.client import Inference, RemoteScorer, known_models
from evenhand.core.worker.process import LoadedModels, reply
from tests.support import tiny_models

pytestmark = pytest.mark.early

HE_SHE = MaskedSentence("他是医生。", 0, 1, ("他", "她"))
LONG_WAIT = 300.0  # seconds after which a test gives up; nothing waits that long when all is well


@pytest.fixture(scope="module")
def inference() -> Iterator[Inference]:
    with Inference() as shared:
        yield shared


def wait_until_gone(pid: int) -> bool:
    try:
        psutil.Process(pid).wait(LONG_WAIT)
    except psutil.NoSuchProcess:
        return True
    return not psutil.pid_exists(pid)


def test_answers_equal_those_of_a_local_model(inference: Inference) -> None:
    probes = [
        HE_SHE,
        MaskedSentence("爸爸来了。", 0, 2, ("爸爸", "妈妈")),
        MaskedSentence("他来了", 0, 1, ("他", "她们")),
    ]
    for joint in ("independent", "geometric_mean", "sequential"):
        remote = RemoteScorer(inference, "known", joint=joint)  # type: ignore[arg-type]
        local = open_scorer("known", joint=joint)  # type: ignore[arg-type]
        assert remote.score(probes) == local.score(probes)
        assert remote.signature == local.signature and remote.cache_key == local.cache_key
    assert remote.fillers(HE_SHE, top=3, words=("它",)) == local.fillers(HE_SHE, top=3, words=("它",))


def test_many_probes_are_answered_in_order(inference: Inference) -> None:
    words = ("他", "她", "男", "女", "的")
    probes = [MaskedSentence("他在", 0, 1, (words[i % 5], words[(i + 1) % 5])) for i in range(600)]
    assert RemoteScorer(inference, "known").score(probes) == open_scorer("known").score(probes)
    assert RemoteScorer(inference, "known").score([]) == []


def test_planted_models_work_in_the_worker(inference: Inference) -> None:
    scores, local = inference.score("planted:offset+0.3", [HE_SHE]), open_scorer("planted:offset+0.3")
    assert scores == local.score([HE_SHE])
    assert inference.describe("planted:offset+0.3")["signature"] == scores[0].signature == local.signature


def test_a_model_is_described(inference: Inference) -> None:
    facts = inference.describe("known")
    assert facts["name"] == "known" and facts["longest"] == 512 and facts["parameters"] > 1000
    assert facts["weights"][:8] in facts["signature"] and facts["weights"] in facts["cache_key"]
    assert "not for findings" in facts["card"] and not facts["card"].startswith("---")


def test_a_refusal_keeps_its_class_sentence_and_values(inference: Inference) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        RemoteScorer(inference, "/no/such/folder").score([HE_SHE])
    assert caught.value.values == {"name": "/no/such/folder"}
    assert "{name}" in caught.value.message  # so that a page can translate it
    assert inference.describe("known")["name"] == "known"  # the process still works


@pytest.mark.parametrize("name", ["ModelUnavailable", "Refused", "NotFound", "EvenhandError"])
def test_every_model_error_can_be_pickled(name: str) -> None:
    class Broken(LoadedModels):
        def scorer(self, *_: object) -> object:  # type: ignore[override]
            raise getattr(errors, name)("No {thing}.", thing="bread")

    assert reply(Broken(1), ("describe", "m", "independent")) == ("error", name, "No {thing}.", {"thing": "bread"})


def test_an_unforeseen_failure_becomes_one_sentence() -> None:
    class Broken(LoadedModels):
        def scorer(self, *_: object) -> object:  # type: ignore[override]
            raise ZeroDivisionError("boom")

    kind, name, message, values = reply(Broken(1), ("describe", "m", "independent"))
    assert (kind, name) == ("error", "EvenhandError")
    assert message.format(**values).startswith("The model m failed")
    pickle.dumps(values)


def test_the_most_recently_used_models_stay_loaded(tmp_path: Path) -> None:
    for name in "abc":
        tiny_models.bert(tmp_path / name)
    shelf = LoadedModels(2)
    a, b = (shelf.scorer(str(tmp_path / name), "independent") for name in "ab")
    assert shelf.scorer(str(tmp_path / "a"), "independent") is a
    assert shelf.scorer(str(tmp_path / "a"), "sequential").loaded is a.loaded
    shelf.scorer(str(tmp_path / "c"), "independent")  # b makes room
    assert shelf.scorer(str(tmp_path / "a"), "independent") is a
    assert shelf.scorer(str(tmp_path / "b"), "independent") is not b


def refused(inference: Inference) -> None:
    """Send the cheapest request: an unknown model name is refused before torch is loaded."""
    with pytest.raises(ModelUnavailable):
        inference.describe("/no/such/folder")


@pytest.mark.rehearsal
def test_a_killed_worker_is_reported_and_restarted(inference: Inference, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = RemoteScorer(inference, "known")
    before = scorer.score([HE_SHE])
    pid = inference.pid
    assert pid is not None and inference._connection is not None
    os.kill(pid, signal.SIGSTOP)  # so that the question is under way when the process dies
    send = inference._connection.send

    def send_then_kill(request: object) -> None:
        send(request)
        os.kill(pid, signal.SIGKILL)

    monkeypatch.setattr(inference._connection, "send", send_then_kill)
    with pytest.raises(WorkerDied, match=r"The model process ended unexpectedly\. It restarts with the next request\."):
        scorer.score([HE_SHE])
    assert scorer.score([HE_SHE]) == before
    assert inference.pid not in (None, pid)


@pytest.mark.rehearsal
def test_a_worker_killed_between_requests_is_restarted() -> None:
    with Inference() as inference:
        refused(inference)
        pid = inference.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(pid)], timeout=LONG_WAIT)
        refused(inference)
        assert inference.pid not in (None, pid)


def test_a_request_that_takes_too_long_is_ended() -> None:
    with Inference() as inference:
        refused(inference)
        pid = inference.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)  # it will never answer
        inference.limit = 0.2
        with pytest.raises(WorkerDied, match=r"longer than 0\.2 s"):
            inference.describe("/no/such/folder")
        assert wait_until_gone(pid)
        inference.limit = LONG_WAIT
        refused(inference)


def test_the_worker_runs_only_from_first_request_to_the_end() -> None:
    inference = Inference()
    assert inference.pid is None  # nothing is started before the first question
    refused(inference)
    process = inference.pid
    inference.close()
    assert process is not None and wait_until_gone(process)
    with pytest.raises(WorkerDied, match="shutting down"):
        inference.describe("known")


def test_a_worker_that_cannot_start_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with Inference() as inference, pytest.raises(WorkerDied, match="could not start"):
        inference.describe("known")


def test_two_threads_at_once_get_their_own_answers(inference: Inference) -> None:
    expected = {word: open_scorer("known").score([probe(word)]) for word in "他她男女的它"}
    wrong: list[str] = []

    def ask(word: str) -> None:
        scorer = RemoteScorer(inference, "known")
        for _ in range(25):
            if scorer.score([probe(word)]) != expected[word]:
                wrong.append(word)

    threads = [threading.Thread(target=ask, args=(word,)) for word in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_WAIT)
    assert not wrong and not any(thread.is_alive() for thread in threads)


def probe(word: str) -> MaskedSentence:
    """Return a probe with one option, whose probability identifies the answer."""
    return MaskedSentence("他在这里。", 0, 1, (word,))


PARENT = """
import sys
from evenhand.core.errors import ModelUnavailable
from evenhand.core.worker.client import Inference
inference = Inference()
try:
    inference.describe("/no/such/folder")
except ModelUnavailable:
    pass
print(inference.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("end", [subprocess.Popen.kill, subprocess.Popen.terminate], ids=["kill -9", "terminate"])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "stuck"])
def test_the_worker_ends_with_the_app(end: Callable[[subprocess.Popen[str]], None], busy: bool) -> None:
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as app:
        assert app.stdout is not None
        worker = int(app.stdout.readline())
        assert psutil.pid_exists(worker)
        if busy:
            os.kill(worker, signal.SIGSTOP)
        end(app)
        app.wait()
    if busy:
        os.kill(worker, signal.SIGCONT)
    assert wait_until_gone(worker)


ENDING = """
import contextlib, os, signal, threading
from evenhand.core.errors import EvenhandError
from evenhand.core.worker.client import shared
try:
    shared().describe("/no/such/folder")
except EvenhandError as error:
    print(shared().pid, flush=True)
os.kill(shared().pid, signal.SIGSTOP)
def ask():
    with contextlib.suppress(EvenhandError):
        shared().describe("known")
threading.Thread(target=ask, daemon=True).start()
"""


def test_an_ending_app_does_not_wait_for_an_answer() -> None:
    """The shared handle closes at the end, in silence, although a question is under way that gets no answer."""
    done = subprocess.run([sys.executable, "-c", ENDING], cwd=ROOT, capture_output=True, text=True, timeout=LONG_WAIT)
    assert (done.returncode, done.stderr) == (0, "")
    assert wait_until_gone(int(done.stdout))


def test_the_temporary_folder_is_left_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Inference() as inference:
        refused(inference)
        assert list(tmp_path.iterdir()) == []


def test_a_long_temporary_folder_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path of a Unix socket is limited to 107 bytes."""
    deep = tmp_path / ("a" * 60) / ("b" * 60)
    deep.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with Inference() as inference:
        refused(inference)
        assert psutil.pid_exists(inference.pid)  # the worker itself answered


def test_other_processes_cannot_connect_and_the_key_is_not_stored() -> None:
    with Inference() as inference:
        refused(inference)
        worker = psutil.Process(inference.pid)
        assert "EVENHAND_WORKER_KEY" not in os.environ
        assert not [word for word in worker.cmdline() if len(word) >= 64]  # the key is not on the command line


@pytest.mark.parametrize(
    "module",
    [
        "evenhand.core.worker.client",
        "evenhand.core.worker.process",
        "evenhand.core.models",
        "evenhand.core.models.catalogue",
    ],
)
def test_the_app_does_not_import_torch(module: str) -> None:
    code = f"import sys, {module} as m; getattr(m, 'known_models', list)(); print([n for n in sys.modules if n in " + (
        "('torch', 'transformers', 'tokenizers', 'numpy', 'huggingface_hub')])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_models_are_listed_without_the_worker() -> None:
    assert [entry.name for entry in known_models()][:3] == ["known", "demo-zh", "random-zh"]


def test_a_causal_model_scores_whole_sentences(inference: Inference) -> None:
    probe = MaskedSentence("The doctor washed her hands.", 18, 21, ("his", "her"))
    remote = RemoteScorer(inference, "demo-en-causal")
    [score], [alone] = remote.score([probe]), open_scorer("demo-en-causal", threads=1).score([probe])
    assert score.logprobs == pytest.approx(alone.logprobs, abs=1e-4)
    assert remote.signature.startswith("pair-sum|demo-en-causal|")
    assert remote.fillers(probe) == []
    with pytest.raises(Refused, match=r"sums over whole sentences. Omit"):
        RemoteScorer(inference, "demo-en-causal", joint="sequential").score([probe])
