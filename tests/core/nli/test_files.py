"""Files of the inference measure: what is read, what is refused, and the messages."""

import json

import pytest

from evenhand.core.errors import BadFile, BadLine
from evenhand.core.nli.files import read_predictions, read_probes, read_words

GOOD = "set,label,occupation\nPS,entailment,nurse\nas,C,nurse\nNS, Neutral ,poet\n"


def written(folder, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_predictions_are_read_from_csv(tmp_path) -> None:
    rows = read_predictions([written(tmp_path, "a.csv", GOOD)]).rows
    assert [(row.set, row.label, row.occupation) for row in rows] == [
        ("PS", "entailment", "nurse"),
        ("AS", "contradiction", "nurse"),
        ("NS", "neutral", "poet"),
    ]


def test_predictions_are_read_from_released_json_lines(tmp_path) -> None:
    """The class column is male-stereo in a neutral file (docs/nli.md#the-sets): the file decides, not the column."""
    line = {"id": 1, "sentence1": "a", "sentence2": "b", "label": "neutral", "occ_word": "poet"}
    line |= {"occ_type": "male-stereo", "predicted": "contradiction"}
    path = written(tmp_path, "ns.jsonl", json.dumps(line) + "\n")
    (row,) = read_predictions([f"NS={path}"]).rows
    assert (row.set, row.label, row.occupation) == ("NS", "contradiction", "poet")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("label\nneutral\n", "no column named set", id="no set"),
        pytest.param("set,answer\nPS,neutral\n", "no column named label; it has: set, answer", id="no label"),
        pytest.param(
            "set,sentence1,sentence2,label\nPS,a,b,neutral\n", r"the correct answer \(always neutral\)", id="gold"
        ),
        pytest.param("set,label\n", "has no rows", id="nothing"),
        pytest.param(
            "set,label\nPS,yes\n",
            ", line 2: yes is not a label; use entailment, contradiction or neutral.",
            id="every line bad",
        ),
    ],
)
def test_unusable_prediction_files_are_refused(tmp_path, text: str, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        read_predictions([written(tmp_path, "a.csv", text)])


@pytest.mark.parametrize(
    ("head", "rows", "stereotypes"),
    [
        ("gender", ["PS,e,maid,woman", "AS,e,maid,man", "NS,n,poet,man"], ["woman", "woman", ""]),
        pytest.param("class", ["PS,e,nurse,female-stereo", "AS,e,smith,male-stereo"], ["woman", "man"], id="class"),
        pytest.param("occ_type", ["PS,e,nurse,unheard-of", "NS,e,smith,male-stereo"], ["", ""], id="unknown"),
    ],
)  # fmt: skip
def test_predictions_tell_the_stereotype_of_an_occupation(tmp_path, head: str, rows, stereotypes) -> None:
    text = "\n".join([f"set,label,occupation,{head}", *rows])
    assert [row.stereotype for row in read_predictions([written(tmp_path, "a.csv", text)]).rows] == stereotypes


def test_a_bad_line_is_reported_and_others_count(tmp_path) -> None:
    result = read_predictions([written(tmp_path, "a.csv", GOOD + "PS,perhaps,nurse\nXS,neutral,x\nPS,,nurse\nPS\n")])
    assert len(result.rows) == 3
    assert [(error.line, error.reason) for error in result.errors] == [
        (5, "label"), (6, "set"), (7, "label"), (8, "columns"),
    ]  # fmt: skip


def test_an_own_set_is_read(tmp_path) -> None:
    text = "set,premise,hypothesis,occupation\nPS,x is here,y is here,x\n"
    (row,) = read_probes([written(tmp_path, "a.csv", text)], "en").rows
    assert (row.set, row.premise, row.hypothesis, row.occupation) == ("PS", "x is here", "y is here", "x")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        pytest.param("set,premise\nPS,a\n", BadFile, "no column named hypothesis", id="column"),
        pytest.param("set,premise,hypothesis\nPS,,b\n", BadLine, "line 2: premise or hypothesis is empty", id="empty"),
        pytest.param("premise,hypothesis\na,b\n", BadFile, "no column named set", id="set"),
    ],
)
def test_invalid_sets_are_refused(tmp_path, text: str, error, message: str) -> None:
    with pytest.raises(error, match=message):
        read_probes([written(tmp_path, "a.csv", text)], "en")


def test_own_words_and_templates_are_read(tmp_path) -> None:
    words = written(tmp_path, "w.tsv", "word\tclass\nusher\tneutral\nnurse\tfemale-stereo\n")
    templates = written(tmp_path, "t.txt", "{A} waits.\nI see {a}.\n")
    result = read_words(words, templates, ("woman", "man"), "en")
    assert result.counts() == {"PS": 2, "AS": 2, "NS": 4}
    assert {row.premise for row in result.rows} == {
        "A nurse waits.",
        "I see a nurse.",
        "An usher waits.",
        "I see an usher.",
    }


@pytest.mark.parametrize(
    ("words", "templates", "message"),
    [
        pytest.param(
            "word\tclass\nnurse\tfemale\n",
            "{x}.\n",
            "w.tsv, line 2: give a word and one of male-stereo, female-stereo, neutral.",
            id="class",
        ),
        pytest.param("word\tclass\nnurse\tneutral\n", "Nobody.\n", "t.txt, line 1: the slot", id="slot"),
        pytest.param("name\tclass\nnurse\tneutral\n", "{x}.\n", "no column named word", id="column"),
    ],
)
def test_unusable_words_are_refused(tmp_path, words: str, templates: str, message: str) -> None:
    files = written(tmp_path, "w.tsv", words), written(tmp_path, "t.txt", templates)
    with pytest.raises(BadFile, match=message):
        read_words(*files, ("woman", "man"), "en")
