"""One label each and a random sample labelled twice: who is in it, and that exactly that many labels are made."""

import json
import math
import random
import subprocess
import sys
import textwrap
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch, NewItem
from evenhand.annotations.items.wanted_labels import doubled_sample, draw_position, labels_planned, wanted_in_sample
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.own import own_progress
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import annotators, change_project, counts, create_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Project
from tests.support.projects import PATIENT, broken_rules, database, decide, new_store

ROOT = Path(__file__).resolve().parents[3]
MODELS, PRONOUNS = ("alpha", "beta", "gamma"), ("he", "she", "they", "xe")
IDENTITIES = st.sets(st.binary(min_size=1, max_size=6), max_size=30)


def written(number: int, first: int = 0) -> list[NewItem]:
    """Return generations of three models and four pronouns in turn, own sentences."""
    made = []
    for n in range(first, first + number):
        model, pronoun = MODELS[n % 3], PRONOUNS[n // 3 % 4]
        context = f"Kit number {n} waters the ferns and "
        text = f"then {pronoun} closes window {n}."
        extra = {"model": model, "pronouns": [pronoun]}
        made.append(
            NewItem(text, None, "made.jsonl", n + 1, extra, context=context, key=text, stratum=f"{model} / {pronoun}")
        )
    return made


def generations(
    store: Store, number: int, people: tuple[str, ...], per_item: int, doubled: int | None, seed: int = 3
) -> Project:
    made = create_project(
        store, "judged", kind="generations", language="en", annotators=people, per_item=per_item, seed=seed
    )
    made = change_project(store, made, doubled=doubled)
    add(store, made, written(number))
    return made


def add(store: Store, project: Project, items: list[NewItem]) -> None:
    with Batch.begin(store, project, "made.jsonl") as batch:
        batch.add(items)
        batch.publish()


def wanted_counts(store: Store) -> Counter[int]:
    return Counter(row[0] for row in store.db.execute("SELECT wanted FROM item"))


def doubled_texts(store: Store) -> set[str]:
    return {row[0] for row in store.db.execute("SELECT text FROM item WHERE wanted > 1")}


@given(IDENTITIES, st.integers(0, 40), st.integers(0, 3))
def test_the_sample_is_exact_and_the_order_does_not_matter(found: set[bytes], number: int, seed: int) -> None:
    chosen = doubled_sample(seed, sorted(found), number)
    assert chosen == doubled_sample(seed, sorted(found, reverse=True), number)
    assert len(chosen) == min(number, len(found)) and chosen <= found


@given(IDENTITIES, st.integers(0, 10), st.integers(0, 3))
def test_a_larger_sample_contains_the_smaller_one(found: set[bytes], number: int, seed: int) -> None:
    assert doubled_sample(seed, found, number) <= doubled_sample(seed, found, number + 1)


def test_items_are_drawn_equally_often() -> None:
    results = [bytes([n]) for n in range(10)]
    drawn_often = Counter(identity for seed in range(1_000) for identity in doubled_sample(seed, results, 3))
    assert all(abs(drawn_often[identity] - 300) < 5 * math.sqrt(1_000 * 0.3 * 0.7) for identity in results)
    assert draw_position(0, b"a") != draw_position(1, b"a")


@pytest.mark.parametrize(
    ("per_item", "doubled", "inside", "expected"),
    [(2, None, False, 2), (2, None, True, 2), (2, 5, True, 2), (2, 5, False, 1), (3, 0, False, 1)],
)
def test_wanted_number_of_an_item_in_or_outside_the_sample(
    per_item: int, doubled: int | None, inside: bool, expected: int
) -> None:
    assert wanted_in_sample(per_item, doubled, b"x", {b"x"} if inside else set()) == expected


@pytest.mark.parametrize(
    ("per_item", "doubled", "items", "expected"), [(2, 200, 2_400, 2_600), (4, None, 25, 100), (3, 50, 20, 60)]
)
def test_planned_labels_count_the_sample_twice(
    fresh_store: Store, per_item: int, doubled: int | None, items: int, expected: int
) -> None:
    made = create_project(fresh_store, "planned", kind="generations", per_item=per_item)
    assert labels_planned(change_project(fresh_store, made, doubled=doubled), items) == expected


def test_publishing_draws_the_sample(fresh_store: Store) -> None:
    generations(fresh_store, 60, ("Ada", "Bo"), per_item=2, doubled=12)
    assert wanted_counts(fresh_store) == {1: 48, 2: 12}


def test_the_sample_is_reproducible_in_another_database(fresh_store: Store, tmp_path: Path) -> None:
    generations(fresh_store, 60, ("Ada", "Bo"), per_item=2, doubled=12)
    with Store.open(tmp_path / "other.db") as other:
        made = create_project(other, "elsewhere", kind="generations", per_item=2, seed=3)
        made = change_project(other, made, doubled=12)
        rows = written(60)
        random.Random(5).shuffle(rows)
        add(other, made, rows)
        assert doubled_texts(other) == doubled_texts(fresh_store)


def test_the_sample_includes_a_second_file(fresh_store: Store) -> None:
    made = generations(fresh_store, 40, ("Ada", "Bo"), per_item=2, doubled=10)
    before = doubled_texts(fresh_store)
    add(fresh_store, made, written(40, first=100))
    after = doubled_texts(fresh_store)
    assert len(after) == 10 and after - before and after & before


def test_an_item_dropped_from_the_sample_is_settled(fresh_store: Store) -> None:
    made = generations(fresh_store, 12, ("Ada", "Bo"), per_item=2, doubled=12)
    ada = annotators(fresh_store, made)[0]
    for item in claim(fresh_store, made, ada):
        assert store_operations(fresh_store, made, ada, [decide(item, "correct")])[0].stored
    assert counts(fresh_store, made).accepted == 0  # one of two labels each
    add(fresh_store, made, written(400, first=100))
    left = 12 - len(doubled_texts(fresh_store) & {item.text for item in written(12)})
    assert left > 0 and counts(fresh_store, made).accepted == left
    assert broken_rules(fresh_store) == []


@pytest.mark.parametrize(("doubled", "expected"), [(5, {1: 25, 2: 5}), (0, {1: 30}), (None, {2: 30}), (99, {2: 30})])
def test_changing_the_sample_size_updates_wanted_numbers(
    fresh_store: Store, doubled: int | None, expected: dict[int, int]
) -> None:
    made = generations(fresh_store, 30, ("Ada", "Bo"), per_item=2, doubled=10)
    change_project(fresh_store, made, doubled=doubled)
    assert wanted_counts(fresh_store) == expected


def work(store: Store, project: Project, person: Annotator) -> list[str]:
    """Label everything that this annotator gets; the strata in order."""
    strata = []
    while items := claim(store, project, person, want=10):
        for item in items:
            assert store_operations(store, project, person, [decide(item, "correct")])[0].stored
            strata.append(item.pair)
    return strata


def test_models_and_pronouns_are_shuffled(fresh_store: Store) -> None:
    made = generations(fresh_store, 240, ("Ada",), per_item=1, doubled=None)
    strata = work(fresh_store, made, annotators(fresh_store, made)[0])
    assert Counter(strata) == Counter(item.stratum for item in written(240))
    assert len(set(strata[:30])) > 6  # not stratum after stratum
    rounds = [strata[start : start + 12] for start in range(0, 240, 12)]
    assert len({tuple(texts) for texts in rounds}) == len(rounds)  # nor the same twelve again and again
    same = sum(first == second for first, second in pairwise(strata))
    # in a shuffle of 12 strata of 20 items, 239 x 19/239 = 19 neighbours are of one stratum
    assert abs(same - 19) < 5 * math.sqrt(19)


def test_the_order_depends_on_the_seed_and_not_on_labels(tmp_path: Path) -> None:
    orders = []
    for name, seed, choice in (("a", 1, "correct"), ("b", 1, "no_pronoun"), ("c", 2, "correct")):
        with new_store(tmp_path / f"{name}.db") as store:
            made = generations(store, 60, ("Ada",), per_item=1, doubled=None, seed=seed)
            ada, order = annotators(store, made)[0], []
            while items := claim(store, made, ada, want=5):
                order += [item.text for item in items]
                for item in items:
                    assert store_operations(store, made, ada, [decide(item, choice)])[0].stored
            orders.append(order)
    assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == sorted(orders[2])


# Leases and labels until nothing is left; prints what it was handed.
WORKER = """
    import json, sys, uuid
    from evenhand.annotations.labels.operations import store_operations
    from evenhand.annotations.projects.projects import annotator, project
    from evenhand.annotations.queue.leases import claim
    from evenhand.annotations.database.store import Store
    from evenhand.annotations.types import Operation
    with Store.open(sys.argv[1]) as store:
        made = project(store, "judged")
        person = annotator(store, made, sys.argv[2])
        sys.stdin.readline()
        handed = []
        while items := claim(store, made, person, want=6):
            handed += [item.uid for item in items]
            made_now = [Operation(uuid.uuid4().hex, one.uid, "correct", "d", n) for n, one in enumerate(items)]
            assert all(answer.stored for answer in store_operations(store, made, person, made_now))
        print(json.dumps(handed))
"""


def test_three_processes_fill_a_doubly_labelled_sample_exactly(fresh_store: Store, tmp_path: Path) -> None:
    people = ("Ada", "Bo", "Chen")
    made = generations(fresh_store, 200, people, per_item=2, doubled=40)
    command = [sys.executable, "-c", PATIENT + textwrap.dedent(WORKER), str(database(tmp_path))]
    started = [
        subprocess.Popen([*command, name], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in people
    ]
    for process in started:  # all of them have opened the database, or are about to
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    handed = [json.loads(process.communicate(timeout=600)[0]) for process in started]
    assert all(process.returncode == 0 for process in started)
    per_item = Counter(uid for own in handed for uid in own)
    rows = label_rows(fresh_store, made)
    assert Counter(row["item"] for row in rows) == per_item
    assert Counter(per_item.values()) == {1: 160, 2: 40} and len(rows) == labels_planned(made, 200)
    chosen = {row[0] for row in fresh_store.db.execute("SELECT uid FROM item WHERE wanted = 2")}
    assert {uid for uid, number in per_item.items() if number == 2} == chosen
    assert all(len(set(own)) == len(own) for own in handed)
    assert counts(fresh_store, made).accepted == 200 and broken_rules(fresh_store) == []


def test_the_share_of_an_annotator_counts_doubled_items(fresh_store: Store) -> None:
    made = generations(fresh_store, 60, ("Ada", "Bo", "Chen"), per_item=2, doubled=12)
    ada = annotators(fresh_store, made)[0]
    assert own_progress(fresh_store, made, ada).total == (60 + 12) / 3
    assert own_progress(fresh_store, change_project(fresh_store, made, doubled=None), ada).total == 120 / 3
