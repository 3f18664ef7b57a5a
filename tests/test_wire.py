"""What of an item goes over the wire: where a sentence comes from, in words and without anybody's opinion."""

from typing import Any

import pytest

from annotations.types import Item
from annotations.wire import item_out


def shown(extra: dict[str, Any]) -> str:
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
def test_where_a_sentence_comes_from(extra: dict[str, Any], expected: str) -> None:
    assert shown(extra) == expected
