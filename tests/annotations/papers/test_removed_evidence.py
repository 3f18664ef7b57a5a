"""A sentence of a paper is not written once a number that it states is not there any more, and no other is lost."""

import re
from typing import Any

import pytest

from evenhand.annotations.papers.blocks import Block, Points, Text
from evenhand.annotations.papers.datasheet import TEMPLATES as PAPERS
from evenhand.annotations.papers.datasheet import _facts, read_known
from evenhand.annotations.papers.paper import CLAIMS, METHOD, paper_blocks
from evenhand.annotations.release.changes import TEMPLATES as RELEASE
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.files import method_facts
from evenhand.core.language import LANGUAGES, Language
from tests.support.projects import new_store
from tests.support.released_project import rehearse

IN_CLAIM = re.compile(r'\{% call\(one\) claim\("(\w+)"\) %\}\n(.*?)\{% endcall %\}', re.S)
NUMBER = re.compile(r'number\("([\w.]+)"')
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
    return {sentence for text in texts for sentence in re.split(r"(?<=[.。])\s*(?=[A-Z\u4e00-\u9fff])", text)}


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_claim_is_gone_without_its_evidence(
    facts: Facts, language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without evidence, the sentences of each claim that is written here are gone, and only they."""

    def render() -> set[str]:
        return sentences_of(paper_blocks(RELEASE, "method", language, method_facts(facts, "", language)))

    whole, written = render(), set()
    for claim, find in list(METHOD.items()):
        if not find(method_facts(facts, "", language)):
            continue
        monkeypatch.setitem(CLAIMS, claim, nothing)
        left = render()
        monkeypatch.setitem(CLAIMS, claim, find)
        assert not left - whole, claim
        if left < whole:
            written.add(claim)
    assert len(written) > 20 and {"kept", "annotators", "retests", "adjudication", "time"} <= written, written


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
