"""A number is the same on every page, in every command and document, and equal to a recount of the exported labels."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from evenhand.annotations.adjudication.decisions import case, cases, decide_case
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import items
from evenhand.annotations.pilot.pilots import open_pilot
from evenhand.annotations.projects.consent import answer_consent
from evenhand.annotations.projects.projects import (
    add_annotators,
    annotators,
    change_project,
    create_project,
    project_by_uid,
)
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.quantities.catalogue import QUANTITIES, estimates, row_estimates
from evenhand.annotations.quantities.snapshot import Snapshot
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.readiness import readiness
from evenhand.annotations.release.stored_releases import releases
from evenhand.annotations.sampling.frame import free_items, plan_sample
from evenhand.annotations.sampling.samples import close_sample, open_sample, start_sample
from evenhand.annotations.types import Mark, Project
from evenhand.core.statistics import Estimate
from tests.models_of_the_store.curation import WHO
from tests.models_of_the_store.leaving import Leaving
from tests.support.generations import generation, generations_project
from tests.support.mined_project import mined_project
from tests.support.projects import new_store
from tests.support.recount import exported_package, recount
from tests.support.released_project import label
from tests.support.stated_numbers import (
    Statement,
    agrees,
    of_changes,
    of_commands,
    of_documents,
    of_latex,
    of_notebook,
    of_notebook_agreement,
    of_pages,
)
from tests.support.terminal import answered

AS_FOUND = (Phase.explicit, Phase.reuse, Phase.generate)  # minutes of search for a shorter example tell little
CHOICES = ("correct", "correct", "misgendering", "no_pronoun", "plural_they")


def truth_of(store: Store, project: Project) -> dict[str, Estimate]:
    """Return the estimates of the catalogue, those of rows by id and key."""
    with store.read():
        snapshot = Snapshot(store, project)
        rows = row_estimates(snapshot)
        of_rows = {f"{id_}:{key}": one for id_, found in rows.items() for key, one in found.items()}
        return estimates(snapshot, QUANTITIES) | of_rows


def compare(store: Store, project: Project, folder: Path) -> set[str]:
    """Check all statements about a project against the catalogue, and its counts against exported files.

    Returns the ids that were stated.
    """
    folder.mkdir(exist_ok=True)
    project = project_by_uid(store, project.uid)
    released = release_again(store, project)
    truth = truth_of(store, project)
    texts = [item.whole_text for item in items(store, project) if item.status == "accepted"]
    stated = [*of_pages(project, released=released), *of_commands(project, released=released),
              *of_documents(store, project), *of_latex(project, folder), *of_notebook(texts)]  # fmt: skip
    stated += [one for one in of_notebook_agreement(exported_package(project, folder)) if one.id in truth]
    wrong = [
        f"{one.place}: {one.id} is {one.text or one.value}, not {truth[one.id].value if one.id in truth else 'stated'}"
        for one in stated
        if one.id not in truth or not agrees(one, truth[one.id])
    ]
    assert not wrong, "\n".join(wrong)
    if released:
        wrong = list(of_changes(store, project))
        assert not wrong, "\n".join(wrong)
    again = recount(project, folder)
    differ = {
        id_: (value, truth[id_].value)
        for id_, value in again.items()
        if id_ in truth and not equal(value, truth[id_].value)
    }
    assert not differ, differ
    return {one.id.partition(":")[0] for one in stated}


def release_again(store: Store, project: Project) -> bool:
    """Make a release of what is stored, if there can be one."""
    if any(check.state == "missing" for check in readiness(store, project)):
        return False
    make_release(store, project, f"9.{len(releases(store, project))}", reason="A test.")
    return True


def equal(one: float | None, other: float | None) -> bool:
    return one == other or (one is not None and other is not None and abs(one - other) < 1e-9)


class Stated(Leaving):
    """A curation with consent, samples and doubled items, whose numbers are compared at its end."""

    def begin(self) -> None:
        """Let everybody label, and label again what is handed out a second time: most drawn histories are short."""
        super().begin()
        if self.project.plan == "stop":
            set_known(self.store, self.project, next(items(self.store, self.project)).uid, "accept")
        for turn in range(2):
            for number, desk in enumerate(self.desks):
                for place, item in enumerate(self.fetch_for(desk, 5)):
                    self.say(desk, item.uid, "reject" if (place + number + turn) % 4 == 0 else "accept")
                self.deliver_from(desk)

    @rule(who=WHO, given=st.booleans())
    def consent(self, who: int, given: bool) -> None:
        answer_consent(self.store, self.project, self.desk(who).person, "release", given=given)

    @rule(number=st.integers(1, 4))
    def sample(self, number: int) -> None:
        if open_sample(self.store, self.project):
            close_sample(self.store, self.project)
        elif not open_pilot(self.store, self.project) and annotators(self.store, self.project):
            free = free_items(self.store, self.project)
            if free:
                start_sample(
                    self.store, self.project, plan_sample(self.store, self.project, "simple", min(number, free))
                )

    @rule(number=st.sampled_from((None, 0, 2)))
    def double(self, number: int | None) -> None:
        plan = {} if number is None else {"plan": "all"}
        self.project = change_project(self.store, self.project, **plan, doubled=number)

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        before = os.environ.get("EVENHAND_DB")
        try:
            os.environ["EVENHAND_DB"] = str(self.store.path)
            for desk in self.desks:
                self.deliver_from(desk)
            compare(self.store, self.project, Path(self.folder.name) / "out")
        finally:
            os.environ["EVENHAND_DB"] = before or ""
            self.store.close()
            self.folder.cleanup()


def run_histories(number: int) -> None:
    run_state_machine_as_test(
        Stated,
        settings=settings(
            max_examples=number, stateful_step_count=30, deadline=None,
            phases=AS_FOUND, suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip


def test_a_number_of_sentences_is_the_same_everywhere() -> None:
    run_histories(3)


@pytest.mark.long
def test_a_number_of_sentences_is_the_same_everywhere_in_200_histories() -> None:
    run_histories(200)


LABELS = st.lists(
    st.lists(st.tuples(st.sampled_from(CHOICES), st.booleans()), max_size=3), min_size=4, max_size=14
)  # fmt: skip


def generations_history(folder: str, written: list[list[tuple[str, bool]]], change: dict[str, Any]) -> set[str]:
    with new_store(Path(folder) / "a.db") as store:
        texts = [f"{'He' if number % 3 else 'They'} read page {number} again." for number in range(len(written))]
        people = ("Ada", "Bo", "Cy")
        project = create_project(store, "g", kind="generations", annotators=people, language="en", per_item=2)
        project = change_project(store, project, open_text=True)
        rows = [{**generation(number, text).extra, "context": f"Noa keeps bees ({number}).", "completion": text}
                for number, text in enumerate(texts)]  # fmt: skip
        file = Path(folder) / "texts.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        assert answered("import", "g", file, "--format", "generations")["imported"] == len(texts)
        for item, labels in zip(list(items(store, project)), written, strict=True):
            for person, (choice, flag) in zip(annotators(store, project), labels, strict=False):
                marks = [Mark(0, 2, "pronoun")] if choice == "misgendering" else []
                marks += [Mark(5, 9, "extraneous")] if flag else []
                label(store, project, person, item.uid, choice, extraneous=flag, spans=tuple(marks))
        project = change_project(store, project, **change)
        for uid in cases(store, project)[:1]:
            seen = case(store, project, uid).seen
            decide_case(store, project, uid, choice="correct", adjudicator="Vera", why="read", seen=seen, base=None)
        return compare(store, project, Path(folder) / "out")


CHANGES = st.sampled_from(({}, {"per_item": 3}, {"gold": "majority"}, {"doubled": 2}))


@settings(max_examples=3, deadline=None, phases=AS_FOUND, suppress_health_check=list(HealthCheck))
@given(LABELS, CHANGES)
def test_a_number_of_generations_is_the_same_everywhere(
    written: list[list[tuple[str, bool]]], change: dict[str, Any]
) -> None:
    run_generations(written, change)


@pytest.mark.long
@settings(max_examples=60, deadline=None, phases=AS_FOUND, suppress_health_check=list(HealthCheck))
@given(LABELS, CHANGES)
def test_a_number_of_generations_is_the_same_everywhere_in_60_histories(
    written: list[list[tuple[str, bool]]], change: dict[str, Any]
) -> None:
    run_generations(written, change)


def run_generations(written: list[list[tuple[str, bool]]], change: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVENHAND_DB", str(Path(folder) / "a.db"))
        generations_history(folder, written, change)


def test_a_number_of_mining_is_the_same_everywhere(
    fresh_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENHAND_DB", str(fresh_store.path))
    stated = compare(fresh_store, mined_project(fresh_store, tmp_path), tmp_path / "out")
    assert {id_ for id_ in QUANTITIES if id_.startswith("mining.")} <= stated


STATED = (
    ("page agreement", "agreement.alpha.labelled", "−0.12", None, -0.1234, True),
    ("page agreement", "agreement.alpha.labelled", "−0.13", None, -0.1234, False),
    ("method.en", "agreement.full.reviewed", "0.929 [0.860, 0.970]", None, 0.92929, True),
    ("method.en", "agreement.full.reviewed", "0.779 [0.860, 0.970]", None, 0.92929, False),
    ("method.zh", "agreement.full.reviewed", "—（还没有标注。）", None, None, True),
    ("method.zh", "agreement.full.reviewed", "—（还没有标注。）", None, 0.5, False),
    ("card.en", "items.kept", "1,234", None, 1234, True),
    ("card.en", "items.kept", "1,235", None, 1234, False),
    ("progress", "items.kept", "", 7, 7, True),
    ("progress", "items.kept", "", None, 7, False),
)


@pytest.mark.parametrize(("place", "id_", "text", "value", "truth", "same"), STATED)
def test_another_number_is_noticed(
    place: str, id_: str, text: str, value: Any, truth: float | None, same: bool
) -> None:
    assert agrees(Statement(place, id_, text, value), Estimate(truth)) == same


def test_a_page_that_counts_otherwise_is_noticed(fresh_store: Store, tmp_path: Path, monkeypatch: Any) -> None:
    """The page Progress gets one item too many; commands and documents do not."""
    project = generations_project(fresh_store, "g", 4, open_text=True)
    stated = compare(fresh_store, project, tmp_path / "out")
    assert {"items.imported", "items.reviewed", "labels.valid", "generations.finished"} <= stated
    wrong = estimates(Snapshot(fresh_store, project), QUANTITIES) | {"items.reviewed": Estimate(1, units=1)}
    monkeypatch.setattr("evenhand.pages.progress.view.estimates", lambda *_: wrong)
    add_annotators(fresh_store, project, ("Zoe",))  # so that the page does not show what it showed before
    with pytest.raises(AssertionError, match="page progress"):
        compare(fresh_store, project, tmp_path / "again")
