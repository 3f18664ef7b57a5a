"""Texts and their counterfactuals: cases in both languages, and the law that swapping twice leads back."""

import csv
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.resources import ROOT, keyword_pairs
from evenhand.core.swap.swapping import Swapper
from evenhand.core.swap.word_tables import word_table

SETS = ROOT.parent / "shared" / "data" / "benchmarks"
ZH, WIDE, EN = Swapper(word_table("zh")), Swapper(word_table("zh", words="wide")), Swapper(word_table("en"))


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("他的父亲是医生，母亲是护士。", "她的母亲是医生，父亲是护士。"),
        ("女孩子们在男生宿舍。", "男孩子们在女生宿舍。"),
        ("其他人都去了他乡，子女、妇女和吉他也在。", None),  # 他 and 女 are parts of other words
        ("姥姥和外公都爱她。", "姥爷和外婆都爱他。"),
        ("他们走了。", None),  # the released pairs have no plural
    ],
)
def test_chinese_texts_are_swapped(text: str, swapped: str | None) -> None:
    assert ZH(text).text == (swapped or text)
    assert ZH(text).outcome == ("swapped" if swapped else "left")


def test_the_wide_chinese_table_swaps_more_words() -> None:
    assert WIDE("他们的祖父是国王。").text == "她们的祖母是女王。"


@pytest.mark.parametrize(
    ("text", "swapped"),
    [
        ("He gave her his book.", "She gave him her book."),
        ("The book is hers, not his.", "The book is his, not hers."),
        ("SHE hurt herself; Her mother saw her.", "HE hurt himself; His father saw him."),
        ("I gave her advice and told her it was over.", "I gave him advice and told him it was over."),
        ("She told her story and gave her mother advice.", "He told his story and gave his father advice."),
        ("She's Mrs. Hill, the actress.", "He's Mr. Hill, the actor."),
        ("Does he or she count the man-made lakes?", None),
        ("His or her mother tongue", None),
        ("The count met a host of people.", "The countess met a host of people."),
        ("This thermostat heats.", None),
    ],
)
def test_english_texts_are_swapped(text: str, swapped: str | None) -> None:
    result = EN(text)
    assert result.text == (swapped or text)
    assert result.outcome == ("swapped" if swapped else "left")


def test_unswapped_words_have_a_reason() -> None:
    text = "其他妇女说太太和他走了"
    result = Swapper(word_table("zh"), reported=True)(text)
    assert [(text[place.start : place.end], place.why) for place in result.left] == [
        ("其他", "other_word"),
        ("妇女", "other_word"),
        ("太太", "none"),
    ]
    words = Swapper(word_table("en"), reported=True)("Miss Hill hosts his or her mother tongue class.")
    assert [place.why for place in words.left] == ["none", "unclear", "pair", "idiom"]


def test_a_swap_that_cannot_be_reversed_is_refused() -> None:
    result = EN("Her mum is here.")
    assert (result.outcome, result.text, result.back) == ("refused", "Her mum is here.", "Her mom is here.")
    british = Swapper(word_table("en", own=[("dad", "mum")]))
    assert british("Her mum is here.").text == "His dad is here."


def test_names_are_swapped_only_with_a_list() -> None:
    assert EN("John saw Mary.").outcome == "left"
    named = Swapper(word_table("en", names=[("John", "Mary")]))
    assert named("John saw Mary and her john.").text == "Mary saw John and his john."
    assert Swapper(word_table("zh", names=[("建国", "秀英")]))("建国说他来。").text == "秀英说她来。"


PIECES = [
    *(word for pair in keyword_pairs() for word in (pair.male, pair.female)),
    *("其他", "子女", "的", "是", "，", "人", "公布", "们", "护士", "。", "老", "外", "王"),
]
ENGLISH = re.findall(
    r"\S+",
    "he she him her his hers himself herself He Her HIS mother dad mum the a and or gave saw book to . , - ' count of "
    "man made is it",
)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_swapping_chinese_twice_restores_the_text(text: str) -> None:
    for swapper in (ZH, WIDE):
        result = swapper(text)
        if result.outcome == "swapped":
            assert result.text != text and swapper(result.text).text == text
        else:
            assert result.text == text


@given(st.lists(st.sampled_from(ENGLISH), max_size=14).map(" ".join))
def test_swapping_english_twice_restores_the_text(text: str) -> None:
    result = EN(text)
    assert (EN(result.text).text if result.outcome == "swapped" else result.text) == text


@given(st.text(max_size=40))
def test_swapping_any_text_twice_restores_it(text: str) -> None:
    for swapper in (ZH, EN):
        result = swapper(text)
        assert swapper(result.text).text == text if result.outcome == "swapped" else result.text == text


@pytest.mark.skipif(not SETS.is_dir(), reason="the sets lie beside the project, not in it")
def test_swaps_are_right_on_winogender() -> None:
    """720 sentences of Rudinger et al. 2018 by their templates: each male one is the female one swapped."""
    with (SETS / "winogender" / "all_sentences.tsv").open(encoding="utf-8") as file:
        texts = {row["sentid"]: row["sentence"] for row in csv.DictReader(file, delimiter="\t")}
    sides = [(".male.", ".female."), (".female.", ".male.")]
    right = [
        EN(text).text == texts[name.replace(own, other)]
        for name, text in texts.items()
        for own, other in sides
        if own in name
    ]
    assert len(right) == 480 and sum(right) / len(right) >= 0.99


@pytest.mark.skipif(not SETS.is_dir(), reason="the sets lie beside the project, not in it")
def test_swaps_are_right_on_winobias() -> None:
    """Pronouns of Zhao et al. 2018, where both sets differ in a pronoun only; rules were made looking at the errors."""
    right = total = 0
    for first, second in _winobias(SETS / "winobias"):
        words, wanted = first.split(), second.split()
        differing = [i for i, (word, other) in enumerate(zip(words, wanted, strict=False)) if word != other]
        if len(words) != len(wanted) or len(differing) != 1:
            continue
        total += 1
        right += EN._once(first)[0].split()[differing[0]] == wanted[differing[0]]
    assert total > 2900 and right / total >= 0.99


def _winobias(folder: Path) -> list[tuple[str, str]]:
    results = []
    for part in ("type1.txt.dev", "type1.txt.test", "type2.txt.dev", "type2.txt.test"):
        sides = [
            [re.sub(r"[\[\]]", "", line.split(" ", 1)[1].strip()) for line in (folder / name).read_text().splitlines()]
            for name in (f"pro_stereotyped_{part}", f"anti_stereotyped_{part}")
        ]
        results += [pair for word, other in zip(*sides, strict=False) for pair in ((word, other), (other, word))]
    return results
