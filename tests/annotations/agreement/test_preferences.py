"""Which model is preferred: planted strengths are recovered, on the page and by command, by people and by group."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from cli import cli
from evenhand.annotations.agreement.preferences import preferences
from evenhand.annotations.database.store import Store
from evenhand.annotations.projects.projects import create_project, project
from evenhand.core.errors import Refused
from tests.support.comparisons import STRENGTHS, compared_project, preferred_project
from tests.support.pages import html_of, open_page, text_of, without_errors
from tests.support.projects import database, new_store


def test_planted_strengths_side_and_group_effects_are_recovered(tmp_path: Path) -> None:
    with new_store(database(tmp_path)) as store:
        of = preferred_project(store, tmp_path)
        made = preferences(store, of, by="setting")
        fewer = preferences(store, of, without=["oak"])
    assert (made.items, made.labels, made.contexts, made.annotators, made.left_out) == (120, 240, 20, 2, 0)
    for name, strength in zip(made.found.models, made.found.strengths, strict=True):
        assert strength.low is not None and strength.high is not None and strength.low < STRENGTHS[name] < strength.high
    assert made.found.left.value is not None and made.found.left.value > 0.5
    assert sum(compared for compared, _, _ in made.counts) == 2 * 240
    assert made.offered == ("setting",) and set(made.groups) == {"talk", "web"}
    assert made.groups["talk"].models == made.found.models
    assert fewer.found.models == ("ash", "elm", "fir") and fewer.left_out == 120
    arguments = ["preferences", "pairs", "--db", str(database(tmp_path))]
    data = json.loads(CliRunner().invoke(cli, [*arguments, "--by", "setting", "--json"]).stdout)
    assert {model["model"]: model["strength"]["value"] for model in data["models"]} == dict(
        zip(made.found.models, [strength.value for strength in made.found.strengths], strict=True)
    )
    assert data["signature"] == made.found.signature and set(data["setting"]) == {"talk", "web"}
    words = CliRunner().invoke(cli, arguments).stdout
    assert "oak" in words and "place 1" in words and "circles: p" in words
    app = without_errors(open_page("agreement", project="pairs", view="preferences"))
    assert "Preferences" in [tab.label for tab in app.tabs]
    assert "oak" in html_of(app) and "240 labels on 120 comparisons in 20 contexts" in text_of(app)
    assert app.multiselect(key="preferences-without").options == sorted(STRENGTHS)


def test_labels_without_models_are_left_out_and_sentences_are_refused(fresh_store: Store, tmp_path: Path) -> None:
    of, _ = compared_project(fresh_store, tmp_path, 2)
    made = preferences(fresh_store, of)
    assert str(made.found.reason) == "There are no comparisons yet." and made.labels == 0
    assert made.comparisons.models == ()
    create_project(fresh_store, "single", kind="generations", language="en")
    with pytest.raises(Refused, match="one text"):
        preferences(fresh_store, project(fresh_store, "single"))
