"""Exports survive a round trip: items, labels with marks and tags, decisions; equal agreement to the last digit."""

import json
import shutil
import uuid
import zipfile

import pytest

from evenhand.annotations.adjudication.decisions import case, cases, decide_case, each_decision_row
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import NAME, make_generations_demo
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import examine_tables, import_examined, tables_in
from evenhand.annotations.files.package import write_package
from evenhand.annotations.items.batch import items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.labels.read import each_label_row
from evenhand.annotations.projects.projects import (
    annotator,
    annotators,
    create_project,
    guidelines,
    project,
    projects,
    remove_annotator,
)
from evenhand.annotations.types import Operation
from evenhand.commands.agreement import report_json
from evenhand.core.errors import BadFile, Refused
from tests.support.projects import broken_rules
from tests.support.released_project import rehearse

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def lively(tmp_path_factory):
    """Return the demo with a label withdrawn, one made again, an adjudication, and an annotator who left."""
    path = tmp_path_factory.mktemp("lively") / "labels.db"
    with Store.open(path) as store:
        made = make_generations_demo(store)
        first = annotators(store, made)[0]
        rows = [row for row in each_label_row(store, made, which="latest") if row["annotator"] == first.name]
        again = Operation("again" + uuid.uuid4().hex, rows[0]["item"], "no_pronoun", rows[0]["desk"], 10_000,
                          base=rows[0]["op_id"], extraneous=False)  # fmt: skip
        back = Operation(
            "back" + uuid.uuid4().hex, rows[1]["item"], None, rows[1]["desk"], 10_001, base=rows[1]["op_id"]
        )
        assert all(answer.stored for answer in store_operations(store, made, first, [again, back]))
        uid = cases(store, made)[0]
        decide_case(
            store, made, uid, choice="correct", adjudicator="Vera", why="read twice", extraneous=False,
            seen=case(store, made, uid).seen, base=None,
        )  # fmt: skip
        remove_annotator(store, made, annotators(store, made)[2])
    return path


@pytest.fixture
def old(lively, tmp_path):
    shutil.copy(lively, tmp_path / "old.db")
    with Store.open(tmp_path / "old.db") as store:
        yield store


def labels(store, found):
    names = ("item", "choice", "reasons", "extraneous", "spans", "note", "seconds", "op_id", "created", "base")
    return [tuple(str(row[name]) for name in names) for row in each_label_row(store, found, which="all")]


def project_names(store):
    return [project.name for project in projects(store)]


def state(store, found):
    shown = report_json(agreement(store, found))
    return json.loads(
        json.dumps({key: shown[key] for key in shown if key not in ("project", "annotators", "cohen_kappa")})
    )


def item_rows(store, found):
    return [(item.uid, item.text, item.context, item.extra, item.gold, item.status) for item in items(store, found)]


def bring(store, path, name="again"):
    with tables_in(path, password=PASSWORD) as members:
        return write_package.import_package(store, name, members, path.name)


@pytest.mark.parametrize("names", [True, False], ids=["names", "codes"])
def test_a_whole_project_is_restored_from_its_package(old, fresh_store, tmp_path, names):
    before = project(old, NAME)
    out = tmp_path / "all.zip"
    report = export_file(old, before, out, format="package", password=PASSWORD, names=names)
    assert (report.rows, report.encrypted) == (120, True)
    brought = bring(fresh_store, out)
    after = brought.project
    assert (brought.items.imported, brought.labels.rejected, brought.labels.beside) == (120, 0, 0)
    assert brought.labels.imported == len(labels(old, before)) == 138
    assert labels(fresh_store, after) == labels(old, before)
    item_rows = [(item.uid, item.text, item.context, item.extra, item.gold, item.status) for item in items(old, before)]
    assert [
        (item.uid, item.text, item.context, item.extra, item.gold, item.status) for item in items(fresh_store, after)
    ] == item_rows
    assert state(fresh_store, after) == state(old, before)
    assert [(version.text, version.choices, version.reasons) for version in guidelines(fresh_store, after)] == [
        (version.text, version.choices, version.reasons) for version in guidelines(old, before)
    ]
    settings = ("kind", "language", "per_item", "doubled", "gold", "seed", "checked", "blur", "open_text")
    assert [getattr(after, key) for key in settings] == [getattr(before, key) for key in settings]
    (row,) = each_decision_row(fresh_store, after)
    (own,) = each_decision_row(old, before)
    assert row | {"adjudicator": ""} == own | {"adjudicator": ""}
    assert row["adjudicator"] == ("Vera" if names else "J1")
    here = [annotator.name for annotator in annotators(fresh_store, after)]
    assert here == [annotator.name for annotator in annotators(old, before)] if names else here == ["A1", "A2"]


def test_importing_a_package_twice_adds_nothing(old, fresh_store, tmp_path):
    export_file(old, project(old, NAME), tmp_path / "all.zip", format="package", password=PASSWORD)
    first = bring(fresh_store, tmp_path / "all.zip")
    before = labels(fresh_store, first.project)
    second = bring(fresh_store, tmp_path / "all.zip")
    assert (second.items.imported, second.labels.imported, second.labels.duplicates) == (0, 0, 138)
    assert second.labels.decisions == 0
    assert labels(fresh_store, second.project) == before


def test_a_package_imported_next_to_its_project_becomes_a_copy(old, tmp_path):
    export_file(old, project(old, NAME), tmp_path / "all.zip", format="package", password=PASSWORD, names=True)
    before = project_names(old)
    copy = bring(old, tmp_path / "all.zip")
    assert (copy.labels.imported, copy.labels.rejected) == (138, 0)
    assert set(project_names(old)) == {*before, copy.project.name}
    assert bring(old, tmp_path / "all.zip", NAME).labels.duplicates == 138


def test_a_package_with_codes_is_refused_in_a_project_with_names(old, tmp_path):
    before = [annotator.name for annotator in annotators(old, project(old, NAME))]
    export_file(old, project(old, NAME), tmp_path / "all.zip", format="package", password=PASSWORD, names=False)
    brought = bring(old, tmp_path / "all.zip", NAME).labels
    assert (brought.imported, brought.duplicates, brought.rejected) == (0, 0, 138)
    assert (
        "This label already exists under a name other than A2. To import it, export the file with names."
        in brought.errors[0].message.format(**brought.errors[0].values)
    )
    assert [annotator.name for annotator in annotators(old, project(old, NAME))] == before


@pytest.mark.parametrize("layout", ["labels", "labels-jsonl"])
def test_a_file_of_labels_is_matched_to_its_items(old, fresh_store, tmp_path, layout):
    before = project(old, NAME)
    export_file(old, before, tmp_path / "items.zip", format="jsonl", password=PASSWORD)
    ending = "csv" if layout == "labels" else "jsonl"
    export_file(old, before, tmp_path / f"labels.{ending}", format=layout, names=True)
    after = create_project(fresh_store, "again", kind="generations", language="en", per_item=2)
    with tables_in(tmp_path / "items.zip", password=PASSWORD) as members:
        assert import_examined(fresh_store, after, examine_tables(members)).imported == 120
    with tables_in(tmp_path / f"labels.{ending}") as members:
        report = write_package.import_package_labels(fresh_store, after, members[0], members[0].name)
    standing = list(each_label_row(old, before, which="latest"))
    assert (report.imported, report.rejected) == (len(standing), 0)
    names = ("item", "annotator", "choice", "reasons", "extraneous", "spans", "op_id")
    mine = [tuple(str(row[name]) for name in names) for row in each_label_row(fresh_store, after, which="latest")]
    assert sorted(mine) == sorted(tuple(str(row[name]) for name in names) for row in standing)
    assert {row["note"] for row in each_label_row(fresh_store, after)} == {""}  # notes leave with texts only


def test_an_existing_label_stays_current(old, fresh_store, tmp_path):
    before = project(old, NAME)
    export_file(old, before, tmp_path / "all.zip", format="package", password=PASSWORD, names=True)
    after = bring(fresh_store, tmp_path / "all.zip").project
    export_file(old, before, tmp_path / "labels.csv", format="labels", names=True)
    changed = (tmp_path / "labels.csv").read_text("utf-8").splitlines()
    cells = changed[1].split(",")
    changed[1] = ",".join(cells).replace(next(cell for cell in cells if len(cell) == 32 and cell != cells[0]), "f" * 32)
    (tmp_path / "other.csv").write_text("\n".join([changed[0], changed[1]]) + "\n", "utf-8")
    with tables_in(tmp_path / "other.csv") as members:
        report = write_package.import_package_labels(fresh_store, after, members[0], "other.csv")
    assert (report.imported, report.beside) == (1, 1)
    assert [row for row in labels(fresh_store, after) if row[7] != "f" * 32] == labels(old, before)


ROW = {"item": "?", "annotator": "Ann", "choice": "correct", "op_id": "o1", "extraneous": False}


@pytest.mark.parametrize(
    ("change", "reason", "says"),
    [
        ({"item": "0" * 32}, "no_item", "has no item"),
        ({"choice": "accept"}, "label", "not a choice"),
        ({"reasons": ["nonsense"]}, "label", "not a reason"),
        ({"spans": [[0, 9999, "pronoun"]]}, "label", "not in the text"),
        ({"spans": "broken"}, "label", "The marks of a text must be a list such as"),
        ({"guideline": 9}, "label", "no version 9"),
        ({"seconds": -1}, "label", "seconds"),
        ({"seconds": 1e300}, "label", "seconds"),
        ({"created": "yesterday"}, "label", "is not a time between 1970 and 2099 such as 2026-01-31T09:30:00"),
        (
            {"created": "0001-01-01T00:00:00+23:59"},
            "label",
            "is not a time between 1970 and 2099 such as 2026-01-31T09:30:00",
        ),
        (
            {"created": "9999-12-31T23:59:59-23:59"},
            "label",
            "is not a time between 1970 and 2099 such as 2026-01-31T09:30:00",
        ),
        ({"extraneous": "perhaps"}, "label", "0, 1 or empty"),
        ({"revision": "x"}, "label", "whole number"),
        ({"guideline": "--1"}, "label", "whole number"),
        ({"annotator": ""}, "label", "needs an item and an annotator"),
        ({"annotator": "a\tb"}, "label", "A name must be one line of 1 to"),
        ({"annotator": "n" * 81}, "label", "A name must be one line of 1 to"),
        ({"op_id": "x" * 101}, "label", "id of 1 to 100"),
        ({"desk": "a\x00b"}, "label", "id of 1 to 100"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_an_invalid_label_row_is_reported(old, tmp_path, change, reason, says):
    stored = project(old, NAME)
    uid = next(items(old, stored)).uid
    path = tmp_path / "labels.jsonl"
    path.write_text(
        json.dumps(ROW | {"item": uid} | change) + "\n" + json.dumps(ROW | {"item": uid, "op_id": "o2"}) + "\n"
    )
    with tables_in(path) as members:
        report = write_package.import_package_labels(old, stored, members[0], "labels.jsonl")
    assert (report.imported, report.rejected) == (1, 1)
    (problem,) = report.errors
    assert (problem.file, problem.line, problem.reason) == ("labels.jsonl", 1, reason)
    assert says in problem.message.format(**problem.values)
    assert annotator(old, stored, "Ann").name == "Ann"


def test_labels_of_another_project_add_no_annotator(old, tmp_path):
    stored = project(old, NAME)
    before = annotators(old, stored, active=False)
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(ROW | {"item": "of another project", "annotator": "Stranger"}) + "\n")
    with tables_in(path) as members:
        assert write_package.import_package_labels(old, stored, members[0], "labels.jsonl").rejected == 1
    assert annotators(old, stored, active=False) == before


def test_a_file_without_the_label_columns_is_refused(old, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item,label\na,b\n")
    with tables_in(path) as members, pytest.raises(BadFile, match="needs the columns"):
        write_package.import_package_labels(old, project(old, NAME), members[0], "labels.csv")


@pytest.mark.parametrize("described", ["", "{}", '{"format": "other"}', '{"format": "evenhand-package", "v": 99}'])
def test_an_invalid_package_is_refused(fresh_store, tmp_path, described):
    import zipfile

    path = tmp_path / "p.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.json", described)
        archive.writestr("items.jsonl", "")
    with pytest.raises(BadFile, match=r"p\.zip"):
        bring(fresh_store, path)


@pytest.fixture(scope="module")
def curated(tmp_path_factory):
    """Return a package of a project with pilot, two versions, retests, hidden gold, decisions and a departure."""
    folder = tmp_path_factory.mktemp("curated")
    with Store.open(folder / "labels.db") as store:
        made = rehearse(store, 16)
        export_file(store, made, folder / "set.zip", format="package", names=True)
        assert len(guidelines(store, made)) == 2 and len(annotators(store, made)) == 2
    return folder / "set.zip"


def everything(store):
    """Return the content of a package without ids and timestamps of this database."""
    queries = (
        "SELECT uid, gold, status, labels, wanted, known, pilot IS NOT NULL, settlement IS NOT NULL FROM item",
        "SELECT item.uid, annotator.name, state, latest IS NULL, blind IS NULL, revealed, kept FROM assignment"
        " JOIN item ON item.id = item JOIN annotator ON annotator.id = annotator",
        "SELECT name, active, told FROM member JOIN annotator ON annotator.id = annotator",
        "SELECT version, text, changes, created FROM guideline",
        "SELECT plan, share, retest, retest_hours, licence, rescue FROM project",
        "SELECT action, data, created FROM event WHERE action IN ('pilot_started', 'hidden_gold')",
        "SELECT op_id FROM label UNION SELECT op_id FROM retest_label UNION SELECT op_id FROM settlement",
    )
    return [sorted(map(repr, store.db.execute(query).fetchall())) for query in queries]


@pytest.mark.parametrize(
    "at",
    [
        "mark",
        "import_examined",
        "store_records",
        "import_package_labels",
        "store_decisions",
        "late",
        "remove_annotator",
    ],
)
def test_an_interrupted_package_import_is_continued(curated, tmp_path, monkeypatch, at):
    records = write_package.store_records

    def cut(*args, **named):
        if at == "late" and named["early"]:
            return records(*args, **named)
        raise KeyboardInterrupt

    with Store.open(tmp_path / "whole.db") as whole, Store.open(tmp_path / "cut.db") as store:
        bring(whole, curated)
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(write_package, "_try_import", lambda *_: None)
            patched.setattr(write_package, "store_records" if at == "late" else at, cut)
            bring(store, curated)
        assert broken_rules(store) == []
        bring(store, curated)
        assert everything(store) == everything(whole)
        before = store.db.execute("SELECT count(*) FROM event").fetchone()
        bring(store, curated)
        assert everything(store) == everything(whole)
        assert store.db.execute("SELECT count(*) FROM event").fetchone() == before


def test_labels_made_during_an_interrupted_import_are_kept(curated, fresh_store, monkeypatch):
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(write_package, "_try_import", lambda *_: None)
        patched.setattr(write_package, "store_decisions", stopped)
        bring(fresh_store, curated)
    made = project(fresh_store, "again")
    query = (
        "SELECT item.uid, annotator.name, op_id FROM assignment JOIN item ON item.id = item JOIN annotator"
        " ON annotator.id = annotator WHERE latest IS NOT NULL"
    )
    operations = []
    for number, (uid, name, standing) in enumerate(fresh_store.db.execute(query).fetchall()):
        operation = Operation(f"meanwhile{number}", uid, "accept", "desk", number, base=standing)
        assert store_operations(fresh_store, made, annotator(fresh_store, made, name), [operation])[0].stored
        operations.append(operation.op_id)
    bring(fresh_store, curated)
    standing = {row[0] for row in fresh_store.db.execute("SELECT op_id FROM assignment WHERE latest IS NOT NULL")}
    assert standing >= set(operations) != set()
    assert broken_rules(fresh_store) == []


def stopped(*_args, **_named):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("project", {"kind": ["sentences"]}),
        ("project", {"language": None}),
        ("project", {"seed": 2**70}),
        ("project", {"blur": "yes"}),
        ("project", {"licence": {}}),
        ("guidelines", [{"version": 1, "text": "a", "choices": [{"code": 1, "key": "a", "zh": "", "en": ""}]}]),
        ("guidelines", 5),
        ("quotas", [["他/她"]]),
        ("left", 5),
        ("annotators", None),
    ],
    ids=str,
)
def test_an_impossible_value_refuses_the_package(curated, fresh_store, tmp_path, part, change):
    with zipfile.ZipFile(curated) as source, zipfile.ZipFile(tmp_path / "odd.zip", "w") as odd:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("project.json"):
                described = json.loads(content)
                described[part] = described[part] | change if isinstance(change, dict) else change
                content = json.dumps(described).encode()
            odd.writestr(name, content)
    with pytest.raises(BadFile, match=r"is not a project package: its project\.json is missing or invalid\."):
        bring(fresh_store, tmp_path / "odd.zip")
    assert fresh_store.db.execute("SELECT count(*) FROM project").fetchone()[0] == 0


def test_a_package_without_items_is_refused(curated, fresh_store, tmp_path):
    with zipfile.ZipFile(curated) as source, zipfile.ZipFile(tmp_path / "odd.zip", "w") as odd:
        for name in source.namelist():
            if not name.endswith("items.jsonl"):
                odd.writestr(name, source.read(name))
    with tables_in(tmp_path / "odd.zip") as members, pytest.raises(BadFile, match=r"its items\.jsonl is missing\."):
        write_package.import_package(fresh_store, "new", members, "odd.zip")
    assert fresh_store.db.execute("SELECT count(*) FROM project").fetchone()[0] == 0


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("pilot", {"seed": 2**70}),
        ("known", {"created": "9999999-01-01"}),
        ("retest_label", {"reasons": None}),
        ("retest_label", {"spans": [5]}),
        ("retest_label", {"created": "yesterday"}),
        ("settlement", {"seen": [5]}),
        ("comment", {"created": 5}),
        ("event", {"data": ["no", "object"]}),
        ("event", {"action": "plan", "data": {"old": "all", "new": {}}}),
        ("event", {"action": "plan", "data": {"old": {"share": "half"}, "new": {}}}),
    ],
    ids=str,
)
def test_an_invalid_record_is_reported_with_its_number(curated, fresh_store, tmp_path, kind, change):
    place = 0
    with zipfile.ZipFile(curated) as source, zipfile.ZipFile(tmp_path / "odd.zip", "w") as odd:
        for name in source.namelist():
            content = source.read(name)
            rows = [json.loads(line) for line in content.splitlines()] if name.endswith("s.jsonl") else []
            at = next((n for n, row in enumerate(rows) if row.get("kind") == kind), None)
            if at is not None:
                place, rows[at] = at + 1, rows[at] | change
                content = "".join(json.dumps(row) + "\n" for row in rows).encode()
            odd.writestr(name, content)
    assert place
    with pytest.raises(Refused, match=rf"rejected (record|decision) {place} of this package|A mark needs"):
        bring(fresh_store, tmp_path / "odd.zip")
    assert broken_rules(fresh_store) == []
