"""Words and tags of a sentence are those of the tagger, whether they were seen before or not."""

import pytest

from evenhand.core.mining.filters import name_marks
from evenhand.core.mining.filters.name_marks import FITS, GIVES, LEADS, RULES, Cut, Word, words_of
from evenhand.core.mining.filters.name_words import NAMED_BEFORE, introduces
from evenhand.core.text.dictionary import cut, tagged

TEXTS = [
    "他打进一球，反清的下半年，潘苑的父亲是木匠。",  # 打进, 反清: alone rjieba cuts them in two
    "他打进了。",
    "奕䜣和他,abc1 12%",
    "half \ud83d pair，他走了。",
    "",
]


@pytest.mark.parametrize("text", TEXTS)
def test_words_equal_those_of_the_tagger(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_marks, "_known", {})
    monkeypatch.setattr(name_marks, "_older", {})
    wanted = [(token.word.replace("\ud83d", "\ufffd"), token.tag) for token in tagged(text)]
    for _ in ("new", "seen"):
        assert [(word.word, word.tag) for word in words_of(cut(text))] == wanted


def test_a_full_word_cache_gives_equal_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_marks, "_known", {})
    monkeypatch.setattr(name_marks, "_older", {})
    monkeypatch.setattr(name_marks, "CACHE_SIZE", 3)
    for text in TEXTS[:2]:
        assert [word.word for word in words_of(cut(text))] == [token.word for token in tagged(text)]
    assert list(name_marks._known) == ["他", "打进", "了", "。"]
    assert {"反清", "木匠"} < name_marks._older.keys() and name_marks._known["他"] is name_marks._older["他"]


def test_positions_of_words_and_keyword_are_found() -> None:
    text = "木匠的父亲走了。"
    result = Cut(text, (3, 5))
    assert [text[a:b] for a, b in zip(result.starts, result.starts[1:], strict=False)] == [w.word for w in result.words]
    assert [word.word for word in result.words[result.first : result.stop]] == ["父亲"]
    part = Cut(text, (1, 4))
    assert [word.word for word in part.words[part.first : part.stop]] == ["木匠", "的", "父亲"]


def test_words_get_their_marks() -> None:
    assert Word("张", "nr").marks & LEADS and Word("张", "nr").marks & GIVES
    assert Word("雪晴", "nr").marks & FITS and not Word("先生", "n").marks & FITS
    assert not Word("木头", "n").marks & RULES and not Word("，", "x").marks & RULES


def test_words_that_introduce_a_person_are_recognised() -> None:
    words = ["弟弟", "首辅", "次子", "思想家", "沙皇", "书记", "总书记", "表姐", "皇后", "杀手", "老婆", "木头"]
    assert [word for word in words if introduces(word)] == [word for word in words if NAMED_BEFORE.search(word)]
    assert [word for word in words if not introduces(word)] == ["木头"]
