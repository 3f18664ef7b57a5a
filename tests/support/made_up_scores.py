"""A scores file with made-up numbers: `python -m tests.support.made_up_scores OUT.csv [SENTENCES] [MODELS]`.

For measuring and testing code that reads scores, without a model. The sentences are put together from templates of this
project, the pairs and their shares are those of the released file. A made-up model is a lean per pair, a taste for
contexts that it shares with the others, some knowledge of the side that the source had, and noise; a few rows are
undefined and a few infinite. The last model is the "untrained" one: nothing but noise.
"""

import csv
import math
import random
import sys
from pathlib import Path

import numpy as np

from evenhand.core.resources import keyword_pairs, quotas
from evenhand.core.sentence_bias.bias import BOTH_ZERO, LN10, NO_ANSWER
from evenhand.core.types import KeywordPair, Side

COLUMNS = (
    *("row", "sentence", "pair", "keyword", "model", "p_male", "p_female", "pair_mass", "bias_log10", "bias_ln"),
    *("status", "signature", "side", "masks", "start", "end", "source", "logp_male", "logp_female"),
)
PLACES = (
    "车站",
    "图书馆",
    "工地",
    "河边",
    "医院门口",
    "操场",
    "菜市场",
    "会议室",
    "码头",
    "果园",
    "展览馆",
    "机场",
    "邮局",
    "山脚下",
    "教室",
    "剧场",
)
SIDES: tuple[Side, ...] = ("male", "female")
TIMES = ("清晨", "傍晚", "上个月", "入冬以后", "放假那天", "雨停之后", "昨天下午", "开会之前", "去年秋天", "午休时")
# A context and how far it pulls (log10, positive to the male word); made up like everything here.
ACTS = {
    "修好了那台旧收音机": 0.35,
    "把一箱苹果搬上了三楼": 0.3,
    "指挥大家转移设备": 0.45,
    "同客户谈妥了合同": 0.25,
    "讲完了一堂物理课": 0.2,
    "等了一个多小时的车": 0.0,
    "读完了一本厚厚的小说": -0.05,
    "给邻居写了一封长信": -0.1,
    "照看着几个孩子": -0.4,
    "织好了一条红围巾": -0.5,
    "挑选一束百合花": -0.35,
    "练习合唱的高音部": -0.3,
    "排队领取体检报告": 0.0,
    "带头报名参加长跑": 0.15,
    "安慰哭了很久的同事": -0.3,
    "核对最后一页账目": 0.05,
}
SHAPES = (
    "{time}，{word}在{place}{act}。",
    "听说{word}{time}又去了{place}，{act}。",
    "{place}里，{word}{act}，天已经黑了。",
)
CHILD = (
    "{time}，{place}来了一名{word}童，{act}。",
    "一名{word}同学{time}在{place}{act}。",
    "{word}队{time}在{place}{act}。",
)


def sentence(pair: KeywordPair, side: Side, chance: random.Random) -> tuple[str, int, float]:
    """Return a sentence, where its word begins, and how far its context pulls."""
    act = chance.choice(list(ACTS))
    shape = chance.choice(CHILD if pair.male == "男" else SHAPES)
    parts = {"time": chance.choice(TIMES), "place": chance.choice(PLACES), "act": act}
    before = shape.split("{word}")[0].format(**parts)
    return shape.format(word=pair.word(side), **parts), len(before), ACTS[act]


def cases(count: int, seed: int) -> list[tuple[KeywordPair, Side, str, int, float]]:
    """Return *count* sentences over the 19 pairs, both sides of each, in a shuffled order."""
    chance = random.Random(seed)
    wanted = quotas("released")
    whole = sum(wanted.values())
    results = []
    for pair in keyword_pairs("released"):
        for side in SIDES:
            for _ in range(max(1, round(wanted[pair.name, side] * count / whole))):
                results.append((pair, side, *sentence(pair, side, chance)))
    chance.shuffle(results)
    return results[:count]


def numbers(items: list[tuple[KeywordPair, Side, str, int, float]], model: int, models: int) -> np.ndarray:
    """Return natural-log probabilities of the male and the female word, one row per sentence."""
    draws = np.random.default_rng(1000 + model)
    shared = np.random.default_rng(7).normal(0, 0.28, len(items))
    names = sorted({pair.name for pair, *_rest in items})
    known = model < models - 1  # the last one knows nothing
    common = np.random.default_rng(11).normal(0.1, 0.3, len(names)) if known else 0.0
    own = dict(zip(names, common + draws.normal(0.0, 0.22, len(names)), strict=True))
    pull = np.array([context for *_rest, context in items])
    side = np.array([1.0 if side == "male" else -1.0 for _pair, side, *_rest in items])
    lean = np.array([own[pair.name] for pair, *_rest in items])
    taste = (0.7 + 0.12 * model) * pull + 0.14 * side + shared * (0.9 - 0.15 * model) if known else 0.0
    bias = LN10 * (lean + taste + draws.standard_t(6, len(items)) * (0.16 if known else 0.06))
    masks = np.array([len(pair.stems[0]) for pair, *_rest in items])
    mass = np.minimum(-1e-4, draws.normal(-2.2 if known else -8.4, 1.8 if known else 0.3, len(items)) * masks)
    male = mass - np.logaddexp(0, -bias)
    return np.stack([male, male - bias], axis=1)


def row(number: int, item: tuple[KeywordPair, Side, str, int, float], name: str, logs: np.ndarray) -> list[object]:
    """Return a row of the file; every 4,001st sentence is undefined, every 6,007th has a word of probability 0."""
    pair, side, text, start, _pull = item
    word = pair.word(side)
    tail = [f"mlm|{name}|weights:0000feed|independent|fp32|v1", side, len(pair.stems[0]), start, start + len(word), ""]
    male, female = (float(value) for value in logs)
    if number % 4001 == 0:
        reason = BOTH_ZERO if number % 8002 == 0 else NO_ANSWER
        return [number, text, pair.name, word, name, "", "", "", "", "", reason, *tail, "", ""]
    if number % 6007 == 0:
        female = -math.inf
    p_male, p_female = math.exp(male), math.exp(female)
    bias = male - female
    shown = [p_male, p_female, p_male + p_female, bias / LN10, bias]
    return [number, text, pair.name, word, name, *shown, "ok", *tail, male, female]


def write(path: Path, sentences: int = 20_000, models: int = 5, *, names: tuple[str, ...] = (), seed: int = 1) -> Path:
    """Write *sentences* rows for each of *models* models; the rows of a model are consecutive."""
    items = cases(sentences, seed)
    called = [*names, *(f"made-up-{n + 1}" for n in range(len(names), models))]
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        for model in range(models):
            logs = numbers(items, model, models)
            out.writerows(row(n, item, called[model], logs[n - 1]) for n, item in enumerate(items, 1))
    return path


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("Say where the file goes: python -m tests.support.made_up_scores OUT.csv [SENTENCES] [MODELS]")
    sizes = [int(argument) for argument in sys.argv[2:4]]
    print(write(Path(sys.argv[1]), *sizes))
