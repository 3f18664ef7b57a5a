"""An annotator's own record: complete, and without anything of others or of the plan."""

import csv
import io
import json
import time
from collections.abc import Callable, Iterator

import click
import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.adjudication.decisions import add_comment
from evenhand.annotations.browse.history import item_history
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.projects.projects import annotator, change_project, replace_annotator
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.record.entries import PAGE, Entry, RecordQuery, entries, every_entry, summary
from evenhand.annotations.record.files import HEADER, record_csv, record_json
from evenhand.annotations.text_policy import CANARY
from evenhand.annotations.types import Annotator, Item, Project
from evenhand.core.errors import NotFound
from tests.support.judged_generations import all_written, judged_project, say_all
from tests.support.projects import decide, filled_project

DAY = 86_400.0
START = time.time() - 30 * DAY
SECRET = "Bo thinks that this is wrong"


def standing(store: Store, item: Item, person: Annotator) -> str | None:
    query = "SELECT op_id FROM assignment WHERE item = ? AND annotator = ?"
    row = store.db.execute(query, (item.id, person.id)).fetchone()
    return row[0] if row else None


def label_at(
    store: Store, project: Project, person: Annotator, item: Item, choice: str | None, **fields: object
) -> None:
    operation = decide(item, choice, desk=person.name, base=standing(store, item, person), **fields)
    now = fields.get("now", START + 60)
    assert store_operations(store, project, person, [operation], now=now)[0].stored  # type: ignore[arg-type]


@pytest.fixture
def three_people(fresh_store: Store) -> tuple[Store, Project, list[Annotator], list[Item]]:
    """Make a record: Ada labelled one item three times, skipped one, undid one; Bo labelled all, with notes."""
    project, people = filled_project(fresh_store, 6, people=("Ada", "Bo"), per_item=2)
    ada, bo = people
    items = claim(fresh_store, project, ada, want=5, now=START)
    claim(fresh_store, project, bo, want=6, now=START)
    for choice, note in (("accept", ""), ("reject", "=1+1 a note"), ("accept", "sure")):
        label_at(fresh_store, project, ada, items[0], choice, note=note, seconds=3.5)
    label_at(fresh_store, project, ada, items[1], "skip")
    label_at(fresh_store, project, ada, items[2], "accept")
    label_at(fresh_store, project, ada, items[2], None)
    for item in items:
        label_at(fresh_store, project, bo, item, "reject", note=SECRET)
    fresh_store.db.execute("UPDATE item SET known = 'reject', shared = 1 WHERE id = ?", (items[0].id,))
    return fresh_store, project, people, items


def by_item(store: Store, project: Project, person: Annotator) -> dict[str, Entry]:
    return {entry.uid: entry for entry in every_entry(store, project, person)}


def test_a_record_lists_every_act_in_order(three_people: tuple[Store, Project, list[Annotator], list[Item]]) -> None:
    store, project, (ada, _bo), items = three_people
    result = by_item(store, project, ada)
    assert set(result) == {item.uid for item in items}
    first = result[items[0].uid]
    assert [(act.kind, act.choice, act.note, act.stands) for act in first.acts] == [
        ("label", "accept", "", False), ("label", "reject", "=1+1 a note", False), ("label", "accept", "sure", True)
    ]  # fmt: skip
    assert first.state == "labelled" and first.acts[0].seconds == 3.5 and first.acts[0].guideline == 1
    assert [(act.kind, act.stands) for act in result[items[1].uid].acts] == [("skip", True)]
    taken_back = result[items[2].uid]
    assert [(act.kind, act.stands) for act in taken_back.acts] == [("label", False), ("undone", True)]
    assert taken_back.state == "leased" and taken_back.item is not None


def test_acts_sent_together_keep_their_order(fresh_store: Store) -> None:
    """A desk that was offline sends a skip and labels of one item together, with one and the same time."""
    project, (ada, *_) = filled_project(fresh_store, 1)
    (item,) = claim(fresh_store, project, ada, want=1, now=START)
    sent = []
    for choice in ("reject", None, "skip", None, "skip", "accept"):
        sent.append(decide(item, choice, desk="a", base=sent[-1].op_id if sent else None))
    assert all(answer.stored for answer in store_operations(fresh_store, project, ada, sent, now=START + 1))
    acts = by_item(fresh_store, project, ada)[item.uid].acts
    assert [act.op_id for act in acts] == [entry.op_id for entry in sent] and acts[-1].stands
    results = [event for event in item_history(fresh_store, project, item.uid) if event.kind in ("label", "skip")]
    assert [act.data["revision"] for act in results] == [entry.revision for entry in sent]


def test_unread_items_are_not_in_the_record(three_people: tuple[Store, Project, list[Annotator], list[Item]]) -> None:
    store, project, (ada, _bo), items = three_people
    waiting = by_item(store, project, ada)[items[3].uid]
    assert (waiting.state, waiting.item, waiting.acts) == ("leased", None, ())
    assert entries(store, project, ada, RecordQuery(search=items[3].text)).total == 0
    assert entries(store, project, ada, RecordQuery(search=items[0].text[:5])).total == 1
    assert items[3].text not in "".join(record_csv(store, project, ada))


def test_a_record_reveals_neither_others_nor_the_plan(
    three_people: tuple[Store, Project, list[Annotator], list[Item]],
) -> None:
    """The record of Ada has the same bytes for all actions of Bo and all knowledge of the lead."""
    store, project, (ada, bo), items = three_people
    before = "".join(record_json(store, project, ada)), "".join(record_csv(store, project, ada))
    label_at(store, project, bo, items[0], "accept", note=SECRET)
    store.db.execute("UPDATE item SET wanted = 9, known = 'accept', shared = 1 - shared, split = 1")
    add_comment(store, project, items[1].uid, SECRET, author="Bo", annotator=bo, thread=bo)
    assert before == ("".join(record_json(store, project, ada)), "".join(record_csv(store, project, ada)))
    for text in before:
        assert SECRET not in text and "Bo" not in text and bo.uid not in text
        assert not any(word in text for word in ("known", "shared", "wanted", "gold", "split"))


def test_a_record_has_the_private_thread_and_own_comments(
    three_people: tuple[Store, Project, list[Annotator], list[Item]],
) -> None:
    store, project, (ada, bo), items = three_people
    add_comment(store, project, items[0].uid, "Is a nickname a name?", author="Ada", annotator=ada, thread=ada)
    add_comment(store, project, items[0].uid, "Yes.", author="Lead", thread=ada)
    add_comment(store, project, items[0].uid, "Mine, to all", author="Ada", annotator=ada)
    add_comment(store, project, items[0].uid, SECRET, author="Bo", annotator=bo)
    result = by_item(store, project, ada)[items[0].uid].comments
    assert [(comment.author, comment.text, comment.thread == ada.uid) for comment in result] == [
        ("Ada", "Is a nickname a name?", True), ("Lead", "Yes.", True), ("Ada", "Mine, to all", False)
    ]  # fmt: skip


def test_an_item_with_comments_only_is_in_the_record(
    three_people: tuple[Store, Project, list[Annotator], list[Item]],
) -> None:
    store, project, (ada, _bo), items = three_people
    other = store.db.execute(
        "SELECT uid FROM item WHERE id NOT IN (SELECT item FROM assignment WHERE annotator = ?)", (ada.id,)
    ).fetchone()[0]
    add_comment(store, project, other, "What of this one?", author="Ada", annotator=ada, thread=ada)
    result = by_item(store, project, ada)
    assert len(result) == len(items) + 1 and result[other].state == "" and len(result[other].comments) == 1


def test_a_record_lists_reveals_and_later_labels(
    three_people: tuple[Store, Project, list[Annotator], list[Item]],
) -> None:
    store, project, (ada, _bo), items = three_people
    reveal(store, project, ada, items[0].uid)
    label_at(store, project, ada, items[0], "reject")
    result = by_item(store, project, ada)[items[0].uid]
    assert result.revealed and [act.after_reveal for act in result.acts] == [False, False, False, True]
    assert "revealed" in "".join(record_csv(store, project, ada))


def test_a_record_lists_superseded_labels_of_a_second_desk(
    three_people: tuple[Store, Project, list[Annotator], list[Item]],
) -> None:
    store, project, (ada, _bo), items = three_people
    store_operations(store, project, ada, [decide(items[0], "reject", desk="other", base=None)])
    late = by_item(store, project, ada)[items[0].uid].acts[-1]
    assert (late.superseded, late.stands, late.desk) == (True, False, "other")


def test_the_summary_counts_states_labels_and_seconds(
    three_people: tuple[Store, Project, list[Annotator], list[Item]],
) -> None:
    store, project, (ada, bo), _items = three_people
    result = summary(store, project, ada)
    assert result.states == {"labelled": 1, "skipped": 1, "leased": 3, "released": 0}
    assert (result.labels, result.seconds, result.active, result.told) == (4, 10.5, True, 0)
    replace_annotator(store, project, ada, "Zoe")
    gone = summary(store, project, ada)
    assert not gone.active and [action for _when, action, _data in gone.events] == ["replaced"]
    assert gone.states["leased"] == 0 and summary(store, project, bo).events == ()
    with pytest.raises(NotFound):
        summary(store, project, Annotator(99, "x", "Nobody"))


def test_a_record_can_be_paged_searched_and_filtered(fresh_store: Store) -> None:
    project, (ada,) = filled_project(fresh_store, 3 * PAGE + 1, people=("Ada",), per_item=1)
    items = claim(fresh_store, project, ada, want=3 * PAGE + 1, now=START)
    store_operations(
        fresh_store, project, ada, [decide(item, note=f"note {n}") for n, item in enumerate(items)], now=START
    )
    pages = [entries(fresh_store, project, ada, RecordQuery(page=page)) for page in (1, 2, 3, 4, 5, 0)]
    total = 3 * PAGE + 1
    assert [(len(page.entries), page.number, page.pages, page.total) for page in pages] == [
        *((PAGE, number, 4, total) for number in (1, 2, 3)), (1, 4, 4, total), (1, 4, 4, total), (PAGE, 1, 4, total)
    ]  # fmt: skip
    shown = [entry.uid for page in pages[:4] for entry in page.entries]
    assert shown == [item.uid for item in reversed(items)]
    (hit,) = entries(fresh_store, project, ada, RecordQuery(search="note 7")).entries
    assert hit.uid == items[7].uid
    assert entries(fresh_store, project, ada, RecordQuery(search="%")).total == 0
    assert entries(fresh_store, project, ada, RecordQuery(state="skipped")).total == 0
    assert entries(fresh_store, project, ada, RecordQuery(state="labelled", page=2)).entries == pages[1].entries


def test_a_finished_retest_is_an_own_entry(fresh_store: Store) -> None:
    project, (ada,) = filled_project(fresh_store, 4, people=("Ada",), per_item=1, presentation="original")
    project = change_project(fresh_store, project, retest=1.0, retest_hours=24)
    first = claim(fresh_store, project, ada, want=9, now=START)
    store_operations(fresh_store, project, ada, [decide(item) for item in first], now=START)
    again = claim(fresh_store, project, ada, want=9, now=START + 2 * DAY)
    assert len(again) == 4 and not {item.uid for item in again} & {item.uid for item in first}
    assert set(by_item(fresh_store, project, ada)) == {item.uid for item in first}
    assert summary(fresh_store, project, ada).states["leased"] == 4  # in hand, as at the desk
    operation = decide(again[0], "reject", note="once more", seconds=2.0)
    assert store_operations(fresh_store, project, ada, [operation], now=START + 2 * DAY)[0].stored
    result = by_item(fresh_store, project, ada)
    assert set(result) == {item.uid for item in first} | {again[0].uid}
    entry = result[again[0].uid]
    assert entry.state == "labelled" and entry.item is not None and entry.item.text == again[0].text
    assert [(act.choice, act.note, act.stands) for act in entry.acts] == [("reject", "once more", True)]
    assert entries(fresh_store, project, ada, RecordQuery(search="once more")).entries == (entry,)
    assert again[0].uid in "".join(record_csv(fresh_store, project, ada))
    counted = summary(fresh_store, project, ada)
    assert (counted.states["labelled"], counted.labels, counted.twice, counted.seconds) == (5, 5, 1, 2.0)


def test_unread_items_passed_to_others_are_not_in_the_record(fresh_store: Store) -> None:
    project, (ada, bo) = filled_project(fresh_store, 3, people=("Ada", "Bo"), per_item=1, presentation="original")
    first = claim(fresh_store, project, ada, want=3, now=START)
    label_at(fresh_store, project, ada, first[0], "skip")
    assert claim(fresh_store, project, bo, want=3, now=START + DAY), "what Ada left for a day goes to Bo"
    result = by_item(fresh_store, project, ada)
    assert [(result[item.uid].state, result[item.uid].item) for item in first[1:]] == [("released", None)] * 2
    assert entries(fresh_store, project, ada, RecordQuery(search=first[1].text)).total == 0
    assert entries(fresh_store, project, ada, RecordQuery(search=first[0].text)).total == 1
    assert first[1].text not in "".join(record_csv(fresh_store, project, ada))


def test_record_files_are_complete_and_without_formulas(
    three_people: tuple[Store, Project, list[Annotator], list[Item]],
) -> None:
    store, project, (ada, _bo), items = three_people
    add_comment(store, project, items[0].uid, "=cmd()", author="Ada", annotator=ada, thread=ada)
    rows = list(csv.DictReader(io.StringIO("".join(record_csv(store, project, ada)), newline="")))
    assert list(rows[0]) == list(HEADER) and len(rows) == 3 + 1 + 1 + 2 + 2
    notes = {row["note"] for row in rows} | {row["said"] for row in rows}
    assert "'=1+1 a note" in notes and "'=cmd()" in notes and not any(cell.startswith("=") for cell in notes)
    data = json.loads("".join(record_json(store, project, ada)))
    assert data["annotator"] == "Ada" and data["items_by_state"]["labelled"] == 1 and len(data["items"]) == len(items)
    history = {item["item"]: item["history"] for item in data["items"]}
    assert [act["note"] for act in history[items[0].uid]] == ["", "=1+1 a note", "sure"]
    assert sum(map(len, history.values())) == 6


def test_record_files_omit_protected_texts(fresh_store: Store) -> None:
    texts = all_written(each=1)[:6]
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts)
    ada = annotator(fresh_store, project, "Ada")
    whole = "".join(record_csv(fresh_store, project, ada)) + "".join(record_json(fresh_store, project, ada))
    assert not any(text.text in whole or text.context in whole for text in texts)
    assert all(entry.uid in whole for entry in every_entry(fresh_store, project, ada))
    opened = change_project(fresh_store, project, open_text=True)
    text = "".join(record_csv(fresh_store, opened, ada))
    assert CANARY in text and all(one.text.split(",")[0] in text for one in texts)


def test_the_command_writes_the_record(
    three_people: tuple[Store, Project, list[Annotator], list[Item]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    store, project, (ada, _bo), _items = three_people
    out = tmp_path_factory.mktemp("out") / "ada.csv"
    result = CliRunner().invoke(
        cli, ["people", project.name, "record", "Ada", "--format", "csv", "--out", str(out)], catch_exceptions=False
    )
    assert result.exit_code == 0
    assert out.read_bytes().decode() == "".join(record_csv(store, project, ada))
    printed = CliRunner().invoke(cli, ["people", project.name, "record", "Ada"], catch_exceptions=False)
    assert json.loads(printed.output)["annotator"] == "Ada"


@pytest.mark.parametrize("parts", [record_csv, record_json])
def test_an_aborted_record_leaves_no_transaction_open(
    three_people: tuple[Store, Project, list[Annotator], list[Item]], parts: Callable[..., Iterator[str]]
) -> None:
    store, project, (ada, _bo), _items = three_people
    with Store.open(store.path) as other:
        lines = parts(other, project, ada)
        next(lines)  # as on a full disk
    lines.close()  # by then the database is closed; before, this was an error that no caller could catch
    with Store.open(store.path) as other:
        lines = parts(other, project, ada)
        next(lines)
        lines.close()
        assert not other.db.in_transaction


def test_a_record_is_read_completely_before_printing(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    project, _people = filled_project(fresh_store, 1, people=("Ada",))
    order = list[str]()

    def parts(*_given: object) -> Iterator[str]:
        yield from "{}"
        order.append("read")

    monkeypatch.setattr("evenhand.commands.people.record_json", parts)
    monkeypatch.setattr(click, "echo", lambda text, **_how: order.append(text))
    CliRunner().invoke(cli, ["people", project.name, "record", "Ada", "--db", str(fresh_store.path)])
    assert order == ["read", "{}"]


def test_options_are_accepted_after_project_and_command(fresh_store: Store) -> None:
    project, _people = filled_project(fresh_store, 1, people=("Ada",))
    database = ["--db", str(fresh_store.path), "--json"]
    for arguments, names in (([], ["Ada"]), (["add", "Bo", "--author", "Lin"], ["Ada", "Bo"])):
        done = CliRunner().invoke(cli, ["people", project.name, *arguments, *database], catch_exceptions=False)
        assert [annotator["name"] for annotator in json.loads(done.stdout)["annotators"]] == names
    assert "No such command" in CliRunner().invoke(cli, ["people", project.name, "hire", *database]).output
