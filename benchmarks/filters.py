"""Show what the filters of mining keep and reject: `python -m benchmarks.filters [--read N] [--seed S] [--half H]`.

On data next to the project (../shared/data):
- the accepted sentences of SlguSet_dev.csv, each as a sentence of plain text, length
  and duplicate filters off: the share kept with names off and with names on reject, and
  what each filter rejects. Rules were tuned on half of the rows (SHA-256 of the text even);
- `--read N`: N random accepted and N random rejected sentences of zh_wiki.txt, to be read by a person. `--half`: of the
  paragraphs on which rules of names were tuned (SHA-256 even), or of the others. `--kind`: sentences with one keyword,
  as mining takes them; with several, the first taken for the only one; without any, but with one other word for
  persons (PERSONS), or with a word for what persons are or do (DEEDS; the sign at the end stands for the keyword, so
  that it hides nothing). Mining never shows the last three, so they are new to people who improve rules. `--from K`:
  what the same seed draws after the first K sentences.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from benchmarks.measuring import options
from evenhand.core.mining.filters import FILTERS
from evenhand.core.mining.find_keywords import Finder
from evenhand.core.mining.types import LONGEST, SHORTEST, Finding, Sentence
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.keywords import candidate
from evenhand.core.text.sentences import sentences
from evenhand.core.types import KeywordPair
from training.corpora import SENTENCES, WIKI, is_tuning, read_wiki, released_rows

PERSONS = re.compile("自己|父母|夫妇|孩子|家人|朋友|学生|老师|演员|球员|选手|作家")
DEEDS = re.compile(
    "担任|[出就上卸连]任|认为|表示|宣布|率|饰演|主演|撰写|创作|著有|出生|生于|嫁|结婚|获得|当选|加盟|效力|拜访|邀请|命令|下令|派|击败|继承|投降|逃|[杀死叛]"
    "|提出|发[现明]|演唱|主持|编写|就读|留学|前往|曾|[创主]席|总[理督]|[部局校市]长|主教|教[宗皇]|[诗商僧艺]人|画家|学家|曲家|教练|运动员|天皇|大臣|司令"
    "|元帅|将领|法师|律师|医生|记者|候选人|领[袖导]|人物|武将|丞相|巡抚|汗|贵族|之[子女]|[长次]子|角色|编剧|冠军|传教士|弟子|辞[去职]|移居|入选|参选|提名"
)
RULES = ("inside_word", "gender_terms", "biological")  # generic only flags; the others compare or measure


def fit(text: str, finder: Finder) -> Sentence | None:
    """Return the sentence if it contains exactly one keyword, else None."""
    hits = finder.hits(text)
    if len(hits) != 1:
        return None
    start, word = hits[0]
    return Sentence(text, word.at(start, text))


def first_finding(sentence: Sentence, codes: Iterable[str]) -> tuple[str, Finding] | None:
    """The first filter of *codes* that has something against the sentence."""
    for code in codes:
        check = FILTERS[code].check
        assert check is not None
        finding = check(sentence)
        if finding is not None:
            return code, finding
    return None


def passing(texts: list[str], codes: tuple[str, ...], finder: Finder) -> tuple[int, Counter[str]]:
    """Return how many of *texts* pass, and the counts of the reasons for which others do not."""
    reasons: Counter[str] = Counter()
    for text in texts:
        sentence = fit(text, finder)
        found = ("exactly_one", Finding("keywords")) if sentence is None else first_finding(sentence, codes)
        if found is not None:
            reasons[f"{found[0]}/{found[1].reason}"] += 1
    return len(texts) - reasons.total(), reasons


def show_kept(finder: Finder) -> None:
    """The shares of accepted sentences that are kept, all and by half."""
    texts = [row["句子"] for row in released_rows(SENTENCES)]
    halves = {
        "all": texts,
        "tuning half": [t for t in texts if is_tuning(t)],
        "other half": [t for t in texts if not is_tuning(t)],
    }
    for label, codes in (("names off", RULES), ("names reject", (*RULES, "names"))):
        for name, some in halves.items():
            number, reasons = passing(some, codes, finder)
            print(f"{label:<13} {name:<12} kept {number:>5} of {len(some):>5} = {number / len(some):.2%}")
            if name == "all":
                for reason, count in reasons.most_common():
                    print(f"    {reason:<24} {count:>4}  {count / len(some):.2%}")


def candidates_in(lines: Iterable[str], finder: Finder, kind: str) -> Iterator[Sentence]:
    """The sentences of a *kind*, each with one word that stands for the keyword."""
    for line in lines:
        for text in sentences(line):
            hits = finder.hits(text) if SHORTEST <= len(text) <= LONGEST else []
            if hits and kind == ("one" if len(hits) == 1 else "several"):
                yield Sentence(text, hits[0][1].at(hits[0][0], text))
            words = list(PERSONS.finditer(text)) if kind == "persons" and SHORTEST <= len(text) <= LONGEST else []
            if len(words) == 1 and not hits:
                pair = KeywordPair(words[0][0], words[0][0], (0, 1), (0, 1), "zh")
                yield Sentence(text, candidate(text, words[0].start(), pair, "male"))
            if kind == "deeds" and SHORTEST <= len(text) <= LONGEST and not hits and DEEDS.search(text):
                pair = KeywordPair(text[-1], text[-1], (0, 1), (0, 1), "zh")
                yield Sentence(text, candidate(text, len(text) - 1, pair, "male"))


def show_reading(finder: Finder, number: int, seed: int, half: str, kind: str, begin: int) -> None:
    """Random accepted and rejected sentences of the encyclopedia, the keyword in brackets."""
    lines = [line for line in read_wiki(WIKI) if half == "both" or is_tuning(line) == (half == "tuning")]
    accepted, rejected = [], []
    for sentence in candidates_in(lines, finder, kind):
        found = first_finding(sentence, (*RULES, "names"))
        (accepted if found is None else rejected).append((sentence, found))
    print(f"zh_wiki.txt: {len(accepted)} accepted, {len(rejected)} rejected (names reject)")
    print(Counter(found[0] for _, found in rejected if found))
    chance = random.Random(seed)
    for label, some in (("accepted", accepted), ("rejected", rejected)):
        for sentence, found in chance.sample(some, min(begin + number, len(some)))[begin:]:
            place = sentence.candidate
            shown = f"{sentence.text[: place.start]}【{place.keyword}】{sentence.text[place.end :]}"
            why = f"{found[0]}/{found[1].reason} {sentence.text[slice(*(found[1].span or (0, 0)))]}" if found else ""
            print(label, why, shown)


def main() -> None:
    """Print the parts whose data is there."""
    halves, kinds = ("both", "tuning", "other"), ("one", "several", "persons", "deeds")
    values = vars(options(__doc__, read=0, seed=0, half=halves, kind=kinds, **{"from": 0}))
    if not WIKI.exists():
        print("../shared/data is not here: nothing to measure")
        return
    finder = Finder(keyword_pairs("released"), spaced=False)
    show_kept(finder)
    if values["read"]:
        show_reading(finder, values["read"], values["seed"], values["half"], values["kind"], values["from"])


if __name__ == "__main__":
    main()
