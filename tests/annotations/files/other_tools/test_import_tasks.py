"""Label Studio and doccano: their files are imported completely, and exports to them survive a round trip."""

import json
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import Columns
from evenhand.annotations.files.export import export_bytes, export_file, export_preview
from evenhand.annotations.files.export_formats import export_options
from evenhand.annotations.files.import_items import examine_tables, tables_in
from evenhand.annotations.files.other_tools.import_tasks import Names, import_tasks, survey_tasks
from evenhand.annotations.items.batch import Batch, NewItem, items
from evenhand.annotations.labels.operations import reveal, store_operations
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.projects.projects import annotators, create_project, guidelines
from evenhand.annotations.quality.known_answers import known_items
from evenhand.annotations.types import Mark, Operation, Project
from evenhand.core.errors import BadFile, Refused
from evenhand.core.files.display_paths import short_path, without_folders
from evenhand.core.text.keywords import find
from tests.support.any_items import CORPORA, NASTY, ROOTED
from tests.support.projects import new_store
from tests.support.task_files import HE, SHE, bring, chosen, rows_of, said, task, written


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return create_project(fresh_store, "here", per_item=2)


NOTES = st.text(alphabet="好 nur=<>&\"'\\\n👩", max_size=8) | st.sampled_from(NASTY)


def test_label_studio_tasks_are_imported_with_labels_by_annotator(
    fresh_store: Store, project: Project, tmp_path: Path
) -> None:
    note = {"from_name": "n", "type": "textarea", "value": {"text": ["第一行", "second"]}}
    with_note = chosen("Keep") | {
        "completed_by": {"id": 9, "email": "bo@example.org", "first_name": "", "last_name": ""}
    }
    with_note["result"].append(note)
    tasks = [
        task(HE, chosen("Keep"), with_note, source="diary", page=3),
        task(SHE, chosen("Drop", id=2), chosen("Keep", was_cancelled=True), chosen(), predictions=[1]),
        task("没有关键词。", chosen("Keep")),
    ]
    tasks[1] |= {"predictions": [{"result": []}], "drafts": [{}, {}]}
    report = bring(fresh_store, project, written(tmp_path / "p.json", tasks), Names(people={"3": "An"}))
    assert (report.items.rows, report.items.imported, report.items.rejected) == (3, 2, 1)
    assert (report.items.errors[0].line, report.items.errors[0].reason) == (3, "no_keyword")
    assert said(fresh_store, project) == sorted(
        [(HE, "An", "accept"), (HE, "bo@example.org", "accept"), (SHE, "An", "reject")]
    )
    assert {key: report.left[key] for key in ("skipped", "empty", "drafts", "predictions", "without_item")} == {
        "skipped": 1, "empty": 1, "drafts": 2, "predictions": 1, "without_item": 1,
    }  # fmt: skip
    first = next(item for item in items(fresh_store, project) if item.text == HE)
    assert first.extra == {"source": "diary", "page": 3, "task_id": 7} and first.keyword == "他"
    rows = {(row["text"], row["annotator"]): row for row in label_rows(fresh_store, project, which="latest")}
    assert rows[HE, "bo@example.org"]["note"] == "第一行\nsecond"
    assert rows[HE, "An"]["seconds"] == 4.25
    assert datetime.fromisoformat(rows[HE, "An"]["created"]) == datetime(2024, 3, 1, 9, 30, tzinfo=UTC)
    assert first.status == "accepted"
    again = bring(fresh_store, project, tmp_path / "p.json", Names(people={"3": "An"}))
    assert (again.items.imported, again.items.duplicates, again.labels.imported, again.labels.duplicates) == (
        0,
        2,
        0,
        3,
    )


def test_an_unmapped_choice_is_refused_until_it_is_mapped(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    path = written(tmp_path / "p.json", [task(HE, chosen("maybe")), task(SHE, chosen("保留"))])
    report = bring(fresh_store, project, path)
    assert said(fresh_store, project) == [(SHE, "user 3", "accept")]
    (problem,) = report.labels.errors
    assert (problem.line, problem.reason) == (1, "unknown_choice") and "maybe" in problem.message.format(
        **problem.values
    )
    assert bring(fresh_store, project, path, Names({"maybe": "reject"})).labels.imported == 1
    assert (HE, "user 3", "reject") in said(fresh_store, project)


@pytest.mark.parametrize(
    ("odd", "said_here", "says"),
    [
        ({"completed_by": "a\nb"}, None, "A name must be one line of 1 to"),
        ({"completed_by": "n" * 81}, None, "A name must be one line of 1 to"),
        ({"evenhand": {"revision": 10**30}}, None, "revision"),
        ({"evenhand": {"guideline": [1], "op_id": 5, "desk": ""}}, (HE, "user 3", "accept"), ""),
        ({"created_at": "9999999-01-01", "lead_time": 1e300}, (HE, "user 3", "accept"), ""),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_malformed_annotation_is_reported_without_losing_others(
    fresh_store: Store,
    project: Project,
    tmp_path: Path,
    odd: dict[str, Any],
    said_here: tuple[str, str, str] | None,
    says: str,
) -> None:
    path = written(tmp_path / "p.json", [task(HE, chosen("accept", **odd)), task(SHE, chosen("accept"))])
    report = bring(fresh_store, project, path)
    assert said(fresh_store, project) == [*([said_here] if said_here else []), (SHE, "user 3", "accept")]
    results = [(error.line, error.message.format(**error.values)) for error in report.labels.errors]
    assert [line for line, _ in results] == ([1] if says else []) and all(says in message for _, message in results)


def test_choice_names_may_be_reasons_ignored_or_contradictory(
    fresh_store: Store, project: Project, tmp_path: Path
) -> None:
    reason = guidelines(fresh_store, project)[0].reasons[0]
    path = written(tmp_path / "p.json", [
        task(HE, chosen("reject", reason.zh, "hm")), task(SHE, chosen("accept", "reject")),
    ])  # fmt: skip
    report = bring(fresh_store, project, path, Names({"hm": ""}))
    (row,) = label_rows(fresh_store, project, which="latest")
    assert (row["choice"], row["reasons"]) == ("reject", [reason.code])
    assert [error.line for error in report.labels.errors] == [2]


def test_a_marked_word_selects_one_of_several_keywords(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    text = "👩他告诉她门没锁。"

    def span(start: int, end: int, quoted: str) -> dict[str, Any]:
        value = {"start": start, "end": end, "text": quoted, "labels": ["word"]}
        return {"from_name": "w", "to_name": "text", "type": "labels", "value": value}

    browser = chosen("yes")  # a browser counts the emoji twice
    browser["result"].append(span(5, 6, "她"))
    plain = chosen("yes")
    plain["result"].append(span(0, 1, "我"))
    report = bring(
        fresh_store, project, written(tmp_path / "p.json", [task(text, browser), task("我和他找她。", plain)])
    )
    (item,) = items(fresh_store, project)
    assert (item.word, item.keyword, item.side) == ((4, 5), "她", "female")
    assert [(e.line, e.reason) for e in report.items.errors] == [(2, "several_keywords")]


MIN = {"id": 4, "text": HE, "decision": "keep", "annotator": 2, "annotation_id": 11, "lead_time": 1.5, "topic": "rain",
       "created_at": "2024-03-01T09:30:00Z", "updated_at": "2024-03-01T09:30:00Z"}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "lines", "expected"),
    [
        ("min.json", [MIN, MIN | {"annotator": "cy@x.org", "annotation_id": 12, "decision": {"choices": ["drop"]}}],
         False, [(HE, "cy@x.org", "reject"), (HE, "user 2", "accept")]),
        ("tasks.jsonl", [task(HE, chosen("yes")), task(SHE, chosen("no"))], True,
         [(HE, "user 3", "accept"), (SHE, "user 3", "reject")]),
        ("old.json", [{"id": 1, "data": {"text": HE}, "completions": [chosen("ok")]}], False,
         [(HE, "user 3", "accept")]),
        ("An.jsonl", [{"id": 1, "text": HE, "label": ["accept"], "Comments": []}, {"id": 2, "text": SHE, "label": []}],
         True, [(HE, "An", "accept")]),
        ("all.jsonl", [{"id": 1, "text": HE, "label": ["不通过"]}], True, [(HE, "annotator", "reject")]),
        ("Bo.json", [{"text": HE, "cats": ["good"], "entities": [[0, 1, "W"]]}], False, [(HE, "Bo", "accept")]),
        ("export.json", [{"id": 1, "text": HE, "meta": {"year": 1999}, "annotation_approver": None,
                          "annotations": [{"label": "1", "user": 1}, {"label": "2", "user": 5}]}], False,
         [(HE, "user 1", "accept"), (HE, "user 5", "reject")]),
    ],
)  # fmt: skip
def test_all_variants_of_the_formats_are_imported(
    fresh_store: Store, project: Project, tmp_path: Path, name: str, content: Any, lines: bool, expected: Any
) -> None:
    names = Names({"1": "accept", "2": "reject"} if name == "export.json" else {})
    bring(fresh_store, project, written(tmp_path / name, content, lines=lines), names)
    assert said(fresh_store, project) == sorted(expected)


def test_the_csv_export_of_label_studio_is_imported(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text(
        "annotation_id,annotator,choice,created_at,id,lead_time,text,updated_at\n"
        f"5,1,keep,2024-03-01T09:30:00Z,1,2.5,{HE},2024-03-01T09:30:00Z\n"
        f'6,2,"{{""choices"": [""keep""]}}",2024-03-01T09:30:00Z,1,2.5,{HE},2024-03-01T09:30:00Z\n',
        encoding="utf-8",
    )
    bring(fresh_store, project, path)
    assert said(fresh_store, project) == [(HE, "user 1", "accept"), (HE, "user 2", "accept")]


def test_ground_truth_becomes_hidden_gold_on_request(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    path = written(tmp_path / "p.json", [task(HE, chosen("keep", ground_truth=True)), task(SHE, chosen("keep"))])
    assert bring(fresh_store, project, path).left["ground_truth"] == 1
    assert known_items(fresh_store, project) == []
    bring(fresh_store, project, path, known=True)
    (known,) = known_items(fresh_store, project)
    assert (known.item.text, known.choice, known.why) == (HE, "accept", "p.json")
    assert [event.action for event in events(fresh_store, project)][-1] == "hidden_gold"


def test_examining_a_file_lists_choices_and_annotators(fresh_store: Store, tmp_path: Path) -> None:
    path = written(
        tmp_path / "p.json", [task(HE, chosen("Keep"), chosen("Drop", completed_by=4)), task(SHE, chosen("Keep"))]
    )
    with tables_in(path) as members:
        result = survey_tasks(examine_tables(members, format="label-studio"))
    assert (result.tasks, dict(result.names), dict(result.people)) == (2, {"Keep": 2, "Drop": 1}, {"3": 2, "4": 1})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[{"data": {"text": "他"}, "annotations": []}', "element 1 is not JSON, or the file ends too early"),
        ('[{"data": {"text": "他"}} {"data": {}}]', "element 1 is not JSON"),
        ('[{"data": {"text": "他"}}] x', "continues after the end of its array: it is damaged or contains two files."),
        ('[{"data": {"text": "他"}}, [1]]', ", element 2 is JSON but not an object."),
        ('[{"data": {"text": "他"}}, {"data": nul}]', "element 2 is not JSON"),
        ("[" + "[" * 100_000, "element 1 is not JSON"),
    ],
    ids=range(6),
)
def test_a_damaged_array_is_reported_with_its_position(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile) as error, tables_in(path) as members:
        examine_tables(members, format="label-studio")
    assert says in error.value.message.format(**error.value.values)


@pytest.mark.parametrize("first", [b"\xef\xbb\xbf [", b"[", b" \r\n["])
def test_a_long_array_is_read_element_by_element(tmp_path: Path, first: bytes) -> None:
    path = tmp_path / "a.json"
    data = json.dumps({"sentence": HE + "好" * 300}, ensure_ascii=False).encode()
    path.write_bytes(first + b" ,\n".join([data] * 3_000) + b" ]\n\n")
    with tables_in(path) as members:
        assert examine_tables(members)[0].rows == 3_000


@st.composite
def labels(draw: st.DrawFn) -> list[tuple[int, int, str, str, float | None, int]]:
    """Return (item, annotator, choice, note, seconds, number of reasons) of each label."""
    task = st.tuples(
        st.integers(0, 4), st.integers(0, 2), st.sampled_from(["accept", "reject"]), NOTES,
        st.none() | st.floats(0, 1e6), st.integers(0, 2),
    )  # fmt: skip
    return draw(st.lists(task, max_size=8, unique_by=lambda each: each[:2]))


# Columns that bear the names of what a generation has.
LIKE_A_GENERATION = NewItem(
    HE, find(HE)[0], "a", 1, {"completion": None, "context": "x", "text": 1, "label": ["y"], "id": 2, "evenhand": {}}
)


@settings(max_examples=25)
@example([LIKE_A_GENERATION], [(0, 0, "reject", "n", 1.5, 1)], "doccano")
@example([LIKE_A_GENERATION], [(0, 0, "reject", "n", 1.5, 1)], "label-studio")
@example([ROOTED], [], "doccano")
@given(CORPORA, labels(), st.sampled_from(["label-studio", "doccano"]))
def test_exported_tasks_are_imported_unchanged(corpus: list[Any], made: Any, format: str) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(Path(folder) / "a.db") as store:
        project = create_project(store, "p", annotators=("An", "Bo/../x", "=Chen 👩"), per_item=2)
        if corpus:
            with Batch.begin(store, project, "x") as batch:
                batch.add(corpus)
                batch.publish()
        reasons = [reason.code for reason in guidelines(store, project)[0].reasons]
        people, everything = annotators(store, project), list(items(store, project))
        for number, (which, who, choice, note, seconds, some) in enumerate(made):
            if which < len(everything):
                store_operations(store, project, people[who], [
                    Operation(f"op {number}", everything[which].uid, choice, "desk", number, None,
                              tuple(reasons[:some]), note or "-", seconds),
                ])  # fmt: skip
        out = export_file(store, project, Path(folder) / "out", format=format, names=True).out
        if format == "label-studio":
            out = out.rename(out.with_suffix(".json"))
        with new_store(Path(folder) / "b.db") as other:
            twin = create_project(other, "p", per_item=2)
            if corpus:
                report = bring(other, twin, out, format=format)
                assert report.items.errors == [] and report.labels.errors == []
            everything_there = {item.uid: item for item in items(other, twin)}
            assert {entry.uid for entry in everything} == set(everything_there)
            for item in everything:
                there = everything_there[item.uid]
                same = ("text", "word", "stem", "keyword", "counterpart", "pair", "side", "line")
                assert [getattr(item, key) for key in same] == [getattr(there, key) for key in same]
                assert (there.file, there.extra) == (short_path(item.file), without_folders(item.extra))
            assert rows_of(store, project) == rows_of(other, twin)
            if corpus:
                bring(other, twin, out, format=format)
                assert rows_of(store, project) == rows_of(other, twin)


@pytest.mark.parametrize("format", ["label-studio", "doccano"])
def test_generations_are_exported_encrypted_and_imported_with_marks_and_flags(
    fresh_store: Store, tmp_path: Path, format: str
) -> None:
    source = create_project(fresh_store, "g", kind="generations", language="en", annotators=("An",), per_item=1)
    path = tmp_path / "g.csv"
    path.write_text(
        "context,completion,name,pronouns,model,text,label\n"
        'Rowan came in.,He sat down with his tea.,Rowan,xe,m1,=1,x\n"A ""b"""," <b>they</b>\nleft",Kit,they,m1,t,y\n',
        encoding="utf-8",
    )
    from evenhand.annotations.files.import_items import import_file

    import_file(fresh_store, source, path)
    first, second = items(fresh_store, source)
    an = annotators(fresh_store, source)[0]
    answers = store_operations(fresh_store, source, an, [
        Operation("1", first.uid, "misgendering", "d", 1, extraneous=True,
                  spans=(Mark(0, 2, "pronoun"), Mark(17, 20, "extraneous")), note="his"),
        Operation("2", second.uid, "correct", "d", 2, extraneous=False),
    ])  # fmt: skip
    assert all(answer.stored for answer in answers), answers
    with pytest.raises(Refused, match="encrypted"):
        export_file(fresh_store, source, tmp_path / "plain.json", format=format)
    wish = export_options(format, names=True, locked=True)
    name = "g.json"
    (tmp_path / "g.zip").write_bytes(export_bytes(fresh_store, source, wish, name, ""))
    with Store.open(tmp_path / "b.db") as other:
        twin = create_project(other, "g", kind="generations", language="en", per_item=1)
        with tables_in(tmp_path / "g.zip") as members:
            files = examine_tables([m for m in members if not m.name.endswith(".xml")], format=format, wished=Columns())
            report = import_tasks(other, twin, files, Names())
        assert report.items.errors == [] and report.labels.errors == []
        back = list(items(other, twin))
        assert [(item.uid, item.context, item.text, item.extra) for item in back] == [
            (entry.uid, entry.context, entry.text, entry.extra) for entry in (first, second)
        ]
        assert rows_of(other, twin) == rows_of(fresh_store, source)


def test_a_label_changed_in_another_program_is_imported_as_a_second_label(
    fresh_store: Store, sample_project: Project, tmp_path: Path
) -> None:
    uid = next(iter(items(fresh_store, sample_project))).uid
    ada = annotators(fresh_store, sample_project)[0]
    store_operations(fresh_store, sample_project, ada, [Operation("1", uid, "accept", "d", 1)])
    path = export_file(fresh_store, sample_project, tmp_path / "d", format="doccano", names=True).out
    with zipfile.ZipFile(path) as archive:
        line = archive.read("Ada.jsonl").decode()
    changed = line.replace('"label": ["accept"]', '"label": ["reject"]')
    assert changed != line
    (tmp_path / "Ada.jsonl").write_text(changed, encoding="utf-8")
    report = bring(fresh_store, sample_project, tmp_path / "Ada.jsonl")
    assert (report.labels.imported, report.labels.beside, report.labels.duplicates) == (1, 1, 0)
    (tmp_path / "Ada.jsonl").write_text(line, encoding="utf-8")
    assert bring(fresh_store, sample_project, tmp_path / "Ada.jsonl").labels.duplicates == 1


@pytest.mark.parametrize("changed", [False, True])
def test_imported_labels_after_an_opinion_are_not_blind(
    fresh_store: Store, sample_project: Project, tmp_path: Path, changed: bool
) -> None:
    uid = next(iter(items(fresh_store, sample_project))).uid
    ada = annotators(fresh_store, sample_project)[0]
    store_operations(fresh_store, sample_project, ada, [Operation("1", uid, "accept", "d", 1)])
    reveal(fresh_store, sample_project, ada, uid)
    store_operations(fresh_store, sample_project, ada, [Operation("2", uid, "accept", "d", 2, base="1", note="seen")])
    out = export_file(fresh_store, sample_project, tmp_path / "d", format="doccano", names=True).out
    with zipfile.ZipFile(out) as archive:
        line = archive.read("Ada.jsonl").decode()
    line = line.replace('"label": ["accept"]', '"label": ["reject"]') if changed else line
    (tmp_path / "Ada.jsonl").write_text(line, encoding="utf-8")
    with Store.open(tmp_path / "b.db") as other:
        twin = create_project(other, "there", per_item=2)
        bring(other, twin, tmp_path / "Ada.jsonl")
        choice = "reject" if changed else "accept"
        rows = label_rows(other, twin, which="latest")
        assert [(row["annotator"], row["choice"], row["after_reveal"]) for row in rows] == [("Ada", choice, True)]
        assert label_rows(other, twin, which="blind") == []


def test_the_labelling_configuration_is_well_formed_and_names_every_code(
    fresh_store: Store, sample_project: Project, tmp_path: Path
) -> None:
    from xml.etree import ElementTree

    report = export_file(fresh_store, sample_project, tmp_path / "out.json", format="label-studio")
    assert report.rows == 8 and len(json.loads(report.out.read_text(encoding="utf-8"))) == 8
    config = ElementTree.fromstring((tmp_path / "out-config.xml").read_text(encoding="utf-8"))
    values = {element.get("value") for element in config.iter("Choice")}
    newest = guidelines(fresh_store, sample_project)[-1]
    assert values == {choice.code for choice in (*newest.choices, *newest.reasons)}
    assert config.find("Text").get("value") == "$text"  # type: ignore[union-attr]
    assert export_preview(fresh_store, sample_project, export_options("label-studio"), limit=2).count('"data"') == 2
