"""Gold labels of a package without all of its labels: they are restored, stay valid, and are never dropped silently."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.adjudication.decisions import case, decide_case, reopen
from evenhand.annotations.browse.history import record_of
from evenhand.annotations.browse.search import Filters, search_items
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.package.write_package import PackageImport, import_package
from evenhand.annotations.files.undo_import import find_import, imports, undo, undo_effect
from evenhand.annotations.items.batch import items
from evenhand.annotations.items.check_derived import stale_items
from evenhand.annotations.items.gold import gold_in_force, recount_item
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.log.verify import verify as verify_log
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.consent import answer_consent
from evenhand.annotations.projects.projects import change_project
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.stored_releases import release_file
from evenhand.annotations.release.verify import verify
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import BadFile
from tests.support.comparisons import compared_project
from tests.support.generations import generations_project
from tests.support.own_schemes import own_project, say
from tests.support.projects import decide, filled_project, new_store
from tests.support.released_project import SOURCE, label
from tests.support.terminal import answered, typed

PEOPLE = ("Ada", "Bo", "Chen")


def golds(store: Store, project: Project) -> list[tuple[str, str | None, str]]:
    """Return text, gold label and status of every item, since public ids change in a second copy."""
    return sorted((item.text, item.gold, item.status) for item in items(store, project))


def bring(store: Store, out: Path, name: str = "back") -> PackageImport:
    with tables_in(out) as members:
        return import_package(store, name, members, out.name)


def released(store: Store, project: Project, folder: Path, version: str = "1.0") -> tuple[Path, str]:
    """Return a release in *folder*, and its content hash."""
    made = make_release(store, project, version)
    out = write_release(store, project, made, folder / f"{project.name}-{version}")
    assert verify(out, store=store, release=made).intact
    return out, made.hash


def consent(store: Store, project: Project, agreeing: set[str]) -> None:
    for annotator in annotators(store, project):
        answer_consent(store, project, annotator, "release", given=annotator.name in agreeing)


def accounted(brought: PackageImport, project_golds: list[tuple[str, str | None, str]]) -> None:
    """Check that every gold label of the package is imported or accounted for in the report."""
    gold = brought.gold
    assert gold.rows == sum(gold is not None for _, gold, _ in project_golds)
    assert gold.rows == gold.here + gold.imported + gold.kept + gold.rejected
    assert (gold.kept, gold.rejected) == (0, 0)


def recounted(store: Store, project: Project) -> None:
    """Check that a recount of every item changes nothing, and that the log is valid."""
    before = golds(store, project)
    with store.write():
        for item in items(store, project):
            recount_item(store, item.id)
    assert golds(store, project) == before and not list(stale_items(store, project))
    verify_log(store)


def comes_back_twice(store: Store, project: Project, folder: Path, silent: set[str]) -> None:
    """Check that a release without the labels of *silent*, and a release of its import, have equal gold and hash."""
    before = golds(store, project)
    out, digest = released(store, project, folder)
    for turn in ("first", "second"):
        with new_store(folder / f"{turn}.db") as other:
            brought = bring(other, out, turn)
            assert golds(other, brought.project) == before
            accounted(brought, before)
            if turn == "first":
                assert brought.gold.left_out is not None
                assert (brought.gold.left_out["annotators"] > 0) == bool(silent)
            recounted(other, brought.project)
            again = bring(other, out, turn)
            assert (again.gold.imported, again.gold.withheld) == (0, 0)
            assert golds(other, brought.project) == before
            out, same = released(other, brought.project, folder)
            assert same == digest


CHOICE = st.sampled_from(("accept", "accept", "reject", None))
CONSENT = st.sets(st.sampled_from(PEOPLE))
ACT = st.sampled_from((None, "accept", "reject", "leave"))


def labelled_sentences(
    store: Store, said: list[tuple[Any, ...]], acts: list[str | None], per_item: int, **rules: Any
) -> Project:
    """Make sentences with these choices of each annotator, and these decisions where labels are complete."""
    made, people = filled_project(store, len(said) + 1, people=PEOPLE, per_item=per_item, gold=rules.pop("gold"))
    made = change_project(store, made, licence="CC0", source_statement=SOURCE, **rules)
    for item, choices in zip(items(store, made), [("accept",) * 3, *said], strict=True):
        for who, choice in zip(people, choices, strict=True):
            if choice is not None:
                label(store, made, who, item.uid, choice, reasons=("name",) if choice == "reject" else ())
    for item, act in zip(list(items(store, made))[1:], acts, strict=False):
        dispute = case(store, made, item.uid)
        differ = len({label_.choice for label_ in dispute.labels}) > 1 and len(dispute.labels) >= per_item
        if act is not None and differ and (act != "accept" or made.rescue or made.gold == "majority"):
            choice = None if act == "leave" else act
            decide_case(store, made, item.uid, adjudicator="Vera", choice=choice, seen=dispute.seen, why="so")
    return made


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.tuples(CHOICE, CHOICE, CHOICE), min_size=1, max_size=5),
    st.lists(ACT, min_size=5, max_size=5), CONSENT, st.integers(1, 3), st.sampled_from(("unanimous", "majority")),
    st.booleans(), st.sampled_from(("all", "stop")),
)  # fmt: skip
def test_gold_of_sentences_is_restored_without_all_consents(
    said: list[tuple[Any, ...]], acts: list[str | None], agreeing: set[str], per_item: int, gold: str, rescue: bool,
    plan: str,
) -> None:  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with new_store(folder / "one.db") as store:
            plan = "all" if gold == "majority" else plan  # only unanimity stops at a first reject
            made = labelled_sentences(store, said, acts, per_item, gold=gold, rescue=rescue, plan=plan)
            consent(store, made, agreeing)
            comes_back_twice(store, made, folder, set(PEOPLE) - agreeing)


def generations(store: Store, folder: Path) -> Project:
    made = generations_project(store, "set", 4, annotators=PEOPLE, per_item=3)
    for place, item in enumerate(items(store, made)):
        for number, who in enumerate(annotators(store, made)):
            choice = "no_pronoun" if place == 3 and number == 2 else "correct"
            label(store, made, who, item.uid, choice, extraneous=False)
    return made


def own_choices(store: Store, folder: Path) -> Project:
    made = own_project(store, "set", 4, annotators=PEOPLE, per_item=3)
    for place in range(4):
        for who in PEOPLE:
            choice = "neither" if place == 3 and who == "Bo" else "helpful"
            assert say(store, made, who, place, choice).stored
    return made


def comparisons(store: Store, folder: Path) -> Project:
    made, people = compared_project(store, folder, 4, people=PEOPLE)
    for place, item in enumerate(items(store, made)):
        for who in people:
            choice = "tie" if place == 3 and who.name == "Chen" else "first"
            operation = decide(item, choice, desk=who.name, left="first")
            assert store_operations(store, made, who, [operation])[0].stored
    return made


@pytest.mark.parametrize("make", [generations, own_choices, comparisons])
def test_gold_of_other_kinds_is_restored(
    fresh_store: Store, tmp_path: Path, make: Callable[[Store, Path], Project]
) -> None:
    made = make(fresh_store, tmp_path)
    split = list(items(fresh_store, made))[3].uid
    seen = case(fresh_store, made, split).seen
    decided = {"generations": "no_pronoun", "own_choices": "neither", "comparisons": "tie"}[make.__name__]
    flag = {"extraneous": False} if make is generations else {}
    decide_case(
        fresh_store,
        made,
        split,
        adjudicator="Vera",
        choice=decided,
        seen=seen,
        why="read twice",
        **flag,  # type: ignore[arg-type]
    )
    made = change_project(fresh_store, made, licence="CC0", source_statement=SOURCE, open_text=True)
    consent(fresh_store, made, {"Ada", "Bo"})
    assert {gold for _, gold, _ in golds(fresh_store, made)} >= {decided}
    comes_back_twice(fresh_store, made, tmp_path, {"Chen"})


# --- what happens to an imported gold label here


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a release of three sentences, three labels each: accepted, rejected, accepted; Chen refuses."""
    with new_store(tmp_path / "from.db") as store:
        choices = [("reject", "reject", "reject"), ("accept", "accept", "accept")]
        made = labelled_sentences(store, choices, [], 3, gold="unanimous")
        consent(store, made, {"Ada", "Bo"})
        return released(store, made, tmp_path)[0]


def third(store: Store, project: Project) -> Annotator:
    return annotators(store, project, active=False)[2]


def test_local_labels_decide_once_the_item_is_complete(fresh_store: Store, package: Path) -> None:
    back = bring(fresh_store, package).project
    first = next(iter(items(fresh_store, back)))
    chen = third(fresh_store, back)
    assert chen.name == "A3" and gold_in_force(fresh_store, first.id) == ("accept", package.name)
    label(fresh_store, back, chen, first.uid, "reject", reasons=("name",))
    recounted(fresh_store, back)
    assert next(iter(items(fresh_store, back))).gold == "reject" and gold_in_force(fresh_store, first.id) is None
    label(fresh_store, back, chen, first.uid, None)  # undone: too few labels again
    assert next(iter(items(fresh_store, back))).gold == "accept" and gold_in_force(fresh_store, first.id) is not None


def test_a_new_label_that_leaves_labels_missing_changes_nothing(fresh_store: Store, package: Path) -> None:
    back = bring(fresh_store, package).project
    change_project(fresh_store, back, per_item=4)
    first = next(iter(items(fresh_store, back)))
    label(fresh_store, back, third(fresh_store, back), first.uid, "reject", reasons=("name",))
    recounted(fresh_store, back)
    assert next(iter(items(fresh_store, back))).gold == "accept"


def test_a_decision_here_overrides_and_reopening_restores(fresh_store: Store, package: Path) -> None:
    back = change_project(fresh_store, bring(fresh_store, package).project, per_item=2)
    first = next(iter(items(fresh_store, back)))
    assert first.gold == "accept"
    made = decide_case(
        fresh_store, back, first.uid, adjudicator="Vera", choice="reject", seen=case(fresh_store, back, first.uid).seen,
        why="read again",
    )  # fmt: skip
    assert next(iter(items(fresh_store, back))).gold == "reject" and gold_in_force(fresh_store, first.id) is None
    reopen(fresh_store, back, first.uid, adjudicator="Vera", base=made.op_id)
    assert next(iter(items(fresh_store, back))).gold == "accept"
    recounted(fresh_store, back)


def test_undo_withdraws_gold_labels_and_another_import_restores_them(fresh_store: Store, package: Path) -> None:
    back = bring(fresh_store, package).project
    (key,) = (import_.key for import_ in imports(fresh_store, back) if import_.gold)
    wanted = find_import(fresh_store, back, key)
    assert wanted.rows == undo_effect(fresh_store, back, wanted).labels == 3
    assert undo(fresh_store, back, key).labels == 3
    assert {gold for _, gold, _ in golds(fresh_store, back)} == {None}
    recounted(fresh_store, back)
    again = bring(fresh_store, package)
    assert again.gold.imported == 3
    assert sorted(gold for _, gold, _ in golds(fresh_store, back) if gold) == ["accept", "accept", "reject"]
    recounted(fresh_store, back)


def test_undo_of_the_items_hides_them_and_their_import_restores_the_gold_labels(
    fresh_store: Store, package: Path
) -> None:
    brought = bring(fresh_store, package)
    before = golds(fresh_store, brought.project)
    key = next(import_.key for import_ in imports(fresh_store, brought.project) if import_.kind == "items")
    assert undo(fresh_store, brought.project, key).hidden == 3
    assert golds(fresh_store, brought.project) == []
    bring(fresh_store, package)
    assert golds(fresh_store, brought.project) == before


def test_imported_gold_labels_are_exported_again(fresh_store: Store, package: Path, tmp_path: Path) -> None:
    back = bring(fresh_store, package).project
    out = export_file(fresh_store, back, tmp_path / "whole.zip", format="package", names=True).out
    with new_store(tmp_path / "third.db") as other:
        brought = bring(other, out)
        assert golds(other, brought.project) == golds(fresh_store, back)
        assert (brought.gold.imported, brought.gold.left_out) == (3, None)


def test_existing_gold_labels_are_kept(fresh_store: Store, package: Path) -> None:
    back = bring(fresh_store, package).project
    first = next(iter(items(fresh_store, back)))
    label(fresh_store, back, third(fresh_store, back), first.uid, "reject", reasons=("name",))
    gold = bring(fresh_store, package).gold
    assert (gold.rows, gold.here, gold.imported, gold.kept) == (3, 2, 0, 1)
    assert next(iter(items(fresh_store, back))).gold == "reject"


def test_a_second_copy_in_one_database_gets_the_gold_labels(fresh_store: Store, package: Path) -> None:
    first, second = (bring(fresh_store, package, name) for name in ("one", "two"))
    assert golds(fresh_store, first.project) == golds(fresh_store, second.project)
    assert second.gold.imported == 3


@pytest.mark.parametrize(
    "line",
    ['{"item": "x", "gold": "accept"}', '{"item": 3, "gold": "accept"}', "[1]", '{"item": "FIRST", "gold": {"a": 1}}'],
)
def test_a_damaged_gold_label_refuses_the_package(fresh_store: Store, package: Path, line: str) -> None:
    gold = package / "package" / "gold.jsonl"
    first = json.loads(gold.read_text("utf-8").splitlines()[0])["item"]
    gold.write_text(gold.read_text("utf-8") + line.replace("FIRST", first) + "\n", "utf-8")
    with pytest.raises(BadFile):
        bring(fresh_store, package)
    assert fresh_store.db.execute("SELECT count(*) FROM project").fetchone()[0] == 0


def test_a_gold_label_with_another_choice_refuses_the_package(fresh_store: Store, package: Path) -> None:
    gold = package / "package" / "gold.jsonl"
    gold.write_text(gold.read_text("utf-8").replace('"gold": "accept"', '"gold": "maybe"'), "utf-8")
    with pytest.raises(BadFile, match="maybe is not a choice"):
        bring(fresh_store, package)


def test_a_package_without_its_items_is_refused_with_the_name_of_the_part(package: Path, tmp_path: Path) -> None:
    (package / "package" / "items.jsonl").unlink()
    for format in ("auto", "package"):
        ended = typed("import", "back", package / "package", "--format", format, "--db", tmp_path / "to.db")
        assert ended.code == 2 and "its items.jsonl is missing" in ended.stderr, ended


# --- where it is shown


def test_the_origin_of_imported_gold_is_shown(fresh_store: Store, package: Path) -> None:
    back = bring(fresh_store, package).project
    page = search_items(fresh_store, back, Filters(flag="imported_gold"))
    assert page.total == 3 and all(row.imported_gold for row in page.rows)
    record = record_of(fresh_store, back, page.rows[0].item.uid)
    assert [note.message[:35] for note in record.because] == [
        "{labels} of {wanted} labels so far.", "The gold label comes from {file}, w",
    ]  # fmt: skip
    (entry,) = (event for event in record.history if event.kind == "gold")
    assert entry.data == {"package": package.name, "choice": "accept", "holds": True}
    made = make_release(fresh_store, back, "2.0")
    for name in ("datasheet.en.md", "method.en.md"):
        text = release_file(fresh_store, made, name).decode()
        assert f"3 gold labels came from the package {package.name}" in text
        assert "They hold until labels made here or adjudication decide." in text
    method = release_file(fresh_store, made, "method.en.md").decode()
    assert "or by a gold label that came from a package (see above)." in method
    for name in ("datasheet.zh.md", "method.zh.md"):
        assert f"3 个最终标签取自项目包 {package.name}" in release_file(fresh_store, made, name).decode()
    facts = json.loads(release_file(fresh_store, made, "release.json"))
    assert [label["labels"] for label in facts["provenance"]["gold_labels"]] == [3]


def test_the_command_counts_imported_and_missing_gold_labels(package: Path, tmp_path: Path) -> None:
    answer = answered("import", "back", package, "--db", tmp_path / "to.db")
    assert answer["gold_labels"] == {
        "rows": 3, "here": 0, "imported": 3, "kept": 0, "rejected": 0, "withheld": 0,
        "left_out": {"annotators": 1, "labels": 3, "comments": 0, "open_cases": 0},
    }  # fmt: skip
