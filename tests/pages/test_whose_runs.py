"""Finished runs belong to a project or an account: who may not see one neither reads, opens nor deletes it."""

from contextvars import copy_context
from pathlib import Path

import pytest

from evenhand.annotations.accounts.accounts import account, add_account, grant
from evenhand.annotations.accounts.sign_ins import sign_in
from evenhand.annotations.database.store import Store
from evenhand.annotations.permissions import Role
from evenhand.annotations.types import Project
from evenhand.core.mining.runs import NAMES, new_mining_run
from evenhand.core.runs.records import TABLE, TEXTS, ordered_by, run_file, runs_folder, write_record
from evenhand.pages.association.source import ASSOCIATIONS
from evenhand.pages.generation.start import GENERATIONS
from evenhand.pages.mining.results import MINING
from evenhand.pages.misgendering.start import MISGENDERING
from evenhand.pages.nli.start import NLI
from evenhand.pages.scoring.view import SCORES
from evenhand.pages.ui import visitor
from evenhand.pages.ui.runs import RunPage, _delete, score_runs
from tests.support.pages import open_page, text_of
from tests.support.released_project import ready_project

PAGES = {
    "scoring": SCORES, "generation": GENERATIONS, "association": ASSOCIATIONS, "nli": NLI,
    "misgendering": MISGENDERING, "mining": MINING,
}  # fmt: skip
NAMES_OF_RUNS = {"lead": {"ofhere", "oflena"}, "owner": {"ofhere", "oflena", "ofothers", "ofold"}}


def make_run(database: Path, page: RunPage, name: str, owner: dict[str, str]) -> None:
    if page is MINING:
        run = new_mining_run(database, name, owner)
        for part in NAMES:
            run.table.with_name(part).write_text("{}")
        return
    table = run_file(runs_folder(database, page.kind), name, page.ending)
    assert page.ending in (TABLE, TEXTS)

    def record() -> None:
        ordered_by.set(owner)
        write_record(table, {"created": "2026-01-01T00:00:00.000Z", "models": [], "source": {"name": "a.csv"}})

    copy_context().run(record)
    table.write_text("" if page.ending == TEXTS else "row\n")


@pytest.fixture
def here(fresh_store: Store) -> Project:
    """Make two projects with runs of each kind: of both projects, of an account, and one without a recorded owner."""
    result = ready_project(fresh_store, 1, name="here")
    elsewhere = ready_project(fresh_store, 1, name="elsewhere")
    lena = add_account(fresh_store, "Lena")
    owners = {
        "ofhere": {"project": result.uid, "account": "somebody"}, "oflena": {"account": lena.uid},
        "ofothers": {"project": elsewhere.uid, "account": lena.uid}, "ofold": {},
    }  # fmt: skip
    for page in PAGES.values():
        for name, owner in owners.items():
            make_run(fresh_store.path, page, name, owner)
    return result


def come(store: Store, monkeypatch: pytest.MonkeyPatch, role: Role, project: Project | None) -> None:
    who = account(store, "Lena")
    grant(store, who, role, project)
    secret = sign_in(store, who)
    monkeypatch.setattr(visitor, "cookie", lambda: secret)


@pytest.mark.parametrize("role", ["lead", "owner"])
def test_lists_contain_only_runs_visible_to_the_visitor(
    fresh_store: Store, here: Project, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    come(fresh_store, monkeypatch, role, here if role == "lead" else None)
    for address, page in PAGES.items():
        assert {run.name for run in page.finished(fresh_store)} == NAMES_OF_RUNS[role], address
        assert len(page.every_finished(fresh_store)) == 4
        assert page.free_name(fresh_store, "ofothers") != "ofothers"
    assert {run.name for run in score_runs()} == NAMES_OF_RUNS[role]


def test_without_accounts_all_runs_are_visible(fresh_store: Store, tmp_path: Path) -> None:
    for page in PAGES.values():
        make_run(fresh_store.path, page, "one", {"account": "gone"})
        make_run(fresh_store.path, page, "two", {})
        assert {run.name for run in page.finished(fresh_store)} == {"one", "two"}


def test_an_invisible_run_cannot_be_deleted(fresh_store: Store, here: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    come(fresh_store, monkeypatch, "lead", here)
    for page in PAGES.values():
        for name in ("ofothers", "ofold", "oflena"):
            _delete(page, name)
        assert {run.name for run in page.every_finished(fresh_store)} == {"ofhere", "ofothers", "ofold"}


VIEWS = {
    "scoring": {}, "association": {"view": "results"}, "misgendering": {}, "mining": {"mine_view": "runs"},
}  # fmt: skip


@pytest.mark.parametrize("address", VIEWS)
def test_pages_do_not_name_runs_of_others(
    fresh_store: Store, here: Project, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    come(fresh_store, monkeypatch, "lead", here)
    asked = {} if address == "mining" else {"run": "ofothers"}
    page = open_page(address, state=VIEWS[address], **asked)
    shown = text_of(page) + str([box.options for box in page.selectbox]) + str(page.main)
    assert "ofhere" in shown or "oflena" in shown
    assert "ofold" not in shown and "ofothers" not in shown


def test_the_address_of_a_foreign_run_opens_nothing(
    fresh_store: Store, here: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    come(fresh_store, monkeypatch, "lead", here)
    assert "There is no finished run named ofothers" in text_of(open_page("mining", run="ofothers"))
