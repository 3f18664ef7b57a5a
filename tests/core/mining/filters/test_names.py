"""Names are found by their shape; surnames alone and ordinary words are kept."""

from dataclasses import replace

import pytest

from evenhand.core.mining.filters.name_words import given_score, known_names, ordinary_words, surname_length
from evenhand.core.mining.filters.names import names
from evenhand.core.mining.types import Sentence
from evenhand.core.text.sentences import sentences
from tests.support.filters import finding_of, meant, sentence_of

NAMES = [
    ("郑晓梅把她的伞忘在车上。", "full"),
    ("记者采访了陈志刚和他的学生。", "full"),
    ("欧阳雪晴说她喜欢下雨天。", "full"),
    ("姚明的父亲也打过球。", "full"),
    ("爱丽丝·门罗说她住在小镇上。", "dot"),
    ("布朗斯基说他不会参加会议。", "foreign"),
    ("默克尔说她支持这项计划。", "full"),
    ("小明和他的同学一起回家。", "nickname"),
    ("婷婷把她的画送给了老师。", "nickname"),
    ("阿强说他明天再来。", "nickname"),
    ("刘邦说他不喜欢读书。", "full"),
    ("朱允炆的母亲姓吕。", "full"),
    ("因为伯父钟一理很忙，所以他搬了家。", "told"),
    ("父赵希瓐去世后，他回到家乡。", "full"),
    ("许月凤于五月来信，她说一切都好。", "full"),
    ("长谷川町子是日本最初的女性漫画家。", "foreign"),
    ("演员阵内孝则说他很忙。", "foreign"),
    ("结果多数人支持亚他纳修的看法。", "foreign"),
    ("他写信给朋友曼特尔，信里说了很多。", "foreign"),
    ("明世宗的父亲没有做过皇帝。", "told"),
    ("这本书写腓特烈二世和他的军队。", "told"),
    ("她与演员WayneCarpendale是邻居。", "told"),
    ("在自己的弟弟旭烈兀的支持下，事情成了。", "told"),
    ("刺客杀死成丰以后，他逃走了。", "told"),
    ("合木勒汗去世以后，他回到家乡。", "told"),
    ("鼓师查长生和他一起演出。", "told"),
    ("2009年于海入选国家队，他很高兴。", "told"),
    ("大学聘冯特为教授时，他很年轻。", "told"),
    ("皇帝奥古斯都很少出门，他怕冷。", "told"),
    ("慈禧太后不喜欢他的画。", "told"),
    ("妹妹冰冰比我高。", "told"),
    ("大家都喜欢Kelly，因为她会唱歌。", "told"),
    ("潘苑的父亲是木匠。", "full"),
    ("蒋巨峰任组长，他做助手。", "full"),
    ("慕容隽下令撤退，他不肯走。", "full"),
    ("剧作家米南德没有见过他。", "foreign"),
    ("教练让巴乔退役，他没有答应。", "foreign"),
    ("伊达政则的父亲住在城里。", "foreign"),
    ("作家林遵，早年离家，她一直等。", "told"),
    ("此外，他曾对田北辰表达不满。", "told"),
    ("比利决定帮她。", "told"),
    ("皇帝不喜欢助手高演和她来往。", "told"),
    ("缊纥提和他有仇。", "told"),
    ("晋国荀息派出使者，他不肯走。", "told"),
    ("正室是三浦重成之妻，他不知道。", "told"),
    ("在巴西尔的命令下，他投降了。", "told"),
    ("腓特烈大帝和他签了条约。", "told"),
    ("国王木华黎派他去燕京。", "foreign"),
    ("希腊作家琉善写过他的故事。", "told"),
    ("他与王有才发表了公告。", "told"),
    ("朱棣逃回，他很生气。", "told"),
    ("蒋中正见过他。", "full"),
    ("秀吉死后，他离开了京都。", "full"),
    ("亚历山大一世见过他。", "told"),
    ("昭和天皇去世，他很难过。", "told"),
    ("社长青木四郎是她的邻居。", "told"),
    ("净空法师对他笑了。", "told"),
    ("Cattell去世后，他接任主编。", "told"),
    ("学者杉山正明认为他有道理。", "foreign"),
    ("侄子南宫飞云教他武功。", "full"),
    ("在曼努埃尔一世的诏令下，他离开了。", "told"),
    ("约西亚王第十三年，他还年轻。", "told"),
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
    "朵朵白云从他头上飘过。",
    "高峰时段他不坐地铁。",
    "他从马拉松的起点出发。",
    "他骑摩托车上班。",
    "他在加利福尼亚住了三年。",
    "德川家的女儿住在城里。",
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
]


@pytest.mark.parametrize(("text", "reason"), NAMES)
def test_a_name_is_found(text: str, reason: str) -> None:
    finding = finding_of("names", text)
    assert finding is not None and finding.reason == reason
    assert finding.span is not None and meant(text, finding)


# A paragraph, a sentence of it, and the name in the sentence that only the paragraph introduces.
ELSEWHERE = [
    ("彼得·柏德力·罗利马是前苏格兰足球员。1966年，罗利马受到重用，他很高兴。", "罗利马"),
    ("马赛（1987年4月15日－），香港女演员。大家都知道马赛不肯承认，她很生气。", "马赛"),
    ("雨侨（，）前艺名羽翘，香港女歌手及演员。她唱过的歌里有雨侨的曲子。", "雨侨"),
    ("他本名廖羽翘，住在香港。有人看见羽翘在他家门口。", "羽翘"),
    ("余男（、），中国电影女演员。影片中余男的角色很重要。", "余男"),
]
NOT_ELSEWHERE = [
    "近日，演员们来到学校。近日她很忙。",  # what a paragraph begins with is a name only before its dates
    "爱德华·斯坦福来到学校。她毕业于斯坦福大学。",  # a school, though its name is in the paragraph
]


def in_paragraph(paragraph: str) -> tuple[str, Sentence]:
    text = sentences(paragraph)[-1]
    return text, replace(sentence_of(text), paragraph=lambda: paragraph)


@pytest.mark.parametrize(("paragraph", "name"), ELSEWHERE)
def test_a_name_introduced_in_the_paragraph_is_found(paragraph: str, name: str) -> None:
    text, sentence = in_paragraph(paragraph)
    result = names(sentence)
    assert result is not None and (result.reason, meant(text, result)) == ("elsewhere", name)
    assert finding_of("names", text) is None


@pytest.mark.parametrize("paragraph", NOT_ELSEWHERE)
def test_words_not_introduced_by_the_paragraph_are_kept(paragraph: str) -> None:
    assert names(in_paragraph(paragraph)[1]) is None


@pytest.mark.parametrize("text", KEPT)
def test_surnames_alone_and_ordinary_words_are_kept(text: str) -> None:
    assert finding_of("names", text) is None


def test_given_names_score_above_ordinary_words() -> None:
    names = [given_score(given) for given in ("志强", "丽华", "晓明", "雪梅", "玉坤")]
    others = [given_score(rest) for rest in ("全带", "许可", "员外", "的是", "了一", "上不")]
    assert min(names) > 2 > 0 > max(others)


@pytest.mark.parametrize(("word", "length"), [("欧阳修", 2), ("欧阳", 1), ("王", 1), ("桌子", 0), ("", 0)])
def test_surnames_of_one_and_two_characters_are_recognised(word: str, length: int) -> None:
    assert surname_length(word) == length


def test_lists_of_names_and_non_names_are_disjoint() -> None:
    assert not known_names() & ordinary_words()
    assert {"高雅", "高峰", "马拉松"} <= ordinary_words()
