"""Concordance: what counts as the word, lines, the two-by-two numbers against statsmodels, texts as clusters."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import Table2x2

from evenhand.core.concordance import LISTED, Passage, concordance, question
from evenhand.core.concordance.counting import Words
from evenhand.core.concordance.odds import Table, contrast
from evenhand.core.errors import Refused


def passages(*texts, document="a.txt"):
    return [Passage(document, place, text) for place, text in enumerate(texts, 1)]


def words_in(sentence, word="护士", near=("他", "她")):
    return [sentence[start:end] for start, end, _ in Words(question(word, near)).hits(sentence)]


HITS = {
    "plain": ("她问护士他在哪里", ["她", "护士", "他"]),
    "inside other words": ("其他护士弹吉他,他人不知", ["护士"]),
    "plural is another word": ("他们找护士,她们也找", ["护士"]),
    "others beside a real one": ("尤其他和护士", ["他", "护士"]),
    "longest of a pair": ("护士的女儿", ["护士"]),
    "the ends of two other words": ("他保护士大夫,护士长也在", ["他", "护士"]),
    "twice": ("护士和护士", ["护士", "护士"]),
}


@pytest.mark.parametrize(("sentence", "expected"), HITS.values(), ids=HITS)
def test_occurrences_of_a_word_follow_the_keyword_rules(sentence, expected):
    assert words_in(sentence) == expected


def test_longer_keywords_count_only_as_near_words():
    assert words_in("那个女孩是女护士", near=("女", "男")) == ["女", "护士"]
    assert words_in("那个女孩是女护士", near=("女孩", "男孩")) == ["女孩", "护士"]
    assert words_in("他们和他", near=("他们", "他")) == ["他们", "他"]
    assert words_in("女孩问女儿", word="女", near=("他",)) == []


def test_words_of_spaced_languages_match_whole_and_caseless():
    assert words_in("The nurse met her; Her nurses met Hermes.", "nurse", ("he", "her")) == ["nurse", "her", "Her"]


def test_a_word_inside_the_queried_one_is_not_near_it():
    assert words_in("他的妻子来了", word="他的妻子", near=("妻子", "他")) == ["他的妻子"]


SENTENCES = {
    "chinese": ("护士来了。她在。”好？！行", "护士", 4),
    "english": ("A nurse came. Mr.Smith had 3.5 pills! She (a nurse) left.", "nurse", 3),
    "no mark": ("护士", "护士", 1),
}


@pytest.mark.parametrize(("text", "word", "number"), SENTENCES.values(), ids=SENTENCES)
def test_texts_are_split_into_sentences(text, word, number):
    assert concordance(passages(text), question(word, ["他"])).sentences == number


def test_lines_have_their_word_and_near_words():
    text = "  早上她叫护士过来,他也来了。护士问护士。"
    query = question("护士", ["他", "她"])
    result = concordance(passages("没有。", text), query)
    first, second, third = result.lines
    assert first.parts == ("早上她叫", "护士", "过来,他也来了。")
    assert [(first.sentence[a:b], query.near[number]) for a, b, number in first.near] == [("她", "她"), ("他", "他")]
    assert (first.document, first.place, first.sentence) == ("a.txt", 2, text.split("。")[0].strip() + "。")
    assert (second.span, third.span) == ((0, 2), (3, 5))
    assert (result.occurrences, result.sentences_with, result.sentences, result.both) == (3, 2, 3, 1)
    assert (result.paragraphs, result.documents, result.characters) == (2, 1, len(text) + 3)


def test_all_lines_are_emitted_and_the_first_ones_kept():
    seen = []
    result = concordance(passages(*["护士在。"] * (LISTED + 7)), question("护士", ["她"]), on_line=seen.append)
    assert (len(seen), len(result.lines)) == (LISTED + 7, LISTED)


def test_a_window_counts_characters_between_the_words():
    texts = ("她一二护士在。", "她一二三护士在。", "护士一二她在。", "她不在。")
    result = concordance(passages(*texts), question("护士", ["他", "她"], window=2))
    assert result.near[1].counts == (2, 1, 0, 0)
    assert result.near[1].share == pytest.approx(2 / 3) and result.near[1].share_elsewhere is None
    assert "window" in str(result.near[1].times.reason)
    assert result.contrast.counts == (0, 2, 0, 1)
    assert [len(line.near) for line in result.lines] == [1, 0, 1]


def corpus(a, b, c, d, document=None):
    """Return texts of one sentence each, with these four counts for 她."""
    rows = ["她是护士。"] * a + ["护士在。"] * b + ["她在。"] * c + ["天黑了。"] * d
    return [Passage(document or f"{n}.txt", 1, text) for n, text in enumerate(rows)]


TABLES = {"plain": (30, 20, 100, 900), "rarer": (3, 60, 200, 700), "even": (10, 90, 50, 450)}


@pytest.mark.parametrize("counts", TABLES.values(), ids=TABLES)
def test_sentences_as_units_equal_statsmodels(counts):
    result = concordance(corpus(*counts), question("护士", ["她"], unit="sentence"))
    (near,) = result.near
    a, b, c, d = near.counts
    assert near.counts == counts
    golden = Table2x2(np.array([[a, b], [c, d]]))
    assert near.log_odds.value == pytest.approx(golden.log_oddsratio)
    assert (near.log_odds.low, near.log_odds.high) == pytest.approx(golden.log_oddsratio_confint(0.05))
    assert near.times.value == pytest.approx(golden.riskratio)
    assert (near.times.low, near.times.high) == pytest.approx(golden.riskratio_confint(0.05))
    assert not near.corrected


def test_texts_of_one_sentence_have_nearly_the_interval_of_sentences():
    by_text = concordance(corpus(30, 20, 100, 900), question("护士", ["她"], unit="document")).near[0].log_odds
    alone = concordance(corpus(30, 20, 100, 900), question("护士", ["她"], unit="sentence")).near[0].log_odds
    assert by_text.value == alone.value
    assert 1 < (by_text.high - by_text.low) / (alone.high - alone.low) < 1.06  # t with 49 degrees, 50/49
    assert by_text.units == 50


def test_repeated_texts_do_not_narrow_the_interval():
    """Ten copies of a text carry no more information than the text: the interval must not shrink."""
    once = [p for n in range(20) for p in corpus(n % 3, 2 - n % 3, 2, 6, f"{n}.txt")]
    tenfold = [Passage(p.document, p.place, p.text * 10) for p in once]
    query = question("护士", ["她"], unit="document")
    small, large = (concordance(texts, query).near[0].log_odds for texts in (once, tenfold))
    assert large.value == pytest.approx(small.value)
    assert large.high - large.low > 0.9 * (small.high - small.low)
    naive = concordance(tenfold, question("护士", ["她"], unit="sentence")).near[0].log_odds
    assert large.high - large.low > 2 * (naive.high - naive.low)


def test_the_interval_equals_the_jackknife_nearly():
    """Against a delete-one-text jackknife, written out: both estimate the same standard error."""
    random = np.random.default_rng(3)
    rows = [tuple(random.poisson(mean) for mean in (3, 4, 9, 30)) for _ in range(80)]
    table = Table()
    for row in rows:
        table.add(row)
    estimate = contrast(table, clustered=True).log_odds
    whole = np.array(rows).sum(axis=0)
    without = [math.log(r[0] * r[3] / r[1] / r[2]) for r in (whole - np.array(row) for row in rows)]
    jackknife = math.sqrt((80 - 1) / 80 * sum((value - np.mean(without)) ** 2 for value in without))
    assert (estimate.high - estimate.low) / 2 / 1.990 == pytest.approx(jackknife, rel=0.05)  # t with 79 degrees


def test_the_contrast_of_a_pair_is_positive_towards_the_male_word():
    texts = ["他是护士。"] * 30 + ["她是护士。"] * 10 + ["他在。"] * 50 + ["她在。"] * 50 + ["他和她是护士。"] * 5
    for near in (["他", "她"], ["她", "他"]):  # typed in either order
        result = concordance([Passage(str(n), 1, t) for n, t in enumerate(texts)], question("护士", near))
        assert result.question.near == ("他", "她") and result.question.is_pair
        assert result.contrast.counts == (30, 10, 50, 50) and result.both == 5
        assert result.contrast.log_odds.value == pytest.approx(math.log(3))
    three = concordance(passages("他是护士。"), question("护士", ["他", "她", "孩子"]))
    assert three.contrast is None and len(three.near) == 3
    assert concordance(passages("护士。"), question("护士", ["医生", "老师"])).question.is_pair is False


UNDEFINED = {
    "no word": ((0, 0, 3, 4), "does not occur in this text"),
    "only sentences with it": (
        (3, 4, 0, 0),
        "Every sentence contains the word, so there is nothing to compare it with.",
    ),
    "never near": ((0, 4, 0, 5), "The collocate occurs neither with the word nor elsewhere."),
    "always near": ((4, 0, 5, 0), "every sentence"),
}


@pytest.mark.parametrize(("counts", "reason"), UNDEFINED.values(), ids=UNDEFINED)
def test_undefined_ratios_have_a_reason(counts, reason):
    (near,) = concordance(corpus(*counts), question("护士", ["她"])).near
    assert near.log_odds.value is None and near.times.value is None
    assert reason in str(near.log_odds.reason)


def test_a_zero_count_is_corrected_without_claiming_more():
    (near,) = concordance(corpus(0, 2, 50, 950), question("护士", ["她"])).near
    assert near.corrected and near.times.value == 0 == near.share
    assert near.times.low == 0 and near.times.high > 1
    assert near.log_odds.value == pytest.approx(math.log(0.5 * 950.5 / (2.5 * 50.5)))
    (near,) = concordance(corpus(5, 5, 0, 90), question("护士", ["她"])).near
    assert near.times.value is None and near.times.low > 1 and "never occurs without" in str(near.times.reason)


def test_one_text_has_no_interval():
    (near,) = concordance(corpus(5, 5, 9, 90, "a.txt"), question("护士", ["她"], unit="document")).near
    assert near.log_odds.value is not None and near.log_odds.low is None
    assert "one text" in str(near.log_odds.note)


def test_the_default_unit_depends_on_the_texts():
    query = question("护士", ["她"])
    assert concordance(corpus(3, 3, 3, 3), query).unit == "document"
    assert concordance(corpus(3, 3, 3, 3, "a.txt"), query).unit == "paragraph"
    assert concordance(corpus(3, 3, 3, 3), question("护士", ["她"], unit="sentence")).signature == (
        "concord|word:护士|near:她|window:sentence|unit:sentence|v1"
    )


REFUSED = {
    "no word": ("  ", ["他"], {}, "Type the word"),
    "no neighbour": ("护士", [" "], {}, "Give 1 to 20 collocates, such as 他,她."),
    "too many": ("护士", [str(n) for n in range(21)], {}, "Give 1 to 20 collocates, such as 他,她."),
    "itself": ("护士", ["护士"], {}, "cannot be its own collocate; give other words."),
    "too long": ("护" * 41, ["他"], {}, "40 characters"),
    "no window": ("护士", ["他"], {"window": 0}, "at least 1"),
    "unknown unit": ("护士", ["他"], {"unit": "page"}, "not page"),
}


@pytest.mark.parametrize(("word", "near", "options", "says"), REFUSED.values(), ids=REFUSED)
def test_invalid_queries_are_refused(word, near, options, says):
    with pytest.raises(Refused, match=says):
        question(word, near, **options)


TEXT = st.lists(
    st.sampled_from(["他", "她", "护士", "其他", "他们", "。", "！", "”", "在", " ", "<b>", "🙂"]), max_size=30
)


@given(st.lists(TEXT.map("".join), max_size=12))
def test_counts_add_up(texts):
    result = concordance(
        [Passage(f"{n // 3}", n, text) for n, text in enumerate(texts)], question("护士", ["他", "她"])
    )
    for near in result.near:
        assert sum(near.counts) == result.sentences
        assert near.counts[0] + near.counts[1] == result.sentences_with
    assert sum(result.contrast.counts[:2]) + result.both <= result.sentences_with
    assert result.occurrences == len(result.lines)
    for line in result.lines:
        assert line.parts[1] == "护士" and "".join(line.parts) == line.sentence
        assert all(line.sentence[a:b] == ("他", "她")[number] for a, b, number in line.near)
