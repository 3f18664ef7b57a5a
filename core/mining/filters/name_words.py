"""Data on names: characters, exceptions, surname forms, the shapes of nicknames and foreign names."""

import re
from functools import cache

from core.resources import table
from core.text.dictionary import is_surname

UNKNOWN = -2.0  # score of a character that stands in no name of the dictionary

SURELY_PLACES = frozenset("区县镇乡村庄寨屯堡阁寺庙")  # so also for words of the dictionary: 陈家庄
# Frequent surnames that are hardly ever anything else before another character.
ONLY_SURNAMES = frozenset("王李张刘陈杨赵周吴徐孙胡朱郭罗梁郑谢冯董萧曹袁邓沈彭吕苏卢蒋蔡魏薛潘杜贾丁崔闫肖")
# A word of this shape that ends so is a place: 牛寨村, 文昌阁.
PLACES = frozenset("省市区县乡镇村寨庄屯堡街路巷桥站港湾湖江河溪沟山岭峰岛寺庙阁楼亭塔宫坝墩岗洞泉州")
TITLES = re.compile(
    "师傅|老师|先生|女士|小姐|太太|夫人|教授|医生|大夫|护士|校长|院长|主任|书记|局长|处长|科长|市长|县长|部长|省长|区长|镇长|乡长|村长"
    "|队长|班长|连长|排长|团长|军长|司令|将军|经理|总监|老板|律师|法官|警官|检察官|记者|编辑|主编|博士|院士|导演|教练|指导|总理|总统"
    "|主席|委员|代表|大爷|大妈|大叔|大姐|大哥|大娘|大婶|大嫂|阿姨|叔叔|爷爷|奶奶|伯伯|婆婆|公公|妈妈|爸爸|姐姐|哥哥|姥姥|同学|同志"
    "|家人|员外|道长|掌门|帮主|政委|厂长|董事|会长|社长|所长|站长|馆长|台长|园长|店长|船长|机长|行长|庭长|组长|参谋|秘书|管家|师母"
)

# Characters that transliterated names are written with, and those that hardly stand elsewhere.
FOREIGN = (
    "阿埃艾爱安奥巴白班邦鲍保贝本比彼毕宾波玻伯勃博布查茨茶达戴黛丹当道德登邓迪蒂丁顿多恩尔法凡范菲费芬丰佛夫弗福富盖甘冈高戈格葛根"
    "古顾瓜圭哈海汉豪赫黑亨胡华霍基吉加迦贾坚简杰金津久卡凯坎康考柯科可克肯库夸奎昆拉腊莱赖兰劳勒雷蕾黎里理利莉丽廉列林琳龙隆卢鲁路露"
    "伦罗洛马玛麦曼芒梅门蒙孟米密缅明摩莫墨默姆穆拿娜纳内尼妮年宁纽努诺欧帕派潘庞培佩彭皮平珀普奇齐恰钱强乔钦琴琼丘让热仁日荣茹若萨塞"
    "赛桑瑟森沙莎山尚绍舍申圣施什史士舒斯丝松苏孙索所塔泰坦汤唐陶特藤提田图土托脱瓦万汪旺威韦维魏温文翁沃乌吾武西希锡夏显香肖歇谢辛欣兴"
    "雄休许逊雅亚扬耶叶伊依因英尤约云泽扎詹章兹朱佐聂勋朗撒切伽勿略卜廖卓杰狄俾堡"
)
RUN = re.compile(f"[{FOREIGN}]+")
# After these a foreign name is that of a place, a school, a club or a firm.
NAMED_AFTER = re.compile(
    "大学|学院|中学|市|州|省|县|郡|国|族|语|人|河|湖|岛|山|港|湾|城|镇|机场|公司|集团|银行|球场|队|俱乐部|联队|街|路|区|半岛|海|地区|共和国|王国|帝国|王朝|杯|奖|号|型|式"
)
DOTS = re.compile("[·•・‧]")
DOTTED = re.compile(
    f"[{FOREIGN}]{{1,8}}[·•・‧]\\s?[{FOREIGN}]{{1,8}}"
    f"|[{FOREIGN}]{{2,8}}[·•・‧]\\s?[一-龥]"
    f"|[一-龥]{{1,3}}[·•・‧](?=[{FOREIGN}]{{2}})"
)


@cache
def ordinary_words() -> frozenset[str]:
    """Words that the tagger takes for names and that are none."""
    found = {word for row in table("mining_ordinary") for word in row["words"].split()}
    found |= {word for row in table("mining_not_names") for word in row["words"].split()}
    return frozenset(found - known_names())


@cache
def known_names() -> frozenset[str]:
    """Names that no shape tells: 姚明, 杜甫, 汤姆."""
    return frozenset(name for row in table("mining_known_names") for name in row["names"].split())


@cache
def _scores(place: str) -> dict[str, float]:
    rows = [row for row in table("mining_name_characters") if row["place"] == place]
    return {character: float(row["score"]) for row in rows for character in row["characters"]}


def given_score(given: str) -> float:
    """How much *given* (one or two characters) looks like a given name: a sum of log ratios, above 0 rather a name.

    Per character: how much more often it stands there in names of three
    characters than in other words (naive Bayes, natural log).
    """
    last = _scores("last").get(given[-1], UNKNOWN)
    return last if len(given) == 1 else _scores("middle").get(given[0], UNKNOWN) + last


def surname_length(word: str) -> int:
    """How many characters of *word* are its surname: 2 (欧阳), 1, or 0 where it begins with none."""
    if len(word) > 2 and is_surname(word[:2]):
        return 2
    return 1 if word and is_surname(word[0]) else 0


@cache
def nickname_shapes() -> re.Pattern[str]:
    """小明, 琳琳, 阿强 as whole shapes; words that only look so are found first and have no group."""
    known = [row["words"] for row in table("mining_nicknames")]
    of = {row["shape"]: row["characters"] for row in table("mining_nicknames")}
    no_place = "(?![一-龥]?[家区镇街路村县河沟湾山岛寺桥庄乡])"
    shapes = [
        f"小(?<![一-龥]小)(?P<first>[{of['小']}]){no_place}",
        f"小(?<=[和跟给对让叫与把被是说的]小)(?P<later>[{of['小']}]){no_place}",
        f"阿(?<![一-龥]阿)(?P<a>[{of['阿']}])(?![{FOREIGN}])",
        f"(?<![一二两几])(?P<double>[{of['doubled']}])(?P=double)(?!(?P=double)|[地得])",
    ]
    return re.compile("|".join(known + shapes))


@cache
def nickname_hints() -> re.Pattern[str]:
    """What every nickname holds: a quick look before the shapes."""
    doubled = next(row["characters"] for row in table("mining_nicknames") if row["shape"] == "doubled")
    return re.compile(f"[小阿]|([{doubled}])\\1")
