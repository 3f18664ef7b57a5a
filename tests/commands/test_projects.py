"""`project ...` and `demo` on the command line: what they print and what they store."""

import json

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import Batch
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.projects.projects import annotators, guideline, project
from evenhand.annotations.queue.leases import claim
from evenhand.core.errors import BadFile, NotAllowed, NotFound, Refused
from evenhand.core.guidelines import builtin, recognise
from evenhand.core.resources import quotas
from tests.support.projects import decide, new_items


@pytest.fixture
def run(tmp_path):
    db = str(tmp_path / "labels.db")

    def call(*arguments, fails=None):
        result = CliRunner().invoke(cli, [*arguments, "--db", db, "--json"])
        if fails is not None:
            assert isinstance(result.exception, fails), result
            return str(result.exception)
        assert result.exit_code == 0, result
        return json.loads(result.stdout)

    call.store = lambda: Store.open(db)
    return call


def test_create_prints_the_keys_of_the_contract(run):
    made = run("project", "create", "报纸句", "--kind", "sentences", "--annotators", "A,B，C", "--per-item", "2")
    assert (made["name"], made["kind"], made["per_item"]) == ("报纸句", "sentences", 2)
    assert made["annotators"] == ["A", "B", "C"]
    assert made["counts"]["items"] == 0
    assert run("project", "list")["projects"] == [made]
    assert run("project", "show", "报纸句") == made


@pytest.mark.parametrize("version", ["journal", "conference"])
def test_each_set_of_criteria_has_its_reasons(run, version):
    run("project", "create", "p", "--criteria", version)
    with run.store() as store:
        stored = guideline(store, project(store, "p"))
    assert recognise(stored.text) == version
    assert [(r.code, r.key) for r in stored.reasons] == [(r.code, r.key) for r in builtin(version).reasons]


def test_generations_have_their_own_choices(run):
    run("project", "create", "g", "--kind", "generations", "--language", "en")
    with run.store() as store:
        stored = guideline(store, project(store, "g"))
    assert [c.code for c in stored.choices] == ["correct", "misgendering", "no_pronoun", "plural_they"]


def test_a_plan_is_written_into_the_log_before_labels(run, tmp_path):
    run("project", "create", "set")
    sheet = tmp_path / "plan.md"
    sheet.write_text("# Hypotheses\nA\n# Measures\nB\n# Margins\nC\n# Stopping rule\nD\n", encoding="utf-8")
    (written,) = run("project", "preregister", "set", str(sheet))["sheets"]
    assert written["labels"] == 0 and len(written["sha256"]) == 64
    assert run("project", "preregister", "set")["sheets"] == [written]
    assert "This pre-registration is already in the log." in run(
        "project", "preregister", "set", str(sheet), fails=Refused
    )
    assert CliRunner().invoke(cli, ["project", "preregister", "set", "--form", "zh"]).stdout.count("## ") == 4


def test_a_follow_up_sample_is_drawn_by_command(run):
    run("project", "create", "set", "--annotators", "A", "--per-item", "1")
    assert run("project", "followup", "set")["follow_ups"] == []
    assert ("Cannot draw 1 kept sentences: only 0 are available.") in run(
        "project", "followup", "set", "f", "--kept", "1", "--rejected", "0", fails=Refused
    )


def test_a_taken_project_name_is_refused(run):
    run("project", "create", "p")
    assert "already" in run("project", "create", "p", fails=NotAllowed)


def test_quotas_are_set_from_a_preset_and_cleared(run):
    run("project", "create", "p", "--quotas", "table1")
    shown = run("project", "quota", "p")
    assert shown["total"] == 19_000  # Table 1 prints 20,000 (docs/methods.md#keyword-pairs)
    changed = run("project", "quota", "p", "--set", "他/她:male=10", "--set", "丈夫/妻子:female=7")
    assert changed["total"] == 19_000 - 3_000 + 10 + 7
    assert run("project", "quota", "p", "--preset", "released")["total"] == 20_000
    assert run("project", "quota", "p", "--preset", "none") == {"quotas": [], "total": 0}
    assert run("project", "quota", "p") == {"quotas": [], "total": 0}


def test_a_quota_preset_and_changes_can_be_combined(run):
    run("project", "create", "p")
    rows = run("project", "quota", "p", "--preset", "table1", "--set", "他/她:male=1")["quotas"]
    stored = {(row["pair"], row["side"]): row["quota"] for row in rows}
    assert stored == quotas("table1") | {("他/她", "male"): 1}


@pytest.mark.parametrize("change", ["", "他/她=3", "他/她:both=3", "他/她:male=x", "他/她:male=-1", ":male=3"])
def test_a_malformed_quota_is_refused(run, change):
    run("project", "create", "p")
    assert "他/她:male=3000" in run("project", "quota", "p", "--set", change, fails=Refused)


def test_a_guideline_is_read_from_files(run, tmp_path):
    text, reasons = tmp_path / "g.md", tmp_path / "r.tsv"
    text.write_text("1. 只看语感。", encoding="utf-8")
    reasons.write_text("code\tkey\tzh\ten\nodd\t1\t别扭\tOdd\n", encoding="utf-8")
    run("project", "create", "p")
    command = ("project", "guideline", "p", "--set", str(text), "--reasons", str(reasons))
    assert "Describe the change in a sentence; annotators will read it." in run(*command, fails=Refused)
    shown = run(*command, "--changes", "Shorter.")
    assert (shown["version"], shown["text"], [r["code"] for r in shown["reasons"]]) == (2, "1. 只看语感。", ["odd"])
    assert shown["changes"] == "Shorter."
    for again in (command, command[:3]):
        assert "There are no changes from version 2 yet." in run(*again, "--changes", "Nothing.", fails=Refused)
    assert run("project", "guideline", "p", "--version", "1")["text"] == builtin("journal").text


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read"),
        (b"x" * 200_001, "too long"),
        (b"PK\x03\x04" + b"\x00" * 50, ""),
        (b"code\tzh\na\tb\n", "columns code, key, zh, en"),
        (b"code\tkey\tzh\ten\n", "columns code, key, zh, en"),
        ("code\tkey\tzh\ten\na\t1\t别扭\tOdd\n".encode("gb18030"), "UTF-8"),
    ],
)
def test_an_invalid_file_of_reasons_is_refused(run, tmp_path, content, says):
    path = tmp_path / "r.tsv"
    if content is not None:
        path.write_bytes(content)
    run("project", "create", "p")
    assert says in run("project", "guideline", "p", "--reasons", str(path), fails=BadFile)
    assert run("project", "guideline", "p")["version"] == 1


def test_annotators_and_archiving_are_changed_by_command(run):
    run("project", "create", "p", "--annotators", "A")
    assert run("project", "annotators", "p", "--add", "B, C")["annotators"] == ["A", "B", "C"]
    changed = run("project", "change", "p", "--name", "q", "--per-item", "5", "--gold", "majority")
    assert (changed["name"], changed["per_item"], changed["gold"]) == ("q", 5, "majority")
    assert run("project", "change", "q", "--opinion-model", "demo-zh")["opinion_model"] == "demo-zh"
    assert run("project", "change", "q", "--opinion-model", "none")["opinion_model"] is None
    assert run("project", "archive", "q")["archived"]
    assert run("project", "list") == {"projects": []}
    assert [project["name"] for project in run("project", "list", "--archived")["projects"]] == ["q"]
    assert run("project", "archive", "q", "--undo")["archived"] is None


def test_items_set_aside_are_listed_and_handed_out_again(run):
    run("project", "create", "p", "--annotators", "A,B")
    with run.store() as store:
        stored = project(store, "p")
        with Batch.begin(store, stored, "made.txt") as batch:
            batch.add(new_items(3))
            batch.publish()
        for person in annotators(store, stored):
            store_operations(store, stored, person, [decide(item, "skip") for item in claim(store, stored, person)])
    waiting = run("project", "aside", "p")["aside"]
    assert len(waiting) == 3
    assert len(run("project", "aside", "p", "--bring-back", waiting[0]["item"])["aside"]) == 2
    assert len(run("project", "aside", "p", "--all")["brought_back"]) == 2
    assert run("project", "aside", "p")["aside"] == []
    assert run("project", "annotators", "p", "--remove", "A")["annotators"] == ["B"]
    assert "Zoe" in run("project", "annotators", "p", "--remove", "Zoe", fails=NotFound)


def test_demo_makes_a_project_once(run):
    made = run("demo")
    assert made["counts"]["items"] > 100 and len(made["annotators"]) == 3
    assert run("demo") == made  # the existing project stays


def test_the_printed_project_has_annotators_and_quotas(tmp_path):
    db = ["--db", str(tmp_path / "labels.db")]
    Store.open(tmp_path / "labels.db").close()
    assert CliRunner().invoke(cli, ["project", "list", *db]).stdout == "There are no projects.\n"
    CliRunner().invoke(cli, ["project", "create", "p", "--annotators", "A", "--quotas", "table1", *db])
    shown = CliRunner().invoke(cli, ["project", "show", "p", *db]).stdout
    assert "3 labels each by A" in shown and "  他/她      male        0         0   3,000\n" in shown


def test_a_scheme_of_another_program_can_be_replaced_by_the_built_in(tmp_path):
    db, config = ["--db", str(tmp_path / "labels.db")], tmp_path / "config.xml"
    config.write_text('<View><Choices name="c"><Choice value="Good"/><Choice value="Bad"/></Choices><Pairwise/></View>')
    arguments = ["project", "create", "p", "--kind", "generations", "--scheme", str(config), *db]
    made = CliRunner().invoke(cli, arguments)
    assert made.exit_code == 0 and "a scheme has one set of exclusive choices" in made.stderr
    shown = CliRunner().invoke(cli, ["guideline", "scheme", "p", *db]).stdout
    assert [choice["code"] for choice in json.loads(shown)["choices"]] == ["Good", "Bad"]
    (tmp_path / "scheme.json").write_text(shown.replace("Bad", "Poor"))
    for file, choices in ((str(tmp_path / "scheme.json"), ["Good", "Poor"]), ("built-in", ["correct", "misgendering"])):
        new = CliRunner().invoke(cli, ["guideline", "new", "p", "--scheme", file, "--changes", "Another.", *db])
        assert new.exit_code == 0, new.output
        with Store.open(tmp_path / "labels.db") as store:
            assert [choice.code for choice in guideline(store, project(store, "p")).choices][:2] == choices
    none = CliRunner().invoke(cli, ["guideline", "scheme", "p", *db])
    assert isinstance(none.exception, Refused) and "built-in scheme, which has no file" in str(none.exception)


def test_an_interrupted_demo_leaves_no_database(tmp_path, monkeypatch):
    def interrupt(*_arguments, **_fields):
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.annotations.demo.sentences._label", interrupt)
    result = CliRunner().invoke(cli, ["demo", "--db", str(tmp_path / "labels.db")])
    assert result.exit_code != 0
    assert list(tmp_path.iterdir()) == []
