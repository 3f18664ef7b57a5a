"""JSON files given to commands: any content leads to a result or a one-sentence error, never to a traceback."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.annotations.guideline.import_schemes import scheme_from_bytes
from evenhand.annotations.guideline.scheme import as_data
from evenhand.commands.plan import _read
from evenhand.core.errors import EvenhandError
from evenhand.core.harness.logs import read_log
from evenhand.core.mining.request import Request, settings_of
from evenhand.core.mining.run import mine
from evenhand.core.mining.settings import Settings
from evenhand.core.other_measures.stereotypes import SENTENCES, read_item_scores, read_items
from evenhand.core.other_measures.weat import read_sets
from tests.support.odd_json import ANY_JSON, changed
from tests.support.own_schemes import own_scheme
from tests.support.terminal import typed

MINE = Settings().to_json() | {
    "pairs": Settings().to_json()["pairs"][:2], "modes": {"names": "off"},
    "pair_modes": [{"pair": "他/她", "filter": "names", "mode": "flag"}],
}  # fmt: skip
ITEM = {"target": "x", "context": "BLANK", "sentences": [{"gold_label": label, "id": label} for label in SENTENCES]}
SAMPLE = {"id": 1, "input": "x", "epoch": 1, "output": {"choices": [{"message": {"content": "he"}}]}}
FEW = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_settings(path: Path) -> None:
    result = settings_of(Request((), Path(), settings_path=path))
    text = path.with_name("text.txt")
    text.write_text("他走了。那位女孩在跑步。\n", encoding="utf-8")
    mine([str(text)], result, on_candidate=lambda candidate: None, workers=1).to_json()


def report() -> Any:
    path = Path(__file__)
    result = mine([str(path)], Settings(), on_candidate=lambda candidate: None, workers=1).to_json()
    result["settings"]["pairs"] = result["settings"]["pairs"][:1]
    return json.loads(json.dumps(result))


READERS: dict[str, tuple[Callable[[Path], object], Any]] = {
    "settings of mine": (read_settings, MINE),
    "report of mine": (_read, report()),
    "word sets": (read_sets, {"X": ["a", "b"], "Y": {"examples": ["c"]}}),
    "scheme": (lambda path: scheme_from_bytes(path.read_bytes(), path.name), as_data(own_scheme())),
    "items of StereoSet": (read_items, {"data": {"intrasentence": [ITEM]}}),
    "scores of StereoSet": (read_item_scores, {"intrasentence": [{"id": "a", "score": 1.0}]}),
    "log of Inspect": (read_log, {"eval": {"model": "m", "task": "t"}, "samples": [SAMPLE, SAMPLE]}),
}


@pytest.mark.parametrize("name", READERS)
@FEW
@given(data=st.data())
def test_every_document_is_read_or_refused(name: str, data: st.DataObject, tmp_path: Path) -> None:
    read, valid = READERS[name]
    path = tmp_path / "file.json"
    path.write_bytes(json.dumps(data.draw(ANY_JSON | changed(valid))).encode("utf-8", "surrogatepass"))
    try:
        read(path)
    except EvenhandError as error:
        assert str(error)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", ["[" * 100_000, "", "nothing", "\0", "[1e400, NaN]", "1" * 5_000])
def test_invalid_json_is_refused_with_one_sentence(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    try:
        READERS[name][0](path)
    except EvenhandError as error:
        assert str(error)


@pytest.mark.parametrize(
    "wrong",
    [{"modes": [1]}, {"modes": None}, {"pair_modes": 5}, {"seed": "x"}, {"column": {}}, {"shortest": True},
     {"pairs": [MINE["pairs"][0] | {"male": 5}]}, {"pairs": [MINE["pairs"][0] | {"male": "", "male_stem": [0, 0]}]}],
)  # fmt: skip
def test_settings_of_another_kind_are_refused_with_one_sentence(wrong: dict[str, Any], tmp_path: Path) -> None:
    text, file, out = (tmp_path / name for name in ("t.txt", "settings.json", "out.jsonl"))
    text.write_text("他走了。\n", encoding="utf-8")
    file.write_text(json.dumps(MINE | wrong), encoding="utf-8")
    ended = typed("mine", text, "--settings", file, "--out", out)
    assert ended.code == 2 and not out.exists()
    assert ended.stderr.strip().endswith(
        "contains no mining settings; the report of an earlier run has them under `settings`."
    )
