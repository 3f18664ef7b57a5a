"""Labels under an own scheme: stored, refused, compared, decided, exported, and restored from a package."""

import csv
import io
import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.annotations.adjudication.decisions import case, decide_case
from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.agreement.merged_labels import mark_agreement, ways_of
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export import export_file
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.files.import_items import tables_in
from evenhand.annotations.files.label_tables import json_lines, long_lines, wide_lines
from evenhand.annotations.files.other_tools.write import labelling_config
from evenhand.annotations.files.package.write_package import import_package
from evenhand.annotations.guideline.scheme import own_scheme as stored_scheme
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.estimates import estimates
from evenhand.annotations.judges.judge_backends import rule_spec
from evenhand.annotations.judges.judges import Spec, add_judge
from evenhand.annotations.judges.judges import store_labels as store_judge_labels
from evenhand.annotations.labels.own import own_decisions
from evenhand.annotations.labels.read import label_rows
from evenhand.annotations.log.verify import verify
from evenhand.annotations.projects.projects import annotator, change_project
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.release.make import make_release
from evenhand.annotations.release.stored_releases import release_files
from evenhand.annotations.types import Mark
from evenhand.core.errors import NotAllowed, Refused
from evenhand.core.judges.prompts import JudgeLabel
from tests.support.coincidences import alpha, ordinal
from tests.support.own_schemes import QUESTIONS, own_project, own_scheme, say
from tests.support.projects import new_store
from tests.support.task_files import bring

OPEN = ExportOptions("labels", "all", True, False, False)


def test_a_label_is_stored_with_choice_flags_and_spans(fresh_store: Store) -> None:
    project = own_project(fresh_store, "own")
    assert say(fresh_store, project, "Ada", 0, "harmful", "stereotype", "made_up").stored
    (row,) = label_rows(fresh_store, project)
    assert (row["choice"], row["reasons"], row["extraneous"]) == ("harmful", ["stereotype", "made_up"], None)
    assert row["spans"] == [[0, 3, "slur"], [4, 8, "claim"]]
    (mine,) = own_decisions(fresh_store, project, annotator(fresh_store, project, "Ada"))
    assert (mine.choice, mine.spans) == ("harmful", (Mark(0, 3, "slur"), Mark(4, 8, "claim")))
    assert verify(fresh_store).kinds["scheme"] == 1


def asking(store: Store, **fields: Any) -> Any:
    return own_project(store, "asking", scheme=own_scheme(questions=QUESTIONS), **fields)


@pytest.mark.parametrize(
    ("reasons", "says"),
    [
        ((), "The question fluency has no answer yet."),
        (("fluency:3", "fluency:4"), "fluency takes one answer, but this label has 2."),
        (("fluency:6",), "fluency:6 is not a reason in this guideline."),
        (("fluency:3", "care:11"), "care:11 is not a reason in this guideline."),
    ],
)
def test_a_scale_needs_exactly_one_valid_answer(fresh_store: Store, reasons: tuple[str, ...], says: str) -> None:
    project = asking(fresh_store)
    answer = say(fresh_store, project, "Ada", 0, "helpful", *reasons)
    assert answer.reason.format(**answer.values) == says
    assert say(fresh_store, project, "Ada", 1, "helpful", "fluency:3", "care:0", note="Because.").stored


def test_answers_are_exported_columns_compared_as_ordinal(fresh_store: Store) -> None:
    project = asking(fresh_store)
    points = ((1, 1), (2, 3), (5, 4), (3, 3))
    for place, pair in enumerate(points):
        for who, n in zip(("Ada", "Bo"), pair, strict=True):
            more = ["care:10"] if (who, place) == ("Ada", 0) else []
            assert say(fresh_store, project, who, place, "helpful", f"fluency:{n}", *more, note="why").stored
    assert [*ways_of(fresh_store, project)][-2:] == ["scale:fluency", "scale:care"]
    report = agreement(fresh_store, project, way="scale:fluency")
    assert [choice.code for choice in report.choices] == [f"fluency:{n}" for n in range(1, 6)]
    assert report.overall.pairwise.value == 0.5
    expected = alpha(points, ordinal)
    assert report.overall.alpha.value == pytest.approx(expected) and "|alpha:ordinal|" in report.signature
    assert agreement(fresh_store, project, way="scale:care").labels == 1
    rows = [row for row in map(json.loads, json_lines(fresh_store, project, OPEN)) if "choice" in row]
    assert (rows[0]["answer_fluency"], rows[0]["answer_care"], rows[1]["answer_care"]) == (1, 10, None)
    assert rows[0]["reasons"] == ["fluency:1", "care:10"]
    wide = list(csv.DictReader(io.StringIO("".join(wide_lines(fresh_store, project, OPEN)))))
    assert [(row["answer_fluency_Ada"], row["answer_fluency_Bo"]) for row in wide] == [
        (str(a), str(b)) for a, b in points
    ]  # fmt: skip
    long = list(csv.DictReader(io.StringIO("".join(long_lines(fresh_store, project, OPEN)))))
    assert [row["answer_care"] for row in long][:2] == ["10", ""]


@pytest.mark.parametrize(
    ("choice", "flags", "more", "says"),
    [
        ("correct", (), {}, "correct is not a choice in this guideline"),
        ("helpful", ("degenerate",), {}, "degenerate is not a reason in this guideline"),
        ("helpful", (), {"extraneous": False}, "has no flag for extraneous"),
        ("helpful", (), {"spans": (Mark(0, 2, "pronoun"),)}, "pronoun is not a kind of mark"),
        ("harmful", (), {"spans": ()}, "harmful needs a marked span of the kind slur"),
        ("harmful", (), {"spans": (Mark(0, 2, "claim"),)}, "harmful needs a marked span of the kind slur"),
        ("helpful", ("made_up",), {"spans": ()}, "made_up needs a marked span of the kind claim"),
        ("helpful", (), {"spans": (Mark(0, 4, "claim"), Mark(3, 6, "slur"))}, "Two marks overlap at 3"),
    ],
)
def test_choices_flags_and_marks_outside_the_scheme_are_refused(
    fresh_store: Store, choice: str, flags: tuple[str, ...], more: dict[str, Any], says: str
) -> None:
    project = own_project(fresh_store, "own")
    answer = say(fresh_store, project, "Ada", 0, choice, *flags, **more)
    assert not answer.stored and says in answer.reason.format(**answer.values)
    assert label_rows(fresh_store, project) == []


def test_unchecked_rules_are_not_enforced_but_mark_kinds_are(fresh_store: Store) -> None:
    project = own_project(fresh_store, "own", checked=False)
    assert say(fresh_store, project, "Ada", 0, "harmful", spans=()).stored
    assert not say(fresh_store, project, "Bo", 0, "harmful", spans=(Mark(0, 2, "pronoun"),)).stored


def test_the_database_refuses_an_unknown_choice(fresh_store: Store) -> None:
    project = own_project(fresh_store, "own")
    say(fresh_store, project, "Ada", 0, "helpful")
    for table in ("label", "known"):
        columns = [row[1] for row in fresh_store.db.execute(f"PRAGMA table_info({table})")]
        if table == "known":
            set_known(fresh_store, project, next(items(fresh_store, project)).uid, "neither")
        row = dict(zip(columns, fresh_store.db.execute(f"SELECT * FROM {table}").fetchone(), strict=True))
        row |= {"id": 99, "choice": "other"} | ({"op_id": "other"} if "op_id" in row else {})
        with pytest.raises(sqlite3.IntegrityError, match="no choice of"):
            fresh_store.db.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", [*row.values()])
    with pytest.raises(Refused, match="the choices are helpful, harmful, neither"):
        set_known(fresh_store, project, next(items(fresh_store, project)).uid, "correct")


PAIRS = (("helpful", "helpful"), ("harmful", "harmful"), ("neither", "helpful"), ("helpful", "helpful"))


def labelled(store: Store) -> Any:
    """Let Ada and Bo label four texts: they differ on the third; Ada flags the first two as stereotypes, Bo one."""
    project = own_project(store, "own")
    for place, pair in enumerate(PAIRS):
        for who, choice in zip(("Ada", "Bo"), pair, strict=True):
            flagged = place < (2 if who == "Ada" else 1)
            say(store, project, who, place, choice, *(["stereotype"] if flagged else []))
    return project


def test_agreement_is_by_choice_and_by_flag(fresh_store: Store) -> None:
    project = labelled(fresh_store)
    assert [*ways_of(fresh_store, project)] == ["four", "flag:stereotype", "flag:made_up"]
    report = agreement(fresh_store, project)
    assert [choice.code for choice in report.choices] == ["helpful", "harmful", "neither"]
    assert report.overall.pairwise.value == 3 / 4
    # Krippendorff, by hand: 8 values, 5 helpful, 2 harmful, 1 neither; 2 of the 8 are in the unit that differs.
    # Do = 2/8, De = (64 - 25 - 4 - 1) / (8 * 7) = 34/56, alpha = 1 - (1/4) / (34/56) = 10/17.
    assert report.overall.alpha.value == pytest.approx(10 / 17)
    # The flag: 3 flagged, 5 not, one unit differs: 1 - (2/8) / ((64 - 9 - 25) / 56) = 8/15.
    flag = agreement(fresh_store, project, way="flag:stereotype")
    assert flag.overall.alpha.value == pytest.approx(8 / 15)
    assert [choice.en for choice in flag.choices] == ["Stereotype", "Not flagged"]
    assert flag.signature != agreement(fresh_store, project, way="flag:made_up").signature
    assert agreement(fresh_store, project, way="three").items == 0, "none of the labels is one of the four"
    slur, claim = mark_agreement(fresh_store, project)
    assert (slur.kind, slur.pairs, slur.pooled.value) == ("slur", 1, 1.0) and (claim.kind, claim.pairs) == ("claim", 0)


def test_gold_is_the_unanimous_choice_or_the_adjudication(fresh_store: Store) -> None:
    project = labelled(fresh_store)
    gold = [(item.gold, item.status) for item in items(fresh_store, project)]
    assert gold == [("helpful", "accepted"), ("harmful", "accepted"), (None, "pending"), ("helpful", "accepted")]
    uid = list(items(fresh_store, project))[2].uid
    seen = case(fresh_store, project, uid).seen
    wrong = {"choice": "correct"}, {"choice": "harmful"}, {"choice": "neither", "extraneous": True}
    for operation in wrong:
        with pytest.raises((Refused, NotAllowed)):
            decide_case(fresh_store, project, uid, adjudicator="Vera", seen=seen, why="because", **operation)
    marks = (Mark(0, 2, "slur"),)
    decide_case(
        fresh_store, project, uid, adjudicator="Vera", choice="harmful", seen=seen, reasons=("stereotype",), marks=marks
    )
    assert list(items(fresh_store, project))[2].gold == "harmful"


def test_a_decision_with_answers_survives_a_package(fresh_store: Store, tmp_path: Path) -> None:
    made = own_project(fresh_store, "own", scheme=own_scheme(questions=QUESTIONS))
    say(fresh_store, made, "Ada", 1, "helpful", "fluency:2")
    say(fresh_store, made, "Bo", 1, "neither", "fluency:4")
    item = list(items(fresh_store, made))[1].uid
    seen = case(fresh_store, made, item).seen
    wanted = {"adjudicator": "Vera", "choice": "helpful", "seen": seen}
    for reasons, why, says in (
        (("fluency:3",), "", "A decision needs a reason or a note"),
        (("fluency:9",), "so", "not a reason"),
        (("fluency:3", "fluency:4"), "so", "takes one answer"),
        ((), "so", "has no answer yet"),
    ):
        with pytest.raises(Refused, match=says):
            decide_case(fresh_store, made, item, reasons=reasons, why=why, **wanted)  # type: ignore[arg-type]
    decide_case(fresh_store, made, item, reasons=("fluency:3", "care:10"), why="It answers.", **wanted)  # type: ignore[arg-type]
    made = change_project(fresh_store, made, open_text=True, licence="CC0", source_statement="Own texts.")
    files = release_files(fresh_store, make_release(fresh_store, made, "1.0"))
    (hard,) = (json.loads(line) for line in files["hard_cases.jsonl"].decode().splitlines())
    assert hard["settlement"]["reasons"] == ["fluency:3", "care:10"] and hard["settlement"]["why"] == "It answers."
    out = export_file(fresh_store, made, tmp_path / "p.zip", format="package", names=True).out
    with Store.open(tmp_path / "b.db") as other, tables_in(out) as members:
        back = import_package(other, "back", members, "p.zip").project
        act = case(other, back, item).settlement
        assert act is not None and (act.reasons, act.why) == (("fluency:3", "care:10"), "It answers.")
        assert next(restored for restored in items(other, back) if restored.uid == item).gold == "helpful"


def test_files_have_choices_flags_and_spans(fresh_store: Store) -> None:
    project = labelled(fresh_store)
    lines = [json.loads(line) for line in json_lines(fresh_store, project, OPEN)]
    labels = [line for line in lines if "choice" in line]
    assert [(label["choice"], label["reasons"]) for label in labels[:3]] == [
        ("helpful", ["stereotype"]), ("helpful", ["stereotype"]), ("harmful", ["stereotype"]),
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO("".join(wide_lines(fresh_store, project, OPEN)))))
    second = {key: rows[1][f"{key}_Ada"] for key in ("choice", "reasons", "spans", "extraneous")}
    assert second == {
        "choice": "harmful", "reasons": "stereotype", "spans": '[[0, 3, "slur"]]', "extraneous": "",
    }  # fmt: skip
    config = labelling_config(project, guideline(fresh_store, project))
    assert '<Choice value="harmful"' in config and '<Label value="claim"/>' in config and "extraneous" not in config


def test_judges_give_the_choices_of_the_scheme(fresh_store: Store) -> None:
    project = labelled(fresh_store)
    with pytest.raises(Refused, match="has a custom scheme"):
        rule_spec(project, guideline(fresh_store, project))
    judge = add_judge(fresh_store, project, "j", Spec("file", 1, "j", "j"))
    store_judge_labels(fresh_store, judge, [JudgeLabel(item.id, "helpful") for item in items(fresh_store, project)])
    result = estimates(fresh_store, project, judge)
    assert result.measures == ("helpful", "harmful", "neither")
    (all_of_them,) = result.cells("helpful")
    assert all_of_them.rates.people.value == pytest.approx((1 + 0 + 0.5 + 1) / 4)


LABEL = st.tuples(
    st.sampled_from(("helpful", "harmful", "neither")), st.sets(st.sampled_from(("stereotype", "made_up", "care:7"))),
    st.sampled_from(("", "seen twice")),
)  # fmt: skip


@settings(max_examples=3)
@given(st.lists(st.tuples(LABEL, LABEL), min_size=1, max_size=4))
def test_labels_of_an_own_scheme_survive_a_package(said: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with new_store(folder / "one.db") as store:
            project = asking(store, open_text=True)
            for place, both in enumerate(said):
                for who, (choice, flags, note) in zip(("Ada", "Bo"), both, strict=True):
                    assert say(store, project, who, place, choice, "fluency:2", *sorted(flags), note=note).stored
            export_file(store, project, folder / "set.zip", format="package", names=True)
            before = _all(store, project)
        with new_store(folder / "two.db") as store, tables_in(folder / "set.zip") as members:
            back = import_package(store, "back", members, "set.zip").project
            assert _all(store, back) == before
            assert stored_scheme(guideline(store, back)) == own_scheme(questions=QUESTIONS)


def _all(store: Store, project: Any) -> Any:
    keys = ("item", "annotator", "choice", "reasons", "spans", "note", "extraneous", "guideline", "op_id", "created")
    labels = sorted(tuple(map(repr, (row[key] for key in keys))) for row in label_rows(store, project, which="all"))
    return labels, sorted((item.uid, str(item.gold), item.status) for item in items(store, project))


@pytest.mark.parametrize("format", ["label-studio", "doccano"])
def test_labels_of_an_own_scheme_survive_other_programs(fresh_store: Store, tmp_path: Path, format: str) -> None:
    project = asking(fresh_store, open_text=True)
    assert say(fresh_store, project, "Ada", 0, "harmful", "stereotype", "made_up", "fluency:3", note="Why not.").stored
    file = tmp_path / {"label-studio": "out.json", "doccano": "out.jsonl"}[format]
    out = export_file(fresh_store, project, file, format=format, names=True).out
    with new_store(tmp_path / "other.db") as store:
        other = asking(store)
        bring(store, other, out)
        keys = ("annotator", "choice", "reasons", "spans", "note", "extraneous")
        exported, back = ([{key: row[key] for key in keys} for row in label_rows(s, p)] for s, p in (
            (fresh_store, project), (store, other)))  # fmt: skip
        assert back == exported
