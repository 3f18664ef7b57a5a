"""Remembered scores: what is the same probe, what never is; several processes; damaged, foreign and full files."""

import math
import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.models import open_scorer
from evenhand.core.scoring import cache
from evenhand.core.scoring.cache import CachedScorer, cache_path, probe_identity
from evenhand.core.types import MaskedSentence, Score
from tests.conftest import ROOT, FakeScorer
from tests.support import tiny_models

KEY = "masked|m|weights:" + "a" * 64 + "|independent|fp32|v1"


def probe(text="他在这里。", start=0, end=1, options=("他", "她"), hidden=()):
    return MaskedSentence(text, start, end, options, hidden)


class Counting(FakeScorer):
    """Answers by the length of the text, so that answers differ; counts the requests."""

    def __init__(self, cache_key=KEY, factor=1.0):
        super().__init__()
        self.cache_key, self.factor = cache_key, factor

    def score(self, probes):
        self.probes.extend(probes)
        return [Score((-len(p.text) * self.factor, -1.5 - p.start), self.signature) for p in probes]


def test_cached_scores_are_not_computed_again(tmp_path):
    some = [probe(f"他在第{i}天来了。") for i in range(3)]
    with CachedScorer(Counting(), tmp_path / "scores.db") as first:
        before = first.score(some)
        assert (first.hits, first.misses) == (0, 3)
    scorer = Counting()
    with CachedScorer(scorer, tmp_path / "scores.db") as second:
        assert second.score([*some, probe("他走了。")])[:3] == before
        assert (second.hits, second.misses, len(scorer.probes)) == (3, 1, 1)
        assert second.notices == []


def test_a_sentence_and_its_twin_are_one_probe(tmp_path):
    scorer = Counting()
    with CachedScorer(scorer, tmp_path / "scores.db") as cached:
        he, she = cached.score([probe("他在这里。"), probe("她在这里。")])
        assert he == she
        assert (len(scorer.probes), cached.repeated) == (1, 1)


DIFFERENT = [
    probe("他在那里。"),
    probe("我他在这里。", 1, 2),
    probe(options=("她", "他")),
    probe(options=("男", "女")),
    probe("他他在这里。", 0, 2),
    probe(hidden=((1, 2),)),
    probe("他在这里。", 0, 0),
    probe("他在这里", options=("。", "她")),
]


@pytest.mark.parametrize("other", DIFFERENT, ids=range(len(DIFFERENT)))
def test_different_probes_have_different_keys(other):
    # 他他 in the slot of two characters leaves the same text around it, and is the same masked input.
    same = (other.start, other.end) == (0, 2)
    assert (probe_identity(probe()) == probe_identity(other)) == same


@given(st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4), st.text(max_size=3)), min_size=2, max_size=2))
def test_keys_are_equal_only_for_equal_parts(parts):
    first, second = (
        probe(before + "他" + after, len(before), len(before) + 1, (option,)) for before, after, option in parts
    )
    assert (probe_identity(first) == probe_identity(second)) == (parts[0] == parts[1])


numbers = st.none() | st.floats(allow_nan=False) | st.just(-math.inf)


@given(st.lists(numbers, min_size=1, max_size=4), st.none() | st.text(st.characters(codec="utf-8")))
def test_cached_scores_are_exact(logprobs, reason):
    scorer = FakeScorer()
    scorer.score = lambda probes: [Score(tuple(logprobs), scorer.signature, reason) for _ in probes]
    with CachedScorer(scorer, None) as cached:
        first = cached.score([probe()])
        assert cached.score([probe()]) == first == [Score(tuple(logprobs), scorer.signature, reason)]
        assert (cached.hits, cached.misses) == (1, 1)


CHANGED = {
    "method": KEY.replace("masked", "pll"),
    "model": KEY.replace("|m|", "|n|"),
    "one digit of the weights": KEY.replace("aaaa|", "aaab|"),
    "joint": KEY.replace("independent", "sequential"),
    "precision": KEY.replace("fp32", "bf16"),
    "version": KEY.replace("v1", "v2"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_changed_scoring_does_not_use_old_scores(tmp_path, name):
    with CachedScorer(Counting(), tmp_path / "scores.db") as old:
        old.score([probe()])
    with CachedScorer(Counting(CHANGED[name], factor=7), tmp_path / "scores.db") as new:
        assert new.score([probe()])[0].logprobs[0] == -7.0 * len(probe().text)
        assert new.hits == 0


def test_changed_weights_in_a_folder_get_new_scores(tmp_path):
    folder = tmp_path / "model"
    answers = []
    for seed in (0, 1, 0):
        tiny_models.bert(folder, seed=seed)
        with CachedScorer(open_scorer(str(folder)), tmp_path / "scores.db") as cached:
            answers.append(cached.score([probe("他是医生。")])[0].logprobs)
            assert cached.misses == (len(answers) < 3)
    assert answers[0] == answers[2] != answers[1]


TWO = """
import sys
from pathlib import Path
from evenhand.core.scoring.cache import CachedScorer
from evenhand.core.types import MaskedSentence, Score

class Slow:
    signature = cache_key = "x"
    def score(self, probes):
        return [Score((-float(len(p.text)), -1.0), "x") for p in probes]
    def fillers(self, probe, *, top=10, words=()):
        return []

first, last = int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
with CachedScorer(Slow(), Path(sys.argv[1])) as cached:
    for i in range(first, last, 50):
        found = cached.score([MaskedSentence("他" + "好" * n, 0, 1, ("他", "她")) for n in range(i, i + 50)])
        assert [score.logprobs[0] for score in found] == [-float(n + 1) for n in range(i, i + 50)]
    print(len(cached.notices), *[n.text for n in cached.notices])
"""


def two_processes(path, spans):
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, str(path), str(first), str(last)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for first, last in spans
    ]  # fmt: skip
    for process in begun:
        assert process.stdout.readline() == "ready\n"
    for process in begun:
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate(timeout=600) for process in begun]
    assert [entry.returncode for entry in begun] == [0, 0], ended
    return [out for out, _ in ended]


def test_two_processes_share_a_cache(tmp_path):
    outputs = two_processes(tmp_path / "scores.db", [(0, 1000), (500, 1500)])
    assert [text.split()[0] for text in outputs] == ["0", "0"]
    with sqlite3.connect(tmp_path / "scores.db") as db:
        assert db.execute("SELECT count(*) FROM score").fetchone()[0] == 1500
    db.close()


def test_two_processes_move_a_damaged_cache_aside_once(tmp_path):
    (tmp_path / "scores.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    two_processes(tmp_path / "scores.db", [(0, 200), (100, 300)])
    assert len([f for f in tmp_path.iterdir() if "broken" in f.name and not f.name.endswith(("-wal", "-shm"))]) == 1
    with sqlite3.connect(tmp_path / "scores.db") as db:
        assert db.execute("SELECT count(*) FROM score").fetchone()[0] == 300
    db.close()


def cache_of(path, rows=300):
    with CachedScorer(Counting(), path) as cached:
        cached.score([probe(f"他在第{i}天来了。") for i in range(rows)])
    db = sqlite3.connect(path)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path.read_bytes()


def flipped(data):
    """Flip one bit of one cached number, which SQLite itself does not notice."""
    at = data.rindex(bytes.fromhex("000000000000f8bf"))  # -1.5 in little endian
    return data[: at + 1] + bytes([data[at + 1] ^ 1]) + data[at + 2 :]


DAMAGE = {
    "garbage": lambda data: b"\x00\x01 no database " * 400,
    "garbage after the header": lambda data: data[:100] + b"\xff" * (len(data) - 100),
    "cut in the middle": lambda data: data[: len(data) // 2],
    "cut inside the first page": lambda data: data[:700],
    "a flipped bit in a number": flipped,
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_cache_is_moved_aside_and_reported(tmp_path, name):
    path = tmp_path / "scores.db"
    damaged = DAMAGE[name](cache_of(path))
    path.write_bytes(damaged)
    some = [probe(f"他在第{i}天来了。") for i in range(300)]
    with CachedScorer(Counting(), path) as cached:
        assert cached.score(some) == Counting().score(some)
        [notice] = cached.notices
        assert "was damaged. The damaged file is kept as" in notice.text
        assert notice.values["aside"].startswith("scores.db.broken-")
    assert (tmp_path / notice.values["aside"]).read_bytes()[:700] == damaged[:700]
    with CachedScorer(Counting(), path) as again:
        again.score(some)
        assert (again.hits, again.notices) == (300, [])


def test_an_empty_file_becomes_a_cache(tmp_path):
    (tmp_path / "scores.db").touch()
    with CachedScorer(Counting(), tmp_path / "scores.db") as cached:
        cached.score([probe()])
        assert cached.notices == []


def other_database(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE label (id INTEGER)")
    db.commit()
    db.close()


def newer_layout(path):
    cache_of(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()


FOREIGN = {
    "another database": (
        "labels.db",
        other_database,
        "is not a score cache. The file was left unchanged, and scores of this run are not cached.",
    ),
    "a newer layout": ("scores.db", newer_layout, "newer version"),
    "a text": (
        "notes.txt",
        lambda path: path.write_text("他" * 2000),
        "is not a score cache. The file was left unchanged, and scores of this run are not cached.",
    ),
    "a folder": ("scores.db", lambda path: path.mkdir(), "cannot be used"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_file_is_left_unchanged(tmp_path, name):
    file, make, words = FOREIGN[name]
    path = tmp_path / file
    make(path)
    before = None if path.is_dir() else path.read_bytes()
    with CachedScorer(Counting(), path) as cached:
        assert cached.score([probe()]) == Counting().score([probe()])
        [notice] = cached.notices
        assert words in notice.text
    assert path.is_dir() or path.read_bytes() == before


def test_scoring_continues_with_a_notice_on_a_full_disk(tmp_path):
    with CachedScorer(Counting(), tmp_path / "scores.db") as cached:
        cached.score([probe(f"他{i}") for i in range(10)])
        cached._db.execute("PRAGMA max_page_count = 8")  # makes SQLite report a full disk
        some = [probe(f"他在第{i}天来了。") for i in range(3000)]
        for i in range(0, 3000, 500):
            assert cached.score(some[i : i + 500]) == Counting().score(some[i : i + 500])
        [notice] = cached.notices
        assert "New scores could not be written to the cache" in notice.text
        assert "full" in notice.text
        cached.score([probe(f"他{i}") for i in range(10)])
        assert cached.hits >= 10  # stored scores are still read


def test_an_unwritable_place_is_reported(tmp_path):
    (tmp_path / "file").touch()
    with CachedScorer(Counting(), tmp_path / "file" / "scores.db") as cached:
        assert cached.score([probe()]) == Counting().score([probe()])
        assert "cannot be used" in cached.notices[0].text


def test_fillers_are_not_cached(tmp_path):
    with CachedScorer(Counting(), tmp_path / "scores.db") as cached:
        assert cached.fillers(probe(), top=1) == Counting().fillers(probe(), top=1)


def test_the_cache_is_next_to_the_database(tmp_path):
    assert cache_path(tmp_path / "x.db") == tmp_path / "scores.db"


def test_many_keys_are_looked_up_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "AT_ONCE", 7)
    some = [probe(f"他{i}") for i in range(50)]
    for hits in (0, 50):
        with CachedScorer(Counting(), tmp_path / "scores.db") as cached:
            assert cached.score(some) == Counting().score(some)
            assert cached.hits == hits
