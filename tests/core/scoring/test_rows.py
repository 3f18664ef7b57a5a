"""Rows in, rows out: order, equal probes, windows, what is undefined, what a killed run leaves."""

import math
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.scoring.cache import CachedScorer
from evenhand.core.scoring.rows import COLUMNS, OK, ScoreItem, Tally, item_of, score_items, scored_row
from evenhand.core.text.keywords import find
from evenhand.core.types import Score
from tests.conftest import SENTENCES, FakeScorer

SIGNATURE = FakeScorer.signature


def item(text, row=1):
    return item_of(row, find(text)[0])


class ByLength(FakeScorer):
    """An answer that depends on the probe alone; fails after so many calls."""

    def __init__(self, calls=10**9):
        super().__init__()
        self.calls = calls

    def score(self, probes):
        if not self.calls:
            raise KeyboardInterrupt
        self.calls -= 1
        self.probes.extend(probes)
        return [Score((-1.0 * len(p.text), -0.5 * len(p.options[0])), self.signature) for p in probes]


def test_the_table_has_the_agreed_columns():
    assert COLUMNS[:12] == (
        *("row", "sentence", "pair", "keyword", "model", "p_male", "p_female", "pair_mass", "bias_log10", "bias_ln"),
        *("status", "signature"),
    )


def test_a_row_has_every_value():
    [row] = score_items([item("姥姥喜欢在院子里种花。")], FakeScorer(0.6, 0.1), model="m")
    values = dict(zip(COLUMNS, row.values(), strict=True))
    assert values["bias_log10"] == pytest.approx(math.log10(2))  # 0.6 / 0.3
    assert values["bias_ln"] == pytest.approx(math.log(2))
    assert (values["p_male"], values["p_female"]) == (pytest.approx(0.6), pytest.approx(0.3))
    assert values["pair_mass"] == pytest.approx(0.9)
    assert values["logp_male"] == math.log(0.6)
    rest = {key: values[key] for key in ("row", "pair", "keyword", "model", "status", "side", "masks", "start", "end")}
    assert rest == {
        "row": 1, "pair": "姥爷/姥姥", "keyword": "姥姥", "model": "m", "status": OK, "side": "female", "masks": 1,
        "start": 0, "end": 2,
    }  # fmt: skip


ANSWERS = {
    "both": ((-1.0, -2.0), None, 1 / math.log(10), OK),
    "one is impossible": ((-1.0, -math.inf), None, math.inf, OK),
    "the other is impossible": ((-math.inf, -1.0), None, -math.inf, OK),
    "both are impossible": ((-math.inf, -math.inf), None, None, "Both words have probability 0"),
    "one is unknown": ((None, -1.0), "A word is not in this model's vocabulary.", None, "A word is not in this"),
    "none is known": ((None, None), None, None, "The model gives no probability for one of the two words."),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_undefined_values_have_a_status(name):
    logprobs, reason, expected, status = ANSWERS[name]
    row = scored_row(item("他来了。"), "m", Score(logprobs, SIGNATURE, reason), SIGNATURE)
    assert row.bias_log10 == (None if expected is None else pytest.approx(expected))
    assert row.status.startswith(status)
    assert not any(isinstance(value, float) and math.isnan(value) for value in row.values())


def test_a_geometric_mean_gives_whole_words():
    signature = SIGNATURE.replace("independent", "geometric_mean")
    row = scored_row(item("爸爸下班后去市场买菜。"), "m", Score((-1.0, -2.0), signature), signature)
    values = dict(zip(COLUMNS, row.values(), strict=True))
    assert values["masks"] == 2
    assert (values["p_male"], values["p_female"]) == (pytest.approx(math.exp(-2)), pytest.approx(math.exp(-4)))
    assert values["bias_ln"] == pytest.approx(1.0)


def test_an_unscorable_row_is_kept():
    bad = ScoreItem(2, "今天下雨。", problem="The sentence contains no word of any keyword pair.", reason="no_keyword")
    tally = Tally()
    rows = list(score_items([item("他来了。"), bad, item("她走了。", 3)], FakeScorer(), model="m", tally=tally))
    assert [row.item.row for row in rows] == [1, 2, 3]
    assert rows[1].status == bad.problem
    assert rows[1].bias_log10 is None
    assert tally.undefined == {"no_keyword": 1}
    assert tally.examples["no_keyword"] == (2, bad.problem)
    assert (tally.rows, tally.scored, tally.free, tally.worked) == (3, 2, 1, 2)


def test_a_sentence_and_its_twin_are_scored_once():
    scorer, tally = ByLength(), Tally()
    he, she = score_items([item("他来了。"), item("她来了。", 2)], scorer, model="m", tally=tally)
    assert he.bias_log10 == she.bias_log10
    assert (he.item.side, she.item.side) == ("male", "female")
    assert (len(scorer.probes), tally.asked, tally.saved, tally.remembered) == (1, 1, 1, 0)


texts = st.sampled_from([*SENTENCES, *(text.replace("他", "她") for text in SENTENCES), "没有关键词。"])


@given(st.lists(texts, max_size=30), st.integers(1, 7), st.integers(1, 7))
def test_windows_chunks_and_duplicates_do_not_change_rows(lines, window, chunk):
    items = [
        item(text, row) if find(text) else ScoreItem(row, text, problem="none", reason="no_keyword")
        for row, text in enumerate(lines, 1)
    ]
    tally = Tally()
    rows = list(score_items(items, ByLength(), model="m", tally=tally, chunk=chunk, window=window))
    alone = [next(score_items([one], ByLength(), model="m")) for one in items]
    assert [row.values() for row in rows] == [row.values() for row in alone]
    assert tally.rows == len(items) == tally.asked + tally.remembered + tally.saved + tally.undefined["no_keyword"]
    assert tally.worked + tally.free == len(items)
    assert tally.asked == len({(i.sentence[: i.start], i.sentence[i.end or 0 :], i.options) for i in items if i.probe})


def test_sentences_of_similar_length_are_scored_together():
    scorer = ByLength()
    items = [item("他" + "好" * (i * 7 % 11) + "。", i) for i in range(11)]
    list(score_items(items, scorer, model="m"))
    lengths = [len(probe.text) for probe in scorer.probes]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


def test_a_killed_run_keeps_every_finished_chunk(tmp_path):
    items = [item(f"他在第{i}天来了。", i) for i in range(1, 101)]
    with CachedScorer(ByLength(calls=3), tmp_path / "scores.db") as cached, pytest.raises(KeyboardInterrupt):
        list(score_items(items, cached, model="m", chunk=10))
    scorer, tally, said = ByLength(), Tally(), []
    with CachedScorer(scorer, tmp_path / "scores.db") as cached:
        progress = lambda now: said.append((now.worked, now.free))  # noqa: E731
        rows = list(score_items(items, cached, model="m", tally=tally, chunk=10, progress=progress))
    assert [row.item.row for row in rows] == list(range(1, 101))
    assert (tally.remembered, tally.asked, len(scorer.probes)) == (30, 70, 70)
    assert said[0] == (0, 30)
    assert said[-1] == (70, 30)
    assert [row.values() for row in rows] == [r.values() for r in score_items(items, ByLength(), model="m")]


def test_two_simultaneous_runs_share_the_cache(tmp_path):
    items = [item(f"他在第{i}天来了。", i) for i in range(1, 201)]
    results = {}
    start = threading.Barrier(2)

    def run(name):
        with CachedScorer(ByLength(), tmp_path / "scores.db") as cached:
            start.wait()
            results[name] = [row.values() for row in score_items(items, cached, model="m", chunk=10)], cached.notices

    threads = [threading.Thread(target=run, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results["a"] == results["b"]
    assert results["a"][1] == []


# Tables and records
