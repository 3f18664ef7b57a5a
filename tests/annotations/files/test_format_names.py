"""Every import format has a readable name, in one place."""

from typing import get_args

import pytest

from evenhand.annotations.files import label_files
from evenhand.annotations.files.detect import FORMAT_NAMES, FORMATS, Format
from evenhand.annotations.files.other_tools.tasks import TASKS
from evenhand.commands.files import import_file
from evenhand.core.language import translate
from evenhand.pages.projects.import_.files import format_name


def test_every_format_has_a_name() -> None:
    known = {"auto", *get_args(Format), *FORMATS, *label_files.FORMATS, *TASKS}
    assert known == FORMAT_NAMES.keys()
    assert all(FORMAT_NAMES.values()) and len(set(FORMAT_NAMES.values())) == len(FORMAT_NAMES)


def test_the_command_offers_the_formats_that_have_a_name() -> None:
    (option,) = (param for param in import_file.params if param.name == "layout")
    assert list(option.type.choices) == list(FORMAT_NAMES)  # type: ignore[attr-defined]


def test_the_page_refuses_a_format_without_a_name() -> None:
    assert format_name("auto") == "Detect automatically"
    with pytest.raises(KeyError):
        format_name("new")


def test_names_are_in_both_languages() -> None:
    own = [name for format, name in FORMAT_NAMES.items() if format not in TASKS]
    assert not [name for name in own if translate(name, "zh") == name]
