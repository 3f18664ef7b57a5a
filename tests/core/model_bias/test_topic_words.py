"""topic_words: jieba's weights, hidden keywords, and the contrast with its p by definition."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evenhand.core.model_bias.topic_words import topic_words

MALE = ["他在工厂修理机器。", "他在工厂检查机器设备。", "那个男孩参观了工厂。", "小男孩喜欢男篮比赛。"] * 6
FEMALE = ["她在医院照顾病人。", "她在医院安慰病人家属。", "那个女孩参观了工厂。", "她在医院上夜班。"] * 6
KEYWORDS = ("他", "她", "男", "女", "男孩", "女孩")


def test_words_and_weights_equal_jieba(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
        import jieba.analyse

        jieba.dt.tmp_dir = str(tmp_path)  # where jieba keeps its cache
        jieba.setLogLevel("ERROR")
        text = "".join(["工厂检查机器设备，医院照顾病人。"] * 3)
        expected = {
            "tfidf": jieba.analyse.extract_tags(text, topK=4, withWeight=True),
            "textrank": jieba.analyse.textrank(text, topK=4, withWeight=True),
        }
    result = topic_words([text], ["她走了。"], keywords=KEYWORDS, top=4, permutations=10)
    for method, words in expected.items():
        rows = result[(result["side"] == "male") & (result["method"] == method)]
        assert dict(zip(rows["word"], rows["weight"], strict=True)) == pytest.approx(dict(words))


def test_keywords_are_hidden_and_ambiguous_words_marked() -> None:
    result = topic_words(MALE, FEMALE, keywords=KEYWORDS, top=20).drop_duplicates("word").set_index("word")
    assert not set(result.index) & {*KEYWORDS, "小男孩"}
    assert result.loc["男篮", "holds_keyword"]
    assert not result.loc["机器", "holds_keyword"]


def test_contrast_is_the_difference_of_shares_positive_for_male() -> None:
    result = topic_words(MALE, FEMALE, keywords=KEYWORDS).drop_duplicates("word").set_index("word")
    assert result.loc["工厂", ["male_rate", "female_rate", "contrast"]].tolist() == pytest.approx([0.75, 0.25, 0.5])
    assert result.loc["医院", "contrast"] == pytest.approx(-0.75)
    assert result.loc["医院", "stays"]


def test_p_equals_the_exact_permutation_test() -> None:
    """Shuffling the sides of sentences with or without a word is the hypergeometric distribution."""
    male = ["机器坏了。"] * 9 + ["天气很好。"] * 11
    female = ["机器坏了。"] * 4 + ["天气很好。"] * 16
    result = topic_words(male, female, keywords=(), permutations=20_000).drop_duplicates("word").set_index("word")
    counts = np.arange(14)
    chances = stats.hypergeom.pmf(counts, 40, 13, 20)
    exact = chances[np.abs(counts - 6.5) >= 2.5].sum()
    assert result.loc["机器", "p"] == pytest.approx(exact, abs=0.012)


def test_strata_remove_the_contrast_of_pairs() -> None:
    """A word that only one pair has differs between the sides, and not within the pair."""
    male, female = ["机器坏了。"] * 30 + ["天气很好。"] * 10, ["机器坏了。"] * 10 + ["天气很好。"] * 30
    pairs = (["a"] * 30 + ["b"] * 10, ["a"] * 10 + ["b"] * 30)
    free = topic_words(male, female, keywords=(), top=1)
    within = topic_words(male, female, keywords=(), top=1, strata=pairs)
    assert free["p"].max() < 0.01
    assert within["p"].min() == 1


def test_p_is_reproducible_by_seed() -> None:
    first, second = (topic_words(MALE, FEMALE, keywords=KEYWORDS, seed=7) for _ in range(2))
    assert first.equals(second)
    assert first.attrs["seconds"] > 0


@pytest.mark.parametrize(
    ("male", "female"), [([], []), ([], FEMALE), (["他。"], ["她。"])], ids=["both", "one", "bare"]
)
def test_an_empty_side_gives_no_row_and_no_p(male: list[str], female: list[str]) -> None:
    result = topic_words(male, female, keywords=KEYWORDS)
    assert result[result["side"] == "male"].empty
    assert result["p"].isna().all()
