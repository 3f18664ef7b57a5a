"""Undoing imports: touched items are hidden and can be restored, others are deleted, labels are appended."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import import_file
from evenhand.annotations.files.import_labels import LabelImport, store_labels
from evenhand.annotations.files.label_files import label_rows_in, open_labels
from evenhand.annotations.files.undo_import import find_import, imports, undo, undo_effect
from evenhand.annotations.items.batch import Batch, NewItem, item, items
from evenhand.annotations.items.wanted_labels import doubled_sample
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.own import own_progress
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import annotators, change_project, counts, create_project
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.readiness import readiness
from evenhand.annotations.types import Operation, Project
from evenhand.core.errors import NotFound, Refused
from evenhand.core.text.keywords import find
from tests.conftest import SENTENCES
from tests.support.projects import filled_project, new_items, new_store
from tests.support.released_project import ready_project, work

ROOT = Path(__file__).resolve().parents[3]


def operation(number: int, uid: str, choice: str | None, base: str | None = None, **more: Any) -> Operation:
    reasons = ("stereotype",) if choice == "reject" else ()
    return Operation(f"op-{number}", uid, choice, "desk", number, base, note="why" if reasons else "", **more)


def label(store: Store, project: Project, name: str, uid: str, choice: str, number: int) -> None:
    person = next(annotator for annotator in annotators(store, project) if annotator.name == name)
    (answer,) = store_operations(store, project, person, [operation(number, uid, choice)])
    assert answer.stored, answer.reason


def state(store: Store, project: Project) -> Any:
    """Return everything that counts: items, counts, every annotator's own progress, current labels."""
    return (
        sorted((item.text, item.status) for item in items(store, project)),
        counts(store, project).cells,
        [(annotator.name, own_progress(store, project, annotator).cells) for annotator in annotators(store, project)],
        [(row["text"], row["annotator"], row["choice"]) for row in label_rows(store, project)],
    )


def counted(store: Store) -> None:
    """Check that census and tallies equal a recount, and that nothing in them is below zero."""
    query = (
        "SELECT item.cell, labels, status, aside, count(*) FROM item JOIN batch ON batch.id = item.batch"
        " WHERE published > 0 GROUP BY 1, 2, 3, 4"
    )
    census = store.db.execute("SELECT cell, labels, status, aside, items FROM census WHERE items > 0").fetchall()
    assert sorted(census) == sorted(store.db.execute(query).fetchall())
    query = (
        "SELECT assignment.annotator, item.cell, sum(state <> 'released'), count(latest) FROM assignment"
        " JOIN item ON item.id = assignment.item JOIN batch ON batch.id = item.batch WHERE published > 0 GROUP BY 1, 2"
    )
    tally = store.db.execute("SELECT annotator, cell, handed, labelled FROM tally WHERE handed > 0").fetchall()
    assert sorted(tally) == sorted(row for row in store.db.execute(query) if row[2])


def second_file(store: Store, project: Project, texts: list[str]) -> str:
    with Batch.begin(store, project, "second.txt") as batch:
        batch.add(NewItem(text, find(text)[0], "second.txt", line) for line, text in enumerate(texts, 1))
        batch.publish()
    return imports(store, project)[-1].key


MORE = ["他昨天修好了自行车。", "她把窗户擦得很亮。", "爸爸在读一本旧小说。", "妈妈正在给花浇水。"]


def test_an_untouched_import_leaves_nothing_behind(fresh_store: Store, sample_project: Project) -> None:
    before = state(fresh_store, sample_project)
    key = second_file(fresh_store, sample_project, MORE)
    assert undo_effect(fresh_store, sample_project, find_import(fresh_store, sample_project, key)).deleted == len(MORE)
    done = undo(fresh_store, sample_project, key, author="Lin")
    assert (done.deleted, done.hidden, done.labels) == (4, 0, 0)
    assert state(fresh_store, sample_project) == before
    counted(fresh_store)
    assert fresh_store.db.execute("SELECT count(*) FROM item").fetchone() == (len(SENTENCES),)
    listed = find_import(fresh_store, sample_project, key)
    assert listed.undone is not None and listed.rows == 0
    (event,) = events(fresh_store, sample_project, action="import_undone")
    assert (event.author, event.data["file"], event.data["items"]) == ("Lin", "second.txt", 4)


def test_a_label_of_an_undone_item_counts_after_its_import_is_repeated(
    fresh_store: Store, sample_project: Project
) -> None:
    key = second_file(fresh_store, sample_project, MORE)
    ada = annotators(fresh_store, sample_project)[0]
    held = [item for item in claim(fresh_store, sample_project, ada) if item.text in MORE]
    assert len(held) == len(MORE)
    undo(fresh_store, sample_project, key)
    choices = ("accept", "reject", "skip", None)
    sent = [operation(n, entry.uid, choice) for n, (entry, choice) in enumerate(zip(held, choices, strict=True))]
    assert all(answer.stored for answer in store_operations(fresh_store, sample_project, ada, sent))
    counted(fresh_store)
    assert own_progress(fresh_store, sample_project, ada).labelled == 0 == counts(fresh_store, sample_project).accepted
    assert label_rows(fresh_store, sample_project, which="all") == []
    second_file(fresh_store, sample_project, MORE)
    counted(fresh_store)
    results = {row["text"]: row["choice"] for row in label_rows(fresh_store, sample_project)}
    assert results == {held[0].text: "accept", held[1].text: "reject"}
    assert held[3].uid in {item.uid for item in claim(fresh_store, sample_project, ada, now=4e9)}


def test_restored_items_take_part_in_the_doubly_labelled_sample(fresh_store: Store) -> None:
    """A doubly labelled sample is drawn from the whole project, also after items were restored."""
    project, (ada, _) = filled_project(fresh_store, 30, people=("Ada", "Bo"), per_item=2)
    project = change_project(fresh_store, project, doubled=4)
    key = second_file(fresh_store, project, MORE)
    touched = [item for item in items(fresh_store, project) if item.text in MORE]
    store_operations(fresh_store, project, ada, [operation(n, entry.uid, "accept") for n, entry in enumerate(touched)])
    undo(fresh_store, project, key)
    second_file(fresh_store, project, MORE)
    rows = fresh_store.db.execute("SELECT hash, wanted FROM item").fetchall()
    sample = doubled_sample(project.seed, [bytes(row[0]) for row in rows], 4)
    assert {bytes(row[0]) for row in rows if row[1] == 2} == sample and len(rows) == 34
    counted(fresh_store)


def test_a_non_member_cannot_label_a_withdrawn_item(fresh_store: Store, sample_project: Project) -> None:
    key = second_file(fresh_store, sample_project, MORE)
    ada, bo, _ = annotators(fresh_store, sample_project)
    held = [item for item in claim(fresh_store, sample_project, ada) if item.text in MORE]
    undo(fresh_store, sample_project, key)
    (answer,) = store_operations(fresh_store, sample_project, bo, [operation(1, held[0].uid, "accept")])
    assert not answer.stored


def test_labelled_items_are_hidden_and_restored_with_their_labels(
    fresh_store: Store, sample_project: Project, tmp_path: Path
) -> None:
    key = second_file(fresh_store, sample_project, MORE)
    uids = {entry.text: entry.uid for entry in items(fresh_store, sample_project)}
    for number, name in enumerate(("Ada", "Bo", "Chen")):
        label(fresh_store, sample_project, name, uids[MORE[0]], "accept", number)
    label(fresh_store, sample_project, "Ada", uids[MORE[1]], "reject", 10)
    label(fresh_store, sample_project, "Bo", uids[SENTENCES[0]], "accept", 11)
    full = state(fresh_store, sample_project)
    done = undo(fresh_store, sample_project, key)
    assert (done.deleted, done.hidden, done.labels) == (2, 2, 4)
    counted(fresh_store)
    with pytest.raises(NotFound):
        item(fresh_store, sample_project, uids[MORE[0]])
    assert [row["text"] for row in label_rows(fresh_store, sample_project, which="all")] == [SENTENCES[0]]
    export_file(fresh_store, sample_project, tmp_path / "l.csv", format="labels")
    assert MORE[0] not in (tmp_path / "l.csv").read_text(encoding="utf-8")
    result = agreement(fresh_store, sample_project)
    assert (result.all_items, result.items) == (len(SENTENCES), 1)
    ada = annotators(fresh_store, sample_project)[0]
    handed = {entry.text for entry in claim(fresh_store, sample_project, ada, want=100)}
    assert not handed & set(MORE)
    (late,) = store_operations(fresh_store, sample_project, ada, [operation(12, uids[MORE[0]], "accept")])
    assert late.stored  # from a desk that was offline: it waits with its item
    counted(fresh_store)
    # Settings change in between, and the text is imported again: items and labels are as if there had been no undo.
    project = change_project(fresh_store, sample_project, gold="majority")
    project = change_project(fresh_store, project, gold="unanimous")
    (tmp_path / "again.txt").write_text("\n".join(MORE[:3]), encoding="utf-8")
    report = import_file(fresh_store, project, tmp_path / "again.txt")
    assert (report.imported, report.duplicates) == (3, 0)
    counted(fresh_store)
    for person in annotators(fresh_store, project):  # what is handed out is not what this is about
        fresh_store.db.execute("UPDATE assignment SET state = 'released' WHERE state = 'leased'")
        assert person
    back = state(fresh_store, project)
    assert back[0] == [row for row in full[0] if row[0] != MORE[3]]
    assert sorted(back[3]) == sorted(full[3])
    assert item(fresh_store, project, uids[MORE[0]]).status == "accepted"


def test_an_import_is_undone_once_and_not_during_another_import(fresh_store: Store, sample_project: Project) -> None:
    key = second_file(fresh_store, sample_project, MORE)
    with Batch.begin(fresh_store, sample_project, "third.txt") as batch:
        with pytest.raises(Refused, match="Another file"):
            undo(fresh_store, sample_project, key)
        batch.discard()
    undo(fresh_store, sample_project, key)
    with pytest.raises(Refused, match="was already undone on"):
        undo(fresh_store, sample_project, key)
    with pytest.raises(NotFound):
        undo(fresh_store, sample_project, "items-99")
    with pytest.raises(NotFound):
        undo(fresh_store, sample_project, "labels-1")


def test_a_failed_repeated_import_restores_nothing(fresh_store: Store, sample_project: Project) -> None:
    key = second_file(fresh_store, sample_project, MORE)
    uid = next(entry.uid for entry in items(fresh_store, sample_project) if entry.text == MORE[0])
    label(fresh_store, sample_project, "Ada", uid, "accept", 1)
    undo(fresh_store, sample_project, key)
    before = state(fresh_store, sample_project)
    with pytest.raises(RuntimeError), Batch.begin(fresh_store, sample_project, "again.txt") as batch:
        batch.add([NewItem(MORE[0], find(MORE[0])[0], "again.txt", 1)])
        raise RuntimeError
    assert state(fresh_store, sample_project) == before
    counted(fresh_store)
    assert second_file(fresh_store, sample_project, MORE)
    assert item(fresh_store, sample_project, uid).text == MORE[0]


def bring(store: Store, project: Project, path: Path) -> LabelImport:
    return store_labels(store, project, path.name, label_rows_in(open_labels(path)))


def labelled_file(store: Store, project: Project, path: Path) -> Path:
    """Return a file of labels by three people on the sentences of the project, from another database."""
    with Store.open(path.with_suffix(".db")) as other:
        twin = create_project(other, "twin", annotators=("Ada", "Bo", "Chen"), seed=1)
        export_file(store, project, path.with_suffix(".jsonl"), format="jsonl")
        import_file(other, twin, path.with_suffix(".jsonl"))
        for number, entry in enumerate(items(other, twin)):
            for place, name in enumerate(("Ada", "Bo", "Chen")):
                label(
                    other,
                    twin,
                    name,
                    entry.uid,
                    "reject" if (number + place) % 4 == 0 else "accept",
                    number * 3 + place,
                )
        export_file(other, twin, path, format="labels", names=True)
    return path


def test_undoing_a_label_file_withdraws_only_current_labels(
    fresh_store: Store, sample_project: Project, tmp_path: Path
) -> None:
    path = labelled_file(fresh_store, sample_project, tmp_path / "labels.csv")
    before = state(fresh_store, sample_project)
    report = bring(fresh_store, sample_project, path)
    assert report.imported == 24
    full = state(fresh_store, sample_project)
    key = imports(fresh_store, sample_project)[-1].key
    assert key == "labels-1"
    entry = next(iter(items(fresh_store, sample_project)))
    ada = annotators(fresh_store, sample_project)[0]
    (row,) = [r for r in label_rows(fresh_store, sample_project) if r["item"] == entry.uid and r["annotator"] == "Ada"]
    store_operations(
        fresh_store, sample_project, ada, [operation(500, entry.uid, "accept", row["op_id"])]
    )  # she changed her mind
    done = undo(fresh_store, sample_project, key, author="Lin")
    assert (done.labels, done.kept) == (23, 1)
    assert [(r["item"], r["annotator"]) for r in label_rows(fresh_store, sample_project)] == [(entry.uid, "Ada")]
    counted(fresh_store)
    with pytest.raises(Refused, match="was already undone on"):
        undo(fresh_store, sample_project, key)
    store_operations(fresh_store, sample_project, ada, [operation(501, entry.uid, None, "op-500")])
    assert state(fresh_store, sample_project)[0] == before[0]
    # The same file again: the labels are restored, once; a third time adds nothing.
    again = bring(fresh_store, sample_project, path)
    assert (again.imported, again.duplicates) == (23, 1)
    assert sorted(state(fresh_store, sample_project)[3]) == sorted(
        row for row in full[3] if row[:2] != (entry.text, "Ada")
    )
    third = bring(fresh_store, sample_project, path)
    assert (third.imported, third.beside, third.duplicates) == (0, 0, 24)
    counted(fresh_store)


def test_a_package_with_undone_labels_is_imported_once(
    fresh_store: Store, sample_project: Project, tmp_path: Path
) -> None:
    bring(fresh_store, sample_project, labelled_file(fresh_store, sample_project, tmp_path / "labels.csv"))
    undo(fresh_store, sample_project, "labels-1")
    export_file(
        fresh_store, sample_project, tmp_path / "history.jsonl", format="labels-jsonl", names=True, history=True
    )
    labels = fresh_store.db.execute("SELECT count(*) FROM label").fetchone()
    for _ in range(2):
        bring(fresh_store, sample_project, tmp_path / "history.jsonl")
        assert label_rows(fresh_store, sample_project) == []
    assert labels == (48,)
    assert fresh_store.db.execute("SELECT count(*) FROM label").fetchone() == (96,)  # once more, and not a third time


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 2), st.booleans()), max_size=14), st.booleans())
def test_labels_leases_and_undos_in_any_order_keep_the_counts(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[int, int, bool]], early: bool
) -> None:
    with new_store(tmp_path_factory.mktemp("undo") / "a.db") as store:
        project = create_project(store, "p", annotators=("Ada", "Bo", "Chen"), per_item=2)
        keys = [second_file(store, project, list(SENTENCES)), second_file(store, project, MORE)]
        people, everything = annotators(store, project), list(items(store, project))
        claim(store, project, people[0], want=3)
        for number, (which, who, keep) in enumerate(moves):
            store_operations(
                store, project, people[who], [operation(number, everything[which].uid, "accept" if keep else "skip")]
            )
            if early and number == len(moves) // 2:
                undo(store, project, keys.pop())
                counted(store)
        while keys:
            undo(store, project, keys.pop())
        counted(store)
        assert counts(store, project).items == 0
        second_file(store, project, [*MORE, *SENTENCES])
        counted(store)
        assert counts(store, project).items == len(MORE) + len(SENTENCES)
        for person in people:
            claim(store, project, person, want=100)
        counted(store)


KILLED = """
import sys
from evenhand.annotations.files import undo_import as undoing
from evenhand.annotations.items import withdrawn
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import project

def die(*_, **__):
    print("now", flush=True)
    sys.stdin.read()

where, name, key = sys.argv[1:]
module, function = name.rsplit(".", 1)
if name == "undoing._undo_label":
    real, seen = undoing._undo_label, []
    def counted(*values):
        seen.append(values)
        real(*values)
        if len(seen) == 13:
            die()
    undoing._undo_label = counted
else:
    setattr({"undoing": undoing, "withdrawn": withdrawn}[module], function, die)
undoing.CHUNK = 5
with Store.open(where) as store:
    undoing.undo(store, project(store, "sample"), key)
"""


def killed_at(path: Path, name: str, key: str) -> None:
    """Take an import back in another process and kill it (SIGKILL) when it comes to *name*."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), name, key],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stdin is not None
    assert process.stdout.readline() == "now\n"
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


@pytest.mark.parametrize("where", ["withdrawn._tally", "undoing.record", "undoing.clear_withdrawn", "withdrawn._move"])
def test_a_kill_during_an_undo_leaves_all_of_the_import_or_nothing(
    fresh_store: Store, sample_project: Project, where: str
) -> None:
    key = second_file(fresh_store, sample_project, MORE)
    uid = next(item.uid for item in items(fresh_store, sample_project) if item.text == MORE[0])
    label(fresh_store, sample_project, "Ada", uid, "accept", 1)
    before = state(fresh_store, sample_project)
    killed_at(fresh_store.path, where, key)
    counted(fresh_store)
    unfinished = where in ("undoing.clear_withdrawn", "withdrawn._move")  # after the first transaction
    assert find_import(fresh_store, sample_project, key).unfinished == unfinished
    if not unfinished:
        assert state(fresh_store, sample_project) == before
        undo(fresh_store, sample_project, key)
    assert counts(fresh_store, sample_project).items == len(SENTENCES)
    second_file(fresh_store, sample_project, [MORE[1]])  # what was left to delete is gone, and comes as new
    assert not find_import(fresh_store, sample_project, key).unfinished
    assert fresh_store.db.execute("SELECT count(*) FROM item").fetchone() == (len(SENTENCES) + 2,)
    counted(fresh_store)


def test_a_killed_undo_of_labels_is_continued(fresh_store: Store, sample_project: Project, tmp_path: Path) -> None:
    bring(fresh_store, sample_project, labelled_file(fresh_store, sample_project, tmp_path / "labels.csv"))
    killed_at(fresh_store.path, "undoing._undo_label", "labels-1")
    assert len(label_rows(fresh_store, sample_project)) == 14  # twice five are withdrawn, the third step is undone
    counted(fresh_store)
    listed = find_import(fresh_store, sample_project, "labels-1")
    assert listed.undone is not None and listed.unfinished
    assert undo(fresh_store, sample_project, "labels-1").labels == 14
    assert label_rows(fresh_store, sample_project) == []
    assert not find_import(fresh_store, sample_project, "labels-1").unfinished
    counted(fresh_store)


def test_an_undone_import_does_not_block_a_release(fresh_store: Store) -> None:
    made = ready_project(fresh_store, 4)
    with Batch.begin(fresh_store, made, "wrong.txt") as batch:
        batch.add(new_items(2, first=100))
        batch.publish()
    taken_back = imports(fresh_store, made)[-1]
    assert taken_back.file == "wrong.txt"
    undo(fresh_store, made, taken_back.key)
    work(fresh_store, made)
    assert {requirement.code for requirement in readiness(fresh_store, made) if requirement.state == "missing"} == set()
    assert make_release(fresh_store, made, "1.0").items == counts(fresh_store, made).accepted > 0
