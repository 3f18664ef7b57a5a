"""Other gendered words that can refer to the keyword."""

import pytest

from evenhand.core.mining.keyword_lists import typed_pairs
from tests.support.filters import finding_of, meant

TERMS = [
    ("周先生说他昨天没有出门。", "先生"),
    ("那位姑娘说她想去海边。", "姑娘"),
    ("新娘说她有点紧张。", "新娘"),
    ("哥哥写完作业，兄弟俩出去踢球。", "兄弟"),
    ("妹妹追了上来，姐妹俩手拉着手。", "姐妹"),
    ("妈妈点起灯，娘俩围着桌子吃饭。", "娘俩"),
    ("儿子回来了，父子坐在门口说话。", "父子"),
    ("儿子和儿媳都在外地打工。", "儿媳"),
    ("哥哥和嫂子开了一家面馆。", "嫂"),
    ("他和太太在公园里散步。", "太太"),
    ("一个壮汉说他会修车。", "壮汉"),
    ("给外甥买了好几套动画片，他最喜欢这一套。", "外甥"),
    ("小侄女没有看，图也没有吸引住她。", "侄女"),
    ("买给我侄子看的，他看了两眼。", "侄子"),
    ("为安抚孙子，只好同意了他的要求。", "孙子"),
    ("外甥女来了，大家都喜欢她。", "外甥女"),
    ("书被老妈抢着去看了，她已经被吸引住了。", "老妈"),
    ("给老爸上网用的，这个配置很适合他用。", "老爸"),
    ("他是我外甥，今年上小学。", "外甥"),
    ("我最喜欢她们一帮子女孩的生活。", "她们"),
    ("这些女生说她們明天再来。", "她們"),
    ("母亲们很辛苦，大家都敬重她们。", "她们"),
    ("车上有一位老人和一个女孩，看样子是父女。", "父女"),
    ("相机是送给LP的，她用得很顺手。", "LP"),
    ("柜台的MM说她也用这一款。", "MM"),
    ("小义女拿到画笔，她画了一下午。", "义女"),
    ("养子长大以后，他开了一家面馆。", "养子"),
    ("姑爷来了，快请他坐。", "姑爷"),
    ("他办厂那年，兄弟三人都来帮忙。", "兄弟三人"),
    ("大家都说他是才子。", "才子"),
    ("她是有名的美人。", "美人"),
    ("儿子和新妇住在城里。", "新妇"),
    ("他在信里没有提内子，只说自己。", "内子"),
    ("历史上，她们常常是男人的陪衬。", "她们"),
    ("男人们坐着，她们站着。", "她们"),
]
FINE = [
    "爷爷身体很好，父母也放心。",
    "兄弟姐妹六个，哥哥最会读书。",
    "一个壮汉拦住了那名女民警。",
    "李大妈的儿子在城里当老师。",
    "他跟兄弟单位的人很熟。",
    "她每天上班都带着月饼。",
    "他的小伙伴都住在这条街上。",
    "女孩和小伙伴坐在一起画画。",
    "弟弟是个听话的孩子。",
    "她把旗袍挂在窗前。",
    "外甥来的时候，她正在做饭。",
    "他把书送给了外甥。",
    "她给侄女讲故事。",
    "他是我外甥的老师。",
    "她说她们班明天去公园。",
    "她迷上了祖母绿的戒指。",
]


@pytest.mark.parametrize(("text", "word"), TERMS)
def test_a_gendered_word_is_found(text: str, word: str) -> None:
    assert meant(text, finding_of("gender_terms", text)) == word


@pytest.mark.parametrize("text", FINE)
def test_words_that_do_not_refer_to_the_keyword_are_kept(text: str) -> None:
    assert finding_of("gender_terms", text) is None


def test_the_keyword_decides_which_words_count() -> None:
    """兄弟 reveals who 哥哥 is; next to 他 it is another person. 李大妈 is not her own 儿子."""
    assert finding_of("gender_terms", "哥哥和几个兄弟住在一起。") is not None
    assert finding_of("gender_terms", "他和几个兄弟住在一起。") is None
    assert finding_of("gender_terms", "李大妈说她住在三楼。") is not None
    assert finding_of("gender_terms", "李大妈的儿子住在三楼。") is None


def test_pronouns_match_both_sides_and_nouns_their_own() -> None:
    assert finding_of("gender_terms", "一位老汉向她问路。") is not None
    assert finding_of("gender_terms", "一位老汉向女孩问路。") is None
    assert finding_of("gender_terms", "一位老汉向男孩问路。") is not None


def test_spouses_count_even_if_they_are_not_keywords() -> None:
    """With the 16 pairs of Table 1, 妻子 is not a keyword, and yet it reveals who 他 is."""
    from evenhand.core.resources import keyword_pairs

    assert finding_of("gender_terms", "他和妻子都是医生。", keyword_pairs("table1")) is not None
    assert finding_of("gender_terms", "妹妹与老公住在一起。", keyword_pairs("table1")) is not None


def test_the_keyword_itself_is_not_reported() -> None:
    assert finding_of("gender_terms", "老公在厨房做饭。") is None
    assert finding_of("gender_terms", "女士们先坐。", typed_pairs(["男士/女士"])) is None
