"""How long searches of the page Browse take: `python -m benchmarks.browsing [ITEMS]`.

Made-up sentences of 20 to 90 characters with the fields that mining writes, three labels each, are written straight
into a database that is removed again. Each search runs RUNS times on a warm cache; printed are the median and the
95th percentile in milliseconds, with how many items were found.

The second table compares ways to look for a piece of text: the scan that the page uses, LIKE alone, and FTS5 with
trigrams, which holds nothing shorter than three characters and finds nothing for less.
"""

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from evenhand.annotations.browse.search import Filters, search_items
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.projects.projects import annotators, create_project, guideline
from evenhand.annotations.types import Project
from evenhand.core.resources import keyword_pairs
from evenhand.core.text.keywords import find

RUNS = 21
TEXT = (
    "今天 昨天 早上 下午 经常 总是 终于 已经 正在 慢慢 认真 安静 高兴 仔细 学校 医院 公司 车站 图书馆 菜市场 公园 院子"
    " 厨房 办公室 老师 同学 邻居 朋友 医生 司机 记者 护士 工程师 整理 打扫 修理 阅读 准备 讨论 检查 记录 等待 寻找 介绍"
    " 一份 几本 许多 这些 那座 新的 旧的 干净的 明亮的 报告 计划 文章 照片 机器 窗户 花园 晚饭 故事 消息 问题 答案 天气"
)
WORDS = TEXT.split()


def sentence(chance: random.Random, word: str, number: int) -> str:
    """A made-up sentence that holds *word* and is unlike every other."""
    body = "".join(chance.choices(WORDS, k=chance.randint(8, 38)))
    cut = chance.randint(0, len(body))
    return f"{body[:cut]}，{word}{body[cut:]}{number}。"


def fill(store: Store, items: int) -> Project:
    """A project with *items* items, each labelled by three annotators; one in ten is flagged."""
    project = create_project(store, "large", annotators=("Ada", "Bo", "Chen"))
    chance, pairs = random.Random(0), keyword_pairs()
    with Batch.begin(store, project, "made up") as batch:
        batch.add(_item(chance, pairs[n % len(pairs)].male if n % 2 else pairs[n % len(pairs)].female, n)
                  for n in range(items))  # fmt: skip
        batch.publish()
    _label(store, project, chance)
    return project


def _item(chance: random.Random, word: str, number: int) -> NewItem:
    text = sentence(chance, word, number)
    flags = chance.sample(["names", "generic", "length"], k=1) if chance.random() < 0.1 else []
    source = {"file": f"part-{number % 40:02}.txt", "offset": number * 200, "name": f"text {number // 7}", "date": None}
    extra = {"source": source, "flags": flags}
    return NewItem(text, find(text)[0], source["file"], number, extra)  # type: ignore[arg-type]


def _label(store: Store, project: Project, chance: random.Random) -> None:
    people, version = annotators(store, project), guideline(store, project).id
    rows: list[tuple[Any, ...]] = []
    ids = [row[0] for row in store.db.execute("SELECT id FROM item")]
    chance.shuffle(ids)  # nobody labels in the order of import
    for item in ids:
        for who in people:
            choice, note = ("accept", "") if chance.random() < 0.75 else ("reject", chance.choice(("", "a name")))
            rows.append((len(rows) + 1, f"o{len(rows)}", project.id, item, who.id, version, choice, note))
    with store.write() as db:
        db.executemany(
            "INSERT INTO label (id, op_id, project, item, annotator, guideline, choice, note, form_shown, desk,"
            " revision, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'masked', 'd', 1, '2026-01-01T00:00:00.000Z')",
            rows,
        )
        db.executemany(
            "INSERT INTO assignment (item, annotator, project, state, turn, latest, blind)"
            " VALUES (?, ?, ?, 'labelled', 1, ?, ?)",
            ((item, who, project.id, label, label) for label, _, _, item, who, *_ in rows),
        )
        db.execute(
            "UPDATE item SET labels = 3, split = n BETWEEN 1 AND 2, status = iif(n = 3, 'accepted', 'rejected'),"
            " gold = iif(n = 3, 'accept', 'reject') FROM (SELECT item, sum(choice = 'accept') AS n FROM label"
            " GROUP BY item) AS counted WHERE counted.item = item.id"
        )


def timed(work: Callable[[], int]) -> tuple[float, float, int]:
    """Median and 95th percentile of RUNS runs in ms, and what *work* returned."""
    number, spent = work(), []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        spent.append(1000 * (time.perf_counter() - start))
    return statistics.median(spent), sorted(spent)[int(0.95 * RUNS)], number


def _total(path: Path, project: Project, filters: Filters) -> int:
    """What the page does: the database is opened anew, and a page of the list is read."""
    with Store.open(path) as store:
        return search_items(store, project, filters).total


def _count(store: Store, query: str, text: str) -> int:
    return int(store.db.execute(query, (text,)).fetchone()[0])


def searches() -> dict[str, Filters]:
    """Searches that people make, by name."""
    base = Filters()
    return {
        "everything": base,
        "one character (的)": replace(base, text="的"),
        "a word of two (护士)": replace(base, text="护士"),
        "several words (护士 医院)": replace(base, text="护士 医院"),
        "a quotation": replace(base, text='"在学校"'),
        "no hit (not there)": replace(base, text="龘"),
        "Latin letters (nothing)": replace(base, text="Nothing"),
        "pair and side": replace(base, pair="他/她", side="male"),
        "status rejected": replace(base, status="rejected"),
        "flag of the mining": replace(base, flag="mined:names"),
        "labels differ": replace(base, flag="split"),
        "with notes": replace(base, flag="notes"),
        "labelled by Ada": replace(base, annotator="Ada"),
        "rejected by Ada": replace(base, annotator="Ada", choice="reject"),
        "guideline v1": replace(base, version=1),
        "shown masked": replace(base, form="masked"),
        "word, pair, rejected by Ada": replace(base, text="护士", pair="他/她", annotator="Ada", choice="reject"),
    }


def main() -> None:
    """Print both tables."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "large.db") as store:
        project = fill(store, items)
        size = store.path.stat().st_size / 1e6
        print(f"{items:,} items, 3 labels each, {size:.0f} MB")
        for name, filters in searches().items():
            median, late, number = timed(partial(_total, store.path, project, filters))
            print(f"{name:32} p50 {median:7.1f} ms  p95 {late:7.1f} ms  {number:>8,} items")
        ways(store)


def ways(store: Store) -> None:
    """Ways to look for a piece of text, without any other filter."""
    start = time.perf_counter()
    store.db.execute("CREATE VIRTUAL TABLE trigrams USING fts5(text, content='item', content_rowid='id',"
                     " tokenize='trigram', detail='none')")  # fmt: skip
    store.db.execute("INSERT INTO trigrams (trigrams) VALUES ('rebuild')")
    built = time.perf_counter() - start
    size = store.db.execute("SELECT sum(length(block)) FROM trigrams_data").fetchone()[0] / 1e6
    print(f"\nFTS5 trigram index: {built:.1f} s to build, {size:.0f} MB")
    queries = {
        "instr": "SELECT count(*) FROM item WHERE instr(text, ?)",
        "LIKE": "SELECT count(*) FROM item WHERE text LIKE '%' || ? || '%'",
        "FTS5 LIKE": "SELECT count(*) FROM trigrams WHERE text LIKE '%' || ? || '%'",
    }
    for text in ("的", "护士", "工程师", "在图书馆", "龘"):
        line = []
        for name, query in queries.items():
            median, _late, number = timed(partial(_count, store, query, text))
            line.append(f"{name} {median:6.1f} ms ({number:,})")
        print(f"{json.dumps(text, ensure_ascii=False):10} " + "  ".join(line))


if __name__ == "__main__":
    main()
