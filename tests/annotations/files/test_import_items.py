"""The way in: what goes in, what is reported with file, line and reason, and that nothing is left half done."""

import csv
import json
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files import detect, import_items
from evenhand.annotations.files.detect import english_problem
from evenhand.annotations.files.import_items import check_file, examine, import_file, preview
from evenhand.annotations.items import batch as batches
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import archive, create_project
from evenhand.annotations.types import Project
from evenhand.core.errors import BadFile, Refused


@pytest.fixture
def project(fresh_store: Store) -> Project:
    return create_project(fresh_store, "p")


def written(folder: Path, name: str, data: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def dump(store: Store) -> list[str]:
    """Return every row of every table."""
    return list(store.db.iterdump())


PLAIN = "他在修自行车。\n她在修自行车。\n"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", PLAIN),
        ("a.txt", "\ufeff" + PLAIN),
        ("a.txt", PLAIN.encode("gb18030")),
        ("a.csv", "句子\n" + PLAIN),
        ("a.tsv", "n\tsentence\n1\t" + PLAIN.replace("\n", "\n2\t", 1)),
        ("a.jsonl", "".join(json.dumps({"text": line}) + "\n" for line in PLAIN.split())),
        (
            "a.csv",
            '句子,关键词位置,原始关键词,对立关键词\n他在修自行车。,"[1, 2]",他,她\n她在修自行车。,"[0, 1]",她,他\n',
        ),
    ],
)
def test_all_formats_and_encodings_give_equal_items(
    fresh_store: Store, project: Project, tmp_path: Path, name: str, data: str | bytes
) -> None:
    path = written(tmp_path, name, data)
    report = import_file(fresh_store, project, path)
    assert (report.rows, report.imported, report.duplicates, report.rejected) == (2, 2, 0, 0)
    assert report.encoding == ("gb18030" if isinstance(data, bytes) else "utf-8")
    first, second = items(fresh_store, project)
    assert (first.text, first.word, first.side, first.pair) == ("他在修自行车。", (0, 1), "male", "他/她")
    assert (second.keyword, second.counterpart, second.file) == ("她", "他", name)

    again = import_file(fresh_store, project, path)
    assert (again.rows, again.imported, again.duplicates) == (2, 0, 2)
    assert len(list(items(fresh_store, project))) == 2
    assert fresh_store.db.execute("SELECT count(*) FROM batch").fetchone() == (1,)


def test_bad_lines_are_reported_and_others_imported(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    lines = [
        "他在修自行车。",
        "这里没有那样的词。",
        "他和她在修自行车。",
        "",
        "他" + "很" * 511,
        "他" + "很" * 512,
        "他在\u202e修车。",
        "他在\x07修车。",
        "他在修自行车。",
    ]
    report = import_file(fresh_store, project, written(tmp_path, "a.txt", "\n".join(lines)))
    assert (report.rows, report.imported, report.duplicates, report.rejected) == (9, 2, 1, 6)
    assert [(error.file, error.line, error.reason) for error in report.errors] == [
        ("a.txt", 2, "no_keyword"),
        ("a.txt", 3, "several_keywords"),
        ("a.txt", 4, "no_text"),
        ("a.txt", 6, "too_long"),
        ("a.txt", 7, "control_characters"),
        ("a.txt", 8, "control_characters"),
    ]
    assert report.reasons["control_characters"] == 2
    several, control = report.errors[1], report.errors[4]
    assert english_problem(several) == "The sentence contains 2 keywords (他 她); it must contain exactly one."
    assert english_problem(control) == "The sentence contains a control character: U+202E RIGHT-TO-LEFT OVERRIDE."
    assert [item.line for item in items(fresh_store, project)] == [1, 5]


HEADER = "句子,关键词位置,原始关键词,对立关键词\n"


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ('河边有个女孩在等船。,"[4, 6]",女,男', "ok"),
        ('河边有个女孩在等船。,"[5, 7]",女,男', "one_too_large"),
        ('河边有个女孩在等船。,"[3, 5]",女,男', "one_too_small"),
        ('河边有个女孩在等船。,"[80, 82]",女,男', "wrong"),
        ('河边有个女孩在等船。,"[4, 5]",女,男', "bad_span"),  # the length is that of 女, the sentence has 女孩
        ('河边有个女孩在等船。,"[4, 6]",女,婆', "bad_span"),
        ("河边有个女孩在等船。,4-6,女,男", "bad_span"),
        ('河边有个女孩在等船。,"[4, -6]",女,男', "bad_span"),
        ('河边没有人在等船。,"[4, 6]",女,男', "no_keyword"),
        ('河边有个女孩和男孩。,"[4, 6]",女,男', "several_keywords"),
        (',"[4, 6]",女,男', "no_text"),
    ],
)
def test_positions_of_slguset_rows_are_checked(
    fresh_store: Store, project: Project, tmp_path: Path, row: str, outcome: str
) -> None:
    report = import_file(fresh_store, project, written(tmp_path, "a.csv", HEADER + row + "\n"))
    assert report.format == "slguset"
    if outcome in import_items.SPANS:
        assert report.as_json()["spans"] == {**dict.fromkeys(import_items.SPANS, 0), outcome: 1}
        (item,) = items(fresh_store, project)
        assert (item.word, item.keyword, item.stem) == ((4, 6), "女孩", (4, 5))
    else:
        assert [(error.line, error.reason) for error in report.errors] == [(2, outcome)]


def test_extra_columns_are_stored_with_the_item(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    data = "source,sentence,status,start\n'=1+1,他在修车。,new,3\n"
    import_file(fresh_store, project, written(tmp_path, "a.csv", data))
    (item,) = items(fresh_store, project)
    assert item.extra == {"source": "=1+1", "status": "new", "start": "3"}


@pytest.mark.parametrize(
    ("name", "data", "wish", "says"),
    [
        ("a.csv", "satz,quelle\n他在修车。,x\n", {}, "It has satz, quelle.*--column NAME"),
        ("a.csv", "satz,quelle\n他在修车。,x\n", {"column": "text"}, "no column named text. It has satz, quelle"),
        ("a.csv", "句子,位置\n他在修车。,x\n", {"format": "slguset"}, "needs the columns 句子, 关键词位置"),
        ("a.txt", "他在修车。\n", {"format": "slguset"}, "needs the columns"),
        ("a.txt", "他在修车。\n", {"format": "excel"}, "no import format excel"),
        ("a.csv", "PK\x03\x04", {}, "ZIP"),
        ("a.jsonl", '{"sentence": "他在修车。"}\n{"sent', {}, "line 2 is not JSON"),
        ("a.txt", "他" * 300_000, {}, "more than 200000"),
        ("a.csv", 'sentence\n他在修车。\n"她在修车。\n', {}, "line 3"),
        ("none.csv", None, {}, "cannot be read"),
    ],
)
def test_an_unreadable_file_leaves_the_database_unchanged(
    fresh_store: Store, project: Project, tmp_path: Path, name: str, data: str | None, wish: dict[str, str], says: str
) -> None:
    path = written(tmp_path, name, data) if data is not None else tmp_path / name
    before = dump(fresh_store)
    with pytest.raises(BadFile, match=says):
        import_file(fresh_store, project, path, **wish)
    assert dump(fresh_store) == before


def test_a_named_column_is_the_sentence(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", "satz,text\n他在修车。,none\n")
    assert import_file(fresh_store, project, path, column="satz").imported == 1
    (item,) = items(fresh_store, project)
    assert item.extra == {"text": "none"}


def test_a_cancelled_import_leaves_nothing(
    fresh_store: Store, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_items, "CHUNK_ROWS", 10)
    for rows_at_once in ("CHUNK", "MOST_WAITING"):
        monkeypatch.setattr(batches, rows_at_once, 10)
    path = written(tmp_path, "a.txt", "".join(f"他修了第{number}辆车。\n" for number in range(35)))
    before = dump(fresh_store)
    seen: list[tuple[int, int]] = []

    def cancel(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 20:
            assert fresh_store.db.execute("SELECT count(*) FROM item").fetchone() == (20,)
            assert not list(items(fresh_store, project))  # not visible to anyone yet
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_file(fresh_store, project, path, progress=cancel)
    assert seen == [(10, 35), (20, 35)]
    lines = [line for line in dump(fresh_store) if 'INTO "cell"' not in line]  # an empty cell shows nowhere
    assert lines == before
    assert import_file(fresh_store, project, path).imported == 35


def test_wrong_kind_and_archived_projects_are_refused(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    path = written(tmp_path, "a.txt", PLAIN)
    with pytest.raises(Refused, match="holds generations"):
        import_file(fresh_store, create_project(fresh_store, "g", kind="generations"), path)
    with pytest.raises(Refused, match="archived"):
        import_file(fresh_store, archive(fresh_store, project), path)


def test_preview_stores_nothing_and_shows_words_and_problems(tmp_path: Path) -> None:
    lines = ["姥姥在种花。", "没有。", *["他来了。"] * 20]
    shown = preview(written(tmp_path, "a.txt", "\n".join(lines)), name="upload.txt")
    assert (shown.format, shown.column, shown.encoding, len(shown.rows)) == ("sentences", "sentence", "utf-8", 10)
    first, second = shown.rows[:2]
    assert first.item is not None and first.item.candidate is not None
    assert first.item.candidate.keyword == "姥姥" and first.item.candidate.stem_start == 1
    assert second.item is None and second.problem is not None
    assert (second.text, second.problem.file, second.problem.reason) == ("没有。", "upload.txt", "no_keyword")


def test_a_report_keeps_a_limited_list_but_counts_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "LISTED", 3)
    examined = examine(written(tmp_path, "a.txt", "没有。\n" * 8))
    assert (examined.rows, examined.usable) == (8, False)
    printed = check_file(examined).as_json()
    assert (printed["rejected"], len(printed["errors"]), printed["errors_left_out"]) == (8, 3, 5)
    assert printed["reasons"] == {"no_keyword": 8}


def test_generations_are_imported_with_their_contexts(fresh_store: Store, tmp_path: Path) -> None:
    project = create_project(fresh_store, "g", kind="generations")
    rows = [
        {"context": "Sam said", "completion": "he\nleft", "model": "m", "setting": "pre", "index": 0, "pronoun": "he"},
        {"context": "Sam said", "completion": "he\nleft", "model": "m", "setting": "pre", "index": 1, "pronoun": "he"},
        {"context": "Sam said", "completion": "he\nleft", "model": "m", "setting": "pre", "index": 1, "pronoun": "he"},
        {"context": "Sam said", "completion": "", "model": "m"},
        {"context": "Sam said", "completion": "a\x07", "model": "m"},
        {"context": None, "completion": "They left."},
    ]
    path = written(tmp_path, "g.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    report = import_file(fresh_store, project, path)
    assert (report.format, report.imported, report.duplicates) == ("generations", 3, 1)
    assert [(error.line, error.reason) for error in report.errors] == [(4, "no_text"), (5, "control_characters")]
    first, _, last = items(fresh_store, project)
    assert (first.context, first.text, first.pair) == ("Sam said", "he\nleft", "m / he / pre")
    facts = {"model": "m", "setting": "pre", "index": 0, "pronouns": ["he"], "dataset": "own"}
    assert first.extra == facts | {"template": "Sam said"}  # the cluster; the context where the file names none
    assert (last.context, last.word) == ("", None)


def test_the_development_file_is_imported(fresh_store: Store, project: Project, shared_data: Path) -> None:
    path = shared_data / "slguset" / "SlguSet_dev.csv"
    report = import_file(fresh_store, project, path)
    assert (report.rows, report.imported, report.duplicates, report.rejected) == (9900, 9899, 1, 0)
    assert report.spans == {"ok": 8313, "one_too_large": 963, "wrong": 624}
    with path.open(encoding="utf-8", newline="") as file:
        stems = {row["句子"]: row["原始关键词"] for row in csv.DictReader(file)}
    for item in items(fresh_store, project):
        assert item.word is not None and item.stem is not None
        assert item.text[slice(*item.word)] == item.keyword
        assert item.text[slice(*item.stem)] == stems[item.text]
