"""Whether text may leave, and archives that only a password opens."""

import io
import zipfile
from dataclasses import replace

import pytest
import pyzipper

from evenhand.annotations.text_policy import (
    CANARY,
    CANARY_ID,
    needs_canary,
    packed,
    text_may_leave,
    text_or_reference,
    without_text,
)
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import Refused

PROJECT = Project(1, "u", "p", "generations", "en", 1, "unanimous", "masked", None, 0, "2026-01-01", None)
ITEM = Item(1, "uid", "", "", "she left", None, None, None, None, "f", 1, {}, "Ann said")


@pytest.mark.parametrize(
    ("kind", "open_text", "may"),
    [
        ("sentences", None, True),
        ("sentences", False, False),
        ("sentences", True, True),
        ("generations", None, False),
        ("generations", False, False),
        ("generations", True, True),
    ],
)
def test_texts_leave_depending_on_kind_and_setting(kind, open_text, may):
    project = replace(PROJECT, kind=kind, open_text=open_text)
    assert text_may_leave(project) is may
    assert text_or_reference(project, ITEM) == ("she left" if may else "uid")
    shown = without_text(project, {"item": "uid", "text": "she left", "n": 1}, "text")
    assert shown == {"item": "uid", "text": "she left" if may else None, "n": 1}
    assert needs_canary(project) is (kind == "generations")


def test_an_archive_opens_with_its_password_only():
    data = packed({"a.jsonl": b"she left\n", "b.csv": "他来了".encode()}, "longer than eight")
    assert b"she left" not in data
    with pyzipper.AESZipFile(io.BytesIO(data)) as archive:
        info = archive.infolist()[0]
        assert (info.filename, info.wz_aes_strength) == ("a.jsonl", 3)  # 3: 256 bits
        with pytest.raises(RuntimeError):
            archive.read("a.jsonl", pwd=b"another one")
        with pytest.raises(RuntimeError):
            archive.read("a.jsonl")
        assert archive.read("b.csv", pwd=b"longer than eight").decode() == "他来了"
    with zipfile.ZipFile(io.BytesIO(data)) as plain, pytest.raises((RuntimeError, NotImplementedError)):
        plain.read("a.jsonl")


@pytest.mark.parametrize("password", ["", "       ", "seven77"])
def test_a_short_password_is_refused(password):
    with pytest.raises(Refused, match="8 characters"):
        packed({"a": b"x"}, password)


def test_the_canary_is_one_line_with_a_unique_id():
    assert CANARY_ID in CANARY
    assert "\n" not in CANARY
    assert len(CANARY_ID.removeprefix("evenhand-canary-")) == 36
