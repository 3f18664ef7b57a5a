"""Inputs that can be scored, and the reason of each kind of bad row."""

import csv
import io
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.annotations.files.scoring_input import file_input, open_input, project_input
from evenhand.annotations.projects.projects import create_project
from evenhand.core.errors import BadFile, NotFound, Refused
from evenhand.core.files.display_paths import origin
from evenhand.core.mining.run import mine
from evenhand.core.mining.settings import CODES, Settings
from evenhand.core.resources import keyword_pairs
from tests.conftest import SENTENCES
from tests.support.judged_sentences import judged

HEADER = "句子,关键词位置,原始关键词,对立关键词\n"


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def items(path, **options):
    return list(file_input(path, **options).items())


def test_released_columns_are_read_with_repaired_positions(tmp_path):
    # The published start is one too large where the word begins the text (docs/methods.md#released-file).
    text = (
        HEADER
        + '那位女孩来了。,"[3, 5]",女,男\n他来了。,"[0, 1]",他,她\n她走了。,"[0, 1]",他,她\n今天下雨。,"[0, 1]",他,她\n'
    )
    result = file_input(written(tmp_path, "s.csv", text))
    assert (result.format, result.rows) == ("slguset", 4)
    one, two, three, four = result.items()
    assert (one.keyword, one.start, one.end, one.stem_start, one.stem_end) == ("女孩", 2, 4, 2, 3)
    assert (one.pair, one.side, one.options, one.masks) == ("男孩/女孩", "female", ("男", "女"), 1)
    assert (two.row, two.side, two.problem) == (2, "male", None)
    assert (three.reason, three.probe) == ("bad_span", None)
    assert (four.reason, four.problem) == ("no_keyword", "The sentence contains no word of any keyword pair.")


def as_released(lines):
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    for one in lines:
        stem = one["sentence"][one["stem_start"] : one["stem_end"]]
        pair = next(pair for pair in keyword_pairs() if pair.name == one["pair"])
        other = pair.stems[pair.stems[0] == stem]
        rows.writerow([one["sentence"], f"[{one['start']}, {one['end']}]", stem, other])
    return HEADER + out.getvalue()


AROUND = ["其他", "吉他", "子女", "对外公布", "男女", "其她", "昨天", "天", "桥", "来了", "，", "说", "一本书"]
KEYWORDS = sorted({word for pair in keyword_pairs() for word in (pair.male, pair.female)})


@given(st.lists(st.lists(st.sampled_from(AROUND + KEYWORDS), min_size=2, max_size=7), min_size=1, max_size=8))
@example([["其他", "来了", "，", "他", "说"], ["吉他", "他", "来了"], ["子女", "，", "女孩", "说"]])
def test_every_mined_sentence_can_be_scored(tmp_path, sentences):
    text = "\n".join("".join(words) + "。" for words in sentences)
    modes = dict.fromkeys(CODES, "off") | {"inside_word": "reject"}
    kept = []
    mine([written(tmp_path, "corpus.txt", text)], Settings(modes=modes), on_candidate=kept.append)
    if not kept:
        return
    scored = items(written(tmp_path, "released.csv", as_released(kept)))
    assert [item.problem for item in scored] == [None] * len(kept)
    assert [(item.start, item.end, item.side) for item in scored] == [(k["start"], k["end"], k["side"]) for k in kept]


def test_a_valid_position_is_used(tmp_path):
    rows = '其他同学说他来了。,"[5, 6]",他,她\n他和她来了。,"[2, 3]",她,他\n他和她来了。,"[3, 4]",她,他\n'
    first, second, third = items(written(tmp_path, "s.csv", HEADER + rows))
    assert (first.start, first.side, second.start, second.side) == (5, "male", 2, "female")
    assert third.reason == "several_keywords"  # the position contains no word, so the sentence decides


def line(**changes):
    fields = {
        "sentence": "王先生来了。", "start": 1, "end": 3, "stem_start": 1, "stem_end": 3, "keyword": "先生",
        "counterpart": "女士", "pair": "先生/女士", "flags": [],
        "source": {"file": "a.txt", "offset": 7, "name": "晚报", "date": ""},
    }  # fmt: skip
    return json.dumps(fields | changes, ensure_ascii=False) + "\n"


def test_candidates_are_read_with_their_own_position(tmp_path):
    """Also for a pair outside the 19, and with another keyword next to it."""
    text = line() + line(
        sentence="他的男邻居。", start=2, end=5, stem_start=2, stem_end=3, keyword="男邻居", counterpart="女邻居",
        pair="男邻居/女邻居", source="来源",
    )  # fmt: skip
    result = file_input(written(tmp_path, "c.jsonl", text))
    assert result.format == "candidates"
    first, second = result.items()
    assert (first.options, first.side, first.masks, first.source) == (("先生", "女士"), "male", 2, "晚报")
    assert (second.options, second.side, second.source) == (("男", "女"), "male", "来源")
    assert second.probe is not None
    assert second.probe.text[second.probe.start : second.probe.end] == "男"


def test_a_candidate_with_a_female_word_is_read(tmp_path):
    text = line(
        sentence="我的姥姥。",
        start=2,
        end=4,
        stem_start=3,
        stem_end=4,
        keyword="姥姥",
        counterpart="姥爷",
        pair="姥爷/姥姥",
    )
    [item] = items(written(tmp_path, "c.jsonl", text))
    assert (item.side, item.options, item.keyword) == ("female", ("爷", "姥"), "姥姥")


WRONG = {
    "the word stands elsewhere": {"start": 0, "end": 2},
    "beyond the end": {"end": 99},
    "negative": {"start": -1},
    "stem outside the word": {"stem_end": 4},
    "no stem": {"stem_end": 1},
    "another pair": {"pair": "他/她"},
    "counterpart of another pair": {"counterpart": "老师"},
    "differs outside the stem": {"stem_start": 2},
    "counterpart too short": {"counterpart": ""},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_candidate_with_a_wrong_position_is_a_row_with_a_reason(tmp_path, name):
    first, second = items(written(tmp_path, "c.jsonl", line(**WRONG[name]) + line()))
    assert (first.row, first.probe, first.reason) == (1, None, "bad_span")
    assert first.sentence == "王先生来了。"
    assert second.problem is None


BAD_ROWS = {
    "no keyword": ("今天下雨。", "no_keyword"),
    "two keywords": ("他和她来了。", "several_keywords"),
    "nothing": ("", "no_text"),
    "too long": ("他" + "好" * 600, "too_long"),
    "hidden character": ("他\u202e来了。", "control_characters"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_a_bad_row_is_kept_with_a_reason(tmp_path, name):
    sentence, reason = BAD_ROWS[name]
    path = written(tmp_path, "t.csv", f"id,sentence\n1,他来了。\n2,{sentence}\n3,她走了。\n")
    first, bad, last = items(path)
    assert (first.row, bad.row, last.row) == (1, 2, 3)
    assert (first.reason, bad.reason, last.reason) == (None, reason, None)
    assert bad.problem
    assert bad.sentence == sentence


def test_a_row_with_too_many_cells_is_kept_with_a_reason(tmp_path):
    first, second = items(written(tmp_path, "t.csv", "id,sentence\n1,他来了。,x\n2,她走了。\n"))
    assert (first.reason, second.reason) == ("columns", None)
    assert first.sentence == "他来了。"


def test_a_table_is_read_by_its_named_column(tmp_path):
    path = written(tmp_path, "t.tsv", "nr\tInhalt\tsource\n1\t爸爸在看书。\t日报\n")
    with pytest.raises(BadFile, match="which column holds the sentences"):
        file_input(path)
    result = file_input(path, column="Inhalt")
    [entry] = result.items()
    assert (result.format, entry.keyword, entry.masks, entry.source) == ("sentences", "爸爸", 2, "日报")


def test_plain_lines_and_gb18030_are_read(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes("他来了。\n她走了。\n".encode("gb18030"))
    assert [item.side for item in items(path)] == ["male", "female"]


def test_a_guarded_cell_is_restored(tmp_path):
    [item] = items(written(tmp_path, "t.csv", "sentence\n'=他来了。\n"))
    assert item.sentence == "=他来了。"


def test_the_digest_is_over_the_bytes(tmp_path):
    path = written(tmp_path, "t.txt", "他来了。\n")
    # printf '他来了。\n' | sha256sum
    before = file_input(path).digest
    assert before == "4b08bd29f8e7c05ea2724fc6fa646a8f26c8cf68de6e1b7b365d507930726823"
    written(tmp_path, "t.txt", "她来了。\n")
    assert file_input(path).digest != before


REFUSED = {
    "generations": ("g.jsonl", '{"context": "a", "completion": "b"}\n', "holds generations"),
    "no rows": ("t.csv", "sentence\n", "has no rows"),
    "empty": ("t.csv", "", "is empty"),
    "an archive": ("t.csv", "PK\x03\x04 xx", "ZIP archive"),
    "broken json": ("t.jsonl", '{"sentence": \n', "is not JSON"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unusable_files_are_refused(tmp_path, name):
    file, text, words = REFUSED[name]
    with pytest.raises(BadFile, match=words):
        list(file_input(written(tmp_path, file, text)).items())


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(BadFile, match="cannot be read"):
        file_input(tmp_path / "none.csv")


def test_items_of_a_project_are_read(fresh_store, sample_project):
    result = project_input(fresh_store, "sample")
    rows = list(result.items())
    assert (result.kind, result.rows, [row.sentence for row in rows]) == ("project", 8, list(SENTENCES))
    assert [row.options for row in rows[:1] + rows[6:7]] == [("他", "她"), ("爷", "姥")]
    assert [row.side for row in rows[:2]] == ["male", "female"]
    assert all(row.probe is not None and row.source == "" for row in rows)
    again = open_input("project:sample", db=fresh_store.path)
    assert again.digest == result.digest
    assert open_input("project:x", db=fresh_store.path, uid=sample_project.uid).name == "sample"


def test_accepted_sentences_of_a_project_are_read(fresh_store):
    project, items = judged(fresh_store, ["aaa", "aar", "a", "aaa"])
    result = open_input(f"project:{project.name}", db=fresh_store.path, kept=True)
    kept = [item.text for item in items if item.line in (1, 4)]
    assert (result.rows, [row.sentence for row in result.items()]) == (2, kept)
    assert result.digest != project_input(fresh_store, project.name).digest
    create_project(fresh_store, "empty")
    with pytest.raises(Refused, match="no accepted sentences yet"):
        project_input(fresh_store, "empty", kept=True)


def test_unusable_projects_are_refused(fresh_store):
    create_project(fresh_store, "texts", kind="generations")
    create_project(fresh_store, "empty")
    with pytest.raises(NotFound, match="no project named nobody"):
        project_input(fresh_store, "nobody")
    with pytest.raises(Refused, match="holds generations"):
        project_input(fresh_store, "texts")
    with pytest.raises(Refused, match="no sentences yet"):
        project_input(fresh_store, "empty")


def test_a_missing_database_is_not_created(tmp_path):
    with pytest.raises(NotFound, match="There is no database"):
        open_input("project:x", db=tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ""),
        ({"source": "日报"}, "日报"),
        ({"source": {"file": "a.txt", "name": ""}}, "a.txt"),
        ({"source": {"file": "a.txt", "name": "日报"}}, "日报"),
        ({"source": ["x"]}, ""),
        ({"source": None}, ""),
        ({"source": {}}, ""),
    ],
)
def test_a_row_has_its_source_document(given, expected):
    assert origin(given) == expected


def test_every_row_of_the_development_file_is_read(shared_data):
    result = file_input(shared_data / "slguset" / "SlguSet_dev.csv")
    rows = list(result.items())
    assert result.format == "slguset"
    assert len(rows) == result.rows > 9000
    assert not [row for row in rows if row.problem]
    assert {row.masks for row in rows} == {1, 2}
