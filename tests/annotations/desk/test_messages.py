"""The data of an item that is sent to a desk: the source in words, and no opinion of another annotator."""

import json
from typing import Any

import pytest

from evenhand.annotations.desk.messages import item_out, progress_out
from evenhand.annotations.types import CellProgress, Item, OwnProgress


def source_line(extra: dict[str, Any]) -> str:
    item = Item(1, "uid", "他/她", "male", "他在修车。", (0, 1), (0, 1), "他", "她", "news.jsonl", 1, extra)
    return str(item_out(item)["source"])


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({}, "news.jsonl"),
        ({"来源": "晚报", "日期": "1998-01-03"}, "晚报 1998-01-03"),
        ({"source": {"file": "a.txt", "date": "1998", "score": 0.9, "label": "accept"}}, "a.txt 1998"),
        ({"source": {"name": "晚报", "more": {"name": "x"}}, "date": 1998}, "晚报 1998"),
        ({"source": {"score": 0.9}}, "news.jsonl"),
        ({"source": {"name": {"name": "x"}, "title": None}}, "news.jsonl"),
        ({"source": ["a", "b"]}, "news.jsonl"),
        ({"source": True, "name": "  "}, "news.jsonl"),
        ({"score": 0.9}, "news.jsonl"),
    ],
)
def test_the_source_line_names_file_or_source_and_date(extra: dict[str, Any], expected: str) -> None:
    assert source_line(extra) == expected


def written(**extra: Any) -> Item:
    own = {"model": "Secret-7B", "setting": "pre", "index": 3, "template": "t9", "rule_correct": 0, **extra}
    return Item(
        7, "uid", "Secret-7B / he / pre", "", " he ran", None, None, None, None, "g.csv", 5, own, context="Sam (he)."
    )


def test_only_text_context_and_referent_of_a_generation_are_sent() -> None:
    sent = item_out(written(name="Sam", pronouns=["he"], dataset="ruff"), "op1", "generations")
    he = {"none": False, "forms": ["he", "him", "his", "himself"]}
    context = {"context": "Sam (he).", "name": "Sam", "sets": [he]}
    assert sent == {"id": "uid", "text": " he ran", **context, "base": "op1"}


@pytest.mark.parametrize(
    ("extra", "name", "forms"),
    [
        ({}, "", []),
        ({"name": None, "pronouns": None}, "", []),
        ({"name": " Kit ", "pronouns": ["they"]}, "Kit", [["they", "them", "their", "theirs", "themself"]]),
        ({"pronouns": ["xe"], "dataset": "ruff"}, "", [["xe", "xem", "xyr", "xyrs", "xemself"]]),
        ({"pronouns": ["xe"], "dataset": "tango"}, "", [["xe", "xir", "xirs", "xirself"]]),
        ({"pronouns": ["xe"], "dataset": "no such"}, "", [["xe", "xem", "xyr", "xyrs", "xemself"]]),
        (
            {"pronouns": ["she", "ze/hir"]},
            "",
            [["she", "her", "hers", "herself"], ["ze", "hir"]],
        ),
        ({"pronouns": "she"}, "", [["she", "her", "hers", "herself"]]),
        ({"pronouns": ["nobody knows"]}, "", [["nobody knows"]]),
        ({"pronouns": ["none"]}, "", [[]]),
    ],
)
def test_the_referent_is_sent_with_each_form_once(extra: dict[str, Any], name: str, forms: list[list[str]]) -> None:
    sent = item_out(written(**extra), kind="generations")
    assert (sent["name"], [set_["forms"] for set_ in sent["sets"]]) == (name, forms)
    assert [set_["none"] for set_ in sent["sets"]] == [form == [] for form in forms]


def test_the_balance_of_generations_names_no_stratum() -> None:
    cell = CellProgress("Secret-7B / he / pre", "", 3, 0, None, 9)
    progress = OwnProgress(3, 9, None, None, (cell,))
    assert "Secret" not in json.dumps(progress_out(progress, "generations"))
    assert progress_out(progress)["cells"][0]["pair"] == cell.pair
