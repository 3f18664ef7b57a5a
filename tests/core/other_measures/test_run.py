"""Runs of the measures on tiny models: figures, roles, the table, the record; what is refused at once."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.core.errors import Refused
from evenhand.core.other_measures import measured_values, questions
from evenhand.core.other_measures.measured_values import (
    ControlPair,
    coin_band,
    coin_p,
    control_language,
    control_pairs,
    flipped_null,
    published,
)
from evenhand.core.other_measures.questions import gap_values, stereoset_values
from evenhand.core.other_measures.run import COLUMNS, read_request, run
from evenhand.core.other_measures.settings import MEASURES, Settings
from evenhand.core.other_measures.stereotypes import Item, word_in
from evenhand.core.other_measures.winobias import twins
from evenhand.core.runs.kinds import Place
from tests.support.tiny_models import bert, tiny_causal

NO_DATABASE = Place(Path("none.db"))  # a run without a name reads none
FEW = (ControlPair("今天BLANK来了", ("爸", "妈")), ControlPair("老师看BLANK", ("山", "水")))


@pytest.fixture(autouse=True)
def _few_controls(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for module in (questions, measured_values):
        monkeypatch.setattr(module, "control_pairs", lambda language: FEW if language == "zh" else ())
    yield


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("masked")
    bert(folder, seed=3, num_hidden_layers=1)
    return str(folder)


def crows_file(folder: Path) -> Path:
    path = folder / "c.csv"
    path.write_text("sent_more,sent_less\n他是医生。,她是医生。\n爸爸很好。,妈妈很好。\n", encoding="utf-8")
    return path


def stereoset_file(folder: Path) -> Path:
    words = {"stereotype": "他", "anti-stereotype": "她", "unrelated": "山"}
    data = {label: {"id": label, "sentence": f"{word} 是 医生。"} for label, word in words.items()}
    path = folder / "s.json"
    path.write_text(json.dumps([{"target": "医生", "context": "BLANK 是 医生。", "data": data}]), encoding="utf-8")
    return path


def test_crows_has_the_model_its_control_and_its_untrained_twin(tmp_path: Path, masked: str) -> None:
    out = tmp_path / "evenhand-measures" / "first.csv"
    report = run(
        Settings("crows", (masked,), file=crows_file(tmp_path), device="cpu", run_name="first"),
        Place(tmp_path / "evenhand.db"),
    )
    assert [(figure.quantity, figure.role) for figure in report.models[0].figures] == [
        ("share", "model"), ("share", "control"), ("share", "untrained"),
    ]  # fmt: skip
    rows = list(csv.DictReader(out.read_text(encoding="utf-8-sig").splitlines()))
    assert list(rows[0]) == list(COLUMNS) and len(rows) == 8 and {row["part"] for row in rows} == {"more", "less"}
    record = json.loads(out.with_suffix(".json").read_text(encoding="utf-8"))
    first, twin = (record["models"][0][key] for key in ("signature", "untrained_signature"))
    assert first != twin and {row["signature"] for row in rows} == {first, twin}
    assert record["published"][0]["model"] == "bert-base-uncased" and record["source"]["rows"] == 2


@pytest.mark.parametrize("measure", ["aul", "stereoset", "seat", "weat", "pro-anti"])
def test_every_measure_runs_on_a_masked_model(tmp_path: Path, masked: str, measure: str) -> None:
    sets = {name: list(words) for name, words in zip("XYAB", ("医护", "老师", "男爸", "女妈"), strict=True)}
    (tmp_path / "w.json").write_text(json.dumps(sets), encoding="utf-8")
    (tmp_path / "t.tsv").write_text("pro\tanti\n[a] 看 b [he]\t[a] 看 b [she]\na 看 [b] [he]\ta 看 [b] [she]\n")
    files = {"aul": crows_file(tmp_path), "stereoset": stereoset_file(tmp_path), "pro-anti": tmp_path / "t.tsv"}
    file = files.get(measure, tmp_path / "w.json")
    tests = ("X,Y,A,B",) if measure in ("seat", "weat") else ()
    report = run(Settings(measure, (masked,), file=file, tests=tests, language="zh", device="cpu"), NO_DATABASE)
    roles = {figure.role for figure in report.models[0].figures}
    assert {"model", "untrained"} <= roles and "control" in roles
    assert all(figure.estimate.value is not None or figure.estimate.reason for figure in report.models[0].figures)


def test_a_causal_model_is_measured_on_whole_sentences(tmp_path: Path) -> None:
    model = str(tiny_causal(tmp_path / "m", "gpt2"))
    report = run(
        Settings("stereoset", (model,), file=stereoset_file(tmp_path), device="cpu", no_untrained=True),
        NO_DATABASE,
    )
    assert "sentence-mean" in report.models[0].signature
    assert {figure.role for figure in report.models[0].figures} == {"model", "control"}


def test_an_unusable_model_is_recorded_as_failed(tmp_path: Path, masked: str) -> None:
    causal = str(tiny_causal(tmp_path / "m", "gpt2"))
    report = run(
        Settings("aul", (causal, masked), file=crows_file(tmp_path), device="cpu", no_untrained=True),
        NO_DATABASE,
    )
    assert [failure.model for failure in report.failed] == [causal] and len(report.models) == 1


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (Settings("nonsense", ("known",)), "not a known measure"),
        (Settings("crows", ("known",)), "needs your own copy"),
        (Settings("crows", ("known",), "words"), "no variant words"),
        (Settings("weat", ("known",), tests=("a,b,c",)), "four sets"),
    ],
)
def test_settings_that_would_fail_are_refused_at_once(settings: Settings, says: str) -> None:
    with pytest.raises(Refused, match=says):
        run(settings, NO_DATABASE)


def test_the_built_in_sets_need_no_file() -> None:
    for what in MEASURES:
        if what.built_in:
            request, source = read_request(Settings(what.name, ("demo-en",)))
            assert source["kind"] == "built-in" and request.items and request.language == "en"


def test_stereoset_scores_equal_hand_computation() -> None:
    """Terms a: lms 50, ss 50; b: lms 100, ss 100. lms 75, ss 75, icat 75 x 25 / 50 = 37.5."""
    items = [Item("a", ("1", "2", "3")), Item("a", ("4", "5", "6")), Item("b", ("7", "8", "9"))]
    scores = dict(zip("123456789", (3, 2, 1, 1, 2, 3, 2, 1, 0.5), strict=True))
    values = {figure.quantity: figure for figure in stereoset_values(items, scores, "model")}
    assert [values[name].estimate.value for name in ("lms", "ss", "icat")] == [75, 75, 37.5]
    assert values["icat"].estimate.low is None and values["icat"].estimate.note is not None
    assert word_in("The BLANK girl, she sang.", "The loud, girl, she sang.") == "loud"
    assert word_in("那BLANK人", "那个人") == "个"


def test_the_gap_equals_hand_computation() -> None:
    """4 twins: pro right in 3, anti in 1: 75 - 25 = 50 points; 16 signs of two differences: p is not small."""
    texts = [f"[The {a}] met the {b} and [he] left." for a, b in (("mover", "clerk"), ("clerk", "mover")) * 2]
    result = twins([(text, text.replace("[he]", "[she]")) for text in texts], "x")
    values = gap_values(result, [(True, False), (True, False), (True, True), (False, False)], "model")
    gap, pro, anti = values
    assert [figure.estimate.value for figure in values] == [50, 75, 25] and gap.neutral == 0 and pro.neutral == 50
    assert gap.p is not None and 0.4 < gap.p < 0.6  # both of two signs must agree: 1/2
    assert anti.band == coin_band(4) and gap.facts["twins"] == 4


def test_a_null_over_word_pairs_turns_them_together() -> None:
    """Two pairs of words of 5 and 3 rows: 8, 3, 5 or 0 of 8 preferred with equal probability, so 0 and 8 have p 1/2."""
    signs, units = [1] * 8, ["he/she"] * 5 + ["man/woman"] * 3
    null = flipped_null(signs, units)
    assert null is not None and null[0] == (0.0, 100.0) and null[1] == pytest.approx(0.5, abs=0.03)
    alone = flipped_null(signs, [str(i) for i in range(8)])
    assert alone is not None and alone[1] == pytest.approx(2 / 2**8, abs=0.005)
    tied = flipped_null([1, -1, 0, 0], list("abcd"))
    assert tied is not None and tied[1] == 1.0  # a tie is in the denominator: the centre is 25
    assert flipped_null([0, 0], ["a", "b"]) is None and flipped_null([], []) is None


def test_coin_band_and_p_equal_binomial_tables() -> None:
    """Binomial tables: 95 of 100 of 262 coins are within 115 and 147; 8 or more of 10, two-sided: 112/1024."""
    assert coin_band(262) == (pytest.approx(100 * 115 / 262), pytest.approx(100 * 147 / 262))
    assert coin_p(8, 10) == pytest.approx(112 / 1024) and coin_band(0) is None and coin_p(0, 0) is None


def test_published_values_and_controls_are_listed() -> None:
    assert {row["quantity"] for row in published("stereoset", "")} == {"lms", "ss", "icat"}
    assert published("crows", "changed") == ()
    assert all(len(control_pairs.__wrapped__(language)) == 40 for language in ("en", "zh"))
    assert control_language("demo-zh", ()) == "zh" and control_language("x", ("他来了",)) == "zh"
    assert control_language("x", ("he came",)) == "en"
