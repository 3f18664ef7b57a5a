"""Samples of a project: drawn, stored before an item is labelled, handed out alone, weighed, packed and unpacked."""

import csv
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.package.write_package import import_package, package_parts
from evenhand.annotations.files.undo_import import imports, undo
from evenhand.annotations.human_vs_rule.people_by_instance import design_of
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.estimates import NOBODY, estimates
from evenhand.annotations.judges.judges import Spec, add_judge, judge, store_labels
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.labels.operations import store_operations
from evenhand.annotations.log.verify import verify
from evenhand.annotations.pilot.pilots import start_pilot
from evenhand.annotations.projects.projects import annotators, create_project, set_quotas
from evenhand.annotations.queue.leases import claim, free_leases
from evenhand.annotations.release.changes import content_hash, contents_of
from evenhand.annotations.sampling.frame import frame, free_items, plan_sample
from evenhand.annotations.sampling.samples import (
    close_sample,
    drawn_items,
    open_sample,
    own_sample,
    people_rates,
    sample_labels,
    samples,
    start_sample,
    state_of,
)
from evenhand.annotations.types import Annotator, Project
from evenhand.core.errors import NotAllowed, NotFound, Refused
from evenhand.core.human_vs_rule.compare import comparison
from evenhand.core.judges.prompts import JudgeLabel
from evenhand.core.sampling.designs import SIZED, Design
from tests.support.judged_generations import Said, all_written, judged_project, operation, say
from tests.support.projects import decide, filled_project, new_store

TEXTS = all_written(1)  # 80: 2 models, 4 pronoun sets, 2 settings, 5 topics
NOW = 1_000_000.0


@pytest.fixture
def project(fresh_store: Store) -> Project:
    """Make 80 generations; two judges differ on every fourth."""
    made = judged_project(fresh_store, TEXTS)
    for name, other in (("a", "correct"), ("b", "misgendering")):
        judge_ = add_judge(fresh_store, made, name, Spec("file", 1, name, name))
        labels = [JudgeLabel(item.id, other if n % 4 == 0 else "correct", False)
                for n, item in enumerate(items(fresh_store, made))]  # fmt: skip
        store_labels(fresh_store, judge_, labels)
    return made


def draw(store: Store, project: Project, design: Design, number: int, **more: object) -> None:
    by = ("model",) if design == "stratified" else ()
    start_sample(store, project, plan_sample(store, project, design, number, **({"by": by} | more)), author="Vera")  # type: ignore[arg-type]


def label_all(store: Store, project: Project, wrong: int = 3) -> list[str]:
    """Let all label what is handed out, every *wrong*-th as misgendering; return the items in order."""
    order: list[str] = []
    for person in annotators(store, project):
        while some := claim(store, project, person, want=7, now=NOW):
            for item in some:
                mark = ((item.text.split()[0], "pronoun"),)
                said = Said("misgendering", False, mark) if item.id % wrong == 0 else Said("correct")
                (answer,) = store_operations(store, project, person, [operation(item, said)], now=NOW)
                assert answer.stored, answer.reason
                order.append(item.uid)
    return order


@pytest.mark.parametrize("design", SIZED)
def test_every_probability_is_stored_and_only_drawn_items_are_handed_out(
    fresh_store: Store, project: Project, design: Design
) -> None:
    draw(fresh_store, project, design, 20)
    query = "SELECT count(*), sum(probability), min(probability), sum(drawn) FROM inclusion"
    assert fresh_store.db.execute(query).fetchone() == (80, pytest.approx(20), pytest.approx(0.25, abs=0.2), 20)
    handed = label_all(fresh_store, project)
    drawn = drawn_items(fresh_store, project)
    assert drawn is not None and set(handed) == set(drawn) and Counter(handed) == dict.fromkeys(drawn, 2)
    state = state_of(fresh_store, samples(fresh_store, project)[0])
    assert (state.frame, state.drawn, state.labelled) == (80, 20, 20)
    if design == "stratified":
        models = Counter(item.extra["model"] for item in items(fresh_store, project) if item.uid in drawn)
        assert set(models.values()) == {10}
    if design == "disagreement":
        chances = {item.uid: n % 4 == 0 for n, item in enumerate(items(fresh_store, project))}
        assert {chances[uid] for uid, (_, p) in drawn.items() if p > 0.25} == {True}
    assert verify(fresh_store).kinds["inclusion"] == 80


KILLED = """
import os, signal, sys
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import projects
from evenhand.annotations.sampling import samples
from evenhand.annotations.sampling.frame import frame, free_items, plan_sample
with Store.open(sys.argv[1]) as store:
    project = projects(store)[0]
    def die(*_, **__):
        print(store.db.execute("SELECT count(*) FROM inclusion").fetchone()[0], flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    samples.record = die  # the last statement before the commit
    samples.start_sample(store, project, plan_sample(store, project, "simple", 20))
"""


def test_a_process_killed_during_a_draw_leaves_no_sample(fresh_store: Store, project: Project) -> None:
    before = fresh_store.db.execute("SELECT max(id) FROM log").fetchone()
    run = subprocess.run([sys.executable, "-c", KILLED, str(fresh_store.path)], capture_output=True, text=True)
    assert (run.stdout, run.returncode) == ("80\n", -signal.SIGKILL), run.stderr
    assert samples(fresh_store, project) == [] and open_sample(fresh_store, project) is None
    assert fresh_store.db.execute("SELECT count(*) FROM inclusion").fetchone() == (0,)
    assert fresh_store.db.execute("SELECT max(id) FROM log").fetchone() == before
    draw(fresh_store, project, "simple", 20)  # with the number that the other had
    assert verify(fresh_store).kinds["inclusion"] == 80


@pytest.mark.parametrize("moment", ["before the lock", "with the lock"])
def test_a_refused_draw_leaves_no_row(
    fresh_store: Store, project: Project, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    planned = plan_sample(fresh_store, project, "simple", 20)
    if moment == "before the lock":
        claim(fresh_store, project, annotators(fresh_store, project)[0], want=7, now=NOW)
    else:
        monkeypatch.setattr("evenhand.annotations.sampling.samples.free_all_leases", lambda *_: claim(*_, want=7))
    with pytest.raises((Refused, TypeError)):
        start_sample(fresh_store, project, planned)
    monkeypatch.undo()
    assert samples(fresh_store, project) == [] and not fresh_store.db.in_transaction
    if moment != "before the lock":
        start_sample(fresh_store, project, planned)  # the same connection can draw again
    assert fresh_store.db.execute("SELECT count(*) FROM sqlite_temp_master").fetchone() == (0,)


def test_a_second_sample_draws_only_remaining_items(fresh_store: Store, project: Project) -> None:
    draw(fresh_store, project, "simple", 30)
    with pytest.raises(NotAllowed):
        draw(fresh_store, project, "simple", 5)
    with pytest.raises(NotAllowed):
        start_pilot(fresh_store, project, 5)
    label_all(fresh_store, project)
    close_sample(fresh_store, project)
    draw(fresh_store, project, "variance", 50)
    label_all(fresh_store, project)
    drawn = drawn_items(fresh_store, project)
    assert drawn is not None and len(drawn) == 80
    result = sample_labels(fresh_store, project)
    assert result is not None
    uids = [item.uid for item in items(fresh_store, project)]
    weights, _strata = result.weights(uids, [True] * 80)
    assert weights == pytest.approx([1.0] * 80), "nothing is left: each item stands for itself"
    close_sample(fresh_store, project)
    assert open_sample(fresh_store, project) is None
    with pytest.raises(NotFound):
        close_sample(fresh_store, project)
    with pytest.raises(Refused):
        draw(fresh_store, project, "simple", 5)


def test_rates_weight_each_item_by_its_probability(fresh_store: Store, project: Project) -> None:
    """Hajek by hand: sum of y / p over sum of 1 / p."""
    draw(fresh_store, project, "disagreement", 30)
    label_all(fresh_store, project)
    result = estimates(fresh_store, project, judge(fresh_store, project, "a"))
    (cell,) = result.cells("misgendering")
    drawn = drawn_items(fresh_store, project)
    assert drawn is not None
    y = np.array([item.id % 3 == 0 for item in items(fresh_store, project) if item.uid in drawn], dtype=float)
    p = np.array([drawn[item.uid][1] for item in items(fresh_store, project) if item.uid in drawn])
    assert cell.rates.people.value == pytest.approx(float((y / p).sum() / (1 / p).sum()))
    assert cell.people == 30 and cell.further == 50 and cell.not_drawn == 0
    assert cell.rates.effect is not None and cell.rates.effect > 1
    assert result.samples == (samples(fresh_store, project)[0].signature,) and result.samples[0] in result.signature
    rows = generations(fresh_store, project)
    made = comparison(rows, labels_of_generations(fresh_store, project), design=design_of(fresh_store, project, rows))
    with_rule = made.weighted("misgendering")
    assert with_rule.estimate == people_rates(fresh_store, project)["misgendering"][0]
    assert with_rule.estimate.value == pytest.approx(cell.rates.people.value)
    assert (with_rule.labelled, with_rule.population) == (30, 80) and result.samples[0] in made.signature
    assert made.both.effect == pytest.approx(cell.rates.effect) and made.both.judge.units > 0
    by_model = result.cells("misgendering", ("model",))
    assert sum(cell.people for cell in by_model) == 30
    close_sample(fresh_store, project)
    label_all(fresh_store, project)  # the others come in the ordinary queue
    (later,) = estimates(fresh_store, project, judge(fresh_store, project, "a")).cells("misgendering")
    assert later.not_drawn == 50 and later.rates.people.value == cell.rates.people.value


@pytest.mark.parametrize("sampled", [True, False])
def test_an_import_is_undone_after_a_sample_or_a_judge(fresh_store: Store, project: Project, sampled: bool) -> None:
    """Probabilities and labels of judges are never deleted, so their items are hidden."""
    if sampled:
        draw(fresh_store, project, "simple", 5)
    (made,) = [one for one in imports(fresh_store, project) if one.kind == "items"]
    undo(fresh_store, project, made.key)
    assert not list(items(fresh_store, project))
    recorded = "inclusion" if sampled else "judge_label"
    assert fresh_store.count("item") == fresh_store.value(f"SELECT count(DISTINCT item) FROM {recorded}")


def test_a_sample_is_append_only(fresh_store: Store, project: Project) -> None:
    draw(fresh_store, project, "simple", 10)
    for statement in (
        "UPDATE inclusion SET probability = 1", "DELETE FROM inclusion", "UPDATE sample SET share = 0.5",
        "DELETE FROM sample", "INSERT INTO inclusion (sample, item, probability, drawn) SELECT 1, id, 0, 0 FROM item",
    ):  # fmt: skip
        with pytest.raises(sqlite3.IntegrityError):
            fresh_store.db.execute(statement)


def test_a_probability_is_stored_before_the_first_label(fresh_store: Store, project: Project) -> None:
    person = annotators(fresh_store, project)[0]
    seen = {item.uid for item in claim(fresh_store, project, person, want=5)}
    planned = plan_sample(fresh_store, project, "simple", 10)
    assert len(planned.items) == 75, "five are on a desk"
    claim(fresh_store, project, person, have=seen, want=5)
    with pytest.raises(Refused):
        start_sample(fresh_store, project, planned)
    draw(fresh_store, project, "simple", 70)
    drawn = drawn_items(fresh_store, project)
    assert drawn is not None and not seen & set(drawn)
    assert own_sample(fresh_store, project, person) == (0, 70)


def test_an_item_returned_without_a_label_can_be_drawn(fresh_store: Store, project: Project) -> None:
    person = annotators(fresh_store, project)[0]
    had = claim(fresh_store, project, person, want=38)  # a desk that is open now
    assert free_items(fresh_store, project) == 42
    with pytest.raises(Refused, match="at most 42"):
        draw(fresh_store, project, "simple", 80)
    store_operations(fresh_store, project, person, [operation(had[0], Said("correct"))])
    release_person(fresh_store, project, person)
    assert free_items(fresh_store, project) == 79
    draw(fresh_store, project, "simple", 79)
    drawn = drawn_items(fresh_store, project)
    assert drawn is not None and {item.uid for item in had[1:]} < set(drawn) and had[0].uid not in drawn
    assert verify(fresh_store).kinds["inclusion"] == 79


@pytest.mark.parametrize("items", [81, 5000])
@pytest.mark.parametrize("design", SIZED)
def test_drawing_too_many_items_is_refused_with_their_number(
    fresh_store: Store, project: Project, design: Design, items: int
) -> None:
    with pytest.raises(Refused, match=f"{items:,} items were requested, but only 80 can be drawn"):
        draw(fresh_store, project, design, items)
    assert samples(fresh_store, project) == []


def test_a_sample_without_labels_changes_no_rate(fresh_store: Store, project: Project) -> None:
    label_all_of(fresh_store, project, 40)
    mine = judge(fresh_store, project, "a")
    before = estimates(fresh_store, project, mine)
    (was,) = before.cells("misgendering")
    assert was.rates.people.value is not None and was.counted == 40 and was.rates.people.value > 0
    assert [str(note) for note in before.basis(was)] == [
        "Labels used: all fully labelled items (40), as a simple random sample."
    ]
    free = free_items(fresh_store, project)
    draw(fresh_store, project, "simple", free)
    for closed in (False, True):
        if closed:
            close_sample(fresh_store, project)
        now = estimates(fresh_store, project, mine)
        (cell,) = now.cells("misgendering")
        assert (cell.rates, cell.counted, cell.not_drawn) == (was.rates, 40, 0) and now.signature == before.signature
        assert "samples do not affect the rates yet" in " ".join(map(str, now.basis(cell)))
        assert people_rates(fresh_store, project) == {} and sample_labels(fresh_store, project) is None
    assert free_items(fresh_store, project) == free, "what a sample without labels drew can be drawn again"
    draw(fresh_store, project, "simple", free)
    assert len(drawn_items(fresh_store, project) or {}) == free


def test_labels_made_before_a_sample_have_weight_one(fresh_store: Store, project: Project) -> None:
    """By hand: (wrong among the 40 + 40 x share wrong among the drawn) / 80."""
    label_all_of(fresh_store, project, 40)
    earlier = {item.uid for item in items(fresh_store, project)} - {
        uid for uid, free in zip(*_free(fresh_store, project), strict=True) if free
    }
    assert len(earlier) == 40
    draw(fresh_store, project, "simple", 10)
    label_all(fresh_store, project, wrong=2)
    wrong = dict(fresh_store.db.execute("SELECT uid, max(choice = 'misgendering') FROM label JOIN item ON item.id ="
                                        " label.item GROUP BY uid"))  # fmt: skip
    drawn = drawn_items(fresh_store, project) or {}
    result = estimates(fresh_store, project, judge(fresh_store, project, "a"))
    (cell,) = result.cells("misgendering")
    by_hand = (sum(wrong[uid] for uid in earlier) + 40 * np.mean([wrong[uid] for uid in drawn])) / 80
    assert cell.rates.people.value == pytest.approx(by_hand) and (cell.counted, cell.earlier) == (50, 40)
    assert people_rates(fresh_store, project)["misgendering"][0].value == pytest.approx(by_hand)
    assert " ".join(map(str, result.basis(cell))) == (
        "Labels used: those of sampled items (10), weighted by inverse inclusion probability."
        " Items labelled before a sample was drawn (40) count once each and represent only themselves."
    )


def test_the_rate_of_a_group_without_labels_has_a_reason(fresh_store: Store, project: Project) -> None:
    mine = judge(fresh_store, project, "a")
    (cell,) = estimates(fresh_store, project, mine).cells("misgendering")
    assert cell.rates.people.reason == cell.rates.both.reason == NOBODY and cell.rates.judge.value is not None
    nothing = add_judge(fresh_store, project, "c", Spec("file", 1, "c", "c"))
    (cell,) = estimates(fresh_store, project, nothing).cells("misgendering")
    assert str(cell.rates.judge.reason) == "The judge has given no such label."


def _free(store: Store, project: Project) -> tuple[list[str], list[bool]]:
    result = frame(store, project)
    return result.table["item"].tolist(), result.free.tolist()


def release_person(store: Store, project: Project, person: Annotator) -> None:
    with store.write() as db:
        free_leases(db, project, person.id)


def label_all_of(store: Store, project: Project, number: int) -> None:
    """Let both annotators label the same *number* items, every third as misgendering."""
    chosen = list(items(store, project))[:number]
    for name in ("Ada", "Bo"):
        say(store, project, name, {
            item.text: Said("misgendering", False, ((item.text.split()[0], "pronoun"),)) if item.id % 3 == 0
            else Said("correct") for item in chosen
        }.items())  # fmt: skip


@pytest.mark.parametrize(
    ("design", "more"), [("stratified", {"by": ()}), ("stratified", {"by": ("x",)}), ("variance", {"judges": ("z",)}),
                         ("disagreement", {"measure": "z"})]
)  # fmt: skip
def test_a_design_with_missing_settings_is_refused(
    fresh_store: Store, project: Project, design: Design, more: dict[str, object]
) -> None:
    with pytest.raises(Refused):
        draw(fresh_store, project, design, 10, **more)


def test_a_package_contains_every_probability(fresh_store: Store, project: Project, tmp_path: Path) -> None:
    draw(fresh_store, project, "disagreement", 20)
    label_all(fresh_store, project)
    close_sample(fresh_store, project)
    out = export_file(fresh_store, project, tmp_path / "p.zip", format="package", password="long enough").out
    tables = "SELECT item.uid, sample.number, probability, stratum, drawn FROM inclusion JOIN item ON item.id = item" \
             " JOIN sample ON sample.id = sample ORDER BY 1"  # fmt: skip
    with new_store(tmp_path / "b.db") as other, tables_in(out, password="long enough") as members:
        again = import_package(other, "made", members, out.name).project
        assert other.db.execute(tables).fetchall() == fresh_store.db.execute(tables).fetchall()
        assert [sample.signature for sample in samples(other, again)] == [
            sample.signature for sample in samples(fresh_store, project)
        ]
        codes = {"Ada": "A1", "Bo": "A2"}
        parts = [package_parts(fresh_store, project, codes), package_parts(other, again, {})]
        names = ("items.jsonl", "gold.jsonl", "labels.jsonl", "records.jsonl")
        hashes = [content_hash(contents_of(*(part[name] for name in names)).entries.values()) for part in parts]
        assert hashes[0] == hashes[1]
    labels = export_file(fresh_store, project, tmp_path / "labels.csv", format="labels").out
    rows = list(csv.DictReader(labels.read_text().splitlines()))
    drawn = drawn_items(fresh_store, project)
    assert drawn is not None and len(rows) == 40
    assert all(float(row["inclusion_probability"]) == drawn[row["item"]][1] for row in rows)


def test_quotas_close_with_fewer_items_and_the_rate_kept_has_no_bias(fresh_store: Store) -> None:
    """160 sentences of two cells, half of them good, which a judge knows in 90%; 30 are wanted of one cell."""
    made, (ada, *_others) = filled_project(fresh_store, 160, words=("他", "她"), people=("Ada",), per_item=1)
    cells = {(item.pair, item.side) for item in items(fresh_store, made)}
    wanted = min(cells, key=str)
    good = {item.id: item.line % 4 < 2 for item in items(fresh_store, made)}
    judge_ = add_judge(fresh_store, made, "j", Spec("file", 1, "j", "j"))
    choices = {True: "accept", False: "reject"}
    store_labels(fresh_store, judge_, [
        JudgeLabel(item, choices[right != (n % 10 == 9)]) for n, (item, right) in enumerate(good.items())
    ])  # fmt: skip
    with pytest.raises(Refused):
        plan_sample(fresh_store, made, "quotas", 0)
    with pytest.raises(Refused):
        plan_sample(fresh_store, create_project(fresh_store, "empty", annotators=("Ada",)), "quotas", 0)
    set_quotas(fresh_store, made, {wanted: 30})
    planned = plan_sample(fresh_store, made, "quotas", 0, share=0.3)
    assert len(planned.items) == 80, "the other cell lacks nothing"
    assert sum(planned.drawn) < planned.settings["in_random_order"]
    start_sample(fresh_store, made, planned)
    while some := claim(fresh_store, made, ada, want=9, now=NOW):
        answers = store_operations(
            fresh_store, made, ada, [decide(entry, choices[good[entry.id]]) for entry in some], now=NOW
        )
        assert all(answer.stored for answer in answers)
    close_sample(fresh_store, made)
    kept = fresh_store.db.execute("SELECT count(*) FROM item WHERE status = 'accepted'").fetchone()[0]
    assert kept >= 24, "30 were wanted, and the judge errs"
    ((rate, effect),) = people_rates(fresh_store, made).values()
    truth = sum(good[item] for item in planned.items) / 80
    assert rate.low is not None and rate.high is not None and rate.low < truth < rate.high
    assert effect is not None and kept / sum(planned.drawn) > truth, "the plain share is biased"
