"""core.human_vs_rule: merged labels, intervals over contexts, weights, marks, bins, people against the rule."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.human_vs_rule.apply_rule import CHOICES, SCHEMES, binary, merged
from evenhand.core.human_vs_rule.compare import bin_of, comparison, in_order, repetition
from evenhand.core.human_vs_rule.means_over_contexts import agreement, context_means, f1, weighted
from evenhand.core.statistics import Resampling
from evenhand.core.text.pronouns import first_pronoun_result

FAST = Resampling(200)


def test_merging_schemes_contain_every_label_once() -> None:
    for scheme, categories in SCHEMES.items():
        taken = [choice for group in categories.values() for choice in group]
        assert sorted(taken) == sorted(CHOICES), scheme
    assert [merged(choice, "three") for choice in CHOICES] == ["correct", "misgendering", "no_pronoun", "no_pronoun"]
    assert [binary(choice) for choice in CHOICES] == [
        1,
        0,
        1,
        1,
    ]  # annot_map of docs/human_vs_rule.md#labels-of-generations
    with pytest.raises(KeyError):
        merged("accept", "four")


def test_five_contexts_of_equal_generations_have_the_error_of_contexts() -> None:
    # docs/methods.md#intervals [C]: SE = sd(context means, ddof 1) / sqrt(5), not / 5.
    means = [1.0, 1.0, 0.0, 1.0, 0.0]
    values, contexts = np.repeat(means, 5), np.repeat(range(5), 5)
    result = context_means({"share": values}, list(contexts), FAST)["share"]
    assert result.value == pytest.approx(0.6) and (result.rows, result.estimate.units) == (25, 5)
    assert result.estimate.se == pytest.approx(np.std(means, ddof=1) / 5**0.5)
    assert result.published == pytest.approx(np.std(values, ddof=1) / 25**0.5)
    reach = 2.7764451052 * np.std(means, ddof=1) / 5**0.5  # t, 0.975, 4 degrees of freedom: from tables
    ends = [1 / (1 + 0.4 / 0.6 * np.exp(sign * reach / 0.24)) for sign in (1, -1)]  # on the log-odds
    assert [result.estimate.low, result.estimate.high] == pytest.approx(ends)
    assert "5" in str(result.estimate.note)


@pytest.mark.parametrize("times", [1, 3, 20], ids="times{}".format)
def test_distinct_contexts_give_the_published_error(times: int) -> None:
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0] * times  # 8, 24 and 160 contexts: all by the jackknife
    result = context_means({"share": values}, range(8 * times), FAST)["share"]
    assert result.estimate.se == pytest.approx(result.published)


def test_the_error_of_uneven_contexts_equals_the_jackknife() -> None:
    random = np.random.default_rng(7)
    contexts = random.integers(0, 20, 90)
    values = random.integers(0, 2, 90).astype(float)
    values[contexts == 3] = np.nan  # without any label: not a context of the measure
    units = [context for context in np.unique(contexts) if context != 3]
    without = [np.nanmean(values[contexts != unit]) for unit in units]
    expected = np.sqrt((len(units) - 1) / len(units) * np.sum((np.array(without) - np.mean(without)) ** 2))
    result = context_means({"share": values}, list(contexts), FAST)["share"]
    assert result.estimate.se == pytest.approx(expected, rel=1e-12)


def test_means_with_missing_values_or_few_contexts() -> None:
    nan = float("nan")
    result = context_means({"a": [1.0, nan, 0.0], "b": [nan, nan, nan]}, ["x", "x", "y"], FAST)
    assert (result["a"].value, result["a"].rows) == (0.5, 2)
    assert result["b"].value is None and "No generation received this label." in str(result["b"].estimate.reason)
    alone = context_means({"a": [1.0, 0.0]}, ["x", "x"], FAST)["a"]
    assert (
        alone.value == 0.5
        and alone.estimate.low is None
        and "There is only one unit: no interval." in str(alone.estimate.note)
    )
    none = context_means({"a": []}, [], FAST)["a"]
    assert none.value is None and none.published is None


def test_a_share_of_0_has_a_wilson_interval() -> None:
    result = context_means({"a": [0.0] * 30}, list(range(30)), FAST)["a"]
    assert result.value == 0 and result.estimate.low == 0
    assert result.estimate.high == pytest.approx(0.12237, abs=1e-5)  # Wilson, 0 of 30: t^2 / (30 + t^2)
    assert "Wilson" in str(result.estimate.note)


def test_weights_undo_an_uneven_sample() -> None:
    # 2 of 10 from a stratum of all 0, 8 of 90 from one of all 1: the sample gives 0.8, the whole 0.9.
    values = [0.0] * 2 + [1.0] * 8
    strata = ["a"] * 2 + ["b"] * 8
    result = weighted(values, strata, range(10), {"a": 10, "b": 90}, FAST)
    assert result.sample == pytest.approx(0.8) and result.estimate.value == pytest.approx(0.9)
    assert (result.labelled, result.population, result.covered, result.strata, result.thin) == (10, 100, 1.0, 2, 0)


def test_weights_report_uncovered_strata() -> None:
    nan = float("nan")
    result = weighted([1.0, 0.0, nan], ["a", "a", "b"], ["x", "y", "z"], {"a": 5, "b": 15}, FAST)
    assert result.estimate.value == 0.5 and result.covered == 0.25 and result.labelled == 2
    nothing = weighted([nan], ["a"], ["x"], {"a": 3}, FAST)
    assert nothing.estimate.value is None and nothing.sample is None and nothing.estimate.reason is not None


@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), min_size=2, max_size=30))
def test_weights_of_a_census_change_nothing(rows: list[tuple[str, bool]]) -> None:
    values, strata = [float(v) for _, v in rows], [s for s, _ in rows]
    population = {s: strata.count(s) for s in set(strata)}
    result = weighted(values, strata, range(len(rows)), population, Resampling(100))
    assert result.estimate.value == pytest.approx(np.mean(values))


MARKS = [
    ([(0, 3, "pronoun")], [(0, 3, "pronoun")], 1.0),
    ([(0, 4, "pronoun")], [(2, 6, "pronoun")], 0.5),
    ([(0, 3, "pronoun")], [], 0.0),
    ([(0, 3, "pronoun")], [(0, 3, "extraneous")], 0.0),
    ([(0, 2, "pronoun"), (2, 4, "pronoun")], [(0, 4, "pronoun")], 1.0),  # how it is cut does not matter
    ([], [], None),
    ([(5, 9, "extraneous")], [], None),
]


@pytest.mark.parametrize(("a", "b", "expected"), MARKS, ids=range(len(MARKS)))
def test_f1_of_marked_characters(
    a: list[tuple[int, int, str]], b: list[tuple[int, int, str]], expected: float | None
) -> None:
    value, reason = f1(a, b, "pronoun")
    assert value == expected and f1(b, a, "pronoun")[0] == value
    assert (reason is None) == (expected is not None)


def test_f1_over_texts_is_pooled_with_its_counts() -> None:
    items = {
        "i": [[(0, 3, "pronoun")], [(0, 3, "pronoun")]],
        "j": [[(0, 10, "pronoun")], []],
        "k": [[], []],
        "l": [[(0, 3, "pronoun")]],
    }
    report = agreement(items, {"i": 1, "j": 2, "k": 3, "l": 4}, "pronoun", FAST)
    assert report.pooled.value == pytest.approx(6 / 16) and report.mean == pytest.approx(0.5)
    assert (report.pairs, report.both, report.same) == (2, 1, 1)
    nothing = agreement({"k": [[], []]}, {"k": 1}, "pronoun", FAST)
    assert nothing.pooled.value is None and nothing.mean is None and "No generation" in str(nothing.pooled.reason)


BINS = [
    ("misgendering", (), [(15, 18, "pronoun")], "He laughed and she left.", ["he"], "later_pronoun"),
    ("misgendering", (), [], "He laughed and she left.", ["he"], "later_pronoun"),
    ("misgendering", (), [], "He laughed.", ["he"], "other"),
    ("misgendering", (), [], "Themselves were tired.", ["he"], "unknown_form"),
    ("correct", (), [], "His uncle met her. She smiled.", ["she"], "other_referent"),
    ("no_pronoun", (), [], "His uncle waited.", ["she"], "other_referent"),
    ("plural_they", (), [], "Kim and Lee packed; they left.", ["she"], "plural_they"),
    ("no_pronoun", (), [], "Kim opened the old boxes, and they were empty.", ["she"], "not_person"),
    ("no_pronoun", (), [], "Kim met the new students, and they were loud.", ["she"], "other_referent"),
    ("no_pronoun", (), [], "Kim said \u201che\u201d is a word.", ["she"], "not_person"),
    ("no_pronoun", (), [], "Write he/she here.", ["xe"], "not_person"),
    ("no_pronoun", ("meta_pronouns",), [], "Kim likes he less.", ["she"], "not_person"),
    ("correct", (), [], "She left.", ["she"], None),
    ("misgendering", (), [], "He left.", ["she"], None),
    ("correct", (), [], "He left.", [], None),  # unknown pronouns: no verdict
    ("correct", (), [], "He left and they came.", ["she", "he"], None),
]


@pytest.mark.parametrize(("choice", "tags", "marks", "text", "own", "expected"), BINS, ids=range(len(BINS)))
def test_disagreements_with_the_rule_are_sorted_into_bins(
    choice: str, tags: tuple[str, ...], marks: list[tuple[int, int, str]], text: str, own: list[str], expected: str
) -> None:
    rule = first_pronoun_result(text, own, "misgendered")
    assert bin_of(choice, tags, marks, text, own, "misgendered", rule) == expected


def _frames(rows: list[tuple[str, str, bool, list[str]]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables of generations and labels of (text, own, finished, labels)."""
    items = pd.DataFrame(
        [
            {
                "item": f"i{n}", "text": text, "context": "Kim.", "cluster": f"c{n}", "model": "m", "pronouns": (own,),
                "pronoun": own, "dataset": "misgendered", "setting": "pre", "index": "0", "name": "Kim",
                "labels": len(choices), "wanted": 1, "finished": finished, "gold": None, "status": "pending",
            }
            for n, (text, own, finished, choices) in enumerate(rows)
        ]
    )  # fmt: skip
    labels = [
        {"item": f"i{n}", "annotator": f"a{k}", "choice": choice, "extraneous": None, "spans": (), "reasons": (),
         "note": ""}
        for n, (_text, _own, _finished, said) in enumerate(rows)
        for k, choice in enumerate(said)
    ]  # fmt: skip
    return items, pd.DataFrame(labels).merge(items.drop(columns=["labels"]), on="item").assign(labels=1)


@pytest.mark.parametrize(("waiting", "used"), [(0, False), (29, False), (30, True)])
def test_rule_verdicts_of_unlabelled_texts_are_used_from_30_on(waiting: int, used: bool) -> None:
    done = [("He left.", "he", True, ["correct"]), ("He left.", "she", True, ["misgendering"])] * 8
    done += [("She sang, he left.", "she", True, ["misgendering"]), ("Kim left.", "xe", True, ["no_pronoun"])] * 2
    items, labels = _frames([*done, *[("He left.", "she", False, ["correct"])] * waiting])
    made = comparison(items, labels, FAST)
    assert bool(made.both.weight) is used
    assert made.both.people.value == pytest.approx(made.overall["misgendering"].value)
    if used:
        assert made.both.both.value > made.both.people.value  # all waiting texts are misgendered by the rule
        assert made.both.worth is not None and made.both.worth > 1


def test_each_generation_counts_once_and_only_finished_ones_count() -> None:
    items, labels = _frames(
        [
            ("He left.", "he", True, ["correct"]),
            ("He left.", "she", True, ["misgendering", "no_pronoun"]),
            ("She sang, he left.", "she", True, ["misgendering"]),
            ("They left.", "she", True, ["plural_they"]),
            ("Kim left.", "xe", False, ["misgendering"]),
        ]
    )
    made = comparison(items, labels, FAST)
    assert made.overall["agreement"].value == pytest.approx((1 + 0.5 + 0 + 0) / 4)
    assert made.overall["misgendering"].value == pytest.approx((0 + 0.5 + 1 + 0) / 4)
    rule = made.overall["rule_misgendering"].value
    assert made.rule_less_people.value == pytest.approx(rule - made.overall["misgendering"].value)
    assert made.overall["extraneous"].value is None
    assert made.confusion == {
        "correct": (1, 0), "misgendering": (1, 1), "no_pronoun": (0, 1), "plural_they": (0, 1),
    }  # fmt: skip
    assert [(difference.item, difference.bin) for difference in made.differences] == [
        ("i1", "other_referent"), ("i2", "later_pronoun"), ("i3", "plural_they"),
    ]  # fmt: skip
    assert "i4" not in {difference.item for difference in made.differences}
    assert made.weighted("misgendering").population == 5 and made.weighted("misgendering").covered == 0.8


def test_kappa_with_the_rule_is_cohens_kappa() -> None:
    # 2 x 2 of docs/misgendering.md#the-numbers: cells 20, 30, 60, 640 give kappa 0.245810.
    rows = (
        [("He left.", "she", True, ["misgendering"])] * 20
        + [("He left.", "she", True, ["correct"])] * 30
        + [("She left.", "she", True, ["misgendering"])] * 60
        + [("She left.", "she", True, ["correct"])] * 640
    )
    kappa = comparison(*_frames(rows), FAST).kappa
    assert kappa.value == pytest.approx(0.245810, abs=5e-7)
    assert kappa.low is not None and kappa.low < kappa.value < (kappa.high or 0)
    same = comparison(*_frames([("She left.", "she", True, ["correct"])] * 3), FAST).kappa
    assert same.value is None and same.reason is not None
    rows = [("She left.", "she", True, [choice]) for choice in ("correct", "misgendering") * 3]
    one_way = comparison(*_frames(rows), FAST).kappa
    assert (one_way.value, one_way.low, one_way.high) == (0, None, None) and "no interval" in str(one_way.note)


def test_repetition_is_computed_by_group_in_both_variants() -> None:
    text = "Kim sat on the mat. Kim sat on the mat."
    items, _labels = _frames([(text, "she", False, ["correct"]), ("Kim.", "she", False, ["correct"])])
    alone = repetition(items, ("model", "pronoun"), "completion")["m", "she"]
    assert (alone.texts, alone.short) == (1, 1) and alone.mean is not None and alone.mean > 0
    both = repetition(items, ("model", "pronoun"), "published")["m", "she"]
    assert (both.texts, both.short) == (2, 0)


@pytest.mark.parametrize(
    ("keys", "by", "expected"),
    [
        (
            [("m2", "xe"), ("m2", "ze"), ("m1", "they"), ("m2", "he"), ("m1", "he")],
            ("model", "pronoun"),
            [("m2", "he"), ("m2", "xe"), ("m2", "ze"), ("m1", "he"), ("m1", "they")],
        ),
        ([("pre", "b"), ("post", "a")], ("setting", "model"), [("pre", "b"), ("post", "a")]),
    ],
    ids=["pronouns", "no pronouns"],
)
def test_pronouns_have_a_fixed_order_and_models_the_users(
    keys: list[tuple[str, ...]], by: tuple[str, ...], expected: list[tuple[str, ...]]
) -> None:
    assert in_order(keys, by) == expected
