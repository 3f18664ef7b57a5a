"""The pages Human vs. automatic rule and Agreement on a project of generations; their charts and downloads."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from cli import cli
from evenhand.annotations.database.store import Store
from evenhand.annotations.demo.generation_texts import make_generations_demo
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.papers.datasheet import datasheet
from evenhand.annotations.projects.projects import annotator, create_project
from evenhand.annotations.text_policy import CANARY_KEY
from evenhand.core.charts.misgendering import counted, shares
from evenhand.core.charts.palette import DARK, LIGHT, Palette
from evenhand.core.human_vs_rule.compare import Comparison, comparison
from evenhand.core.language import share_ends, share_text
from evenhand.core.statistics import Resampling
from evenhand.pages.human_vs_rule.differences import _file, marked, table
from tests.support.judged_generations import Said, Written, all_written, judged_project, say, say_all
from tests.support.pages import captions_of, forest_of, html_of, open_page

HOSTILE = "<b>Ho</b> **she** :red[x] $y$ & he left"


def cards(at: AppTest) -> list[str]:
    return [str(element.value) for element in at.get("html") if "<article" in str(element.value)]


def test_missing_projects_and_labels_are_explained(fresh_store: Store) -> None:
    create_project(fresh_store, "sentences")
    assert "no project of generations" in open_page("human_vs_rule").info[0].value
    project = create_project(fresh_store, "made", kind="generations", annotators=("Ada",))
    assert "no items yet" in open_page("human_vs_rule", project="made").info[0].value
    texts = all_written(1)[:10]
    project = judged_project(fresh_store, texts, name="other")
    at = open_page("human_vs_rule", project="made")
    at.selectbox(key="project").set_value("other").run()
    assert "stay hidden until then" in at.info[0].value
    say(fresh_store, project, "Ada", [(text.text, text.said) for text in texts])  # not Bo, so the rule stays hidden
    at.run()
    assert not at.exception and "stay hidden until then" in at.info[0].value and not cards(at)


def test_the_numbers_of_the_comparison_are_shown(fresh_store: Store) -> None:
    texts = all_written(1)
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts[:60])
    made = comparison(generations(fresh_store, project), labels_of_generations(fresh_store, project))
    at = open_page("human_vs_rule")
    agreed = share_text(made.overall["agreement"].value)
    assert "60 of " in captions_of(at) and f"Humans and rule agree on {agreed}." in html_of(at)
    assert forest_of(at)["Humans and rule agree"].startswith(f"{agreed} (")
    assert made.signature in [code.value for code in at.code]
    assert "Against the margin: " in captions_of(at)
    assert "Weighted to all generations" in [tab.label for tab in at.tabs]
    at = open_page("human_vs_rule", view="differences")
    assert len(cards(at)) == 6 and f"{len(made.differences)} generations" in " ".join(c.value for c in at.caption)
    hidden = {text.text for text in texts[60:]}
    assert not any(text in card for text in hidden for card in cards(at))
    at.button_group(key="bins").set_value(["plural_they"]).run()
    assert not at.exception and cards(at) and all("Plural they" in card for card in cards(at))
    for order in ("bin", "model", "pronoun"):
        at.selectbox(key="difference-order").set_value(order).run()
        assert not at.exception
    at = open_page("human_vs_rule", view="cells")
    for name in ("extraneous", "no_pronoun", "rule_misgendering"):
        at.selectbox(key="measure").set_value(name).run()
        assert not at.exception


def test_estimates_use_rule_verdicts_of_unlabelled_contexts(fresh_store: Store) -> None:
    # Contexts that differ in their share of misgendering, which the rule sees too.
    texts = [text for number, text in enumerate(all_written(3)) if number % 10 < 3 + number % 3]
    contexts = list(dict.fromkeys(text.context for text in texts))[::2]
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, [text for text in texts if text.context in contexts])
    made = comparison(generations(fresh_store, project), labels_of_generations(fresh_store, project))
    assert made.both.weight and made.both.worth is not None
    shown = captions_of(open_page("human_vs_rule", view="weighted"))
    assert f"rule's verdicts on unlabelled generations: {share_text(made.both.both.value)}" in shown
    assert f"Effective sample size: {made.both.worth:,.0f} labelled generations; " in shown


def _hostile(store: Store, **fields: object) -> tuple[Comparison, object]:
    texts = [Written(HOSTILE, "Kim <i>uses</i> he.", {"pronouns": ["he"], "model": "m<b>", "name": "<u>Kim"})]
    project = judged_project(store, texts, **fields)
    for who in ("Ada", "Bo"):
        say(store, project, who, [(HOSTILE, Said("no_pronoun"))])
    return comparison(generations(store, project), labels_of_generations(store, project), Resampling(200)), project


def test_hostile_text_is_shown_as_text(fresh_store: Store) -> None:
    _hostile(fresh_store)
    (card,) = cards(open_page("human_vs_rule", view="differences"))
    for sign in ("<b>Ho", "<i>uses", "m<b>", "<u>Kim"):
        assert sign not in card and sign.replace("<", "&lt;").replace(">", "&gt;") in card


def test_the_rules_pronoun_and_the_marks_are_shown_in_place(fresh_store: Store) -> None:
    made, _project = _hostile(fresh_store)
    (difference,) = made.differences
    assert difference.text[difference.rule.start : difference.rule.end] == "she"
    assert '<span class="hit">she</span>' in marked(difference)


@pytest.mark.parametrize("opened_text", [False, True])
def test_downloads_contain_texts_only_if_allowed(opened_text: bool, fresh_store: Store) -> None:
    from evenhand.annotations.projects.projects import change_project, project

    made, _before = _hostile(fresh_store)
    stored = change_project(fresh_store, project(fresh_store, "made"), open_text=opened_text)
    rows = table(stored, made.differences, made.signature)
    assert len(rows) == 2 and {row["choice"] for row in rows} == {"no_pronoun"}
    assert (HOSTILE in str(rows)) is opened_text
    assert (CANARY_KEY in rows[0]) is opened_text


def test_an_open_desk_sees_only_what_it_labelled(fresh_store: Store) -> None:
    texts = all_written(1)[:20]
    project = judged_project(fresh_store, texts, ("Ada", "Bo", "Chen"), per_item=2)
    say(fresh_store, project, "Ada", [(text.text, text.said) for text in texts])
    say(fresh_store, project, "Bo", [(text.text, text.said) for text in texts[:12]])
    say(fresh_store, project, "Chen", [(text.text, text.said) for text in texts[12:]])
    at = open_page("human_vs_rule", view="differences", state={"desk_project": "made", "desk_annotator": "Chen"})
    assert cards(at)
    assert not any(text.text in card for text in texts[:12] for card in cards(at))
    seen = fresh_store.db.execute("SELECT count(*) FROM assignment WHERE revealed IS NOT NULL").fetchone()[0]
    assert seen == len(cards(at))


def test_a_download_at_an_open_desk_is_recorded_as_a_view(fresh_store: Store) -> None:
    """The file contains the labels of others and of the rule of every text, not of the ten on the page only."""
    texts = all_written(1)[:30]
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts)
    result = comparison(
        generations(fresh_store, project), labels_of_generations(fresh_store, project), Resampling(200)
    ).differences
    ada = annotator(fresh_store, project, "Ada")
    assert len(result) > 3 and _file(project, ada, result, "s").count(b"\n") > len(result)
    query = "SELECT count(*) FROM assignment WHERE revealed IS NOT NULL AND annotator = ?"
    assert fresh_store.db.execute(query, (ada.id,)).fetchone()[0] == len(result)


def test_a_different_flag_is_listed_with_its_words(fresh_store: Store) -> None:
    text = Written("Kim is a fine young woman, people say.", "Kim uses xe.", {"pronouns": ["xe"], "name": "Kim"})
    project = judged_project(fresh_store, [text])
    say(fresh_store, project, "Ada", [(text.text, Said("no_pronoun"))])
    say(fresh_store, project, "Bo", [(text.text, Said("no_pronoun", True, (("woman", "extraneous"),)))])
    (card,) = cards(open_page("agreement", view="disagreements"))
    assert "gendered word: woman" in card and card.count("extraneous gendered language") == 1


def test_page_command_and_data_sheet_show_equal_intervals(fresh_store: Store) -> None:
    """Two labels per item: full and pairwise agreement are one number, so they have one interval, in all three."""
    project = make_generations_demo(fresh_store)
    data = json.loads(CliRunner().invoke(cli, ["agreement", project.name, "--json"], catch_exceptions=False).stdout)
    full, pairwise, alpha = (data[name] for name in ("percent", "pairwise_percent", "krippendorff_alpha"))
    assert full == pairwise and full["n"] > full["clusters"] >= 15
    assert 0 < full["low"] < full["value"] < full["high"] < 1
    sheet = datasheet(fresh_store, project, "en").replace("\\", "")
    rows = [line for line in sheet.splitlines() if line.startswith("| ")]
    for name, estimate in (("Full agreement of ", full), ("Krippendorff's alpha ", alpha)):
        cells = f" | {estimate['value']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}] | {estimate['n']} |"
        assert [row for row in rows if row.startswith(f"| {name}") and row.endswith(cells)], name
    at = open_page("agreement", project=project.name)
    shown = forest_of(at)
    ends = share_ends(full["value"], full["low"], full["high"])
    wanted = f"{share_text(full['value'])} ({ends} · n = {full['n']})"
    assert shown["Full agreement"] == shown["Pairwise agreement"] == wanted
    assert f"({alpha['low']:.2f} – {alpha['high']:.2f} · n = {alpha['n']})" in shown["Krippendorff α"]


def test_the_agreement_page_shows_four_ways(fresh_store: Store) -> None:
    texts = all_written(1)[:40]
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts)
    headings = [heading.value for heading in open_page("agreement", view="items").header]
    assert "By category" in headings and "Marks" in headings
    at, shown = open_page("agreement"), {}
    for way in ("four", "three", "two", "flag"):
        at.button_group(key="way").set_value(way).run()
        assert not at.exception
        shown[way] = forest_of(at)["Full agreement"]
    assert shown["two"] != shown["four"] and shown["flag"] != shown["four"]


CELL = {"group": "m", "label": "he", "series": "pre", "low": 0.2, "high": 0.9, "se": 0.1, "published": 0.05, "n": 5}


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_charts_contain_their_data(colours: Palette) -> None:
    data = pd.DataFrame(
        [CELL | {"value": 0.5}, CELL | {"label": "xe", "value": None, "low": None, "high": None, "published": None}]
    )
    spec = shares(data, title="share", description="says", palette=colours).to_json()
    assert "says" in spec and "NaN" not in spec and '"interval_text": "20%' in spec
    counts = pd.DataFrame(
        [{"group": "m", "label": "he", "choice": c, "count": n}
         for c, n in (("correct", 3), ("misgendering", 1), ("no_pronoun", 0), ("plural_they", 0))]
    )  # fmt: skip
    spec = counted(counts, description="says", palette=colours).to_json()
    assert '"share_text": "75%"' in spec and "NaN" not in spec
    nothing = counted(counts.assign(count=0), description="says", palette=colours).to_json()
    assert "NaN" not in nothing
