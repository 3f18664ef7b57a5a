"""A release describes its labels as the records prove: two histories that were once described wrongly."""

import itertools
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.adjudication.decisions import case, decide_case
from evenhand.annotations.database import migrations
from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import examine_tables, import_examined, tables_in
from evenhand.annotations.files.label_files import point_assignment
from evenhand.annotations.files.other_tools.import_tasks import Names
from evenhand.annotations.files.package.write_package import import_package, import_package_labels
from evenhand.annotations.guideline.drafts import read_draft, write_version
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import insert_label
from evenhand.annotations.labels.read import FROM_FILE, ORIGIN, label_rows
from evenhand.annotations.papers.datasheet import datasheet
from evenhand.annotations.papers.paper import CHANGES
from evenhand.annotations.pilot.pilots import close_pilot, start_pilot
from evenhand.annotations.projects.annotators import add_annotators, annotators, pseudonyms
from evenhand.annotations.projects.projects import change_project, create_project
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.record.files import record_json
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.make import make_release, write_release
from evenhand.annotations.release.stored_releases import release, release_file, release_files
from evenhand.annotations.types import Project
from evenhand.core.files.readers import file_sha256
from evenhand.core.version import VERSION
from tests.support.projects import new_items
from tests.support.released_project import SOURCE, everybody_consents, label, ready_project, rehearse, work
from tests.support.task_files import bring, chosen, task, written

PEOPLE = {"3": "An", "4": "Bo", "5": "Chen"}


def imported_project(store: Store, folder: Path, number: int = 60) -> tuple[Project, Path]:
    """Import tasks of Label Studio with three labels each, made in 2024, into a new project."""
    made = create_project(store, "from outside", per_item=3)
    tasks = [
        task(item.text, *(chosen("Keep", id=f"{n}-{who}", completed_by=int(who)) for who in PEOPLE))
        for n, item in enumerate(new_items(number))
    ]
    path = written(folder / "tasks.json", tasks)
    report = bring(store, made, path, Names(people=PEOPLE))
    assert report.labels.imported == 3 * number
    everybody_consents(store, made)
    return change_project(store, made, licence="CC0", source_statement=SOURCE), path


def papers(store: Store, project: Project) -> dict[str, str]:
    files = release_files(store, make_release(store, project, "1.0"))
    texts = {name: files[name].decode().replace("\\", "") for name in files if name.endswith((".md", "labels.csv"))}
    return {name: "\n".join(line for line in text.splitlines() if "|dirichlet:" not in line)
            for name, text in texts.items()}  # fmt: skip


def test_imported_labels_are_described_as_imported(fresh_store: Store, tmp_path: Path) -> None:
    made, path = imported_project(fresh_store, tmp_path)
    texts = papers(fresh_store, made)
    digest = file_sha256(path)
    for paper in ("method.en.md", "datasheet.en.md"):
        for claim in ("was masked", "masked at first", "Every label", "seed 0", "the plan was: 3", "blind"):
            assert claim not in texts[paper].replace("When this was written, the plan was: 3", ""), (paper, claim)
        assert "Of 180 valid labels, 180 were imported." in texts[paper]
        assert f"Imported from Label Studio: 180 labels (tasks.json, SHA-256 {digest})." in texts[paper]
        assert "180 carry a date from their file, 2024-03-01." in texts[paper]
        assert "older than the guideline version they are assigned to: 180." in texts[paper]
        assert "0 made here, 180 imported" in texts[paper]
    for paper in ("method.zh.md", "datasheet.zh.md"):
        for claim in ("遮住", "种子", "都是在看到", "看不到别人"):
            assert claim not in texts[paper].partition("## 附录")[0], (paper, claim)
        assert "其中 180 个是导入的" in texts[paper] and digest in texts[paper]
    assert "Of 180 labels, 180 were imported. Imported from Label Studio: 180 (tasks.json" in texts["README.md"]
    head, *rows = texts["labels.csv"].splitlines()
    assert head.endswith(",origin,app,program,label_file,label_file_sha256")
    assert len(rows) == 180 and all(row.endswith(f",imported,,Label Studio,tasks.json,{digest}") for row in rows)


def test_an_unknown_presentation_form_is_not_claimed(fresh_store: Store, tmp_path: Path) -> None:
    """Not in labels.csv, JSON lines, hard cases, records and packages, nor when such a file comes in once more."""
    made, _path = imported_project(fresh_store, tmp_path, 2)
    bo = next(annotator for annotator in annotators(fresh_store, made) if annotator.name == "Bo")
    label(fresh_store, made, bo, label_rows(fresh_store, made)[0]["item"], "reject", reasons=("name",))
    expected = [("An", None), ("An", None), ("Bo", None), ("Bo", "masked"), ("Chen", None), ("Chen", None)]
    assert forms(fresh_store, made) == expected
    out = write_release(fresh_store, made, make_release(fresh_store, made, "1.0"), tmp_path / "r")
    (case_of_bo,) = map(json.loads, (out / "hard_cases.jsonl").read_text(encoding="utf-8").splitlines())
    assert [label_["form_shown"] for label_ in case_of_bo["labels"]] == [None, "masked", None]
    record = json.loads("".join(record_json(fresh_store, made, annotators(fresh_store, made)[0])))
    assert [act["form_shown"] for item in record["items"] for act in item["history"]] == [None, None]
    with Store.open(tmp_path / "package.db") as other, tables_in(out) as members:
        back = import_package(other, "back", members, "r").project
        assert [form for _who, form in forms(other, back)] == [form for _who, form in expected]
        assert make_release(other, back, "1.0").hash == release(fresh_store, made, "1.0").hash
    for layout, name in (("labels", "a.csv"), ("labels-jsonl", "a.jsonl")):
        export_file(fresh_store, made, tmp_path / name, format=layout, names=True)
        with Store.open(tmp_path / f"{layout}.db") as other, tables_in(out / "package" / "items.jsonl") as members:
            again = create_project(other, "again", per_item=3)
            import_examined(other, again, examine_tables(members))
            with tables_in(tmp_path / name) as tables:
                assert import_package_labels(other, again, tables[0], name).imported == 6
            assert forms(other, again) == expected, layout


def forms(store: Store, project: Project) -> list[tuple[str, str | None]]:
    rows = label_rows(store, project, which="latest")
    return sorted(((row["annotator"], row["form_shown"]) for row in rows), key=lambda one: (one[0], one[1] or ""))


def test_a_plan_changed_after_the_last_label_was_not_in_force(fresh_store: Store) -> None:
    made = ready_project(fresh_store, 12)
    start_pilot(fresh_store, made, 4)
    work(fresh_store, made)
    close_pilot(fresh_store, made)
    work(fresh_store, made)
    made = change_project(fresh_store, made, plan="stop", share=0.25)
    text = papers(fresh_store, made)["method.en.md"]
    assert "free tags" not in text and "tags were assigned" not in text
    assert "While 36 of these labels were made here" in text and "the plan was: 3 labels for each item." in text
    assert "When this was written, the plan was: labelling of an item stops" in text
    assert "No valid label was made here under this plan." in text


def test_mixed_sets_are_described_in_shares(fresh_store: Store, tmp_path: Path) -> None:
    made, _path = imported_project(fresh_store, tmp_path, 4)
    change_project(fresh_store, made, per_item=4)
    dee = next(annotator for annotator in add_annotators(fresh_store, made, ["Dee"]) if annotator.name == "Dee")
    label(fresh_store, made, dee, label_rows(fresh_store, made)[0]["item"], "accept")
    texts = papers(fresh_store, made)
    assert "Of 13 valid labels, 1 were made at desks of this database" in texts["method.en.md"]
    assert f"(Evenhand {VERSION}: 1)" in texts["method.en.md"]
    assert "Of 13 valid labels, 12 were imported." in texts["datasheet.en.md"]
    assert "gendered word masked at first 1, original text 0" in texts["method.en.md"]


def test_a_restored_release_has_equal_provenance(fresh_store: Store, tmp_path: Path) -> None:
    """Made here, imported from files, of unknown origin, and retests; and that all of it is the word of a package."""
    made = rehearse(fresh_store)
    tasks = [
        task(item.text, chosen("Keep", id=item.uid, completed_by=9)) for item in list(items(fresh_store, made))[:4]
    ]
    bring(fresh_store, made, written(tmp_path / "tasks.json", tasks), Names(people={"9": "Guest"}))
    everybody_consents(fresh_store, made)
    person = annotators(fresh_store, made)[0].id
    values = {"op_id": "old", "project": made.id, "item": next(items(fresh_store, made)).id, "annotator": person,
              "guideline": 1, "choice": "accept", "form_shown": "original", "desk": "lead", "revision": 0,
              "created": "2026-01-01T00:00:00.000Z"}  # fmt: skip
    insert_label(fresh_store.db, values)
    point_assignment(fresh_store, made, int(values["item"]), person)  # type: ignore[call-overload]
    time.sleep(0.002)
    made = change_project(fresh_store, made, rescue=not made.rescue)
    out = write_release(fresh_store, made, make_release(fresh_store, made, "1.0"), tmp_path / "r")
    before = release(fresh_store, made, "1.0").facts["provenance"]
    assert before["package"] is None and before["retests"]["here"] and before["rescue_changes"]
    assert (before["imported"]["labels"], before["unknown"]["labels"]) == (4, 1) and before["here"]["labels"] > 50
    with Store.open(tmp_path / "new.db") as fresh, tables_in(out) as members:
        back = import_package(fresh, "set", members, "r").project
        again = make_release(fresh, back, "1.0")
        after = again.facts["provenance"]
        digest = file_sha256(out / "package" / "project.json")
        assert after.pop("package") == {"labels": before["labels"], "of": before["labels"], "sha256": digest}
        assert after == {key: fact for key, fact in before.items() if key != "package"}
        for name in ("method.en.md", "method.zh.md", "datasheet.en.md", "datasheet.zh.md"):
            texts = (out / name).read_text(encoding="utf-8"), release_file(fresh, again, name).decode()
            assert all(text.replace("\\", "").count("log_head.json") == name.startswith("datasheet") for text in texts)
            old, new = (
                {line for line in re.sub(r"\d{4}-\d\d-\d\d", "DAY", text).splitlines() if "head.json" not in line}
                for text in texts
            )  # each database has a log of its own
            (word,) = new - old
            assert digest in word and not old - new
        rows = label_rows(fresh, back, which="all")
        assert {row["program"] for row in rows} == {None, "Label Studio"}


def test_a_file_named_after_an_annotator_is_pseudonymised(fresh_store: Store, tmp_path: Path) -> None:
    _made, path = imported_project(fresh_store, tmp_path, 2)
    path.rename(tmp_path / "Chen.json")
    again = create_project(fresh_store, "again", per_item=3, annotators=("Chen",))
    bring(fresh_store, again, tmp_path / "Chen.json", Names(people=PEOPLE))
    again = change_project(fresh_store, again, licence="CC0", source_statement=SOURCE)
    code = pseudonyms(fresh_store, again)["Chen"]
    texts = papers(fresh_store, again)
    assert all("Chen" not in text for text in texts.values())
    assert f"Imported from Label Studio: 6 labels ({code}.json" in texts["method.en.md"]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_migrated_labels_get_the_provenance_of_their_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """Since version 3 every imported label is recorded with its file; before, imported labels look like others."""
    path = tmp_path / "old.db"
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:version])
    with Store.open(path) as old:
        _store_labels_of_that_time(old, with_file=version >= 3)
    monkeypatch.undo()
    with Store.open(path) as new:
        results = dict(new.db.execute(f"SELECT op_id, {ORIGIN} FROM label {FROM_FILE}"))
        expected: dict[str, Any] = {"desk": "here" if version >= 3 else "unknown", "nobody": "unknown"}
        assert results == expected | ({"file": "imported"} if version >= 3 else {})
        with pytest.raises(Exception, match="never changed"):
            new.db.execute("UPDATE label SET choice = 'reject'")


def _store_labels_of_that_time(store: Store, *, with_file: bool) -> None:
    db, now = store.db, f"{2999 if with_file else 2020}-01-01T00:00:00.000Z"
    db.execute(
        "INSERT INTO project (id, uid, name, kind, language, per_item, gold, presentation, created)"
        " VALUES (1, 'p', 'p', 'sentences', 'zh', 3, 'unanimous', 'masked', ?)", (now,)
    )  # fmt: skip
    db.execute(
        "INSERT INTO guideline (id, project, version, text, choices, reasons, created)"
        " VALUES (1, 1, 1, '', '[]', '[]', ?)", (now,)
    )  # fmt: skip
    db.execute("INSERT INTO annotator (id, uid, name, created) VALUES (1, 'a', 'a', ?)", (now,))
    db.execute("INSERT INTO cell (id, project, pair, side) VALUES (1, 1, '', '')")
    db.execute("INSERT INTO batch (id, project, file, heard, created) VALUES (1, 1, 'f', 0, ?)", (now,))
    db.execute(
        "INSERT INTO item (id, uid, project, batch, cell, rank, hash, text, file, line, wanted)"
        " VALUES (1, 'i', 1, 1, 1, 1, x'00', 't', 'f', 1, 3)"
    )
    labels = (("desk", "d"), ("nobody", "file"), ("file", "d"))
    for number, (op_id, desk) in enumerate(labels if with_file else labels[:2]):
        db.execute(
            "INSERT INTO label (id, op_id, project, item, annotator, guideline, choice, form_shown, desk, revision,"
            " created) VALUES (?, ?, 1, 1, 1, 1, 'accept', 'original', ?, 1, ?)", (number + 1, op_id, desk, now)
        )  # fmt: skip
    if with_file:
        db.execute("INSERT INTO label_file (id, project, file, created) VALUES (1, 1, 'f', ?)", (now,))
        db.execute("INSERT INTO label_of_file (file, label) VALUES (1, 3)")


def test_a_known_answer_set_after_labels_is_reported(fresh_store: Store) -> None:
    made = ready_project(fresh_store, 2)
    first, second = items(fresh_store, made)
    people = annotators(fresh_store, made)
    for who in people[:2]:
        label(fresh_store, made, who, first.uid, "accept")
    time.sleep(0.002)  # timestamps of the database have a resolution of a millisecond
    for entry in (first, second):
        set_known(fresh_store, made, entry.uid, "accept", author="Lead")
    time.sleep(0.002)
    label(fresh_store, made, people[2], first.uid, "accept")
    label(fresh_store, made, people[2], second.uid, "accept")
    set_known(fresh_store, made, first.uid, "accept", why="plain", author="Lead")  # another reason, the same answer
    known = gather(fresh_store, made)["hidden_gold"]
    assert (known["items"], known["labels"], known["older"]) == (2, 4, 2)
    files = release_files(fresh_store, make_release(fresh_store, made, "1.0"))
    assert "2 of these 4 labels were made before the known answer" in files["method.en.md"].decode()
    assert "这 4 个标注中有 2 个早于该条已知答案的设定" in files["method.zh.md"].decode()


def test_decisions_without_effect_and_a_changed_rule_are_reported(fresh_store: Store) -> None:
    made = ready_project(fresh_store, 3)
    people = annotators(fresh_store, made)
    first, second, third = items(fresh_store, made)
    for who, choices in zip(people, ("ara", "rra", "aaa"), strict=True):
        for item, choice in zip((first, second, third), choices, strict=True):
            if choice == "a":
                label(fresh_store, made, who, item.uid, "accept")
            else:
                label(fresh_store, made, who, item.uid, "reject", reasons=("name",))
    time.sleep(0.002)
    made = change_project(fresh_store, made, gold="majority")
    for item in (first, second):  # a majority accepts the first and rejects the second
        seen = case(fresh_store, made, item.uid).seen
        decide_case(fresh_store, made, item.uid, choice="accept", adjudicator="V", why="so", seen=seen, base=None)
    facts = gather(fresh_store, made)
    assert facts["adjudication"]["decided"] == {"accept": 2} and facts["total"]["kept"] == 2
    assert facts["adjudication"]["without_effect"] == 1
    files = release_files(fresh_store, make_release(fresh_store, made, "1.0"))
    text, chinese = (files[f"method.{language}.md"].decode() for language in ("en", "zh"))
    assert "Of these decisions, 1 have no effect" in text and "其中 1 个仲裁不生效" in chinese
    assert "from all must agree to more than half decide: 9 of 9 valid labels were in the database" in text
    assert "由“须全体一致”改为“过半数决定”：有效标注 9 个，其中 9 个" in chinese


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_change_of_rescue_after_labels_is_reported(fresh_store: Store, language: str) -> None:
    made = ready_project(fresh_store, 2)
    people = annotators(fresh_store, made)
    made = change_project(fresh_store, made, rescue=True)  # before any label
    time.sleep(0.002)
    for item, person in itertools.product(items(fresh_store, made), people):
        label(fresh_store, made, person, item.uid, "accept")
    assert not gather(fresh_store, made)["provenance"]["rescue_changes"]
    time.sleep(0.002)
    made = change_project(fresh_store, made, author="Lin", rescue=False, presentation="original", blur=True)
    last = events(fresh_store, made, action="settings")[-1]
    assert (last.author, last.data) == ("Lin", {
        "old": {"rescue": True, "presentation": "masked", "blur": False},
        "new": {"rescue": False, "presentation": "original", "blur": True},
    })  # fmt: skip
    says = {"en": "from yes to no: 6 of 6 valid labels were in the database",
            "zh": "由“可以”改为“不可以”：有效标注 6 个，其中 6 个"}  # fmt: skip
    text = release_file(fresh_store, make_release(fresh_store, made, "1.0"), f"method.{language}.md").decode()
    assert says[language] in text and says[language] in datasheet(fresh_store, made, language)


def test_unanimous_and_rescued_follow_the_labels(fresh_store: Store) -> None:
    """For each decision of an adjudicator: all reject is not "all agree to keep", and a majority needs no rescue."""
    made = change_project(fresh_store, ready_project(fresh_store, 3, gold="majority"), rescue=True)
    first, second, third = items(fresh_store, made)
    people = annotators(fresh_store, made)
    for item, choices in ((first, "aar"), (second, "rra"), (third, "aaa")):
        for who, choice in zip(people, choices, strict=True):
            answer = ("accept", ()) if choice == "a" else ("reject", ("name",))
            label(fresh_store, made, who, item.uid, answer[0], reasons=answer[1])
    for item in (first, second):
        seen = case(fresh_store, made, item.uid).seen
        decide_case(fresh_store, made, item.uid, choice="accept", adjudicator="V", why="so", seen=seen, base=None)
    facts = gather(fresh_store, made)
    assert (facts["total"]["unanimous"], facts["total"]["kept"]) == (1, 3)
    assert facts["adjudication"] == {
        "split": 2,
        "open": 0,
        "decided": {"accept": 2},
        "left": 0,
        "rescued": 1,
        "without_effect": 0,
        "not_split": {"decide": 0, "leave": 0},
        "lacking": 0,
    }
    # Now all reject it, and the decision keeps it.
    label(fresh_store, made, people[2], second.uid, "reject", reasons=("name",))
    facts = gather(fresh_store, made)
    assert (facts["total"]["unanimous"], facts["total"]["kept"], facts["adjudication"]["rescued"]) == (1, 3, 1)


@pytest.mark.parametrize("new_version", [False, True])
def test_changes_between_two_releases_are_listed(fresh_store: Store, new_version: bool) -> None:
    project = ready_project(fresh_store, 2)
    for item in items(fresh_store, project):
        for person in annotators(fresh_store, project):
            label(fresh_store, project, person, item.uid, "accept")
    made = [make_release(fresh_store, project, "1.0")]
    if new_version:
        draft = read_draft(fresh_store, project)
        changed = type(draft)(draft.base, draft.text + "\n.", draft.choices, draft.reasons, "more")
        write_version(fresh_store, project, changed, which="none")
    made.append(make_release(fresh_store, project, "2.0"))
    first, second = (release_file(fresh_store, release, "changes.json") for release in made)
    guidelines_now = made[1].facts["guidelines"]
    results = [
        {name: rule({"changes": json.loads(data), "guidelines": guidelines_now}) for name, rule in CHANGES.items()}
        for data in (first, second)
    ]
    assert [name for name, proof in results[0].items() if proof] == ["changes_of_first"]
    versions = {"before": 1, "after": 1 + new_version}
    assert results[1]["changes_since"] == ["1.0"] and not results[1]["changes_of_first"]
    assert results[1]["same_guideline"] == ([] if new_version else [versions])
    assert results[1]["other_guideline"] == ([versions] if new_version else [])
    assert [row["version"] for row in results[1]["guidelines_between"]] == ([2] if new_version else [])
    text = release_file(fresh_store, made[1], "changes.en.md").decode()
    assert ("changed from version 1 to version 2" in text) == new_version
    assert ("The guideline is unchanged (version 1)" in text) == (not new_version)
