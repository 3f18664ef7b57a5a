"""Sources of texts without the folders of a server: in imports, in exports, and in old releases."""

import json
import re
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.describe.project_description import describe_items
from evenhand.annotations.files.detect import detect_layout
from evenhand.annotations.files.import_items import examine, import_examined, read_row
from evenhand.annotations.items.batch import items
from evenhand.annotations.mining.candidates import passages_of
from evenhand.annotations.projects.projects import annotators, create_project
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import release_files
from evenhand.core.files.display_paths import Places, short_path, without_folders
from evenhand.core.files.readers import open_source, rows
from tests.support.released_project import label, ready_project

HOME, USERS = "/home", "Users"
SECRET = f"{HOME}/vera/corpora/2018/a.txt"


@pytest.mark.parametrize(
    ("path", "short"),
    [
        ("/srv/texts/2018/a.txt", "2018/a.txt"),
        (f"{HOME}/vera/a.txt", "a.txt"),
        (f"{HOME}/vera/x/y/a.txt", "y/a.txt"),
        (f"/{USERS}/vera/a.txt", "a.txt"),
        (f"/mnt/c/{USERS}/vera/a.txt", "a.txt"),
        ("C:\\Users\\vera\\a.txt", "a.txt"),
        ("D:/texts/2018/a.txt", "2018/a.txt"),
        ("\\\\server\\share\\x\\a.txt", "x/a.txt"),
        ("~vera/a.txt", "a.txt"),
        (f"file://{HOME}/vera/a.txt", "a.txt"),
        ("/data/x.zip/in/a.txt", "in/a.txt"),
        ("/0", "0"),
        ("/srv/~vera/a.txt", "a.txt"),
        ("/mnt/C:/a.txt", "a.txt"),
        *((same, same) for same in ("2018/a.txt", "a.txt", "https://a.org/b/c/d", "Evening news", "~ 5 / 6", "/", "")),
    ],
)
def test_paths_are_shortened_without_private_folders(path: str, short: str) -> None:
    assert short_path(path) == short
    assert short_path(short) == short


@given(st.text(alphabet="/\\~:aC. \n", max_size=12) | st.text(max_size=9))
def test_shortening_a_path_is_idempotent(path: str) -> None:
    assert short_path(short_path(path)) == short_path(path)


def test_only_columns_that_name_a_file_are_shortened() -> None:
    extra: dict[str, Any] = {"source": {"file": SECRET, "columns": {"来源": SECRET, "remark": "/a/b/c"}}, "n": "/a/b/c"}
    assert without_folders(extra) == {
        "source": {"file": "2018/a.txt", "columns": {"来源": "2018/a.txt", "remark": "/a/b/c"}},
        "n": "/a/b/c",
    }


@pytest.mark.parametrize(
    ("paths", "short"),
    [
        (["/a/x/1/a.txt", "/b/x/1/a.txt", "/a/x/1/a.txt", "/c/x/1/a.txt"],
         ["1/a.txt", "1/a.txt (2)", "1/a.txt", "1/a.txt (3)"]),
        (["1/a.txt", "/b/x/1/a.txt", "1/a.txt"], ["1/a.txt", "1/a.txt (2)", "1/a.txt"]),
        (["1/a.txt (2)", "/a/1/a.txt", "/b/1/a.txt"], ["1/a.txt (2)", "1/a.txt", "1/a.txt (3)"]),
        (["Evening news", "", "Evening news"], ["Evening news", "", "Evening news"]),
    ],
)  # fmt: skip
def test_different_places_keep_different_names(paths: list[str], short: list[str]) -> None:
    places = Places()
    assert [places(path) for path in paths] == short
    assert [places(path) for path in paths] == short  # each time the same
    assert [Places()(path) for path in short] == short  # and once more from a file that names them so


def test_equal_names_in_two_folders_are_two_documents(fresh_store: Store, tmp_path: Path) -> None:
    roots = ("news", "blogs", "news")
    texts = [f"第{number}天她修好了水泵。" for number in range(3)]
    for name in ("a.jsonl", "b.jsonl"):
        lines = [
            json.dumps({"sentence": text + name, "source": f"/srv/{root}/2018/1.txt"}, ensure_ascii=False) + "\n"
            for root, text in zip(roots, texts, strict=True)
        ]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    made = create_project(fresh_store, "set")
    # Of one archive: the same place has the same name in both.
    import_examined(fresh_store, made, [examine(tmp_path / name, column="sentence") for name in ("a.jsonl", "b.jsonl")])
    named = [item.extra["source"] for item in items(fresh_store, made)]
    assert named == ["2018/1.txt", "2018/1.txt (2)", "2018/1.txt"] * 2
    assert [len(list(some)) for _, some in groupby(passages_of(fresh_store, made), lambda one: one.document)] == [4, 2]
    assert describe_items(fresh_store, made).origins.named == {"2018/1.txt": 4, "2018/1.txt (2)": 2}


def nested(depth: int) -> dict[str, Any]:
    """Return objects in objects, as deep as a line of a file may be."""
    results: dict[str, Any] = {}
    for _ in range(depth):
        results = {"source": results}
    return results


MINED = {
    "sentence": "昨天她修好了水泵。", "start": 2, "end": 3, "stem_start": 2, "stem_end": 3, "keyword": "她",
    "counterpart": "他", "pair": "他/她", "side": "female", "source": {"file": SECRET, "offset": 0}, "flags": [],
}  # fmt: skip


@pytest.mark.parametrize(
    "row",
    [
        MINED,
        {"sentence": "昨天她修好了水泵。", "source": SECRET},
        {"text": "昨天她修好了水泵。", "file": SECRET},
        {**MINED, "item": "0" * 32, "status": "pending", "file": SECRET, "line": 3},
        {"context": "He said:", "completion": " she left.", "来源": SECRET},
        {"data": {"text": "昨天她修好了水泵。", "filename": SECRET}, "annotations": []},
        {"sentence": "昨天她修好了水泵。", "file": SECRET, "source": nested(450)},
    ],
    ids=["mined", "source", "file", "export", "generation", "label-studio", "deep"],
)
def test_an_import_stores_no_folder_of_the_server(row: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    source = open_source(path)
    wished = "label-studio" if "data" in row else "auto"
    (read,) = (read_row(source, detect_layout(source, wished), row).item for row in rows(source))
    assert "vera" not in json.dumps([read.extra, read.file]) and "a.txt" in json.dumps([read.extra, read.file])


def test_a_release_of_older_items_names_no_folder(fresh_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ready_project(fresh_store, 2)
    extra = json.dumps({"source": {"file": SECRET, "offset": 0}, "flags": []})
    fresh_store.db.execute("UPDATE item SET extra = ?, file = ?", (extra, SECRET))  # as imports left it before
    for who in annotators(fresh_store, made):
        for item in items(fresh_store, made):
            label(fresh_store, made, who, item.uid, "accept")
    with monkeypatch.context() as before:
        before.setattr("evenhand.annotations.files.label_tables.without_folders", dict)
        before.setattr("evenhand.annotations.files.label_tables.short_path", str)
        old = release_files(fresh_store, make_release(fresh_store, made, "1.0"))
    assert SECRET in old["kept.jsonl"].decode()
    new = release_files(fresh_store, make_release(fresh_store, made, "1.1"))
    assert not [name for name, content in new.items() if re.search(rb"\bvera\b", content)]
    assert json.loads(new["kept.jsonl"].decode().splitlines()[0])["source"]["file"] == "2018/a.txt"
    assert json.loads(new["changes.json"])["texts"] == []
