"""A sentence of a paper is not written once a number that it states is not there any more, and no other is lost."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.papers.blocks import Block, Points, Text
from evenhand.annotations.papers.datasheet import TEMPLATES as PAPERS
from evenhand.annotations.papers.datasheet import _facts, read_known
from evenhand.annotations.papers.paper import CLAIMS, LABELLING, METHOD, paper_blocks
from evenhand.annotations.projects.projects import annotators
from evenhand.annotations.release.changes import TEMPLATES as RELEASE
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.files import method_facts
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import releases
from evenhand.annotations.types import Project
from evenhand.core.language import LANGUAGES, Language
from tests.support.generations import generations_project
from tests.support.mined_project import mined_project
from tests.support.paper_history import History
from tests.support.projects import new_store
from tests.support.rare_events import RARE
from tests.support.released_project import label, ready_project, rehearse, work

IN_CLAIM = re.compile(r'\{% call\(one\) claim\("(\w+)"\) %\}\n(.*?)\{% endcall %\}', re.S)
NUMBER = re.compile(r'number\("([\w.]+)"')
SENTENCE_END = re.compile(r"(?<=[.。])\s*(?=[A-Z\u4e00-\u9fff])|(?<=\.)\s+(?=\d)|(?<=。)(?=\d)")
Facts = dict[str, Any]


def claims_of(file: str, language: Language) -> dict[str, set[str]]:
    """Return claim -> the ids that its text always states, from the template."""
    text = (RELEASE / language / file).read_text(encoding="utf-8")
    found = {}
    for claim, body in IN_CLAIM.findall(text):
        always = re.sub(r"\{% if .*?\{% endif \+?%\}", "", body, flags=re.S)
        found[claim] = set(NUMBER.findall(always))
    return found


def sentences_of(blocks: list[Block]) -> set[str]:
    """Return the sentences of paragraphs and lists, without tables."""
    texts = [block.text for block in blocks if isinstance(block, Text)]
    texts += [point for block in blocks if isinstance(block, Points) for point in block.points]
    return {sentence for text in texts for sentence in SENTENCE_END.split(text)}


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    with new_store(tmp_path_factory.mktemp("a") / "a.db") as store:
        project = rehearse(store)
        found = gather(store, project)
        found["release"] = {"version": "1.0", "hash": "0", "created": "2026-01-01", "notes": "", "previous": None}
        return found


def without(facts: Facts, ids: set[str]) -> Facts:
    return facts | {"quantities": {id_: one for id_, one in facts["quantities"].items() if id_ not in ids}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_of_the_method_section_needs_each_of_its_numbers(facts: Facts, language: Language) -> None:
    """For each claim with numbers: without any one of them the sentence is gone, and every other one is unchanged."""

    def render(given: Facts) -> set[str]:
        return sentences_of(paper_blocks(RELEASE, "method", language, method_facts(given, "", language)))

    whole, tried = render(facts), 0
    claims = claims_of("method.md.jinja", language)
    for claim, ids in claims.items():
        for id_ in ids & facts["quantities"].keys():
            left = render(without(facts, {id_}))
            assert bool(whole - left) == bool(METHOD[claim](method_facts(facts, "", language))), (claim, id_)
            assert not left - whole, (claim, id_)
            tried += whole != left
    assert tried > 12


HISTORY = (
    ("sheet", 0, True), ("pilot", 1, True), ("version", 0, True), ("label", 0, True), ("sheet", 1, True),
    ("bring", 2, True), ("label", 1, True), ("reveal", 0, True), ("plan", 4, True), ("rescue", 0, True),
    ("reject", 6, True), ("consent", 0, False), ("plan", 3, True), ("rescue", 0, False), ("replace", 0, True),
)  # fmt: skip


def history(store: Store, folder: Path) -> Project:
    """Return a project with imported labels and with changes of everything that a paper states."""
    done = History(store, ready_project(store, 6), folder)
    for name, number, flag in HISTORY:
        done.act(name, number, flag)
    return done.project


def generations(store: Store, _folder: Path) -> Project:
    project = generations_project(store, "g", 4, open_text=True)
    for number, item in enumerate(items(store, project)):
        for person in annotators(store, project):
            label(store, project, person, item.uid, "correct" if number or person.name == "Ada" else "no_pronoun")
    return project


def two_releases(store: Store, _folder: Path) -> Project:
    project = ready_project(store, 4)
    work(store, project)
    make_release(store, project, "1.0", reason="A test.")
    return project


PROJECTS: tuple[Callable[[Store, Path], Project], ...] = (
    lambda store, _folder: rehearse(store), history, generations, lambda store, _folder: ready_project(store, 2),
    mined_project, two_releases,
)  # fmt: skip


def test_each_claim_is_gone_without_its_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without evidence, the sentences of each claim that is written are gone, and only they."""
    written = set()
    for number, make in enumerate((*PROJECTS, *RARE)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with new_store(folder / "a.db") as store:
            project = make(store, folder)
            found = gather(store, project)
            found["release"] = {"version": "1.0", "hash": "0", "created": "2026-01-01", "notes": "", "previous": None}
            if releases(store, project):
                found = make_release(store, project, "1.1", notes="More.", reason="A test.").facts
        for language in LANGUAGES:
            written |= claims_written(method_facts(found, "", language), language, monkeypatch)
    assert (METHOD | LABELLING).keys() == written


def claims_written(facts: Facts, language: Language, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the claims whose sentences the method section has; without evidence it has all other sentences."""
    whole, written = sentences_of(paper_blocks(RELEASE, "method", language, facts)), set()
    for claim, find in (METHOD | LABELLING).items():
        if not find(facts):
            continue
        monkeypatch.setitem(CLAIMS, claim, nothing)
        left = sentences_of(paper_blocks(RELEASE, "method", language, facts))
        monkeypatch.setitem(CLAIMS, claim, find)
        assert not left - whole, claim
        if left < whole:
            written.add(claim)
    return written


def nothing(_facts: Facts) -> list[Any]:
    return []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_data_sheet_is_written_without_a_number(language: Language, tmp_path_factory: Any) -> None:
    with new_store(tmp_path_factory.mktemp("b") / "a.db") as store:
        known = read_known(store, rehearse(store))
        given = _facts(known, language)

    def stated(one: Facts) -> set[str]:
        return sentences_of(paper_blocks(PAPERS, "datasheet", language, one))

    whole = stated(given)
    for id_ in ("labels.valid", "items.undecided", "annotators.recorded"):
        left = stated(without(given, {id_}))
        assert left < whole, id_
