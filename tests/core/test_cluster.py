"""A real local Ray of two workers, in a process of its own: order, one function per actor, errors, the same numbers.

Every test that needs a real Ray is here: its start takes processes by the dozen, and they share one.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evenhand.core import cluster
from evenhand.core.cluster import Answerer, Pool, ordered_map
from evenhand.core.errors import BadLine, NotFound, Refused
from tests.conftest import ROOT, SENTENCES
from tests.support.corpora import many

pytestmark = [
    pytest.mark.early,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="ray is not installed (requirements-cluster.txt)"
    ),
]

FUNCTIONS = """
import os
from evenhand.core.errors import BadLine, NotFound

MADE = 0

def squares(plus):
    global MADE
    MADE += 1
    def square(number):
        if number == -3:
            raise NotFound("There is no {thing}.", thing=3)
        if number == -5:
            raise ZeroDivisionError("five")
        # The first items take longest, so that an answer that is given as it comes would be out of order.
        sum(range(2_000_000 if number < 2 else 1000))
        return number * number + plus, os.getpid(), MADE
    return square
"""

DRIVER = """
import json, os, signal, sys, time, types, warnings
from pathlib import Path
from ray._private import node
from cli import cli
from evenhand.core import cluster
from evenhand.core.cluster import AHEAD, Pool, ordered_map
from evenhand.core.errors import Refused
from evenhand.core.mining import blocks as reading
from evenhand.core.mining.run import mine
from evenhand.core.mining.settings import Settings

cluster.START_S = cluster.LATE_S = 600.0  # a busy machine may need long to start two workers,
cluster.STARTS = 12  # and to start Ray, which waits half a minute for itself and takes no other time: its clock is slow
node.time = types.SimpleNamespace(**vars(time) | {"monotonic": lambda: time.monotonic() / 20})
outcomes = {}
ours = lambda *_: None
signal.signal(signal.SIGTERM, ours)

try:
    list(ordered_map("m:f", {}, [1], address="no-such-scheme://here", workers=1))
except Refused as error:
    outcomes["nowhere"] = str(error)

taken = 0
def items(count):
    global taken
    for i in range(count):
        taken += 1
        yield i

with Pool("functions_of_a_test:squares", {"plus": 1}, address="local", workers=2) as pool:
    outcomes["workers"] = pool.size
    outcomes["handler kept"] = signal.getsignal(signal.SIGTERM) is ours
    results = pool.map(items(100))
    first = next(results)
    outcomes["taken at the first result"] = taken
    outcomes["bound"] = AHEAD * 2
    found = [first, *results]
    outcomes["in order"] = [value for value, _, _ in found] == [i * i + 1 for i in range(100)]
    outcomes["processes"] = len({pid for _, pid, _ in found})
    outcomes["made in each"] = sorted({made for _, _, made in found})
    outcomes["here"] = os.getpid() in {pid for _, pid, _ in found}
    outcomes["again"] = [value for value, _, _ in pool.map(range(3))]
    outcomes["none"] = list(pool.map([]))

    for number in (3, 5):
        try:
            list(pool.map([1, -number, 2]))
        except Exception as error:
            outcomes[f"error {number}"] = [type(error).__name__, str(error), getattr(error, "values", None)]

    reading.BLOCK = 4000
    mined = []
    for ray in (None, "local"):
        lines = []
        report = mine([sys.argv[1]], Settings(), on_candidate=lines.append, workers=2, ray=ray)
        report.seconds = 0.0
        mined.append(json.dumps([lines, report.to_json()]))
    outcomes["mined"] = [len(lines), mined[0] == mined[1]]

    tables = []
    for name, rest in (("ray.csv", ["--ray", "local", "--workers", "1"]), ("one.csv", [])):
        out = Path(sys.argv[2]).with_name(name)
        command = ["score", sys.argv[2], "--model", "known", "--out", str(out), "--no-cache", *rest]
        cli(command, standalone_mode=False)
        tables.append(out.read_bytes())
    outcomes["tables"] = [tables[0].decode("utf-8-sig").count("known"), tables[0] == tables[1]]
    for name, rest in (("two.csv", ["--ray", "local", "--workers", "2"]), ("after.csv", [])):
        out = Path(sys.argv[2]).with_name(name)
        models = ["--model", "known", "--model", "demo-zh", "--threads", "1"]
        cli(["score", sys.argv[2], *models, "--out", str(out), "--no-cache", *rest], standalone_mode=False)
        tables.append(out.read_bytes())
    outcomes["two models"] = [tables[2].decode("utf-8-sig").count("demo-zh"), tables[2] == tables[3]]

    outcomes["still there"] = [value for value, _, _ in pool.map([4])]

import ray
outcomes["ended"] = not ray.is_initialized()
print("SAID" + json.dumps(outcomes))
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Return the results of the driver; one Ray for all tests, since its start takes seconds."""
    folder = tmp_path_factory.mktemp("functions")
    (folder / "functions_of_a_test.py").write_text(FUNCTIONS, encoding="utf-8")
    sentences = folder / "sentences.txt"
    sentences.write_text("\n".join([*SENTENCES, "今天下雨。"]) + "\n", encoding="utf-8")
    own = {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "EVENHAND_DB": str(folder / "evenhand.db")}
    own["RAY_worker_niceness"] = "0"  # with other tests running, actors of Ray's usual niceness, 15, would hardly begin
    own |= {"RAY_worker_register_timeout_seconds": "600", "RAY_health_check_failure_threshold": "100"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", DRIVER, str(many(folder)), str(sentences)],
        cwd=ROOT, env=os.environ | own, capture_output=True, text=True, timeout=1800,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("SAID")]
    assert lines, done.stderr[-3000:]
    return json.loads(lines[0].removeprefix("SAID"))


@pytest.mark.rehearsal
def test_results_are_in_the_order_of_the_items(outcomes):
    assert outcomes["in order"]
    assert outcomes["again"] == [1, 2, 5]
    assert outcomes["none"] == []
    assert outcomes["still there"] == [17]


@pytest.mark.rehearsal
def test_each_actor_makes_its_function_once(outcomes):
    assert (outcomes["workers"], outcomes["processes"], outcomes["made in each"]) == (2, 2, [1])
    assert not outcomes["here"]


@pytest.mark.rehearsal
def test_only_a_bounded_number_of_items_is_prefetched(outcomes):
    assert 1 <= outcomes["taken at the first result"] <= outcomes["bound"]


@pytest.mark.rehearsal
def test_errors_of_an_actor_are_raised_with_their_values(outcomes):
    assert outcomes["error 3"] == ["NotFound", "There is no 3.", {"thing": 3}]
    assert outcomes["error 5"][:2] == ["ZeroDivisionError", "five"]


@pytest.mark.rehearsal
def test_mining_on_a_cluster_gives_equal_candidates(outcomes):
    count, same = outcomes["mined"]
    assert count > 50
    assert same


@pytest.mark.rehearsal
def test_a_model_in_an_actor_writes_an_equal_table(outcomes):
    rows, same = outcomes["tables"]
    assert rows >= len(SENTENCES)
    assert same


@pytest.mark.rehearsal
def test_two_models_in_actors_write_an_equal_table(outcomes):
    rows, same = outcomes["two models"]
    assert rows >= len(SENTENCES)
    assert same


@pytest.mark.rehearsal
def test_an_address_without_a_cluster_is_one_sentence(outcomes):
    assert outcomes["nowhere"].startswith("There is no Ray cluster at no-such-scheme://here (")
    assert "\n" not in outcomes["nowhere"]


@pytest.mark.rehearsal
def test_ray_ends_with_the_last_pool_and_restores_signals(outcomes):
    assert outcomes["ended"]
    assert outcomes["handler kept"]


def test_a_missing_ray_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(Refused, match=r"requirements-cluster\.txt"):
        list(ordered_map("m:f", {}, [1], address="local", workers=2))


def test_zero_workers_are_refused():
    with pytest.raises(Refused, match="At least one worker"):
        Pool("m:f", {}, address="local", workers=0)


class Slow:
    """A Ray that is not there in time, so many times."""

    def __init__(self, failures, why="The current node timed out during startup."):
        self.failures, self.why, self.did = failures, why, []

    def init(self, **_settings):
        self.did.append("init")
        if self.did.count("init") <= self.failures:
            raise Exception(self.why)

    def shutdown(self):
        self.did.append("shutdown")


@pytest.mark.parametrize(
    ("failures", "why", "address", "did"),
    [
        (0, "", "local", ["init"]),
        (2, "it timed out", "local", ["init", "shutdown", "init", "shutdown", "init"]),
        (3, "it timed out", "local", ["init", "shutdown", "init", "shutdown", "init"]),
        (1, "it timed out", "ray://there", ["init"]),
        (1, "no room", "local", ["init"]),
    ],
)
def test_a_local_ray_that_times_out_is_started_again(failures, why, address, did):
    ray = Slow(failures, why)
    if failures in (0, 2):
        cluster._init(ray, address, 1)
    else:
        with pytest.raises(Refused, match="There is no Ray cluster"):
            cluster._init(ray, address, 1)
    assert ray.did == did


@pytest.mark.parametrize(
    ("function", "kind"),
    [("tests.core.test_cluster:_not_found", "NotFound"), ("tests.core.test_cluster:_bad_line", "BadLine")],
)
def test_an_actor_answers_with_the_error_and_its_values(function, kind):
    answer = Answerer(function, {}).answer(1)
    assert answer[:2] == ("error", kind)
    assert answer[2:] == ("no {x}", {"x": 1})


def _not_found():
    def refuse(item):
        raise NotFound("no {x}", x=item)

    return refuse


def _bad_line():
    def refuse(item):
        raise BadLine("f", 1, "reason", "no {x}", x=item)

    return refuse


GRID = """
import json, sys, threading, time
from pathlib import Path
import psutil
from evenhand.core import cluster
from evenhand.core.before_after.grid import run_grid
from evenhand.core.before_after.settings import GridSettings
from evenhand.core.runs.kinds import Place

cluster.START_S = cluster.LATE_S = 600.0
cluster.STARTS = 12
folder = Path(sys.argv[1])
asked = dict(texts=folder / "t.txt", models=("planted:+1",), interventions=("none", "cds"), seeds=2, share=0.3,
             threads=1, steps=300, batch=8, length=16, every=20, rate=1e-3)
place = Place(folder / "lab.db")
killed = []

def kill():
    # Both workers are in the middle of a model: a checkpoint of each is there, no model is.
    while not killed:
        if len({whole.parents[1] for whole in (folder / "lab-grids" / "two").glob(".*/checkpoint-*/whole")}) > 1:
            answerers = [one for one in psutil.Process().children(recursive=True) if "ray::Answerer" in one.name()
                         or "ray::Answerer" in " ".join(one.cmdline()[:1])]
            if len(answerers) > 1:
                answerers[0].kill()
                killed.append(answerers[0].pid)
        time.sleep(0.02)

threading.Thread(target=kill, daemon=True).start()
record = run_grid(GridSettings(**asked, run_name="two", ray="local", workers=2), place)
alone = run_grid(GridSettings(**asked, run_name="one"), place)
keys = ("model", "intervention", "seed", "status", "size_after", "loss_after", "resumed_at")
told = [[{key: getattr(cell, key) for key in keys} for cell in one.cells] for one in (record, alone)]
print(json.dumps({"killed": killed, "two": told[0], "one": told[1]}))
"""


def answer_of(script: str, folder: Path) -> Any:
    """Run a script that trains on the sentences of t.txt in *folder*, in an own process, and return its result."""
    lines = [f"{word}来了，今天第{i}天。" for i in range(40) for word in ("他", "她")]
    (folder / "t.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    ended = subprocess.run([sys.executable, "-c", script, str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.mark.rehearsal
def test_a_grid_survives_a_killed_worker(tmp_path: Path) -> None:
    """The cell of the killed worker continues at its checkpoint, with the numbers of a run without interruption."""
    result = answer_of(GRID, tmp_path)
    assert len(result["killed"]) == 1 and {cell["status"] for cell in result["two"]} == {"ok"}
    assert any(cell["resumed_at"] for cell in result["two"])
    same = [[{**cell, "resumed_at": 0} for cell in result[kind]] for kind in ("one", "two")]
    assert same[0] == same[1]


TUNE = """
import json, sys, threading, time
from pathlib import Path
import psutil
from evenhand.core import cluster
from evenhand.core.tune.run import tune, tune_on_cluster
from evenhand.core.tune.settings import Settings
from evenhand.core.tune.texts import file_texts, training_texts

cluster.START_S = 600.0
cluster.STARTS = 12
folder = Path(sys.argv[1])
texts = training_texts(file_texts(folder / "t.txt"), "t.txt", share=0.3)
settings = Settings(model="planted:+1", texts="t.txt", steps=300, batch=8, length=16, every=20, patience=0, rate=1e-3,
                    address="local", threads=1)
killed, heard = [], []

def kill():
    while not killed:
        if any(folder.glob(".away.work/checkpoint-*/whole")):
            for one in psutil.Process().children(recursive=True):
                if "ray::Answerer" in one.name() or "ray::Answerer" in " ".join(one.cmdline()[:1]):
                    one.kill()
                    killed.append(one.pid)
        time.sleep(0.02)

threading.Thread(target=kill, daemon=True).start()
away = tune_on_cluster(settings, texts, folder / "away", lambda done, total, said: heard.append((done, total)))
here = tune(settings, texts, folder / "here")
told = [[one.record[key] for key in ("steps", "held_out")] for one in (away, here)]
weights = [(one.folder / "model.safetensors").read_bytes() for one in (away, here)]
print(json.dumps({"killed": len(killed), "resumed": away.resumed_at, "heard": heard,
                  "same figures": told[0] == told[1], "same weights": weights[0] == weights[1]}))
"""


@pytest.mark.rehearsal
def test_tuning_in_a_killed_worker_ends_in_equal_weights(tmp_path: Path) -> None:
    result = answer_of(TUNE, tmp_path)
    assert result["killed"] == 1 and result["resumed"]
    assert result["same figures"] and result["same weights"]
    assert result["heard"] and all(total == 300 for _, total in result["heard"])
