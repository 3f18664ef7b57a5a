"""Drafts of the next version: stored at every change, published once, refused where another lead was faster."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.database.events import events
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.frontend import desk_news, record_changes_read
from evenhand.annotations.guideline.drafts import (
    Draft,
    assign_tags,
    check_criterion,
    discard_draft,
    read_draft,
    reopen_tags,
    save_draft,
    tag_codes,
    write_version,
)
from evenhand.annotations.guideline.versions import add_guideline, guideline, guidelines
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.pilot.pilots import start_pilot
from evenhand.annotations.projects.annotators import desk_state
from evenhand.annotations.queue.leases import claim
from evenhand.annotations.types import Annotator, Choice, Project
from evenhand.core.errors import NotAllowed, NotFound, Refused
from tests.support.projects import decide, filled_project

NEW = Choice("kinship", "0", "亲属关系", "Kinship")


def changed(store: Store, project: Project) -> Draft:
    now = read_draft(store, project)
    return replace(now, reasons=(*now.reasons, NEW), changes="  Kinship is a criterion. ")


def test_a_draft_is_stored_unchecked_and_can_be_discarded(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 1)
    first = read_draft(fresh_store, project)
    assert first.saved is None and not first.differs(guideline(fresh_store, project))
    half = replace(first, text="", reasons=(Choice("", "", "", "half"),))  # not yet a guideline, kept all the same
    draft = save_draft(fresh_store, project, half)
    assert read_draft(fresh_store, project) == draft and draft.saved
    discard_draft(fresh_store, project)
    assert read_draft(fresh_store, project) == first


def test_decisions_on_tags_can_be_set_and_cleared(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 1)
    assign_tags(fresh_store, project, ["kin", "Kin"], "kinship")
    assign_tags(fresh_store, project, ["nice", "kin"], None)
    assert tag_codes(fresh_store, project) == {"kin": None, "Kin": "kinship", "nice": None}
    reopen_tags(fresh_store, project, ["kin"])
    assert tag_codes(fresh_store, project) == {"Kin": "kinship", "nice": None}


def test_a_published_draft_is_the_next_version(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 1)
    assign_tags(fresh_store, project, ["kin"], "kinship")
    made, sent = write_version(fresh_store, project, save_draft(fresh_store, project, changed(fresh_store, project)))
    assert (made.version, made.changes, made.reasons[-1], sent.labels) == (2, "Kinship is a criterion.", NEW, 0)
    assert read_draft(fresh_store, project).saved is None
    (event,) = events(fresh_store, project, action="new_version")
    assert event.data["criteria"]["added"] == ["kinship"] and event.data["tags"] == {"kin": "kinship"}


def test_a_draft_of_an_outdated_version_is_refused(fresh_store: Store) -> None:
    project, _ = filled_project(fresh_store, 1)
    mine = changed(fresh_store, project)
    now = guideline(fresh_store, project)
    add_guideline(fresh_store, project, "other", now.choices, now.reasons)
    with pytest.raises(Refused, match="Version 2 was published in the meantime, while this draft is based on version"):
        write_version(fresh_store, project, mine)
    made, _ = write_version(fresh_store, project, replace(mine, base=2))
    assert made.version == 3


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"reasons": None}, "There are no changes from version"),
        ({"changes": " "}, "Describe the change in a sentence; annotators will read it."),
        ({"changes": "x" * 2001}, "at most 2000"),
        ({"text": " "}, "no text"),
        ({"text": "x" * 100_001}, "exceeds 100000"),
        ({"reasons": (NEW, NEW)}, "already"),
        ({"reasons": (replace(NEW, code="two words"),)}, "is not a valid code"),
        ({"reasons": (replace(NEW, code="???"),)}, "is not a valid code"),
        ({"reasons": (replace(NEW, code="a;b"),)}, "semicolon"),
        ({"reasons": (replace(NEW, zh="", en=" "),)}, "needs a name"),
    ],
)
def test_an_invalid_draft_is_refused_with_a_reason(fresh_store: Store, fields: dict[str, object], why: str) -> None:
    project, _ = filled_project(fresh_store, 1)
    now = changed(fresh_store, project)
    if fields.get("reasons", "") is None:
        now, fields = replace(now, reasons=read_draft(fresh_store, project).reasons), {}
    with pytest.raises(Refused, match=why):
        write_version(fresh_store, project, replace(now, **fields))  # type: ignore[arg-type]
    assert guideline(fresh_store, project).version == 1


def test_two_criteria_cannot_share_a_key() -> None:
    with pytest.raises(Refused, match="another criterion"):
        check_criterion(NEW, (replace(NEW, code="other"),))


def unread_changes(store: Store, project: Project, annotator: Annotator) -> list[tuple[int, str]]:
    now = desk_state(store, project, annotator)
    news = desk_news(store, project, annotator, now, guidelines(store, project))["news"]
    return [(change["version"], change["changes"]) for change in news]


def test_changes_are_announced_to_earlier_annotators_until_read(fresh_store: Store) -> None:
    project, (ada, bo, _) = filled_project(fresh_store, 4)
    store_operations(fresh_store, project, ada, [decide(claim(fresh_store, project, ada)[0])])
    write_version(fresh_store, project, changed(fresh_store, project))
    second = replace(read_draft(fresh_store, project), text="anew", changes="The text is anew.")
    write_version(fresh_store, project, second)
    assert [version for version, _ in unread_changes(fresh_store, project, ada)] == [2, 3]
    assert unread_changes(fresh_store, project, bo) == []  # an annotator without labels has no change to read
    versions = guidelines(fresh_store, project)
    record_changes_read(fresh_store, project, ada, versions, 2)
    record_changes_read(fresh_store, project, ada, versions, 2)
    assert unread_changes(fresh_store, project, ada) == [(3, "The text is anew.")]
    (event,) = events(fresh_store, project, action="read_changes")
    assert event.annotator == ada.uid and event.data == {"version": 2}
    with pytest.raises(NotFound):
        record_changes_read(fresh_store, project, ada, versions, 9)
    now = guideline(fresh_store, project)
    add_guideline(fresh_store, project, "quiet", now.choices, now.reasons)  # without a description
    assert len(unread_changes(fresh_store, project, ada)) == 1


def test_the_commands_publish_a_draft(fresh_store: Store, tmp_path) -> None:  # type: ignore[no-untyped-def]
    project, (ada, *_) = filled_project(fresh_store, 8)

    def call(*arguments: str, code: int = 0) -> dict[str, object]:
        result = CliRunner().invoke(cli, [*arguments, "--db", str(fresh_store.path), "--json"])
        assert result.exit_code == code, result
        return json.loads(result.stdout) if code == 0 else {"error": str(result.exception)}

    name = project.name
    assert call("pilot", "start", name, "--items", "3")["people"] == 3
    assert start_refused(fresh_store, project)
    items = claim(fresh_store, project, ada)
    operations = [decide(item, "reject", reasons=(), tags=("kin",)) for item in items]
    store_operations(fresh_store, project, ada, operations)
    shown = call("pilot", "show", name)
    assert shown["tags"] == [{"tag": "kin", "items": 3, "labels": 3, "annotators": 1, "decided": False, "code": None}]
    (pilot,) = shown["pilots"]  # type: ignore[misc]
    assert pilot["all_agree"] is None and pilot["all_agree_reason"]
    assert call("pilot", "close", name)["closed"]
    (tmp_path / "new.md").write_text("### Read\n\nAs it stands.", encoding="utf-8")
    written = ("guideline", "new", name, "--text", str(tmp_path / "new.md"), "--changes", "Shorter.")
    assert call(*written, "--which", "named", "--dry-run")["named"]["labels"] == 3  # type: ignore[index]
    made = call(*written, "--which", "named")
    assert made["version"] == 2 and made["sent_back"]["labels"] == 3  # type: ignore[index]
    assert call("guideline", "send-back", name, "--which", "all")["sent_back"]["labels"] == 0  # type: ignore[index]
    assert "+As it stands." in call("guideline", "diff", name, "1")["diff"]  # type: ignore[operator]
    assert call("guideline", "show", name)["changes"] == "Shorter."
    assert "in the meantime" in call(*written, "--base", "1", code=1)["error"]  # type: ignore[operator]


def start_refused(store: Store, project: Project) -> bool:
    try:
        start_pilot(store, project, 1)
    except NotAllowed as error:
        return "is already open" in str(error)
    return False
