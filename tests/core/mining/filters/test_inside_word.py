"""A keyword inside another word is found; a gendered compound is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.mining.filters.word_lists import inside_word
from evenhand.core.mining.keyword_lists import typed_pairs
from evenhand.core.mining.types import Sentence
from evenhand.core.resources import keyword_pairs
from evenhand.core.text import containing_words
from evenhand.core.text.keywords import candidate
from evenhand.core.types import KeywordPair
from tests.support.filters import finding_of, meant, sentence_of

INSIDE = [
    ("窗台上放着一把旧吉他。", "list", "吉他"),
    ("除了这把椅子，其他家具都搬走了。", "list", "其他"),
    ("以及其他需要注意的地方。", "list", "其他"),
    ("这种贝他版本的软件不稳定。", "list", "贝他"),
    ("法医认为这起案件属于他杀。", "list", "他杀"),
    ("旧厂房已经挪作他用。", "list", "挪作他用"),
    ("他们下午去了图书馆。", "list", "他们"),
    ("村里开办了妇女夜校。", "list", "妇女"),
    ("老人把三个子女都送进了大学。", "list", "子女"),
    ("墙上画着宫女的像。", "list", "宫女"),
    ("公司昨天对外公布了新的计划。", "list", "外公"),
    ("这座养老公寓去年开张。", "list", "养老公"),
    ("这条河被称作城市的母亲河。", "list", "母亲河"),
    ("每年五月的母亲节，花店都很忙。", "list", "母亲节"),
    ("店里卖的老婆饼很有名。", "list", "老婆饼"),
    ("祖父亲自下厨做了一桌菜。", "crossing", "祖父"),
    ("一位男人民警察走了过来。", "crossing", "人民警察"),
    ("台下坐着一位女友善地笑了。", "list", "女友善"),
    ("王亚男在门口等车。", "name", "王亚男"),
    ("一个小美女律师走进来。", "list", "美女"),
    ("旁边坐着一位美女。", "list", "美女"),
    ("书里写了一个使女的故事。", "list", "使女"),
    ("他們的服務態度很好。", "list", "他們"),
    ("她們下午去了圖書館。", "list", "她們"),
    ("台下坐着几位靓女。", "list", "靓女"),
    ("奶奶的，票又卖完了。", "list", "奶奶的"),
    ("他俩每天晚上去散步。", "list", "他俩"),
    ("我读完了《女医生的春天》。", "title", "女"),
    ("电影《他从海上来》昨天上映。", "title", "他"),
    # Two listed words overlap (子女|女士), and the segmenter rules out the first one.
    ("绢子女士推门进来。", "list", "女士"),
    ("美智子女士今天没有来。", "list", "女士"),
    ("我见过惠子女士一面。", "list", "女士"),
    ("这种权利他人无权剥夺。", "list", "他人"),
    ("这位太子女官很忙。", "list", "女官"),
]
FINE = [
    "这项权利他不要了。",
    "这位王子女伴很多。",
    "看完《海上花》之后，她哭了。",
    "她》这个符号多打了一半。",
    "女司机把车停在路边。",
    "男护士推着车走进病房。",
    "这家店的女装卖得很好。",
    "中国女排赢了昨天的比赛。",
    "男兵站在左边的队伍里。",
    "那位女民警帮老人找到了家。",
    "刘阿姨在楼下晒太阳。",
    "女人们在河边洗衣服。",
    "乡村女教师骑车去上课。",
    "公司关爱女职工的身体。",
    "延长男方的假期。",
    "这份决心源自他的经历。",
    "他人生地不熟，问了很久的路。",
    "他国庆节去了海边。",
    "尤其他说的那句话让人难忘。",
    "大儿子在外地上学。",
    "老父亲坐在院子里。",
    "小姐姐在台上唱歌。",
    "前男友送来一束花。",
    "他用左手写字。",
    "希望她健康快乐。",
    "好友的愿望是她健康成长。",
    "这就是使女作家感动的原因。",
    "岸边站着那个轻生女，谁也劝不动。",
    "这是最美女医师的颁奖礼。",
    "新出的型男系列很受欢迎。",
    "女孩們在河邊洗衣服。",
    "他家住在河对岸。",
]


@pytest.mark.parametrize(("text", "reason", "word"), INSIDE)
def test_a_keyword_inside_another_word_is_found(text: str, reason: str, word: str) -> None:
    finding = finding_of("inside_word", text)
    assert finding is not None and finding.reason == reason
    assert word in meant(text, finding) or meant(text, finding) in word


@pytest.mark.parametrize("text", FINE)
def test_a_gendered_compound_is_kept(text: str) -> None:
    assert finding_of("inside_word", text) is None


def test_a_longer_token_alone_is_kept() -> None:
    """女篮, 女裤 and 女学生 are one token each for a segmenter, and every one of them is fine."""
    for word in ("女篮", "女裤", "女学生", "女演员", "女同学", "女教师"):
        assert finding_of("inside_word", f"昨天的{word}很受欢迎。") is None


def test_the_swap_test_finds_unlisted_words() -> None:
    """Pairs that no list knows: 老公公 has its twin 老婆婆, 公主岭 has none."""
    assert finding_of("inside_word", "老公公坐在门口。", typed_pairs(["公公/婆婆"])) is None
    finding = finding_of("inside_word", "公主岭下了一场雪。", typed_pairs(["王子/公主"]))
    assert finding is not None and finding.reason == "swap"


def test_other_languages_are_left_alone() -> None:
    pairs = (KeywordPair("he", "she", (0, 2), (0, 3), "en"),)
    assert finding_of("inside_word", "Then he left the room.", pairs) is None


@given(st.text(alphabet="他的人们女儿子国庆用生吉其妇男说，。", max_size=30))
def test_a_finding_overlaps_the_keyword_within_the_text(around: str) -> None:
    text = around + "她" + around[::-1]
    sentence = Sentence(text, candidate(text, len(around), keyword_pairs()[0], "female"))
    result = inside_word(sentence)
    if result is not None:
        assert result.span is not None
        start, end = result.span
        assert 0 <= start < end <= len(text)
        assert start < len(around) + 1 and len(around) < end


def test_a_sentence_is_not_segmented_for_a_plain_pronoun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most sentences never pay for the segmenter."""
    for name in ("cut", "tagged"):
        monkeypatch.setattr(containing_words, name, lambda text: pytest.fail(text))
    assert inside_word(sentence_of("她把书放回架上，然后走了出去。")) is None
