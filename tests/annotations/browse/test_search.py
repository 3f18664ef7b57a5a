"""Browsing: every filter against what Python finds in the same items, the order, pages, plans of the queries."""

import string
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.adjudication.decisions import add_comment, decide_case
from evenhand.annotations.browse.search import (
    FLAGS,
    MINED,
    READER_FLAGS,
    Filters,
    imported_files,
    neighbours,
    pairs_of,
    rows,
    search_ids,
    search_items,
    search_words,
    uid_of,
)
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import add_guideline, annotators, create_project, guideline
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.text.keywords import find
from tests.support.judged_sentences import all_items
from tests.support.projects import decide

TEXTS: tuple[tuple[str, str, list[str]], ...] = (
    ("他把实验报告交给了老师。", "one.txt", []),
    ("她在图书馆整理旧报纸，老师也在。", "one.txt", ["names"]),
    ("那个男孩考了100%，不是100_。", "one.txt", ["generic", "names"]),
    ("这位女孩用 iPhone 拍照片。", "two.txt", []),
    ("爸爸下班后去市场买菜。", "two.txt", []),
    ("妈妈说：“老师 好”。", "two.txt", ["length"]),
)


SixSentences = tuple[Project, dict[int, Item], list[Annotator]]


@pytest.fixture
def six_sentences(fresh_store: Store) -> SixSentences:
    """Fill a new database with the six sentences."""
    return fill(fresh_store)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, SixSentences]]:
    """Fill one database with the six sentences, for tests that only read."""
    with Store.open(tmp_path_factory.mktemp("browsing") / "once.db") as store:
        yield store, fill(store)


def fill(fresh_store: Store) -> SixSentences:
    """Add six sentences of two files: 1 accepted, 2 split, 3 rejected by all, 4 one label, 5 skipped, 6 untouched."""
    project = create_project(fresh_store, "set", annotators=("Ada", "Bo"), per_item=2, seed=4)
    for file in ("one.txt", "two.txt"):
        with Batch.begin(fresh_store, project, file) as batch:
            batch.add(
                NewItem(text, find(text)[0], of, line, {"flags": flags} if flags else {})
                for line, (text, of, flags) in enumerate(TEXTS, 1)
                if of == file
            )
            batch.publish()
    people = annotators(fresh_store, project)
    items = {item.line: item for item in all_items(fresh_store, project)}
    ada, bo = people
    for line, who, choice in (
        (1, ada, "accept"), (1, bo, "accept"), (2, ada, "accept"), (2, bo, "reject"), (3, ada, "reject"),
        (3, bo, "reject"), (4, ada, "reject"), (5, bo, "skip"),
    ):  # fmt: skip
        form = "original" if line == 1 else "masked"
        note = "who?" if (line, who) == (3, ada) else ""
        store_operations(
            fresh_store, project, who, [decide(items[line], choice, desk=who.name, form_shown=form, note=note)]
        )
    return project, items, people


def lines(store: Store, project: Project, **filters: object) -> list[int]:
    return [row.item.line for row in search_items(store, project, Filters(**filters)).rows]  # type: ignore[arg-type]


FILTERS = [
    ({}, [1, 2, 3, 4, 5, 6]),
    ({"pair": "他/她"}, [1, 2]),
    ({"side": "female"}, [2, 4, 6]),
    ({"pair": "他/她", "side": "female"}, [2]),
    ({"pair": "没有/这对"}, []),
    ({"status": "accepted"}, [1]),
    ({"status": "rejected"}, [2, 3]),
    ({"status": "pending"}, [4, 5, 6]),
    ({"file": "two.txt"}, [4, 5, 6]),
    ({"file": "three.txt"}, []),
    ({"annotator": "Ada"}, [1, 2, 3, 4]),
    ({"annotator": "Bo"}, [1, 2, 3]),
    ({"annotator": "Nobody"}, []),
    ({"annotator": "Bo", "choice": "reject"}, [2, 3]),
    ({"annotator": "Ada", "choice": "reject"}, [3]),
    ({"annotator": "Ada", "choice": "reject", "unfinished": True}, [3, 4]),
    ({"choice": "reject"}, [2, 3]),
    ({"choice": "accept"}, [1, 2]),
    ({"form": "original"}, [1]),
    ({"form": "masked"}, [2, 3, 4]),
    ({"version": 1}, [1, 2, 3, 4]),
    ({"version": 2}, []),
    ({"flag": "unlabelled"}, [5, 6]),
    ({"flag": "partial"}, [4]),
    ({"flag": "split"}, [2]),
    ({"flag": "skipped"}, [5]),
    ({"flag": "notes"}, [3]),
    ({"flag": "mined"}, [2, 3, 6]),
    ({"flag": "mined:names"}, [2, 3]),
    ({"flag": "mined:name"}, []),
    ({"flag": "aside"}, []),
    ({"flag": "known"}, []),
    ({"flag": "mined:names", "side": "male", "text": "100", "choice": "reject"}, [3]),
]


@pytest.mark.parametrize(("filters", "expected"), FILTERS, ids=[repr(filters) for filters, _lines in FILTERS])
def test_each_filter_finds_its_items(
    filters: dict[str, object],
    expected: list[int],
    once: tuple[Store, SixSentences],
) -> None:
    assert lines(once[0], once[1][0], **filters) == expected


SEARCHES = [
    ("老师", [1, 2, 6]),
    ("老师 图书馆", [2]),
    ("图书馆　老师", [2]),
    ('"老师 好"', [6]),
    ("“老师 好”", [6]),
    ("老师 好", [6]),
    ("iphone", [4]),
    ("IPHONE 照片", [4]),
    ("100%", [3]),
    ("100_", [3]),
    ("1%0", []),
    ("100%，", [3]),
    ("'", []),
    ("' OR 1=1 --", []),
    ("   ", [1, 2, 3, 4, 5, 6]),
    ('""', [1, 2, 3, 4, 5, 6]),
    ("。", [1, 2, 3, 4, 5, 6]),
    ("龘", []),
]


@pytest.mark.parametrize(("text", "expected"), SEARCHES)
def test_each_search_finds_its_items(text: str, expected: list[int], once: tuple[Store, SixSentences]) -> None:
    assert lines(once[0], once[1][0], text=text) == expected


def test_an_item_is_found_by_its_id(fresh_store: Store, six_sentences: SixSentences) -> None:
    project, items, _people = six_sentences
    assert lines(fresh_store, project, text=f" {items[4].uid} ") == [4]
    other = create_project(fresh_store, "other")
    assert lines(fresh_store, other, text=items[4].uid) == []


@settings(max_examples=40)
@given(
    word=st.text(st.sampled_from("他她老师 %_\\100iPhone“”图书馆。，" + string.ascii_letters), min_size=1, max_size=5)
)
def test_a_search_matches_a_python_search(once: tuple[Store, SixSentences], word: str) -> None:
    wanted = [
        search_word.lower() if search_word.isascii() else _lower(search_word) for search_word in search_words(word)
    ]
    expected = [line for line, (text, _file, _flags) in enumerate(TEXTS, 1) if all(w in _lower(text) for w in wanted)]
    assert lines(once[0], once[1][0], text=word) == expected


def _lower(text: str) -> str:
    return text.translate(str.maketrans(string.ascii_uppercase, string.ascii_lowercase))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("a b", ["a", "b"]),
        ("a a", ["a"]),
        ('"a b" c', ["a b", "c"]),
        ("“a b”c", ["a b", "c"]),
        ('a"b', ["a", "b"]),
        ('""', []),
        ('" "', []),
        ("护士　医院", ["护士", "医院"]),
    ],
)
def test_a_search_text_is_split_into_words(text: str, words: list[str]) -> None:
    assert search_words(text) == words


def test_filters_find_comments_decisions_and_versions(fresh_store: Store, six_sentences: SixSentences) -> None:
    store, (project, items, people) = fresh_store, six_sentences
    ada, bo = people
    add_comment(store, project, items[4].uid, "Why?", author="Lead", thread=ada)
    rows = store.db.execute("SELECT op_id FROM assignment WHERE item = ?", (items[2].id,)).fetchall()
    decide_case(store, project, items[2].uid, adjudicator="Lead", choice=None, seen=[op for (op,) in rows])
    base = store.db.execute(
        "SELECT op_id FROM assignment WHERE item = ? AND annotator = ?", (items[1].id, bo.id)
    ).fetchone()[0]
    version = guideline(store, project)
    add_guideline(store, project, "New.", version.choices, version.reasons)
    store_operations(store, project, bo, [decide(items[1], "accept", desk=bo.name, base=base)])
    store_operations(store, project, ada, [decide(items[5], "skip", desk=ada.name)])
    store.db.execute("UPDATE item SET shared = 1 WHERE id = ?", (items[6].id,))
    expected = {"comments": [4], "settled": [2], "changed": [1], "skipped": [5], "aside": [5], "shared": [6]}
    assert {flag: lines(store, project, flag=flag) for flag in expected} == expected
    assert lines(store, project, version=2) == [1] and lines(store, project, version=1) == [1, 2, 3, 4]


@pytest.mark.parametrize("flag", [*FLAGS, f"{MINED}x"])
def test_every_flag_is_accepted_as_a_filter(flag: str, once: tuple[Store, SixSentences]) -> None:
    store, (project, items, _people) = once
    assert set(lines(store, project, flag=flag)) <= set(items)


def test_an_annotator_finds_only_own_items(fresh_store: Store, six_sentences: SixSentences) -> None:
    store, (project, items, people) = fresh_store, six_sentences
    ada, bo = people
    add_comment(store, project, items[2].uid, "Why, Ada?", author="Lead", thread=ada)
    add_comment(store, project, items[3].uid, "For all.", author="Lead")
    assert lines(store, project, reader=ada) == [1, 2, 3, 4]
    assert lines(store, project, reader=bo, text="老师") == [1, 2]
    assert lines(store, project, reader=ada, flag="talk") == [2] and lines(store, project, reader=bo, flag="talk") == []
    assert lines(store, project, reader=bo, flag="comments") == [3]
    assert (
        lines(store, project, reader=ada, flag="notes") == [3] and lines(store, project, reader=bo, flag="notes") == []
    )
    for flag in READER_FLAGS:
        assert set(lines(store, project, reader=bo, flag=flag)) <= {1, 2, 3}
    for flag in set(FLAGS) - set(READER_FLAGS):
        with pytest.raises(KeyError):
            search_items(store, project, Filters(flag=flag, reader=bo))


def test_pages_list_every_item_once(once: tuple[Store, SixSentences]) -> None:
    store, (project, *_rest) = once
    pages = [search_items(store, project, Filters(), number, size=4) for number in (1, 2)]
    assert [row.item.line for page in pages for row in page.rows] == [1, 2, 3, 4, 5, 6]
    assert [(page.total, page.number, page.pages) for page in pages] == [(6, 1, 2), (6, 2, 2)]
    assert search_items(store, project, Filters(), 99, size=4) == pages[1]
    assert search_items(store, project, Filters(text="龘"), 3).pages == 1


def test_a_row_has_labels_wanted_labels_and_disagreement(once: tuple[Store, SixSentences]) -> None:
    store, (project, *_rest) = once
    made = {row.item.line: row for row in rows(store, search_ids(store, project, Filters()))}
    assert [(row.labels, row.wanted, row.split) for row in made.values()] == [
        (2, 2, False), (2, 2, True), (2, 2, False), (1, 2, False), (0, 2, False), (0, 2, False),
    ]  # fmt: skip
    assert made[2].item.status == "rejected" and made[1].item.gold == "accept"


def test_unpublished_items_are_not_found(fresh_store: Store, six_sentences: SixSentences) -> None:
    project = six_sentences[0]
    batch = Batch.begin(fresh_store, project, "three.txt")
    batch.add([NewItem("奶奶在老师家。", find("奶奶在老师家。")[0], "three.txt", 1)])
    assert lines(fresh_store, project, text="老师") == [1, 2, 6]
    assert imported_files(fresh_store, project) == ["one.txt", "two.txt"]
    assert "爷爷/奶奶" not in pairs_of(fresh_store, project)
    batch.publish()
    assert lines(fresh_store, project, text="奶奶") == [1]
    assert imported_files(fresh_store, project)[-1] == "three.txt" and "爷爷/奶奶" in pairs_of(fresh_store, project)


def test_items_of_another_project_are_not_found(fresh_store: Store, six_sentences: SixSentences) -> None:
    other = create_project(fresh_store, "other", annotators=("Ada",))
    assert search_items(fresh_store, other, Filters()).total == 0
    with Batch.begin(fresh_store, other, "one.txt") as batch:
        batch.add([NewItem("他是老师。", find("他是老师。")[0], "one.txt", 9)])
        batch.publish()
    assert lines(fresh_store, other, text="老师") == [9] and lines(fresh_store, other, annotator="Ada") == []
    assert lines(fresh_store, six_sentences[0], text="老师") == [1, 2, 6]


def test_a_generation_is_found_by_its_context(fresh_store: Store) -> None:
    project = create_project(fresh_store, "texts", kind="generations", language="en")
    with Batch.begin(fresh_store, project, "g.jsonl") as batch:
        batch.add([NewItem("They left.", None, "g.jsonl", 1, context="Kim went OUT.", key="1", stratum="they")])
        batch.publish()
    assert lines(fresh_store, project, text="out left") == [1] and lines(fresh_store, project, pair="they") == [1]


@pytest.mark.parametrize(
    ("ids", "item", "expected"),
    [([3, 5, 9], 5, (3, 9, 2)), ([3, 5, 9], 3, (None, 5, 1)), ([3], 3, (None, None, 1)), ([3], 4, (None, None, 0))],
)
def test_neighbours_of_an_item_in_a_list(
    ids: list[int], item: int, expected: tuple[int | None, int | None, int]
) -> None:
    assert neighbours(ids, item) == expected


def test_uid_of_an_item(once: tuple[Store, SixSentences]) -> None:
    assert uid_of(once[0], once[1][1][3].id) == once[1][1][3].uid


@pytest.mark.parametrize(
    ("filters", "steps"),
    [
        (Filters(text="老师"), ["SEARCH item USING INTEGER PRIMARY KEY"]),
        (Filters(text="老师", status="rejected", pair="他/她"), ["SEARCH item USING INTEGER PRIMARY KEY"]),
        (
            Filters(annotator="Ada", choice="reject"),
            ["SEARCH item USING INTEGER PRIMARY KEY", "COVERING INDEX label_item"],
        ),
        (Filters(version=1, form="masked"), ["SEARCH item USING INTEGER PRIMARY KEY", "COVERING INDEX label_item"]),
    ],
    ids=["text", "cell and status", "choice", "version and form"],
)
def test_a_search_scans_the_items_once(
    filters: Filters,
    steps: list[str],
    fresh_store: Store,
    six_sentences: SixSentences,
) -> None:
    """SQLite's query plan has one scan of the items, and reads labels from the index alone."""
    statements: list[str] = []
    fresh_store.db.set_trace_callback(statements.append)
    search_ids(fresh_store, six_sentences[0], replace(filters))
    fresh_store.db.set_trace_callback(None)
    plan = "\n".join(row[3] for row in fresh_store.db.execute(f"EXPLAIN QUERY PLAN {statements[-1]}"))
    assert all(step in plan for step in steps), plan
    assert "SCAN item" not in plan and "SCAN label" not in plan and "SCAN assignment" not in plan, plan
