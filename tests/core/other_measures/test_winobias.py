"""WinoBias: twins, the referent of each sentence, the question, and counted flaws of the set."""

from pathlib import Path

import pytest

from evenhand.core.errors import BadFile
from evenhand.core.other_measures.winobias import built_in, people_in, read_twins, twins

PRO, ANTI = "[The mover] saw the clerk and asked [him] twice.", "[The mover] saw the clerk and asked [her] twice."


def test_the_included_set_is_read() -> None:
    """396 twins of each type and part; 22 of the 1,584 differ in more than the pronoun (counted in the files)."""
    every = [built_in(kind, part) for kind in "12" for part in ("dev", "test")]
    assert [len(some) for some in every] == [396] * 4
    assert sum(not entry.alike for some in every for entry in some) == 22
    assert len({entry.pro.right for some in every for entry in some}) >= 40


def test_the_referent_and_the_other_person_are_found() -> None:
    other = "The mover met [the clerk] and [he] left."
    pair, _ = twins([(PRO, ANTI), (other, other)], "x")
    assert (pair.pro.right, pair.pro.wrong, pair.pro.pronoun, pair.alike) == ("mover", "clerk", "him", True)
    probe = pair.pro.probe
    assert probe.text == 'The mover saw the clerk and asked him twice. "Him" refers to the mover.'
    assert probe.text[probe.start : probe.end] == "mover" and probe.options == ("mover", "clerk")


@pytest.mark.parametrize(
    ("pro", "anti", "they"),
    [
        ("asked [her] twice", "asked [him] twice", "asked them twice"),
        ("took [her] book", "took [his] book", "took their book"),
        ("[she] left", "[he] left", "they left"),
    ],
)
def test_the_control_question_has_no_gender(pro: str, anti: str, they: str) -> None:
    other = "The mover met [the clerk] and [he] left."
    both = [f"[The mover] saw the clerk and {text}." for text in (pro, anti)]
    pair, _ = twins([(both[0], both[1]), (other, other)], "x")
    assert pair.neutral.text == f"The mover saw the clerk and {they}."


def test_an_own_copy_of_the_set_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(f"pro\tanti\n{PRO}\t{ANTI}\n[The clerk] left because [she] was ill.\tno\n", encoding="utf-8")
    with pytest.raises(BadFile, match="line 2: a person and a pronoun"):
        read_twins(path)
    path.write_text("pro\tanti\n", encoding="utf-8")
    with pytest.raises(BadFile, match="no sentences"):
        read_twins(path)
    assert people_in([PRO, "[A clerk] and [he]"]) == ("clerk", "mover")
