"""Files of generations: facts of every row, several pronoun sets, workbooks, archives, what is refused and why."""

import csv
import io
import zipfile

import openpyxl
import pytest

from evenhand.annotations.files.detect import Columns
from evenhand.annotations.files.import_items import (
    examine_tables,
    import_examined,
    import_file,
    preview_tables,
    tables_in,
)
from evenhand.annotations.items.batch import items
from evenhand.annotations.projects.projects import create_project
from evenhand.annotations.text_policy import packed
from evenhand.core.errors import BadFile
from evenhand.core.files.archives import NeedsPassword

HEAD = "context,completion,name,pronouns,dataset,setting,model,index,mood\n"
PASSWORD = "correct horse"


@pytest.fixture
def project(fresh_store):
    return create_project(fresh_store, "g", kind="generations", language="en")


def import_package(store, project, path, **how):
    password = how.pop("password", None)
    with tables_in(path, password=password) as members:
        return import_examined(store, project, examine_tables(members, format="generations", **how), file=path.name)


def written(path, text):
    path.write_text(text, "utf-8")
    return path


def test_every_field_of_a_row_is_imported(fresh_store, project, tmp_path):
    row = 'Ann waits.," She left.",Ann,"she/her; they",MISGENDERED,post-[MASK],m/1,3,glad\n'
    assert import_file(fresh_store, project, written(tmp_path / "g.csv", HEAD + row)).imported == 1
    (item,) = items(fresh_store, project)
    assert (item.context, item.text, item.pair) == ("Ann waits.", " She left.", "m/1 / misgendered / she+they / post")
    assert item.extra == {
        "name": "Ann", "pronouns": ["she", "they"], "dataset": "misgendered", "setting": "post", "model": "m/1",
        "index": 3, "template": "Ann waits.", "mood": "glad",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("pronouns", "names"),
    [("xe", ["xe"]), ("he/him", ["he"]), ("", []), ("she, they", ["she", "they"]), ("ze/hir/hirs", ["ze"])],
    ids=["name", "forms", "unknown", "two", "neopronoun"],
)
def test_pronoun_sets_are_read_from_a_row(fresh_store, project, tmp_path, pronouns, names):
    row = f'a,b,,"{pronouns}",,,,,\n'
    import_file(fresh_store, project, written(tmp_path / "g.csv", HEAD + row))
    (item,) = items(fresh_store, project)
    assert item.extra["pronouns"] == names
    assert item.extra["dataset"] == "own"


def test_an_unknown_data_set_is_kept_by_name(fresh_store, project, tmp_path):
    import_file(fresh_store, project, written(tmp_path / "g.csv", HEAD + "a,b,,he,Winosomething,,,,\n"))
    (item,) = items(fresh_store, project)
    assert (item.extra["dataset"], item.extra["dataset_named"]) == ("own", "Winosomething")


def test_valid_lines_are_imported_and_others_reported(fresh_store, project, tmp_path):
    rows = ("a,b,,zzz,,,,,", "a,,,he,,,,,", f"a,b,{'x' * 400},he,,,,,", "a,b,,he,,,,,", "a,b,,he,,,,,", "a,b,,he,,,,2,")
    report = import_file(fresh_store, project, written(tmp_path / "g.csv", HEAD + "\n".join(rows) + "\n"))
    assert (report.rows, report.imported, report.duplicates, report.rejected) == (6, 2, 1, 3)
    assert [(error.line, error.reason) for error in report.errors] == [(2, "pronouns"), (3, "no_text"), (4, "too_long")]
    assert "sentence" not in report.as_json()["errors"][0]  # a log contains no text that a model wrote


def test_columns_can_be_named_or_have_one_value_for_all_rows(fresh_store, project, tmp_path):
    path = written(tmp_path / "g.csv", "q,a,model,who\nfirst,second,v1,Kim\n")
    wished = Columns({"context": "q", "completion": "a", "name": "who", "model": ""}, {"model": "m", "pronouns": "xe"})
    assert import_package(fresh_store, project, path, wished=wished).imported == 1
    (item,) = items(fresh_store, project)
    assert (item.context, item.text, item.extra["name"]) == ("first", "second", "Kim")
    assert (item.extra["model"], item.extra["pronouns"], item.extra["model (column)"]) == ("m", ["xe"], "v1")


@pytest.mark.parametrize(
    ("generation", "completion"), [("go on and on", " and on"), (" and on", " and on")], ids=["repeats", "only-new"]
)
def test_a_generation_may_repeat_its_context(fresh_store, project, tmp_path, generation, completion):
    path = written(tmp_path / "g.csv", f'prompt,generation\ngo on,"{generation}"\n')
    assert import_package(fresh_store, project, path).imported == 1
    (item,) = items(fresh_store, project)
    assert (item.context, item.text) == ("go on", completion)


PUBLISHED = {
    "misgendered/xe_pre_mask_gen.csv": (
        "template,random_pre_gen,correct,model\n"
        "{name}/'s pronouns are {nom}/{acc}/{pos_ind}. {name} ran since {mask_token} was late.,"
        "Kai/'s pronouns are xe/xem/xyrs. Kai ran since xe forgot.,1,m\n"
        "{name}/'s pronouns are {nom}/{acc}/{pos_ind}. {name} ran since {mask_token} was late.,Something else.,1,m\n"
    ),
    "misgendered/he_post_mask_gen.csv": (
        "template,random_post_gen,correct,model\n"
        "{name}/'s pronouns are {nom}/{acc}/{pos_ind}. {nom} ran.,Bo/'s pronouns are he/him/his. He ran. Fast.,1,m\n"
    ),
}


@pytest.mark.parametrize("locked", [False, True], ids=["plain", "locked"])
def test_an_archive_of_published_samples_is_imported(fresh_store, project, tmp_path, locked):
    path = tmp_path / "samples.zip"
    if locked:
        path.write_bytes(packed({name: text.encode() for name, text in PUBLISHED.items()}, PASSWORD))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in PUBLISHED.items():
                archive.writestr(name, text)
    report = import_package(fresh_store, project, path, password=PASSWORD if locked else None)
    assert (report.rows, report.imported) == (3, 2)
    assert [(error.file, error.line, error.reason) for error in report.errors] == [
        ("misgendered/xe_pre_mask_gen.csv", 3, "not_told_apart")
    ]
    results = {item.extra["name"]: item for item in items(fresh_store, project)}
    assert (results["Kai"].context, results["Kai"].text) == (
        "Kai/'s pronouns are xe/xem/xyrs. Kai ran since ", "xe forgot.",
    )  # fmt: skip
    assert (results["Bo"].context, results["Bo"].text) == ("Bo/'s pronouns are he/him/his. He ran.", " Fast.")
    facts = [results[name].extra[key] for name in ("Kai", "Bo") for key in ("pronouns", "setting", "dataset")]
    assert facts == [["xe"], "pre", "misgendered", ["he"], "post", "misgendered"]


RAN = "{name}/'s pronouns are {nom}/{acc}/{pos_ind}. {name} ran since {mask_token} was late."
ENDS = ["xe forgot.", "xe forgot.", "\u200bxe slept.", "no\ufffd", "xe hurried."]  # the first was written twice
FORMS = {"he": "he/him/his", "xe": "xe/xem/xyrs"}


def sample_rows(base):
    return [(RAN, f"Kai/'s pronouns are {FORMS[base]}. Kai ran since {end}", "1") for end in ENDS]


def table(header, rows):
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    return out.getvalue()


@pytest.mark.parametrize("folders", [True, False], ids=["a folder a model", "no folders"])
def test_an_archive_that_holds_every_row_twice_is_read_once(fresh_store, project, tmp_path, folders):
    models, path = ("Llama-70B", "OLMo-7B"), tmp_path / "misgendered.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for model in models:
            for base in FORMS:
                place = f"{model}/{base}_pre_mask_gen.csv" if folders else f"{base}_pre_mask_gen ({model}).csv"
                archive.writestr(place, table(("template", "random_pre_gen", "correct"), sample_rows(base)))
            rows = [(*row, base, model) for base in FORMS for row in sample_rows(base)]
            header = ("template", "random_pre_gen", "correct", "pronoun", "model")
            archive.writestr(f"collated/{model}_pre.csv", table(header, rows))
    report = import_package(fresh_store, project, path)
    number = len(models) * len(FORMS) * len(ENDS)
    assert (report.rows, report.imported, report.duplicates, report.rejected) == (number, number, 0, 0)
    results = list(items(fresh_store, project))
    assert {item.extra["model"] for item in results} == set(models)
    assert sum("\u200b" in item.text for item in results) == sum("\ufffd" in item.text for item in results) == 4
    assert sorted(report.odd_signs.values()) == [4, 4] and any("U+200B" in sign for sign in report.odd_signs)
    assert len(report.repeated) == (2 if folders else 4)
    assert import_package(fresh_store, project, path).duplicates == number


@pytest.mark.parametrize("password", [None, "wrong horse"], ids=["none", "wrong"])
def test_an_encrypted_archive_needs_its_password(tmp_path, password):
    path = tmp_path / "locked.zip"
    path.write_bytes(packed({"g.jsonl": b'{"context": "a", "completion": "b"}\n'}, PASSWORD))
    with pytest.raises(NeedsPassword, match="password"), tables_in(path, password=password):
        pass


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04nonsense", b"context,completion\n"])
def test_a_damaged_archive_is_refused(tmp_path, content):
    path = tmp_path / "x.zip"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=r"x\.zip is a damaged archive"), tables_in(path):
        pass


def test_unpacked_files_are_deleted(tmp_path):
    path = tmp_path / "g.zip"
    path.write_bytes(packed({"../../evil.csv": b"context,completion\na,b\n"}, PASSWORD))
    with tables_in(path, password=PASSWORD) as members:
        lies = members[0].path
        assert lies.is_file()
        assert lies.name == "file.csv"  # never under a stranger's name
        assert preview_tables(members).rows[0].text == "b"
    assert not lies.exists()


def test_a_workbook_is_imported(fresh_store, project, tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["context", "completion", "index", "pronoun", None])
    book.active.append(["Ann waits.", "=she left", 3, "she", None])
    book.active.append([])
    book.active.append(["Ann waits.", "She stayed.", 4.0])
    book.active["B2"].data_type = "s"  # text that looks like a formula
    path = tmp_path / "g.xlsx"
    book.save(path)
    report = import_file(fresh_store, project, path)
    assert (report.rows, report.imported) == (2, 2)
    first, second = items(fresh_store, project)
    assert (first.text, first.line, first.extra["index"], first.extra["pronouns"]) == ("=she left", 2, 3, ["she"])
    assert (second.text, second.line, second.extra["index"], second.extra["pronouns"]) == ("She stayed.", 4, 4, [])


@pytest.mark.parametrize("content", [b"not a workbook", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1old"])
def test_a_damaged_workbook_is_refused(fresh_store, project, tmp_path, content):
    path = tmp_path / "g.xlsx"
    path.write_bytes(content)
    with pytest.raises(BadFile, match="workbook"):
        import_file(fresh_store, project, path)


def test_the_canary_line_is_skipped(fresh_store, project, tmp_path):
    lines = '{"canary": "do not train"}\n{"context": "a", "completion": "b", "canary": "x"}\n'
    report = import_file(fresh_store, project, written(tmp_path / "g.jsonl", lines))
    assert (report.rows, report.imported) == (1, 1)
    assert "canary" not in next(items(fresh_store, project)).extra
