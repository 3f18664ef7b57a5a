"""Mined candidates into projects: spans kept, only what is new, flagged ones last, two processes at once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.messages import item_out
from evenhand.annotations.files.import_items import examine, preview
from evenhand.annotations.items.batch import Batch, ImportBusy, items
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.mining.candidates import add_candidates, passages_of, stock
from evenhand.annotations.projects.projects import annotators, archive, create_project, set_quotas
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Operation
from evenhand.core.errors import BadFile, Refused
from tests.support.projects import PATIENT

ROOT = Path(__file__).resolve().parents[3]


def line(sentence, keyword="她", pair="他/她", flags=(), stem=None, **more):
    male, female = pair.split("/")
    start = sentence.index(keyword)
    first, last = stem or (0, len(keyword))
    return {
        "sentence": sentence,
        "start": start,
        "end": start + len(keyword),
        "stem_start": start + first,
        "stem_end": start + last,
        "keyword": keyword,
        "counterpart": female if keyword == male else male,
        "pair": pair,
        "source": {"file": "晚报.txt", "offset": 12, "name": "晚报", "date": "2019-03-04"},
        "flags": list(flags),
    } | more


def written(path, lines):
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def project(fresh_store):
    return create_project(fresh_store, "报纸", annotators=["甲", "乙", "丙"], seed=3)


def test_a_line_keeps_word_stem_source_and_flags(fresh_store, project, tmp_path):
    file = written(
        tmp_path / "candidates.jsonl",
        [
            line("院子里姥姥在晒被子。", "姥姥", "姥爷/姥姥", stem=(1, 2)),
            line("他们说她昨天修好了水泵。", flags=["names"]),  # two of a pair for another reader; the line decides
            line("The waiter brought the bill.", "waiter", "waiter/waitress", stem=(0, 6)),
        ],
    )
    report = add_candidates(fresh_store, project, file)
    assert (report.imported, report.rejected, report.format) == (3, 0, "candidates")
    results = {item.keyword: item for item in items(fresh_store, project)}
    grandmother = results["姥姥"]
    assert (grandmother.word, grandmother.stem, grandmother.counterpart) == ((3, 5), (4, 5), "姥爷")
    assert (grandmother.pair, grandmother.side) == ("姥爷/姥姥", "female")
    assert (results["她"].word, results["她"].extra["flags"]) == ((3, 4), ["names"])
    assert results["她"].extra["source"]["date"] == "2019-03-04"
    assert (results["waiter"].pair, results["waiter"].side) == ("waiter/waitress", "male")
    assert (grandmother.file, grandmother.line) == ("candidates.jsonl", 1)


BROKEN = {
    "word elsewhere": {"start": 0, "end": 1},
    "stem outside the word": {"stem_start": 0},
    "pair of other words": {"pair": "男/女"},
    "no span": {"start": None},
    "span of another kind": {"end": "3"},
    "beyond the sentence": {"end": 99},
    "empty stem": {"stem_end": 2},
    "keyword is a number": {"keyword": 7},
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_an_invalid_line_is_reported(fresh_store, project, tmp_path, change):
    good = line("昨天她修好了水泵。")
    file = written(tmp_path / "candidates.jsonl", [good | {"sentence": "明天她要去修水泵。"}, good | change])
    report = add_candidates(fresh_store, project, file)
    assert (report.imported, report.rejected) == (1, 1)
    assert [(error.reason, error.line) for error in report.errors] == [("bad_span", 2)]


def test_other_files_and_archived_projects_are_refused(fresh_store, project, tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"sentence": "昨天她修好了水泵。"}\n', encoding="utf-8")
    with pytest.raises(BadFile, match="start"):
        add_candidates(fresh_store, project, file)
    archived = archive(fresh_store, project)
    good = written(tmp_path / "b.jsonl", [line("昨天她修好了水泵。")])
    with pytest.raises(Refused, match="archived"):
        add_candidates(fresh_store, archived, good)


def test_a_mined_file_is_recognised_by_its_content(tmp_path):
    mined = written(tmp_path / "a.jsonl", [line("昨天她修好了水泵。")])
    assert preview(mined).format == examine(mined).layout.format == "candidates"
    exported = written(tmp_path / "b.jsonl", [line("昨天她修好了水泵。", item="0" * 32)])
    assert preview(exported).format == "sentences"


def test_mining_more_adds_only_new_sentences(fresh_store, project, tmp_path):
    first = [line(f"昨天她在第{n}车间修水泵。") for n in range(5)]
    more = [line(f"昨天他在第{n}车间修水泵。", "他") for n in range(3)]
    assert add_candidates(fresh_store, project, written(tmp_path / "1.jsonl", first)).imported == 5
    second = written(tmp_path / "2.jsonl", first[2:] + more + more[:1])
    assert stock(fresh_store, project, second).new == {("他/她", "male"): 3}
    report = add_candidates(fresh_store, project, second)
    assert (report.imported, report.duplicates) == (3, 4)
    assert add_candidates(fresh_store, project, second).imported == 0
    assert len(list(items(fresh_store, project))) == 8


def test_stock_counts_new_and_stored_candidates(fresh_store, project, tmp_path):
    set_quotas(fresh_store, project, {("他/她", "female"): 4})
    file = written(tmp_path / "1.jsonl", [line(f"昨天她在第{n}车间修水泵。") for n in range(5)])
    add_candidates(fresh_store, project, file)
    ada, bo, chen = annotators(fresh_store, project)
    (item,) = claim(fresh_store, project, ada, want=1)
    for number, person in enumerate((ada, bo, chen)):
        store_operations(fresh_store, project, person, [Operation(f"op{number}", item.uid, "accept", "desk", 1)])
    more = written(tmp_path / "2.jsonl", [line("昨天她在第9车间修水泵。"), line("昨天她在第1车间修水泵。")])
    result = stock(fresh_store, project, more)
    cell = ("他/她", "female")
    assert (result.accepted[cell], result.rejected[cell], result.pending[cell]) == (1, 0, 4)
    assert (result.new, result.quotas) == ({cell: 1}, {cell: 4})


def served(store, project, person, want):
    return [item.text for item in claim(store, project, person, want=want)]


def test_flagged_candidates_come_after_later_unflagged_ones(fresh_store, project, tmp_path):
    ada, bo, _ = annotators(fresh_store, project)
    doubtful = [line(f"听说她在第{n}车间修水泵。", flags=["names", "generic"]) for n in range(4)]
    sure = [line(f"昨天她在第{n}车间修水泵。") for n in range(4)]
    add_candidates(fresh_store, project, written(tmp_path / "1.jsonl", doubtful + sure))
    assert {text[:2] for text in served(fresh_store, project, ada, 4)} == {"昨天"}
    assert {text[:2] for text in served(fresh_store, project, bo, 6)[4:]} == {"听说"}
    later = [line(f"后来她在第{n}车间修水泵。") for n in range(3)]
    add_candidates(fresh_store, project, written(tmp_path / "2.jsonl", later))
    # Ada and Bo walk on: first what is new and sure, then the doubtful ones of the first file.
    assert [text[:2] for text in served(fresh_store, project, ada, 11)] == ["昨天"] * 4 + ["后来"] * 3 + ["听说"] * 4
    assert [text[:2] for text in served(fresh_store, project, bo, 11)][6:] == ["后来"] * 3 + ["听说"] * 2


def test_flags_survive_an_export(fresh_store, project, tmp_path):
    from evenhand.annotations.files.export import export_file
    from evenhand.annotations.files.import_items import import_file

    lines = [line("昨天她修好了水泵。", flags=["names"]), line("明天她要去修水泵。")]
    add_candidates(fresh_store, project, written(tmp_path / "1.jsonl", lines))
    export_file(fresh_store, project, tmp_path / "out.jsonl", format="jsonl")
    again = create_project(fresh_store, "再来", annotators=["甲"])
    assert import_file(fresh_store, again, tmp_path / "out.jsonl").imported == 2
    assert served(fresh_store, again, annotators(fresh_store, again)[0], 2) == [
        "明天她要去修水泵。",
        "昨天她修好了水泵。",
    ]


def test_flags_are_not_sent_to_the_desk(fresh_store, project, tmp_path):
    add_candidates(fresh_store, project, written(tmp_path / "1.jsonl", [line("昨天她修好了水泵。", flags=["names"])]))
    (item,) = claim(fresh_store, project, annotators(fresh_store, project)[0])
    sent = item_out(item)
    assert "flags" not in sent and "names" not in json.dumps(sent, ensure_ascii=False)
    assert sent["source"] == "晚报.txt 晚报 2019-03-04"


def test_paths_of_the_server_are_not_sent_to_the_desk(fresh_store, project, tmp_path):
    sources = [{"file": f"/srv/texts/{paper}/一.txt", "offset": 0} for paper in ("晚报", "早报")]
    lines = [line("昨天她修好了水泵。", source=sources[0]), line("明天她要去修水泵。", source=sources[1])]
    add_candidates(fresh_store, project, written(tmp_path / "1.jsonl", lines))
    claimed = claim(fresh_store, project, annotators(fresh_store, project)[0])
    assert [item_out(item)["source"] for item in claimed] == ["一.txt", "一.txt"]
    assert {passage.document for passage in passages_of(fresh_store, project)} == {"晚报/一.txt", "早报/一.txt"}


def test_sentences_of_own_pairs_survive_an_export(fresh_store, project, tmp_path):
    from evenhand.annotations.files.export import export_file
    from evenhand.annotations.files.import_items import import_file

    own = line("王先生昨天把雨伞还给了门房。", "先生", "先生/女士", counterpart="女士", side="male")
    add_candidates(fresh_store, project, written(tmp_path / "1.jsonl", [own]))
    export_file(fresh_store, project, tmp_path / "out.jsonl", format="jsonl")
    again = create_project(fresh_store, "再来", annotators=["甲"])
    report = import_file(fresh_store, again, tmp_path / "out.jsonl")
    assert (report.imported, report.rejected) == (1, 0)
    (item,) = claim(fresh_store, again, annotators(fresh_store, again)[0])
    assert (item.keyword, item.pair, item.side, item.counterpart) == ("先生", "先生/女士", "male", "女士")


def test_a_second_import_is_refused_after_its_timeout(fresh_store, project, tmp_path):
    file = written(tmp_path / "1.jsonl", [line("昨天她修好了水泵。")])
    with Batch.begin(fresh_store, project, "other.jsonl"), pytest.raises(ImportBusy):
        add_candidates(fresh_store, project, file, patience_s=0.0)


ADD = """
import json, sys
from evenhand.annotations.mining.candidates import add_candidates
from evenhand.annotations.projects.projects import project
from evenhand.annotations.database.store import Store
sys.stdin.readline()
with Store.open(sys.argv[1]) as store:
    report = add_candidates(store, project(store, "报纸"), sys.argv[2])
print(json.dumps([report.imported, report.duplicates]))
"""


def test_two_simultaneous_imports_store_every_sentence_once(fresh_store, project, tmp_path):
    shared = [line(f"昨天她在第{n}车间修水泵。") for n in range(1_500)]
    files = [
        written(tmp_path / f"{name}.jsonl", shared + [line(f"{name}天她在第{n}车间修水泵。") for n in range(1_000)])
        for name in "前后"
    ]
    command = [sys.executable, "-c", PATIENT + ADD, str(fresh_store.path)]
    children = [
        subprocess.Popen([*command, str(file)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for file in files
    ]
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    answers = [json.loads(child.communicate(timeout=600)[0]) for child in children]
    assert sum(imported for imported, _ in answers) == 3_500
    assert sum(duplicates for _, duplicates in answers) == 1_500
    texts = [item.text for item in items(fresh_store, project)]
    assert len(texts) == len(set(texts)) == 3_500


def test_the_command_imports_candidates(tmp_path):
    from click.testing import CliRunner

    from cli import cli

    file = written(tmp_path / "candidates.jsonl", [line("昨天她修好了水泵。", flags=["names"])])
    answer = CliRunner().invoke(cli, ["import", "报纸", str(file), "--format", "candidates", "--json"])
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout)["imported"] == 1
    with Store.open() as store:
        assert store.db.execute("SELECT count(*) FROM item").fetchone()[0] == 1
