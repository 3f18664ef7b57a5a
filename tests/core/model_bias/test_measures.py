"""core.model_bias: golden numbers of the specification, intervals against theory, undefined values with reasons."""

import contextlib
import io
import math
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import roc_auc_score

from evenhand.core.errors import BadFile, NotFound
from evenhand.core.model_bias import (
    Resampling,
    extremes,
    infinite_rows,
    is_reference,
    many_intervals,
    mass_of,
    matching,
    models_of,
    prior_corrected,
    read_scores,
    rows_of,
    score_files,
    summarise,
    summarise_by,
    undefined_rows,
    units_of,
    variance_shares,
)
from evenhand.core.model_bias.means import ALL_EQUAL, SideOrder
from evenhand.core.model_bias.score_files import mask_width
from evenhand.core.sentence_bias.bias import LN10
from evenhand.core.statistics import Estimate, resampling
from tests.support.bias_scores import GOLDEN, normal, scores, stemmed

ROOT = Path(__file__).resolve().parents[3]


class TestMeans:
    def test_side_means_equal_golden_numbers(self) -> None:
        summary = summarise(scores(GOLDEN))
        values = [summary.bias_man.value, summary.bias_woman.value, summary.model_bias.value]
        assert values == pytest.approx([0.4705, 0.764, 0.61725])
        assert (summary.n, summary.n_man, summary.n_woman) == (5, 2, 2)
        assert (summary.obvious.male, summary.obvious.female, summary.obvious.none) == (1, 1, 3)

    def test_means_over_all_sentences_equal_golden_numbers(self) -> None:
        summary = summarise(scores(GOLDEN), denominator="all")
        assert [summary.bias_man.value, summary.bias_woman.value] == pytest.approx([0.1882, 0.3056])

    def test_ln_is_log10_times_2_302585(self) -> None:
        summary = summarise(stemmed(normal(40)))
        for name in ("bias_man", "bias_woman", "model_bias", "signed_mean", "mean_abs"):
            ten, e = getattr(summary, name), summary.ln(name)
            assert [e.value, e.low, e.high] == pytest.approx([x * LN10 for x in (ten.value, ten.low, ten.high)])

    def test_signed_mean_and_mean_size_are_computed(self) -> None:
        summary = summarise(scores(GOLDEN))
        assert summary.signed_mean.value == pytest.approx(sum(GOLDEN) / 5)
        assert summary.mean_abs.value == pytest.approx(sum(map(abs, GOLDEN)) / 5)

    def test_setting_small_values_to_0_raises_model_bias_and_lowers_mean_abs(self) -> None:
        summary = summarise(scores(GOLDEN))
        cut = summary.small_set_to_zero
        assert cut.zeroed == 3
        assert cut.model_bias == pytest.approx((0.741 + 1.428) / 2)
        assert cut.mean_abs == pytest.approx((0.741 + 1.428) / 5)
        assert cut.model_bias > summary.model_bias.value and cut.mean_abs < summary.mean_abs.value  # type: ignore[operator]

    def test_undefined_and_infinite_are_counted_listed_and_left_out(self) -> None:
        frame = scores([*GOLDEN, None, math.inf, -math.inf, None])
        summary = summarise(frame)
        assert (summary.rows, summary.n, summary.undefined, summary.infinite) == (9, 5, 2, 2)
        assert summary.model_bias.value == pytest.approx(0.61725)
        assert list(undefined_rows(frame)["row"]) == [6, 9]
        assert list(infinite_rows(frame)["row"]) == [7, 8]

    def test_an_empty_side_is_undefined_with_a_reason(self) -> None:
        summary = summarise(scores([0.1, 0.4, 0.0]))
        assert summary.bias_man.value == pytest.approx(0.25)
        assert summary.bias_woman.value is None and "female word" in str(summary.bias_woman.reason)
        assert summary.model_bias.value is None and summary.model_bias.reason

    def test_measures_without_finite_values_are_undefined(self) -> None:
        summary = summarise(scores([None, None]))
        assert summary.n == 0 and summary.signed_mean.value is None and summary.side_auc.value is None
        assert summary.signed_mean.reason and summary.variance_shares.reason

    def test_small_pair_mass_is_left_out_on_request_and_counted(self) -> None:
        frame = scores(GOLDEN, p_male=[0.5, 0.001, 0.5, 0.5, 0.5], p_female=[0.1, 0.001, 0.1, 0.1, 0.1])
        assert mass_of(frame).under_1_percent == pytest.approx(0.2)
        summary = summarise(frame, least_mass=0.01)
        assert (summary.left_out, summary.n) == (1, 4)
        assert summary.bias_woman.value == pytest.approx(0.1)

    @given(st.lists(st.floats(-5, 5), min_size=1, max_size=30))
    def test_swapping_the_words_swaps_the_sides(self, values: list[float]) -> None:
        summary = summarise(scores(list(values)), resamples=100)
        two = summarise(scores([-value for value in values]), resamples=100)
        assert (summary.n_man, summary.n_woman) == (two.n_woman, two.n_man)
        for a, b in (
            (summary.bias_man, two.bias_woman),
            (summary.bias_woman, two.bias_man),
            (summary.model_bias, two.model_bias),
        ):
            assert a.value == pytest.approx(b.value)
        counts = summary.obvious
        assert counts.male + counts.female + counts.none == summary.n


class TestIntervals:
    def test_the_error_of_a_mean_is_sd_over_root_n(self) -> None:
        values = normal(900)
        result = summarise(scores(values)).fixed_pairs["signed_mean"]
        assert result.se == pytest.approx(np.std(values) / 30, rel=0.06)
        assert result.low < result.value < result.high  # type: ignore[operator]
        assert result.units == 900

    def test_side_mean_intervals_equal_a_plain_bootstrap(self) -> None:
        values = np.array(normal(60))
        random = np.random.default_rng(5)
        drawn = [values[random.integers(0, 60, 60)] for _ in range(4000)]
        slow = [(d[d > 0].mean() - d[d < 0].mean()) / 2 for d in drawn]
        result = summarise(scores(list(values)), resamples=4000).model_bias
        assert [result.low, result.high] == pytest.approx(np.percentile(slow, [2.5, 97.5]), abs=0.012)

    def test_equal_rows_of_a_context_count_as_one_unit(self) -> None:
        """docs/methods.md#intervals: SE = sd(context means, ddof 1) / sqrt(5), t with 4 degrees of freedom."""
        means = [0.1, 0.5, -0.2, 0.4, 0.3]
        frame = scores(np.repeat(means, 5).tolist(), source=np.repeat(list("abcde"), 5))
        summary = summarise(frame)
        se = np.std(means, ddof=1) / math.sqrt(5)
        reach = stats.t.ppf(0.975, 4) * se
        assert (summary.unit, summary.units) == ("source", 5)
        mean = summary.fixed_pairs["signed_mean"]
        assert mean.se == pytest.approx(se)
        ends = [mean.low, mean.high]
        assert ends == pytest.approx([np.mean(means) - reach, np.mean(means) + reach])
        assert "Few units (5)" in str(mean.note)

    def test_one_unit_has_no_interval(self) -> None:
        result = summarise(scores([0.4])).fixed_pairs["signed_mean"]
        assert result.value == pytest.approx(0.4) and result.low is None and result.note

    def test_articles_widen_the_interval(self) -> None:
        values = np.repeat(normal(40), 10)
        frame = scores(list(values), source=np.repeat([f"article {i}" for i in range(40)], 10))
        by_source, by_sentence = (
            summarise(frame, unit=unit).fixed_pairs["signed_mean"]  # type: ignore[arg-type]
            for unit in ("source", "sentence")
        )
        assert by_source.se / by_sentence.se == pytest.approx(math.sqrt(10), rel=0.15)  # type: ignore[operator]

    @pytest.mark.parametrize(
        ("source", "kind", "count"),
        [
            ("", "sentence", 4),
            ("a.txt", "sentence", 4),  # one source for all cannot be drawn
            (["a", "a", "b", "b"], "source", 2),
            (["a", "b", "c", "d"], "sentence", 4),
            (["a", "a", "b", ""], "source", 3),
        ],
        ids=["none", "one", "articles", "each", "some"],
    )
    def test_the_default_unit_depends_on_the_sources(self, source: Any, kind: str, count: int) -> None:
        result = units_of(scores([0.1, 0.2, 0.3, 0.4], source=source))
        assert (result.kind, result.count) == (kind, count)

    def test_a_repeated_sentence_is_one_unit(self) -> None:
        assert units_of(scores([0.1, 0.2, 0.3], sentence=["一。", "一。", "二。"])).count == 2

    def test_intervals_are_reproducible_by_seed(self) -> None:
        frame = scores(normal(500))  # so many are drawn
        first, again, other = (summarise(frame, seed=seed).model_bias for seed in (3, 3, 4))
        assert first == again and first != other

    def test_many_intervals_counts_those_excluding_0(self) -> None:
        estimates = [Estimate(0.5, 0.3, 0.7, 99, se=0.1), Estimate(0.2, 0.01, 0.4, 99, se=0.1), Estimate(None)]
        result = many_intervals(estimates)
        assert (result.intervals, result.exclude, result.stays) == (2, (True, True, False), (True, True, False))
        assert result.by_chance == pytest.approx(0.1)
        assert many_intervals(estimates, neutral=0.2).exclude == (True, False, False)


class TestWhatItMixes:
    def test_variance_shares_of_a_nested_design(self) -> None:
        """Means by hand: widths 0 and 1; pairs +-0.2 inside width 1; contexts +-0.1 inside pairs."""
        rows = []
        for pair, width, mean in (("男孩/女孩", 1, 0.2), ("男人/女人", 1, -0.2), ("爸爸/妈妈", 2, 1.0)):
            rows += [(pair, width, mean + c) for c in (0.1, -0.1)]
        frame = scores([r[2] for r in rows], pair=[r[0] for r in rows], masks=[r[1] for r in rows])
        widths, pairs, contexts = 2 / 9, 0.08 / 3, 0.01  # mean squares: 0 4 times and 1 twice around 1/3
        result = variance_shares(frame)
        total = widths + pairs + contexts
        got = [result.widths, result.pairs, result.contexts, result.between_pairs]
        assert got == pytest.approx([widths / total, pairs / total, contexts / total, (widths + pairs) / total])
        assert result.context_sd == pytest.approx(0.1)

    @given(st.lists(st.tuples(st.sampled_from(["他/她", "爸爸/妈妈", "男/女"]), st.floats(-3, 3)), min_size=2))
    def test_variance_shares_add_up_to_1(self, rows: list[tuple[str, float]]) -> None:
        result = variance_shares(scores([v for _, v in rows], pair=[p for p, _ in rows]))
        if result.widths is None:
            assert result.reason == ALL_EQUAL
        else:
            assert result.widths + result.pairs + result.contexts == pytest.approx(1)  # type: ignore[operator]

    def test_variance_shares_of_a_constant_offset_are_undefined(self) -> None:
        result = variance_shares(scores([0.3] * 8))
        assert result.contexts is None and result.reason == ALL_EQUAL and result.context_sd == pytest.approx(0)

    def test_prior_correction_removes_the_pair_effect(self) -> None:
        frame = scores([1.0, 3.0, -1.0, None, 5.0], pair=["他/她", "他/她", "男/女", "男/女", "爸爸/妈妈"])
        corrected = prior_corrected(frame)
        assert corrected.iloc[:2].tolist() == [-1.0, 1.0]
        assert corrected.iloc[2:].isna().all()  # single and missing values of a pair carry no information

    def test_side_auc_of_one_pair_is_the_area_under_the_curve(self) -> None:
        values = [round(value, 1) for value in normal(60)]  # ties
        side = np.array([1, 0] * 30)
        result = summarise(scores(values)).side_auc
        assert result.value == pytest.approx(roc_auc_score(side, values))

    def test_side_auc_is_computed_within_pairs(self) -> None:
        """The pair alone must not count: pair offsets that would give 1.0 over all give 0.5 within."""
        pair = ["他/她"] * 4 + ["男/女"] * 4
        frame = scores(
            [5, 5, 5, 5, -5, -5, -5, -5], pair=pair, keyword=["他", "他", "他", "她", "男", "女", "女", "女"]
        )
        assert summarise(frame).side_auc.value == pytest.approx(0.5)

    def test_side_auc_with_weights_equals_repeated_units(self) -> None:
        random = np.random.default_rng(5)
        values = list(np.round(random.normal(0, 0.4, 60), 1))  # rounded, so that there are ties
        pairs, sides = random.choice(["他/她", "男/女", "爸爸/妈妈"], 60), random.integers(0, 2, 60)
        words = [pair.split("/")[side] for pair, side in zip(pairs, sides, strict=True)]
        frame = scores(values, pair=pairs, keyword=words)
        codes, weights = random.integers(0, 9, 60), random.integers(0, 4, (3, 9)).astype(float)
        wanted = []
        for draw in weights:
            won = twos = 0.0
            for m, f in product(np.flatnonzero(sides == 0), np.flatnonzero(sides == 1)):
                if pairs[m] == pairs[f]:
                    both = draw[codes[m]] * draw[codes[f]]
                    won += both * ((values[m] > values[f]) + (values[m] == values[f]) / 2)
                    twos += both
            wanted.append(won / twos)
        assert SideOrder(frame).auc(codes)(weights) == pytest.approx(wanted)

    def test_cached_draws_equal_fresh_ones(self) -> None:
        first, again = (list(Resampling(40, 3).weights(700)) for _ in range(2))
        anew = list(resampling._drawn(700, 40, 3))
        assert all((a == b).all() and (a == c).all() for a, b, c in zip(first, again, anew, strict=True))
        assert np.concatenate(first).sum(axis=1) == pytest.approx(np.full(40, 700.0))

    def test_very_large_draws_are_not_cached(self) -> None:
        cache = resampling._Cache(1000)
        assert cache.blocks(101, 10, 0) is None
        assert len(cache.blocks(50, 10, 0) or []) == 1
        cache.blocks(60, 10, 0)
        assert list(cache._draws) == [(60, 10, 0)]

    def test_side_auc_needs_both_sides_of_a_pair(self) -> None:
        result = summarise(scores([0.1, 0.2], keyword="他")).side_auc
        assert result.value is None and result.reason

    def test_the_reference_is_marked(self) -> None:
        assert is_reference("random-zh") and not is_reference("demo-zh")
        assert summarise(scores(GOLDEN, "random-zh")).reference


class TestGroups:
    def test_groups_are_in_their_order(self) -> None:
        pair = ["爸爸/妈妈", "天/地", "男/女", "他/她"]
        frame = scores([0.1, -0.2, 0.3, 0.4], pair=pair, keyword=["爸爸", "地", "男", "她"])
        assert [g.group for g in summarise_by(frame, "pair")] == ["他/她", "男/女", "爸爸/妈妈", "天/地"]
        assert [g.group for g in summarise_by(frame, "side")] == ["male", "female"]
        assert [(g.group, g.n) for g in summarise_by(frame, "masks")] == [("1", 3), ("2", 1)]

    @pytest.mark.parametrize(
        ("pair", "width"),
        [
            ("他/她", 1),
            ("男孩/女孩", 1),
            ("姥爷/姥姥", 1),
            ("爸爸/妈妈", 2),
            ("师兄/师姐", 1),
            ("king/queen", 0),
            ("甲/乙丙", 0),
        ],
    )
    def test_mask_width_counts_different_characters(self, pair: str, width: int) -> None:
        assert mask_width(pair) == width


class TestLists:
    def test_extremes_of_both_signs_are_listed(self) -> None:
        frame = scores([0.5, -2.0, 2.0, math.inf, None, 0.0, 2.0])
        assert list(extremes(frame, 2, sign="male")["row"]) == [3, 7]
        assert list(extremes(frame, 9, sign="female")["row"]) == [2]

    def test_the_case_study_is_found_by_its_filter(self) -> None:
        sentence = ["三名男童在玩。", "那个男人走了。", "女童在唱歌。", "男童说他是男人。"]
        keyword, end = ["男", "男人", "女", "男人"], [3, 4, 1, 7]
        frame = scores([1, 2, -3, 4], sentence=sentence, keyword=keyword, end=end)
        assert list(matching(frame, followed_by="童")["row"]) == [1, 3]
        assert list(matching(frame, contains=["男童", "走"])["row"]) == [1, 2, 4]
        assert list(matching(frame, contains="。")["row"]) == [1, 2, 3, 4]
        assert matching(frame, contains=".").empty  # a text, not a pattern
        assert list(matching(frame, word="男")["row"]) == [1]


class TestReading:
    def write(self, folder: Path, text: str) -> Path:
        path = folder / "scores.csv"
        path.write_text(text, encoding="utf-8")
        return path

    HEAD = "row,sentence,pair,keyword,model,p_male,p_female,pair_mass,bias_log10,bias_ln,status,signature\n"

    def test_a_file_of_the_twelve_columns_is_read(self, tmp_path: Path) -> None:
        text = (
            self.HEAD + "1,NA,男孩/女孩,女孩,m,0.2,0.1,0.3,0.301,0.693,ok,s\n2,他走了。,他/她,他,m,,,,,,no answer,s\n"
        )
        frame = read_scores(self.write(tmp_path, text))
        assert frame.loc[0, "sentence"] == "NA"  # a text, not a missing value
        assert list(frame["side"]) == ["female", "male"] and list(frame["masks"]) == [1, 1]
        assert math.isnan(frame.loc[1, "bias_log10"])
        assert frame.loc[0, "logp_male"] == pytest.approx(math.log(0.2))

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("row,sentence\n1,x\n", "lacks the columns pair, keyword"),
            (HEAD, "no row"),
            ("", "empty"),
            (HEAD + "1,x,他/她,他,m,0.2,0.1,0.3,much,0,ok,s\n", "line 2: much in the column bias_log10"),
            (HEAD + "1,x,他/她,他,m,0.2,0.1,0.3,0,0,ok,s\n" * 2, "row 1 of the model m appears twice"),
        ],
        ids=["columns", "rows", "empty", "number", "twice"],
    )
    def test_an_invalid_score_file_is_refused_with_a_reason(self, tmp_path: Path, text: str, says: str) -> None:
        with pytest.raises(BadFile, match=re.escape(says)):
            read_scores(self.write(tmp_path, text))

    @pytest.mark.parametrize(
        "cells",
        [
            pytest.param({}, id="plain"),
            pytest.param({"sentence": "他说：“NA”，\n又说：“nan, null”。"}, id="line-break"),
            pytest.param({"bias_log10": "", "p_male": "nan", "p_female": ""}, id="undefined"),
            pytest.param({"bias_log10": "-inf", "p_male": "0", "p_female": "1e-300"}, id="infinite"),
            pytest.param({"p_male": "0.1234567890123456789"}, id="many-digits"),
            pytest.param({"pair": "", "keyword": ""}, id="empty-words"),
        ],
    )
    def test_the_fast_reader_equals_the_careful_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: dict[str, str]
    ) -> None:
        written = scores([0.1, -0.2, 0.3]).astype(str)
        for name, cell in cells.items():
            written.loc[1, name] = cell
        written.to_csv(tmp_path / "s.csv", index=False, encoding="utf-8-sig")
        assert score_files._read_at_once(tmp_path / "s.csv") is not None
        fast = read_scores(tmp_path / "s.csv")
        monkeypatch.setattr(score_files, "_read_at_once", lambda path: None)
        pd.testing.assert_frame_equal(fast, read_scores(tmp_path / "s.csv"), check_exact=True)

    def test_a_missing_score_file_is_not_found(self, tmp_path: Path) -> None:
        with pytest.raises(NotFound, match=r"none\.csv does not exist"):
            read_scores(tmp_path / "none.csv")

    def test_a_score_file_in_another_encoding_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "scores.csv").write_bytes("row,句子".encode("gb18030"))
        with pytest.raises(BadFile, match="UTF-8"):
            read_scores(tmp_path / "scores.csv")

    def test_a_name_scored_in_two_ways_is_two_models(self) -> None:
        signature = ["masked|m|weights:w|independent|fp32|v1", "masked|m|weights:w|sequential|fp32|v1"]
        frame = scores([0.1, 0.2], row=1, sentence="一。", signature=signature)
        assert models_of(frame) == ["m (independent)", "m (sequential)"]

    def test_rescoring_in_fp32_is_the_same_model(self) -> None:
        frame = scores(
            [0.1, 0.2], signature=["masked|m|weights:w|independent|bf16|v1", "masked|m|weights:w|independent|fp32|v1"]
        )
        assert models_of(frame) == ["m"]
        assert summarise(frame).signature.count("+") == 1

    def test_an_unknown_model_is_named(self) -> None:
        with pytest.raises(NotFound, match="do not contain the model x"):
            rows_of(scores(GOLDEN), "x")


def test_the_documented_code_gives_the_table_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The code in docs/model_bias.md runs as printed; its numbers are those of `summarise`, which the page shows."""
    text = (ROOT / "docs" / "model_bias.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", text, re.S)[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    frame = read_scores(pd.concat([scores(normal(60), "a"), scores(normal(60, seed=2), "b")]))
    frame.to_csv(tmp_path / "scores.csv", index=False)
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    space: dict[str, Any] = {}
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "notebook", "exec"), space)
    for model in ("a", "b"):
        summary = summarise(frame, model=model)
        for estimate in (summary.bias_man, summary.bias_woman, summary.model_bias):
            assert f"{estimate.value:.4f}" in printed.getvalue()
