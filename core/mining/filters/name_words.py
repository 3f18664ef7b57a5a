"""Data on names: characters, exceptions, surname forms, nicknames; what a word says by itself about being a name."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from evenhand.core.resources import table
from evenhand.core.text.containing_words import alternatives
from evenhand.core.text.dictionary import AFTER_SURNAME, is_surname, is_word, surnames
from evenhand.core.types import Span

NOT_FOREIGN = -4.0
OF_WOMEN, SOUND = "薇萝茱芙婕珊琪蓓", 3.0  # characters of transliterated names of women, who are few in the dictionary
UNKNOWN = -2.0  # score of a character that is in no name of the dictionary
FIRST_RARE = 0xD8  # first byte in GB 2312 of the second level
RARE = 2.0  # of one that is also rare: 炆, 皝. Such characters live on in names.

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

HAN = re.compile("[一-龥]+")
CAPITAL = re.compile("[A-Z]")
# What the segmenter takes into a new word behind a name: 樱则, 政澄死, 徐阶说.
TAIL = frozenset("则死说于是和在曾后也因为对被将与及的等任称即又便遂乃生卒之其曰道问答")
# A word after one that ends so is who it is: 弟弟旭烈兀, 首辅徐阶, 教宗若望.
NAMED_BEFORE = re.compile(
    "(?:父亲|母亲|爸爸|妈妈|儿子|女儿|弟弟|妹妹|哥哥|姐姐|丈夫|妻子|[伯叔舅姑祖]父|[祖伯]母|外公|外婆|爷爷|奶奶|[长次三四五幼养嫡庶独爱][子女]|[世长次曾玄嫡]孙|侄[子女]"
    "|外甥|[堂表][兄弟姐妹]|[男女]友|未婚[夫妻]|老[公婆]|主角|将军|[国女]王|[王皇]后|皇帝|太子|公主|亲王|教[宗皇]|主教|首辅|[宰丞首]相"
    r"|总[统理]|元帅|[上少中][校尉将]|导演|演员|歌手|球员|队友|门将|前锋|后卫|作家|诗人|画家|学家|记者|编剧|制作人|主持人|作曲家|近臣|主席|巡抚|总督|知府|太守|刺史|太监|将领|大臣|首领|酋长|可汗|君主|掌门|国师|门徒|弟子|学生|名将|武将|老将|主帅|队长|教练|主君|藩主|城主|先代|公爵|伯爵|侯爵|男爵|爵士|牧师|神父|修女|使徒|圣徒|王子|王妃|贵妃|太后|皇子|[义养师]父|恩师|门生|好友|友人|挚友|战友|情人|恋人|前夫|前妻|遗孀|同事|助手|秘书|外交官|议员|大使|舰长|船长|骑士|学者|[思探革企航教漫银建]\w{1,2}家|沙皇|苏丹|太[师傅保尉]|首相|国务卿|[总部局处校院市州县省馆所社会团师旅军司台董行]长|总?书记|总?司令|总兵|节度使|侍郎|尚书|大学士|部将|[大主守叛]将|将军|酋长|富豪|商人|博士|院士|教授|律师|法官|助理|顾问|经纪人|投手|中锋|射手|棋手|车手|拳手|飞行员|宇航员|太空人|传教士|高僧|国师|道士|诗僧|男星|女星|影星|歌星|巨星|球星|作者|发明者|创始人|创办人|创立者|继承人|族长|庄主|侠士|侦探|杀手)$"
)

KIN = re.compile("[父母爸妈子女弟妹哥姐夫妻爷奶公婆甥友事]$")

# A proper noun before one of these is a ruler: 君士坦丁|皇帝, 查理|大帝.
RULERS = frozenset(
    "汗 皇帝 大帝 大君 亲王 国王 女王 王后 皇后 太后 可汗 单于 公爵 伯爵 夫人 太子 王子 公主 王妃".split()  # noqa: SIM905
)
# Both in one word of the dictionary: 慈禧太后.
NAMED_RULER = re.compile(
    "(?<!朝)(?:皇帝|大帝|亲王|王后|皇后|太后|可汗|公爵|伯爵|太子|公主|王妃|(?<=^..)(?<![小老大阿])王)$"
)

# Characters that transliterated names are written with, and those that are rare elsewhere.
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
    "大学|学院|中学|市|州|省|县|郡|国|族|语|人|河|湖|岛|山|港|湾|城|镇|机场|公司|集团|银行|球场|队|俱乐部|联队|街|路|区|半岛|海|地区|共和国|王国|帝国|王朝|杯|奖|号|型|式|车"
)
PLACE_BEHIND = re.compile("[镇乡村县区市州街路巷庄屯]$|步行街|市场|广场|公路|大街|大道|小区")
PLACE_BEFORE = re.compile("(?:位于|前往|来到|抵达|在|于|至|到|从|自|往|赴|返|离开|省|市|州|国)$")
DOTS = re.compile("[·•・‧]")
DOTTED = re.compile(
    f"[{FOREIGN}]{{1,8}}[·•・‧]\\s?[{FOREIGN}]{{1,8}}"
    f"|[{FOREIGN}]{{2,8}}[·•・‧]\\s?[一-龥]"
    f"|[一-龥]{{1,3}}[·•・‧](?=[{FOREIGN}]{{2}})|[一-龥]{{2}}[·•・‧][一-龥]"
)


@cache
def _last_of_introduction() -> frozenset[str]:
    """The characters with which an alternative of NAMED_BEFORE can end: most words need no further look."""
    ends = NAMED_BEFORE.pattern.removeprefix("(?:").removesuffix(")$").split("|")
    return frozenset("".join(end[end.rindex("[") + 1 : -1] if end[-1] == "]" else end[-1] for end in ends))


def introduces(word: str) -> bool:
    """Tell whether *word* says who the person is whose name follows."""
    return word[-1] in _last_of_introduction() and NAMED_BEFORE.search(word) is not None


@cache
def read_as_none() -> frozenset[str]:
    """Return words that look like names, but that a person read and rejected."""
    return frozenset(word for row in table("mining_not_names") for word in row["words"].split())


@cache
def ordinary_words() -> frozenset[str]:
    """Return words that the tagger wrongly takes for names."""
    found = {word for row in table("mining_ordinary") for word in row["words"].split()}
    return frozenset((found | read_as_none()) - known_names())


@cache
def japanese_surnames() -> dict[str, tuple[str, ...]]:
    """Their first two characters -> Japanese surnames, the longest first."""
    found: dict[str, list[str]] = {}
    listed = {name for row in table("mining_japanese_surnames") for name in row["surnames"].split()}
    for name in surnames("japanese", "japanese surely") | listed:
        found.setdefault(name[:2], []).append(name)
    return {begin: tuple(sorted(some, key=len, reverse=True)) for begin, some in found.items()}


@cache
def sure_surnames() -> re.Pattern[str]:
    """Japanese surnames of history that are nothing else: 德川, 丰臣."""
    return re.compile("|".join(sorted(surnames("japanese surely"))))


@cache
def inflected_forms(*, latin: bool) -> re.Pattern[str]:
    """Return the pattern of forms that name a person.

    The forms are rulers (明世宗, 本笃十六世), introductions (名叫……) and names in Latin letters. Without *latin*, forms
    that need a capital letter are left out: a text without capitals cannot match them.
    """
    patterns = [row["pattern"] for row in table("mining_name_forms")]
    return re.compile("|".join(pattern for pattern in patterns if latin or "[A-Z]" not in pattern))


@cache
def known_names() -> frozenset[str]:
    """Return names that no shape tells: 姚明, 杜甫, 汤姆."""
    return frozenset(name for row in table("mining_known_names") for name in row["names"].split())


@cache
def _scores(place: str) -> dict[str, float]:
    rows = [row for row in table("mining_name_characters") if row["place"] == place]
    found = {character: float(row["score"]) for row in rows for character in row["characters"]}
    return found | dict.fromkeys(OF_WOMEN, SOUND) if place == "foreign" else found


def _score(character: str, place: str) -> float:
    found = _scores(place).get(character)
    return found if found is not None else RARE if is_rare(character) else UNKNOWN


@cache
def is_rare(character: str) -> bool:
    """Tell whether a Chinese character is not one of the 3,755 most common, the first level of GB 2312."""
    if not "一" <= character <= "龥":
        return False
    try:
        return character.encode("gb2312")[0] >= FIRST_RARE
    except UnicodeEncodeError:
        return True


def given_score(given: str) -> float:
    """Return how much *given* (one or two characters) looks like a given name.

    The score is a sum of log ratios, above 0 for what is rather a name. Per character: how much more often it has
    that place in names of three characters than in other words (naive Bayes, natural log).
    """
    last = _score(given[-1], "last")
    return last if len(given) == 1 else _score(given[0], "middle") + last


def japanese_score(given: str) -> float:
    """Return how much *given* (two or three characters) looks like a Japanese given name, as given_score does."""
    first, last = _scores("japanese first").get(given[0], UNKNOWN), _scores("japanese last").get(given[-1], UNKNOWN)
    return first + last


def foreign_score(text: str) -> float:
    """Return how much *text* is written with the characters of transliterated names.

    The score is a sum of log ratios (natural log). A character that is in none of these names counts -4.
    """
    score = _scores("foreign").get
    return sum([score(character, NOT_FOREIGN) for character in text])


def surname_length(word: str) -> int:
    """Return the length of the surname of *word* in characters: 2 (欧阳), 1, or 0 if it begins with none."""
    if len(word) > 2 and is_surname(word[:2]):
        return 2
    return 1 if word and is_surname(word[0]) else 0


@cache
def words_beside(kind: str) -> frozenset[str]:
    """Return the words of one kind that occur next to a name (mining_name_frames.tsv).

    The kinds are die, behind, before, opening and of people.
    """
    return frozenset(
        word for row in table("mining_name_frames") if row["kind"] == kind for word in row["words"].split()
    )


def _by_first(cells: Iterable[str]) -> str:
    """The alternatives of *cells*, those that begin with the same character in one group.

    A place of the text is then asked for 39 characters in place of 171 words. Each begins with a plain character.
    """
    groups: dict[str, list[str]] = {}
    for cell in cells:
        for alternative in alternatives(cell):
            groups.setdefault(alternative[0], []).append(alternative[1:])
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items())


@cache
def nickname_shapes() -> re.Pattern[str]:
    """小明, 琳琳, 阿强 as whole shapes; words that only look so are found first and have no group."""
    known = [_by_first(row["words"] for row in table("mining_nicknames"))]
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
    """Return a pattern that every nickname matches, a quick look before the shapes."""
    doubled = next(row["characters"] for row in table("mining_nicknames") if row["shape"] == "doubled")
    return re.compile(f"[小阿]|([{doubled}])\\1")


PERSON = ("nr", "nrt", "nrfg")
FOREIGN_TAG = "nrt"
# No foreign name begins or ends so: 老翁, 小村庄, 李阿姨.
PROPER = (*PERSON, "nz", "j")
# Surnames with words that may be next to them, and places: 小谢, 老江, 张姓, 冯某华, 牛寨村.
PERMITTED = re.compile(
    "^[小老阿大看为那的被是把给让跟和]|[某姓]"
    "|(?:[车队厂店城楼园院馆社站路镇村区县市州湖江河山岛港坝岭寺国军人节杯党派家叔伯婶婆妈宝]|症)$"
)
NO_FOREIGN = re.compile(
    "^[老小]|(?:[村港皮瓦]$)(?<=[一-龥]{3})|(?:症|村庄|[^亨]人|阿姨|夫人|先生|小姐|女士|太太|师傅|老师|[氏某家])$"
)
# Least scores of the given part: of two characters, of one; for words of the dictionary and for others. One new
# character after a surname that is also a common word (余温, 牛河) must look like a given name more clearly.
KNOWN_TWO, KNOWN_ONE = -0.5, -1.0
NEW_TWO, NEW_ONE, NEW_ONE_DOUBTFUL = 0.0, 0.5, 1.5
UNTAGGED_TWO, UNTAGGED_ONE = 3.0, 4.0  # of a new word that the tagger took for no person
UNTAGGED_CLEAR = 0.5  # of one that begins with a surname which is hardly ever anything else
SURELY_ABOVE = 2.0  # of two characters behind such a surname, where the tagger takes all three for a person: 蒋中正
SURE_PLACE = 4.5  # of a given part that ends like a place: 蒋|巨峰
GUESSED = 1.5  # of a part of a new word
NEARLY = 4.0  # how far below its least score a name is still recognised if its neighbours speak for it
SURE_LETTER = 3.0  # a single character that may be part of such a run under any tag
FOREIGN_TAGGED = 4.0  # of a foreign name that is tagged as a person
FOREIGN_KNOWN = 5.0  # of a proper noun of the dictionary that it does not call a person
FOREIGN_DOUBTFUL = 4.0  # of one whose characters make ordinary words too: 路德 in 路德教
JAPANESE_NEW, JAPANESE_LONG, JAPANESE_KNOWN, JAPANESE_ONE, JAPANESE_SURE = 1.0, 2.5, 4.0, 3.0, 1.5
FUNCTION = re.compile("[的与和也及男女们在于从将把被是有个了着过到向]")  # hardly ever in a Japanese given name
JAPANESE_BEHIND_SURE = -2.0  # of two characters behind a surname of history: 北条|义时
JAPANESE_LAST = -1.5  # of two new characters at the end of a clause: 中村|法道
INTRODUCED_FOREIGN = 1.0
RARE_IN_FRAME = 3.0  # what a rare character counts where the words next to it tell a name
INTRODUCED = 3.0  # of the last two characters of a new word behind a title or a relative


@dataclass(slots=True, eq=False)
class Shape:
    """What the characters and the tag of a word say about names.

    `full`: the span of a full name in the word; `score`: how far it is above the least score; `foreign`: its score as
    a transliteration, None if it is not one; `free`: it may be a piece of a name that the segmenter cut wrongly.
    """

    full: Span | None
    score: float
    person: bool
    new: bool  # in no dictionary
    surname: bool  # a Chinese surname and nothing else
    ordinary: bool
    free: bool
    foreign: float | None
    place: bool  # the dictionary calls it a place
    leads: bool  # a Chinese name may begin here
    letter: bool  # part of a run of transliteration
    introduces: bool  # a title or a relative, before the name
    ruler: bool  # what a ruler is called, behind the name
    named_ruler: bool  # 慈禧太后: both in one word


NOTHING = Shape(None, 0.0, False, False, False, False, False, None, False, False, False, False, False, False)
KNOWN = Shape(None, 0.0, False, False, False, False, False, None, False, False, False, False, False, False)


def shape_of(word: str, tag: str) -> Shape:
    """Return the shape of *word*, which the segmenter tagged as *tag*."""
    if not HAN.fullmatch(word):
        return NOTHING
    person, new, ordinary, size = tag in PERSON, not is_word(word), word in ordinary_words(), len(word)
    names, ruler, surname = introduces(word), word in RULERS, size <= 2 and is_surname(word)
    usual = size > 1 and not (new or person or ordinary or names or ruler or surname)
    if usual and tag not in ("nz", "ns") and word not in known_names():
        return KNOWN
    foreign = _foreign(word, tag, person, new, ordinary)
    full, score = (None, 0.0) if ordinary else _full_name(word, person, new)
    place = tag == "ns" and not new
    free = (new or size == 1) and not ordinary and (new or tag not in ("uj", "ul", "m", "r"))
    return Shape(
        full, score, person, new, surname, ordinary, free, foreign, place,
        full is not None or surname or person or (free and new),
        foreign is not None and (person or new or place or foreign >= SURE_LETTER),
        names, ruler,
        person and size > 2 and NAMED_RULER.search(word) is not None,
    )  # fmt: skip


def _foreign(word: str, tag: str, person: bool, new: bool, ordinary: bool) -> float | None:
    """Return the score of *word* as a part of a transliterated name; None if it cannot be one."""
    known = not (person or new or len(word) == 1)
    if known and tag not in ("nz", "ns"):
        return None
    score = foreign_score(word)
    if known and score < FOREIGN_KNOWN:
        return None
    if ordinary and (tag != FOREIGN_TAG or score < FOREIGN_DOUBTFUL):
        return None  # but 路德, also in 路德教, is a person all the same
    return None if word in read_as_none() or NO_FOREIGN.search(word) else score


def _full_name(word: str, person: bool, new: bool) -> tuple[Span | None, float]:
    """Return the span of a surname with a given name in *word*, and how clear it is.

    *word* is not an ordinary word. The span is None if it has no such name.
    """
    if word in known_names():
        return (0, len(word)), 10.0
    if new and word[-1] in TAIL and word[:-1] in known_names():
        return (0, len(word) - 1), 10.0  # 秀吉死
    if len(word) < 2 or not (person or new):
        return None, 0.0
    best: tuple[Span | None, float] = (None, 0.0)
    for start, end in _parts(word, new):
        above = _above_least(word[start:end], word, person, new)
        if above is not None and above >= -NEARLY and (best[0] is None or above > best[1]):
            best = (start, end), above
    return best


def _parts(word: str, new: bool) -> Iterator[Span]:
    """The word, and of a new one what is left without what the segmenter took into it: 王守华|干, 召|朱守谦."""
    yield 0, len(word)
    if not new:
        return
    surname = surname_length(word)
    if (surname and len(word) - surname == 3) or (surname and word[-1] in TAIL and len(word) - surname == 2):
        yield 0, len(word) - 1
    elif not surname and len(word) in (3, 4):
        yield 1, len(word)


def _above_least(name: str, word: str, person: bool, new: bool) -> float | None:
    """Return how far the given part of *name* scores above its least score.

    None if *name* does not have the shape of a name.
    """
    surname = surname_length(name)
    given = name[surname:]
    if surname == 0 or not 1 <= len(given) <= 2 or not fits_behind_surname(given):
        return None
    if name[-1] in (PLACES if new else SURELY_PLACES) and len(name) <= 3:
        return None
    if new and not person and name[0] in ONLY_SURNAMES:
        least = UNTAGGED_CLEAR
    elif len(given) == 2:
        least = KNOWN_TWO if not new else NEW_TWO if person else UNTAGGED_TWO
    elif not new:
        least = KNOWN_ONE
    elif not person:
        least = UNTAGGED_ONE
    else:
        least = NEW_ONE if name[0] in ONLY_SURNAMES else NEW_ONE_DOUBTFUL
    if name != word:
        least = max(least, GUESSED)
    elif person and len(given) == 2 and name[0] in ONLY_SURNAMES:
        return max(given_score(given) - least, SURELY_ABOVE)
    return given_score(given) - least


def fits_behind_surname(given: str) -> bool:
    """Tell whether *given* may be a given name.

    It may not be a title, begin with 某 or turn a surname into its permitted form.
    """
    return bool(HAN.fullmatch(given)) and given not in AFTER_SURNAME and given[0] != "某" and not TITLES.match(given)


@lru_cache(maxsize=1 << 14)
def is_japanese(given: str, *, last: bool, surely: bool = False) -> bool:
    """Tell whether *given* looks like a Japanese given name behind a Japanese surname.

    `last`: a clause ends with it. `surely`: the surname is nothing else (丰臣).
    """
    if not HAN.fullmatch(given) or given in ordinary_words() or given in AFTER_SURNAME:
        return False
    if given[0] in AFTER_SURNAME:  # 德川|家康, but 德川家|的
        return len(given) == 2 and japanese_score(given) >= JAPANESE_SURE
    if len(given) == 1:
        return not is_word(given) or given_score(given) >= JAPANESE_ONE
    if FUNCTION.search(given) and japanese_score(given) < JAPANESE_KNOWN:
        return False
    if surely and len(given) == 2 and japanese_score(given) >= JAPANESE_BEHIND_SURE:
        return True
    if last and len(given) == 2 and not is_word(given):
        return japanese_score(given) >= JAPANESE_LAST
    return japanese_score(given) >= (
        JAPANESE_KNOWN if is_word(given) else JAPANESE_NEW if len(given) == 2 else JAPANESE_LONG
    )


def likely_name(word: str, tag: str) -> float | None:
    """The best of the scores of *word*, a new one, as a name, if the tagger took it for a proper noun."""
    if tag not in PROPER:
        return None
    if not 2 <= len(word) <= 5 or word in ordinary_words() or PERMITTED.search(word) or TITLES.search(word[1:]):
        return None
    return max(given_score(word[-2:]), foreign_score(word), japanese_score(word[-2:]))


def may_be_name(word: str) -> bool:
    """Tell whether nothing in *word* speaks against a name.

    A title, 某, and 家 behind a surname do.
    """
    return (
        word[-1] not in AFTER_SURNAME
        and word not in read_as_none()
        and not PERMITTED.search(word)
        and not TITLES.search(word)
    )


def likeness(word: str) -> float:
    """Return the best of the scores of *word* as a Chinese, foreign or Japanese name."""
    surname = surname_length(word)
    scores = [foreign_score(word)]
    if surname and 1 <= len(word) - surname <= 2:
        scores.append(given_score(word[surname:]) + 1.0)
    if len(word) == 2:
        scores.append(given_score(word))
    if len(word) > 3:
        scores.append(japanese_score(word[-2:]))
    if any(is_rare(character) for character in word):
        scores.append(RARE_IN_FRAME)
    return max(scores)


@lru_cache(maxsize=1 << 14)
def looks_like_a_name(word: str) -> bool:
    """Tell whether a new *word* looks like any name, if the word before it says that a person is meant."""
    if not 2 <= len(word) <= 4 or not HAN.fullmatch(word) or word in ordinary_words() or word[-1] in AFTER_SURNAME:
        return False
    return given_score(word[-2:]) >= INTRODUCED or foreign_score(word) >= INTRODUCED_FOREIGN
