"""Text of people on pages: names, notes, guideline and licence that would be code are shown as text everywhere."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evenhand.annotations.accounts.accounts import account, add_account, grant
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.adjudication.decisions import add_comment
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import add_guideline, guideline
from evenhand.annotations.imports.run import IMPORT, Settings
from evenhand.annotations.items.batch import Batch, items
from evenhand.annotations.jobs import jobs
from evenhand.annotations.projects.projects import annotators, change_project, create_project
from evenhand.annotations.types import Project
from evenhand.pages.ui import visitor
from evenhand.web.page_script import page_scripts
from tests.support.pages import TITLES, open_page
from tests.support.projects import new_items
from tests.support.released_project import label
from tests.support.studies import new_study

TAG = "<img src=x onerror=alert(1)>"
LINK = "[a](javascript:alert(1))![b](https://evil.example)"
NAME = f"{TAG}{LINK}"  # fits into the 80 characters of a name
LONG = f"{NAME}<script>alert(1)</script>\n\n# head :material/home: $x$ <iframe src=//evil.example>"
RAW = ("text", "code", "text_area", "text_input", "arrow_data_frame")  # these show their contents unchanged
READ = ("label", "help", "body", "placeholder", "content")  # Markdown, or HTML
LIVE = re.compile(r"(?<!\\)!?\[[ab](?<!\\)\]\((?:javascript|https://evil)")


class Tags(HTMLParser):
    """What of a piece of HTML would run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect elements that load or run something, handlers, and addresses that run."""
        values = [f"{key}={value}" for key, value in attrs if key.startswith("on") or "javascript:" in (value or "")]
        self.found += values + ([tag] if tag in ("img", "script", "iframe") else [])


OF_THE_FRAME = {f"<script>{script}</script>" for script in page_scripts()}


def running(html: str) -> list[str]:
    """Return everything in *html* that would run, except the script of the frame."""
    parser = Tags()
    parser.feed("" if html in OF_THE_FRAME else html)
    return parser.found


def strings(message: Any, kind: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield kind of element, name of the field and text of every string of a message."""
    for field, value in message.ListFields():
        inner = value if isinstance(value, (list, tuple)) or hasattr(value, "add") else [value]
        for entry in inner:
            if isinstance(entry, str):
                yield kind or message.DESCRIPTOR.name, field.name, entry
            elif hasattr(entry, "ListFields"):
                yield from strings(entry, entry.DESCRIPTOR.name)


def dangerous(page: AppTest) -> list[tuple[str, str, str]]:
    results = []
    for element in (*page.main, *page.sidebar):
        if element.type in RAW or not hasattr(element, "proto") or element.proto is None:
            continue
        for kind, field, text in strings(element.proto):
            if element.type == "html" or getattr(element.proto, "allow_html", False):
                results += [(kind, field, part) for part in running(text)]
            elif field in READ and LIVE.search(text):
                results.append((kind, field, text))
    return results


@pytest.fixture
def hostile(fresh_store: Store, monkeypatch: pytest.MonkeyPatch, nothing_runs: None) -> Project:
    """Make a project whose every text is code, and look at it as a lead with such a name."""
    assert len(NAME) <= 80
    project = create_project(fresh_store, NAME, annotators=(f"{NAME[:-1]}1", f"{NAME[:-1]}2"), per_item=2)
    with Batch.begin(fresh_store, project, f"{TAG}.txt") as batch:
        batch.add(new_items(4))
        batch.publish()
    change_project(fresh_store, project, licence=NAME, source_statement=LONG)
    version = guideline(fresh_store, project)
    add_guideline(fresh_store, project, LONG, version.choices, version.reasons, changes=LONG)
    for item in list(items(fresh_store, project))[:3]:
        for number, who in enumerate(annotators(fresh_store, project)):
            label(fresh_store, project, who, item.uid, "accept" if number else "reject", note=LONG)
        add_comment(fresh_store, project, item.uid, LONG, author=NAME)
    new_study(fresh_store, project, NAME, contact=NAME, warning_en=LONG, code_finished=TAG)
    jobs.start(fresh_store, IMPORT, Settings(TAG, Path(f"{TAG}.csv")), LONG, project=project)
    lead = add_account(fresh_store, f"{NAME[:-1]}3")
    grant(fresh_store, lead, "owner", None)
    grant(fresh_store, lead, "lead", project, annotator=f"{NAME[:-1]}1")
    secret = sign_in(fresh_store, account(fresh_store, lead.name), LONG)
    monkeypatch.setattr(visitor, "cookie", lambda: secret)
    return project


NOTHING_OF_A_PROJECT = {"ruler", "sentence_bias", "published", "about"}  # and slow, since they use models


@pytest.mark.parametrize("page", sorted(TITLES.keys() - NOTHING_OF_A_PROJECT))
def test_hostile_text_is_shown_as_text_on_every_page(fresh_store: Store, hostile: Project, page: str) -> None:
    addresses: dict[str, dict[str, str]] = {"browse": {"item": next(items(fresh_store, hostile)).uid}}
    shown = open_page(page, project=hostile.name, **addresses.get(page, {}))
    assert dangerous(shown) == []


@pytest.mark.parametrize("section", ["imports", "guideline", "people", "aside", "quotas", "export", "settings"])
def test_hostile_text_is_shown_as_text_in_each_section_of_a_project(hostile: Project, section: str) -> None:
    shown = open_page("projects", project=hostile.name, section=section)
    assert dangerous(shown) == []
    assert any("img src" in text for element in shown.main if element.proto for *_, text in strings(element.proto))


@pytest.mark.parametrize("part", ["pilot", "tags", "guideline"])
def test_hostile_text_is_shown_as_text_in_each_part_of_a_pilot(hostile: Project, part: str) -> None:
    assert dangerous(open_page("pilot", project=hostile.name, part=part)) == []


def test_the_search_finds_executable_markup() -> None:
    def script() -> None:
        import streamlit as st

        st.html("<p onclick=run()>a</p><a href='javascript:run()'>b</a><img src=x>")
        st.markdown("[a](javascript:alert(1))")
        st.button("![b](https://evil.example)")
        st.markdown("\\[a\\](javascript:alert(1))")
        st.text("[a](javascript:alert(1))")

    result = dangerous(AppTest.from_function(script).run())
    assert [text for *_, text in result] == [
        "onclick=run()", "href=javascript:run()", "img", "[a](javascript:alert(1))", "![b](https://evil.example)",
    ]  # fmt: skip
