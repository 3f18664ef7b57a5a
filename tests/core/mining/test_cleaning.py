"""Lines before they are split: what goes, what stays, and where each character was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.mining.cleaning import Cleaner, without_byline
from evenhand.core.mining.find_keywords import Finder, split_spaced
from evenhand.core.resources import keyword_pairs
from evenhand.core.types import KeywordPair

PLAIN, MARKDOWN, SPACED = Cleaner("text", False), Cleaner("markdown", False), Cleaner("text", True)


@pytest.mark.parametrize(
    ("line", "clean"),
    [
        ("　　她 把 信\u200b寄\u00ad走\ufeff了。", "她把信寄走了。"),
        ("２０２０年，他买了Ａ４纸，３，５００张。", "2020年，他买了A4纸，3，500张。"),
        ("半角,和全角，都留着：“好（吗）？”", "半角,和全角，都留着：“好（吗）？”"),
        ("她<b>昨天</b>说：&ldquo;好&rdquo;&nbsp;吧&#12290;", "她昨天说：“好”吧。"),
        ("他说&amp;amp;nbsp;没事。", "他说没事。"),
        ("他gt;gt;走了", "他走了"),
        ("a<b 他和c>d", "a<b他和c>d"),
        ("他的&未完", "他的&未完"),
        ("她&lt;b&gt;笑了", "她b笑了"),
        ("分号;他也留着;", "分号;他也留着;"),
        ("<!-- 注释 -->他来了。", "他来了。"),
        ("", ""),
        ("　", ""),
    ],
)
def test_plain_lines_are_cleaned(line: str, clean: str) -> None:
    assert PLAIN.clean(line) == clean


@pytest.mark.parametrize(
    ("line", "clean"),
    [
        ("## 她的**一天**", "她的一天"),
        ("- 他看见[那座桥](http://x.example/a?b=1)了。", "他看见那座桥了。"),
        ("> 她说`好`", "她说好"),
        ("1. 他先到。", "他先到。"),
        ("![图](a.png)他在图里。", "图他在图里。"),
        ("3.5公里外，他停下。", "3.5公里外，他停下。"),
    ],
)
def test_markdown_is_removed(line: str, clean: str) -> None:
    assert MARKDOWN.clean(line) == clean


def test_spaces_between_words_are_kept_in_spaced_languages() -> None:
    assert SPACED.clean("She  saw\ta\u00a0man\u200b. <i>He</i> left&nbsp;.") == "She saw a man. He left ."


@given(st.text(alphabet="他女孩 　\u200b\t<b>/&amp;nbsp#12;“”。，０Ａaｚ*[]()", max_size=60))
@pytest.mark.parametrize("cleaner", [PLAIN, MARKDOWN, SPACED], ids=["plain", "markdown", "spaced"])
def test_positions_map_to_the_original_characters(cleaner: Cleaner, line: str) -> None:
    clean, positions = cleaner.clean(line), cleaner.positions(line)
    assert len(positions) == len(clean) + 1
    assert positions == sorted(positions)
    for character, at in zip(clean, positions, strict=False):
        # What stands for a digit, a tag or an entity begins where that began.
        assert line[at] == character or line[at] in "０Ａｚ&![ 　\t\u200b;na"


@pytest.mark.parametrize(
    ("sentence", "rest"),
    [
        ("（新闻联播）：他们到了北京。", "他们到了北京。"),
        ("央视网消息（新闻联播）：今天下雨。", "今天下雨。"),
        ("本报讯（记者李四）昨天，他回来了。", "昨天，他回来了。"),
        ("新华社北京3月5日电（记者张三、李四）她说，雨停了。", "她说，雨停了。"),
        ("中新网3月5日电她到了。", "她到了。"),
        ("【本报综合消息】他走了。", "他走了。"),
        ("新华社电视台的他走了。", "新华社电视台的他走了。"),
        ("本报的记者他走了，没有电报。", "本报的记者他走了，没有电报。"),
        ("（他没有来）我们走了。", "（他没有来）我们走了。"),
        ("他收到消息（很晚）才走。", "他收到消息（很晚）才走。"),
    ],
)
def test_bylines_are_removed(sentence: str, rest: str) -> None:
    assert without_byline(sentence) == rest


def words(text: str, finder: Finder) -> list[str]:
    return [word.pair.word(word.side) for _, word in finder.hits(text)]


def test_the_longest_word_counts_and_words_do_not_overlap() -> None:
    finder = Finder(keyword_pairs("table1"), False)
    assert words("女孩子和姥姥、姥爷", finder) == ["女孩", "姥姥", "姥爷"]
    assert words("他弹吉他", finder) == ["他", "他"]
    assert words("男生", finder) == ["男"]
    assert words("男生", Finder(keyword_pairs("released"), False)) == ["男生"]


def test_spaced_words_match_whole_and_caseless() -> None:
    pairs = (KeywordPair("he", "she", (0, 2), (0, 3), "en"), KeywordPair("actor", "actress", (0, 5), (0, 7), "en"))
    finder = Finder(pairs, True)
    assert words("She saw the theatre; he, HE and the actress.", finder) == ["she", "he", "he", "actress"]


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("He left. She stayed.", ["He left. ", "She stayed."]),
        ("Mr. Grey met Dr. No. He ran.", ["Mr. Grey met Dr. No. He ran."]),
        ("Was it 3.5 miles? “No,” she said.", ["Was it 3.5 miles? ", "“No,” she said."]),
        ("", []),
    ],
)
def test_sentences_of_a_spaced_language_are_split(line: str, parts: list[str]) -> None:
    assert split_spaced(line) == parts
