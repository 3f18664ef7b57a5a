"""Measures of a table of associations: the thesis's numbers, intervals over two crossed units, hypotheses."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.association.corpus import sentences
from evenhand.core.association.measures import (
    Crossing,
    Difference,
    cells,
    describe,
    difference,
    differences,
    differences_without_equal,
    groups,
    has_equal_pairs,
    interval,
    person_words,
    ranked,
    share_correlation,
    signature,
)
from evenhand.core.association.report import (
    is_multilingual,
    multilingual,
    no_difference,
    printed,
    printed_verdicts,
    verdicts,
)
from evenhand.core.association.run import COLUMNS
from evenhand.core.association.sets import association_set
from evenhand.core.statistics import Estimate
from evenhand.core.statistics.estimate import BY_T_CROSSED, Note


def table_of(lean, *, professions=20, pairs=9, templates=2, noise=0.0, language="en", seed=0):
    """Return a table of lean(kind, gender) plus noise of professions and of pairs."""
    random = np.random.default_rng(seed)
    rows = []
    for kind in ("male", "female", "balanced"):
        for i in range(professions):
            of_job = noise * random.normal()
            for j, gender in itertools.product(range(pairs), ("male", "female")):
                value = lean(kind, gender) + of_job + noise * np.sin(7 * j + (gender == "male"))
                rows += [
                    {
                        "template": str(t), "person": f"{gender}{j}", "person_key": f"{gender}{j} (p{j})",
                        "pair": f"p{j}", "person_gender": gender, "profession_key": f"{kind}{i}", "class": kind,
                        "field": "", "women": {"male": 2.0, "female": 92.0, "balanced": 50.0}[kind] + i / 10,
                        "association": value + noise * random.normal(), "pieces": 1.0, "model": "made",
                    }
                    for t in range(templates)
                ]  # fmt: skip
    return pd.DataFrame(rows).reindex(columns=list(COLUMNS))


# docs/association.md#measures-and-intervals [C].
def test_describe_computes_mean_deviation_and_quartiles():
    result = describe([-1.2, 0.3, 0.5, 2.0, -0.4, 0.0])
    assert result.n == 6
    wanted = {"std": 1.0677078252, "min": -1.2, "q25": -0.3, "q50": 0.15, "q75": 0.45, "max": 2.0}
    assert {name: getattr(result, name) for name in wanted} == pytest.approx(wanted, abs=1e-9)


@given(st.lists(st.floats(-50, 50), min_size=2, max_size=40))
def test_describe_equals_pandas(values):
    description, theirs = describe(values), pd.Series(values).describe()
    names = {"std": "std", "min": "min", "q25": "25%", "q50": "50%", "q75": "75%", "max": "max"}
    for mine, name in names.items():
        assert getattr(description, mine) == pytest.approx(theirs[name], abs=1e-9)


def test_describe_of_zero_or_one_value():
    assert (describe([]).n, describe([]).max, describe([]).std) == (0, None, None)
    assert (describe([0.5]).max, describe([0.5]).std) == (0.5, None)


@pytest.mark.parametrize("count", [900])
def test_a_group_of_the_english_set_has_900(count):
    rows = [
        {"class": s.profession.kind, "person_gender": s.person.gender, "person_key": s.person.key,
         "pair": s.person.pair, "profession_key": s.profession.name, "association": 0.0}
        for s in sentences(association_set("en"))
    ]  # fmt: skip
    result = groups(pd.DataFrame(rows))
    assert [group.numbers.n for group in result] == [count] * 6
    assert [(group.kind, group.gender) for group in result[:2]] == [("female", "male"), ("female", "female")]


def test_a_difference_has_its_interval_over_pairs_and_professions():
    frame = table_of(lambda kind, gender: 0.3 if gender == "male" else 0.1, noise=0.2)
    result = differences(frame)
    assert [difference.name for difference in result] == ["female", "balanced", "male"]
    for row in result:
        rows = frame[frame["class"] == row.name].groupby("person_gender")["association"].mean()
        assert row.estimate.value == pytest.approx(rows["male"] - rows["female"])
        assert row.w_minus_m == pytest.approx(rows["female"] - rows["male"])
        assert row.estimate.low < row.estimate.value < row.estimate.high
        assert (row.professions, row.words, row.unit, row.estimate.df) == (20, 9, "pair", 8)
        assert str(row.estimate.note) == "Few units (9): t interval."


def test_drawing_both_is_wider_than_drawing_sentences():
    frame = table_of(lambda kind, gender: 0.0, noise=0.3)
    group = groups(frame)[0]
    naive = 1.96 * group.numbers.std / group.numbers.n**0.5
    assert group.mean.high - group.mean.value > 2 * naive


def test_the_standard_error_of_a_crossed_mean_adds_its_parts():
    """Rows and columns that add up: the variance of a mean is var(rows)/n + var(columns)/m.

    See docs/methods.md#intervals.
    """
    random = np.random.default_rng(5)
    jobs, pairs = random.normal(size=40), random.normal(size=30)
    rows = [
        {"person_gender": "male", "person_key": f"w{j}", "pair": "", "profession_key": f"j{i}", "association": a + b}
        for (i, a), (j, b) in itertools.product(enumerate(jobs), enumerate(pairs))
    ]
    crossing = Crossing.of(pd.DataFrame(rows))
    result = interval(crossing, lambda means: means["male"], "male")
    assert result.se == pytest.approx((jobs.var(ddof=1) / 40 + pairs.var(ddof=1) / 30) ** 0.5, rel=0.02)
    assert result.note is None and result.method == BY_T_CROSSED


def test_words_without_a_counterpart_are_drawn_by_themselves():
    frame = table_of(lambda kind, gender: 0.5 if gender == "male" else 0.0, noise=0.1)
    alone = frame.assign(pair="", person_key=frame["person"])
    first, second = difference(frame), difference(alone)
    assert (first.unit, second.unit, second.words) == ("pair", "word", 9)
    assert first.estimate.value == pytest.approx(second.estimate.value)
    assert first.estimate.se != second.estimate.se


def test_neutral_words_are_a_group_without_a_difference():
    frame = table_of(lambda kind, gender: 0.2)
    neutral = frame[frame["person_gender"] == "male"].assign(
        person_gender="neutral", pair="", association=9.0, person_key=lambda rows: "n" + rows["person_key"]
    )
    both = pd.concat([frame, neutral], ignore_index=True)
    assert difference(both).estimate.value == pytest.approx(0.0)
    assert difference(both).unit == "pair"
    assert {group.gender: group.mean.value for group in groups(both)}["neutral"] == 9.0


def test_one_gender_has_no_difference_and_one_word_no_interval():
    frame = table_of(lambda kind, gender: 0.2, noise=0.1)
    male = difference(frame[frame["person_gender"] == "male"])
    assert (male.estimate.value, male.female) == (None, None)
    assert "one gender only" in str(male.estimate.reason)
    single = difference(frame[(frame["pair"] == "p0") & (frame["profession_key"] == "male0")])
    assert single.estimate.value is not None
    assert single.estimate.low is None
    assert "no interval" in str(single.estimate.note)


def test_undefined_sentences_are_counted_and_left_out():
    frame = table_of(lambda kind, gender: 1.0)
    frame.loc[frame.index[:7], "association"] = np.nan
    result = groups(frame)
    assert sum(group.undefined for group in result) == 7
    assert {group.mean.value for group in result} == {1.0}
    lost = groups(frame.assign(association=np.nan))[0]
    assert (lost.numbers.max, lost.mean.value, str(lost.mean.reason)) == (
        None, None, "No sentence of this group has a score.",
    )  # fmt: skip


def test_the_signature_names_unit_and_method():
    assert signature("pair") == "unit:profession×pair|jackknife-t"


def test_pairs_of_one_word_are_left_out_on_demand():
    frame = table_of(lambda kind, gender: 0.4 if gender == "male" else 0.0)
    same = frame["pair"] == "p0"
    frame.loc[same, ["person_key", "association"]] = ["bera (p0)", 0.0]
    assert has_equal_pairs(frame)
    assert not has_equal_pairs(table_of(lambda kind, gender: 0.0))
    assert differences(frame)[0].estimate.value == pytest.approx(0.4 * 8 / 9)
    assert differences_without_equal(frame)[0].estimate.value == pytest.approx(0.4)
    assert differences_without_equal(table_of(lambda kind, gender: 0.0)) == []


def test_cells_and_words_are_ranked():
    frame = table_of(lambda kind, gender: {"male": 0.5, "female": -0.5, "balanced": 0.0}[kind] * (gender == "male"))
    result = ranked(differences(frame, "profession_key"))
    assert result[0].name.startswith("male")
    assert result[-1].name.startswith("female")
    assert len(result) == 60
    table = cells(frame)
    assert len(table) == 120
    assert set(table["n"]) == {18}
    by_word = person_words(frame)
    assert len(by_word) == 18
    assert by_word.loc[by_word["person_gender"] == "male", "male"].eq(0.5).all()


def test_differences_correlate_with_the_share_of_women():
    frame = table_of(lambda kind, gender: {"male": 0.5, "female": -0.5, "balanced": 0.0}[kind] * (gender == "male"))
    result = differences(frame, "profession_key")
    for method in ("pearson", "spearman"):
        correlation = share_correlation(result, method)
        assert correlation.low < correlation.value < correlation.high < 0
        assert correlation.units == 60
    x, y = (np.array(column) for column in zip(*((d.women, d.estimate.value) for d in result), strict=True))
    assert share_correlation(result).value == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert share_correlation(result[:2]).value is None
    constant = [Difference(str(i), 0.0, 0.0, Estimate(0.1), 1, 9, "pair", 50.0 + i) for i in range(5)]
    assert "same difference" in str(share_correlation(constant).reason)


def printed_outcomes(language, model):
    result = printed_verdicts(language)[model]
    return {(verdict.name, verdict.reading): verdict.outcome for verdict in result}


# docs/association.md#hypotheses: H1 and H2 read literally from the printed tables [C].
@pytest.mark.parametrize(
    ("language", "model", "first", "second"),
    [
        ("en", "BERT mono", "yes", "yes"),
        ("en", "mBERT", "yes", "no"),
        ("en", "IXAmBERT", "yes", "no"),
        *[(language, model, "yes", "no") for language in ("es", "es-noart") for model in ("BETO", "mBERT", "IXAmBERT")],
        ("eu", "BERTeus", "yes", "no"),
        ("eu", "IXAmBERT", "yes", "no"),
        ("eu", "mBERT", "half", "half"),
    ],
)
def test_published_hypotheses_in_the_literal_reading(language, model, first, second):
    result = printed_outcomes(language, model)
    assert (result["H1", "literal"], result["H2", "literal"]) == (first, second)


# The same, relatively: W > M for female professions, M > W for male ones.
@pytest.mark.parametrize(
    ("language", "model", "female", "male"),
    [
        *[("en", model, True, True) for model in ("BERT mono", "mBERT", "IXAmBERT")],
        ("es", "BETO", True, False), ("es", "mBERT", True, True), ("es", "IXAmBERT", True, False),
        *[("es-noart", model, True, False) for model in ("BETO", "mBERT", "IXAmBERT")],
        *[("eu", model, False, True) for model in ("BERTeus", "mBERT", "IXAmBERT")],
    ],
)  # fmt: skip
def test_published_hypotheses_in_the_relative_reading(language, model, female, male):
    results = {(verdict.name, verdict.reading): verdict for verdict in printed_verdicts(language)[model]}
    assert tuple(item.holds for item in results["H1", "relative"].evidence) == (female, male)
    assert results["H2", "relative"].evidence == results["H1", "relative"].evidence


def test_published_differences_follow_from_their_means_but_one():
    rows = [row for language in ("en", "es", "es-noart", "eu") for row in printed(language)]
    assert len(rows) == 36
    [odd] = [row for row in rows if not row.follows]
    assert (odd.model, odd.kind, odd.man, odd.difference) == ("mBERT", "female", "2.34", "0.286")
    assert printed("zh") == []
    assert [row.m_minus_w for row in printed("en")][:1] == [-1.179]


def test_hypotheses_of_a_run_have_their_evidence():
    frame = table_of(lambda kind, gender: 0.0 if kind == "balanced" else 0.4 if kind == gender else -0.4, noise=0.02)
    described, compared = groups(frame), differences(frame)
    means = {(group.kind, group.gender): group.mean for group in described}
    outcome = {(verdict.name, verdict.reading): verdict for verdict in verdicts(means, compared, 0.1)}
    assert {key: difference.outcome for key, difference in outcome.items()} == dict.fromkeys(outcome, "yes")
    assert outcome["H1", "literal"].clear
    assert {(verdict.name, verdict.outcome) for verdict in verdicts(means, compared) if verdict.name == "H3"} == {
        ("H3", "undecided")
    }


@pytest.mark.parametrize(
    ("estimate", "margin", "outcome"),
    [
        (Estimate(0.0, -0.05, 0.05, 20, se=0.025), None, "undecided"),
        (Estimate(0.0, -0.05, 0.05, 20, se=0.025), 0.1, "yes"),
        (Estimate(0.0, -0.05, 0.05, 20, se=0.025), 0.02, "undecided"),
        (Estimate(0.4, 0.3, 0.5, 20, se=0.05), 0.1, "no"),
        (Estimate(-0.4, -0.5, -0.3, 20, se=0.05), 0.1, "no"),
        (Estimate(0.4, None, None, 1), 0.1, "undecided"),
        (Estimate.undefined(Note("x")), 0.1, "undecided"),
    ],
)
def test_testing_for_no_difference_needs_a_margin(estimate, margin, outcome):
    result = no_difference(estimate, margin)
    assert result.outcome == outcome
    assert (outcome == "undecided") <= bool(str(result.remark))


def test_a_model_against_itself_differs_by_0_on_common_words():
    frame = table_of(lambda kind, gender: 0.8 if gender == "male" else 0.0, noise=0.4)
    keys = list(dict.fromkeys(frame["person_key"]))
    first, second = frame.copy(), frame.copy()
    first.loc[first["person_key"] == keys[0], "association"] = np.nan
    second.loc[second["person_key"] == keys[-1], "association"] = np.nan
    result = multilingual(first, second.sample(frac=1, random_state=1))
    assert [part.estimate.value for part in result.evidence] == pytest.approx([0, 0, 0], abs=1e-12)
    assert "sentences that both models scored; the others are excluded." in str(result.remark)
    assert multilingual(frame, frame).remark is None


def test_a_multilingual_model_is_compared_with_a_monolingual_one():
    strong = table_of(lambda kind, gender: 0.8 if gender == "male" else 0.0, noise=0.05)
    weak = table_of(lambda kind, gender: 0.0 if gender == "male" else 0.2, noise=0.05, seed=3)
    result = multilingual(strong, weak)
    assert (result.outcome, result.clear) == ("yes", True)
    assert [evidence.equivalence.answer for evidence in result.evidence] == ["undecided"] * 3  # without a margin
    assert [evidence.equivalence.answer for evidence in multilingual(strong, weak, 5.0).evidence] == ["yes"] * 3
    assert all(evidence.equivalence.smallest > 0 for evidence in result.evidence)
    assert multilingual(weak, strong).outcome == "no"
    assert multilingual(strong, None).outcome == "undecided"
    assert {name: is_multilingual(name) for name in ("bert-base-uncased", "bert-base-multilingual-cased", "own")} == {
        "bert-base-uncased": False, "bert-base-multilingual-cased": True, "own": None,
    }  # fmt: skip
