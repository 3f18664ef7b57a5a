"""A rehearsal of a curation in real browsers: pilot, new guideline, three annotators, one replaced, two releases."""

from pathlib import Path

import pytest

from tests.support.browser import Server
from tests.support.curation_in_browser import Sizes, rehearse
from tests.support.desk_driver import Opener

pytestmark = [pytest.mark.browser, pytest.mark.rehearsal]

WORDS = ("他", "她", "爸爸", "妈妈", "男孩", "女孩", "爷爷", "奶奶")
PLACES = ("车站", "河边", "市场", "书店", "厨房", "操场", "阳台")


def sentences(first: int, last: int) -> str:
    """Write sentences of our own, one a line."""
    made = (f"第{n}天清早，{WORDS[n % len(WORDS)]}在{PLACES[n % len(PLACES)]}等人。" for n in range(first, last))
    return "".join(f"{line}\n" for line in made)


def test_a_curation_from_a_pilot_to_a_restored_release(own_desks: Opener, own_server: Server, tmp_path: Path) -> None:
    first, more = tmp_path / "first.txt", tmp_path / "more.txt"
    first.write_text(sentences(0, 24), encoding="utf-8")
    more.write_text(sentences(24, 28), encoding="utf-8")
    sizes = Sizes(pilot=5, before=15, share=25, retest=30, decisions=1)
    result = rehearse(own_desks, own_server, tmp_path, first, more, format="sentences", sizes=sizes)
    assert result["items"] == 28
    assert result["labels"] < 3 * result["items"], "stopping saves labels"
    assert result["second_labels"] > 0 and result["sent_back"] > 0
