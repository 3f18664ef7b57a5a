"""core.describe: characters, vocabulary, repeats, balance, sources, also of the docs/methods.md#released-file."""

import csv
import hashlib
import json
import os
import tempfile
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.annotations.describe.file_description import describe_file
from evenhand.annotations.quantities.texts import latex_tables
from evenhand.core.charts.describe import before_after_points, binned, pair_balance
from evenhand.core.describe.as_json import as_json, escaped, figures
from evenhand.core.describe.description import (
    Text,
    bare,
    characters,
    date_of,
    described,
    described_sentences,
    endings,
    lengths,
    origins,
    repeats,
)
from evenhand.core.describe.keywords import keyword_counts, largest_imbalance, pair_balances
from evenhand.core.describe.vocabulary import Vocabulary, coverage, vocabulary
from evenhand.core.errors import BadFile, NotFound
from evenhand.core.resources import MODELS, quotas

TEXTS = st.lists(st.text(max_size=30), max_size=20)


def words_of(name: str, words: list[str], kind: str = "pieces", *, lowers: bool = True) -> Vocabulary:
    return Vocabulary(name, frozenset(words), kind, lowers, lowers, hashlib.sha256(b"x").hexdigest())  # type: ignore[arg-type]


def description(texts: list[Text], **more: object):  # type: ignore[no-untyped-def]
    return described(texts, name="own", items="file", **more)  # type: ignore[arg-type]


# --- characters and lengths


@given(TEXTS)
def test_characters_and_lengths_add_up(texts: list[str]) -> None:
    counted, size = characters(texts), lengths([len(text) for text in texts])
    assert counted.total == sum(map(len, texts)) == sum(length * n for length, n in size.by.items())
    assert counted.distinct == len(set("".join(texts)))
    assert list(counted.counts.values()) == sorted(counted.counts.values(), reverse=True)
    assert sum(endings(texts).values()) == sum(1 for text in texts if text)
    if texts:
        ordered = sorted(map(len, texts))
        assert (size.least, size.most) == (ordered[0], ordered[-1])
        assert size.median == (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def test_an_empty_description_has_reasons() -> None:
    result = as_json(description([]))
    assert result["sentences"] == 0 and result["length"]["mean"] is None
    assert result["length"]["mean_reason"] == "There is no text to describe."
    assert result["vocabulary"] is None and "--model" in result["vocabulary_reason"]


# --- vocabulary


def test_published_coverage_differs_from_the_share_of_known_characters() -> None:
    # As printed: 4,220 different characters / 21,128 words = 19.97%; here 120 of the characters are not words.
    letters = [chr(0x4E00 + n) for n in range(4220)]
    words = letters[120:] + [f"[unused{n}]" for n in range(21128 - 4100)]
    result = coverage(dict.fromkeys(letters, 2), words_of("made", words))
    assert result.vocabulary.size == 21128
    assert round(100 * result.published, 2) == 19.97
    assert (result.distinct, result.known, result.unknown_running, result.running) == (4220, 4100, 240, 8440)
    assert result.known_share == pytest.approx(4100 / 4220) and result.unknown_share == pytest.approx(240 / 8440)


@pytest.mark.parametrize(
    ("character", "lowers", "known"),
    [
        ("猫", True, True),
        ("狗", True, False),
        ("A", True, True),
        ("A", False, False),
        ("é", True, True),
        ("##", True, False),
    ],
)
def test_a_character_is_known_if_the_model_reads_it(character: str, lowers: bool, known: bool) -> None:
    assert words_of("w", ["[UNK]", "猫", "##a", "e"], lowers=lowers).knows(character) is known


def test_spaces_are_not_counted_as_unknown() -> None:
    result = coverage({" ": 5, "\u3000": 1, "猫": 2}, words_of("w", ["猫"]))
    assert (result.distinct, result.running, result.unknown_running, result.unknown) == (3, 2, 0, ())


def test_vocabularies_agree_with_the_tokenizers_library() -> None:
    from tokenizers import Tokenizer

    sample = "他说：“Café 2019，爸爸去了哪里？”囍𠮷☃"
    for name in ("demo-zh", "demo-en", "demo-nli"):
        words = vocabulary(name)
        theirs = Tokenizer.from_file(str(MODELS / name / "tokenizer.json"))
        assert words.size == theirs.get_vocab_size()
        unknown = theirs.token_to_id("[UNK]")
        for character in {letter for letter in sample if not letter.isspace()}:
            assert words.knows(character) == (unknown not in theirs.encode(character, add_special_tokens=False).ids), (
                name,
                character,
            )


def test_a_byte_level_vocabulary_knows_every_character() -> None:
    words = vocabulary("demo-en-causal")
    assert words.kind == "bytes" and words.knows("a") and words.knows(" ")
    assert not coverage(characters(["囍"]).counts, words).lost


def test_vocabularies_are_read_from_files_and_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n猫\n##狗\nsee\n", encoding="utf-8")
    folder = vocabulary(str(tmp_path))
    assert (folder.size, folder.lowers, folder.knows("狗"), folder.knows("鸟")) == (5, True, True, False)
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}', encoding="utf-8")
    assert not vocabulary(str(tmp_path / "vocab.txt")).lowers
    unigram = {"model": {"type": "Unigram", "vocab": [["<unk>", 0.0], ["\u2581猫", -1.0]]}, "added_tokens": []}
    other = tmp_path / "other"
    other.mkdir()
    (other / "tokenizer.json").write_text(json.dumps(unigram), encoding="utf-8")
    assert (vocabulary(str(other)).size, vocabulary(str(other)).knows("猫")) == (2, True)
    hub = tmp_path / "hub" / "models--some--model"
    (hub / "refs").mkdir(parents=True)
    (hub / "refs" / "main").write_text("abc")
    (hub / "snapshots" / "abc").mkdir(parents=True)
    (hub / "snapshots" / "abc" / "vocab.txt").write_text("猫\n", encoding="utf-8")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    assert vocabulary("some/model").size == 1
    with pytest.raises(NotFound, match="not on this machine"):
        vocabulary("no/model")
    with pytest.raises(NotFound):
        vocabulary(str(tmp_path / "vocab.txt"), files=False)
    (other / "tokenizer.json").write_text("[1", encoding="utf-8")
    with pytest.raises(BadFile, match="contains no readable vocabulary:"):
        vocabulary(str(other))


# --- repeats


def test_duplicates_are_counted_in_three_ways() -> None:
    def one(text: str, word: str, place: str) -> Text:
        at = text.index(word)
        return Text(text, "他/她", "male" if word == "他" else "female", (at, at + 1), place)

    result = description(
        [one("他来了。", "他", "2"), one("她来了。", "她", "3"), one("他来了！", "他", "4"), one("他来了。", "他", "5")]
    )
    assert (result.exact.groups, result.exact.texts, result.exact.surplus) == (1, 2, 1)
    assert (result.near.groups, result.near.texts) == (1, 3)
    assert (result.twins.groups, result.twins.texts) == (1, 3)  # 他来了。 twice and 她来了。 once
    assert as_json(result)["duplicates"]["without_punctuation"]["places"] == [["2", "4", "5"]]


@given(TEXTS)
def test_duplicates_equal_a_direct_count(texts: list[str]) -> None:
    repeated, counted = repeats(list(texts), [""] * len(texts)), Counter(texts)
    assert repeated.surplus == len(texts) - len(counted)
    assert repeated.groups == sum(1 for n in counted.values() if n > 1)


@given(st.text(max_size=40))
def test_bare_removes_only_punctuation_and_spaces(text: str) -> None:
    kept = bare(text)
    assert not [c for c in kept if unicodedata.category(c)[0] in "PZC" and c.isalnum() is False]
    assert [c for c in text if c.isalnum()] == [c for c in kept if c.isalnum()]


# --- words and balance


def test_shares_have_wilson_intervals_and_undefined_ones_a_reason() -> None:
    before = {("他/她", "male"): 100, ("他/她", "female"): 90, ("男/女", "male"): 5}
    decided = {("他/她", "male"): 50, ("他/她", "female"): 0}
    he, she, man = keyword_counts({("他/她", "male"): 15}, before, decided)
    assert (he.word, she.word, man.word) == ("他", "她", "男")
    low, high = stats.binomtest(15, 50).proportion_ci(method="wilson")
    assert (he.share.value, he.share.low, he.share.high) == pytest.approx((0.3, low, high))
    assert she.share.value is None and "decided yet" in str(she.share.reason)
    (alone,) = keyword_counts({("他/她", "male"): 15})
    assert alone.before is None and "candidates there were" in str(alone.share.reason)


def test_balance_is_tested_exactly_and_adjusted() -> None:
    counts = {("a/b", "male"): 30, ("a/b", "female"): 10, ("c/d", "male"): 7, ("c/d", "female"): 7, ("e", ""): 9}
    first, second = pair_balances(counts)
    assert first.p == pytest.approx(stats.binomtest(30, 40, 0.5).pvalue) and first.missing == 20
    assert first.p_holm == pytest.approx(2 * (first.p or 0)) and second.p == 1
    worst = largest_imbalance((second, first))
    assert worst is not None and worst.pair == "a/b"
    assert largest_imbalance((second,)) is None


def test_a_balance_fixed_by_quotas_is_not_tested() -> None:
    counts = {("a/b", "male"): 30, ("a/b", "female"): 10, ("c/d", "male"): 9, ("c/d", "female"): 1}
    fixed, free = pair_balances(counts, by_quota=["a/b"])
    assert (fixed.p, fixed.p_holm) == (None, None) and "quotas" in str(fixed.untested)
    assert (fixed.share.value, fixed.share.low, fixed.share.note) == (0.75, None, fixed.untested)
    assert free.share.low is not None
    assert free.p == free.p_holm == pytest.approx(stats.binomtest(9, 10, 0.5).pvalue)  # one test: nothing to adjust


# --- sources and dates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2018-07-05", "2018-07-05"), ("2018年7月5日", "2018-07-05"), ("20180705", "2018-07-05"), ("2018/7", "2018-07"),
        ("news 2019", "2019"), ("2018-13", "2018"), ("2018-02-40", "2018-02"), ("12345", None), ("9999", None),
        ("", None),
        ("2018-07-05T10:00:00Z", "2018-07-05"),
    ],
)  # fmt: skip
def test_dates_are_recognised(text: str, expected: str | None) -> None:
    assert date_of(text) == expected


def test_sources_and_dates_are_counted() -> None:
    result = origins(["a", "b", "a", ""], ["2018-07-05", "2019", "", "2018-07-01"])
    assert (result.named, result.unnamed) == ({"a": 2, "b": 1}, 1)
    assert (result.dated, result.undated) == ({"2018-07": 2, "2019": 1}, 1)
    assert (result.earliest, result.latest) == ("2018-07-01", "2019")


# --- output


def test_latex_prints_hostile_names_as_they_are() -> None:
    assert escaped("a_b & 50 % \\x\n") == r"a\_b \& 50 \% \textbackslash{}x "
    text = latex_tables(description([Text("他_来。", "他/她", "male", (0, 1))]))
    assert "他/她 & 1 & 0 & 1 & 100.0 [5.1, 100.0]" in text


def test_charts_contain_every_row_as_data() -> None:
    import pandas as pd

    words = [
        {"pair": "a/'b", "word": word, "side": side, "before": 9, "after": 3, "share": 0.3, "low": 0.1, "high": 0.6,
         "share_text": "x"}
        for word, side in (("a", "male"), ("'b", "female"))
    ]  # fmt: skip
    spec = json.dumps(before_after_points(pd.DataFrame(words), description="d").to_dict(), ensure_ascii=False)
    assert '"name": "\'b"' in spec and "3 / 9" in spec and '"type": "line"' not in spec
    pairs = [
        {"pair": "a/b", "male": 3, "female": 1, "share": 0.75, "low": 0.3, "high": 0.95, "share_text": "", "p_text": ""}
    ]
    assert '"male_text": "3"' in json.dumps(pair_balance(pd.DataFrame(pairs), description="d").to_dict())
    many = pd.DataFrame([{"length": n, "texts": 1} for n in range(9, 130)])
    steps = binned(many)
    assert steps["texts"].sum() == 121 and len(steps) <= 61 and steps["length"].iloc[0] == 9


# --- real files: numbers counted here in another way, or by others


def test_the_development_file_equals_an_independent_count(shared_data: Path) -> None:
    path = shared_data / "slguset" / "SlguSet_dev.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    sentences = [row[0] for row in rows]
    counted: dict[str, int] = {}
    for sentence in sentences:
        for character in sentence:
            counted[character] = counted.get(character, 0) + 1
    result = as_json(describe_file(path))
    assert result["sentences"] == len(sentences)
    assert result["characters"]["total"] == sum(counted.values())
    assert result["characters"]["distinct"] == len(counted)
    top = sorted(counted, key=lambda c: -counted[c])[:10]
    assert [row["character"] for row in result["characters"]["commonest"]] == top
    assert [row["count"] for row in result["characters"]["commonest"]] == [counted[c] for c in top]
    assert result["duplicates"]["exact"]["different"] == len(set(sentences))
    ordered = sorted(map(len, sentences))
    assert result["length"]["mean"] == pytest.approx(sum(ordered) / len(ordered))
    assert (result["length"]["min"], result["length"]["max"]) == (ordered[0], ordered[-1])
    # The stems of the male words, counted in the column of the file that names the original keyword.
    stems = Counter(row[2] for row in rows)
    male = sum(
        stems[stem] for stem in ("他", "男", "爸爸", "父", "儿子", "叔叔", "哥哥", "弟弟", "爷爷", "爷", "公", "丈夫")
    )
    assert (result["male"], result["female"]) == (male, len(sentences) - male)
    assert result["without_keyword"] == 0


def released_file() -> Path:
    named = os.environ.get("EVENHAND_SLGUSET")
    if not named or not Path(named).is_file():
        pytest.skip("EVENHAND_SLGUSET does not name the released SlguSet.csv")
    return Path(named)


def test_the_released_file_has_the_golden_numbers() -> None:
    """docs/methods.md#released-file, counted by others on the released file."""
    path = released_file()
    assert hashlib.sha256(path.read_bytes()).hexdigest().startswith("3d7cfd8c"), "another file than the released one"
    result = as_json(describe_file(path))
    assert result["sentences"] == 20_000
    assert result["characters"]["distinct"] == 4_220
    assert round(result["characters"]["distinct"] / 21_128 * 100, 2) == 19.97
    top = "".join(f"{row['character']}{row['count']} " for row in result["characters"]["commonest"])
    assert top == "，31356 的21344 。18761 一11199 了8619 ,8411 在6662 是6549 我6404 不6212 "
    size = result["length"]
    assert (size["min"], size["median"], round(size["mean"], 2), size["max"]) == (9, 32, 34.29, 119)
    assert result["duplicates"]["exact"]["different"] == 19_998
    assert result["duplicates"]["exact"]["places"] == [["17", "16641"], ["11160", "11161"]]
    ends = "".join(f"{row['character']}{row['count']} " for row in result["endings"])
    assert ends == "。18732 ？662 ！513 ?51 ”39 !2 怼1 "
    per_word = {(row["pair"], row["side"]): row["after"] for row in result["keywords"]}
    assert per_word == quotas("released") and (result["male"], result["female"]) == (10_000, 10_000)


# --- a sequence of sentences

SENTENCES = ("他在学校。", "她是医生。", "爸爸和妈妈", "护士来了", "", " ", "a\n他", "他" + "好" * 600, "女孩子在跑")


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8).filter(lambda texts: "".join(texts).strip()))
def test_sentences_in_memory_are_described_like_a_file(sentences: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        path.write_text("".join(json.dumps({"sentence": text}) + "\n" for text in sentences), encoding="utf-8")
        from_file = as_json(describe_file(path, column="sentence"))
    assert as_json(described_sentences(sentences, name="texts.jsonl")) == from_file


def test_only_blank_sentences_are_refused() -> None:
    with pytest.raises(BadFile, match="texts has no text"):
        described_sentences(["", " "])


def test_each_figure_has_a_path_and_undefined_ones_a_reason() -> None:
    rows = {path: (value, reason) for path, value, reason in figures(described_sentences(["今天下雨。"]))}
    assert rows["length.median"] == (5, None)
    assert rows["largest_imbalance"][0] is None and rows["largest_imbalance"][1]
    assert not any(path.endswith("_reason") for path in rows)
