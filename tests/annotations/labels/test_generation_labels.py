"""annotations.labels.generation_labels, agreement of generations: from labels in a store to tables and numbers."""

import pytest

from evenhand.annotations.agreement.measures import agreement
from evenhand.annotations.agreement.merged_labels import WAYS, mark_agreement
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.generation_labels import generations, labels_of_generations
from evenhand.annotations.projects.projects import annotator, remove_annotator
from evenhand.annotations.types import Mark
from evenhand.core.statistics import Resampling
from tests.support.judged_generations import Said, Written, all_written, judged_project, say, say_all

FAST = Resampling(200)


def test_tables_have_one_row_per_generation_and_per_label(fresh_store: Store) -> None:
    texts = all_written(1)
    project = judged_project(fresh_store, texts)
    say_all(fresh_store, project, texts[:30])
    items, labels = generations(fresh_store, project), labels_of_generations(fresh_store, project)
    assert len(items) == len(texts) == 80 and len(labels) == 60
    assert list(items["finished"]) == [True] * 30 + [False] * 50
    assert set(items["pronoun"]) == {"he", "she", "they", "xe"} and items["pronouns"].iloc[0] == ("he",)
    assert items["cluster"].nunique() == 20  # topics x pronoun sets: both settings and models share a context
    row = labels[labels["text"] == texts[5].text].iloc[0]
    assert (row["choice"], row["extraneous"], row["model"]) == ("correct", True, texts[5].extra["model"])
    (mark,) = row["spans"]
    assert isinstance(mark, Mark) and texts[5].text[mark.start : mark.end] == "woman"


def test_missing_fields_of_a_generation_stay_empty(fresh_store: Store) -> None:
    extras = [{}, {"pronouns": ["she", "they"], "dataset": "TANGO"}, {"pronoun": "qq"}, {"dataset": "poems"}]
    texts = [Written(f"She left, number {n}.", "" if n else "Kim.", extra) for n, extra in enumerate(extras)]
    items = generations(fresh_store, judged_project(fresh_store, texts))
    assert list(items["pronoun"]) == ["", "she + they", "", ""]
    assert list(items["dataset"]) == ["own", "tango", "own", "own"]
    assert items["cluster"].nunique() == 4  # without a context every text is one of its own
    assert list(items["model"]) == [""] * 4


def test_a_generation_is_finished_after_the_last_blind_label(fresh_store: Store) -> None:
    texts = all_written(1)[:4]
    project = judged_project(fresh_store, texts, ("Ada", "Bo", "Chen"))
    for who in ("Ada", "Bo"):
        say(fresh_store, project, who, [(text.text, text.said) for text in texts])
    assert not generations(fresh_store, project)["finished"].any()
    remove_annotator(fresh_store, project, annotator(fresh_store, project, "Chen"))
    assert generations(fresh_store, project)["finished"].all()


def test_agreement_is_computed_in_four_ways(fresh_store: Store) -> None:
    texts = all_written(1)[:40]
    project = judged_project(fresh_store, texts)
    choices = [text.said.choice for text in texts]
    say(fresh_store, project, "Ada", [(text.text, text.said) for text in texts])
    # Bo calls every plural they "no pronoun", one misgendering "correct", and flags nothing.
    wrong = choices.index("misgendering")
    other = {n: Said("no_pronoun") for n, choice in enumerate(choices) if choice == "plural_they"} | {
        wrong: Said("correct")
    }
    say(
        fresh_store,
        project,
        "Bo",
        [
            (
                text.text,
                other.get(n, Said(text.said.choice, False, tuple(m for m in text.said.marks if m[1] == "pronoun"))),
            )
            for n, text in enumerate(texts)
        ],
    )
    plural, flagged = choices.count("plural_they"), sum(text.said.extraneous for text in texts)
    assert plural and flagged
    results = {way: agreement(fresh_store, project, resampling=FAST, way=way) for way in WAYS}
    agreed = {way: report.overall.unanimity.value for way, report in results.items()}
    assert agreed["four"] == pytest.approx((40 - plural - 1) / 40)
    assert agreed["three"] == agreed["two"] == pytest.approx(39 / 40)
    assert agreed["flag"] == pytest.approx((40 - flagged) / 40)
    assert [len(results[way].choices) for way in WAYS] == [4, 3, 2, 2]
    assert all("unit:context" in report.signature for report in results.values())
    cells = results["four"].cells
    assert {(model, pronoun) for model, pronoun, _ in cells} == {("owl-1b", p) for p in ("he", "she", "they", "xe")}
    assert sum(measures.items for *_key, measures in cells) == 40
    marks = {figure.kind: figure for figure in mark_agreement(fresh_store, project, Resampling(200))}
    assert marks["extraneous"].pooled.value == 0 and marks["pronoun"].same == choices.count("misgendering") - 1


def test_intervals_are_wider_for_contexts_with_several_generations(fresh_store: Store) -> None:
    """Twenty contexts of four; within a context people agree on all or none, so only contexts carry information."""
    texts = [
        Written(f"She left {n}.", "Kim.", {"pronouns": ["she"], "template": str(n // 4), "index": n}) for n in range(80)
    ]
    project = judged_project(fresh_store, texts)
    say(fresh_store, project, "Ada", [(text.text, Said("correct")) for text in texts])
    say(
        fresh_store, project, "Bo",
        [(text.text, Said("correct" if (n // 4) % 2 else "no_pronoun")) for n, text in enumerate(texts)],
    )  # fmt: skip
    result = agreement(fresh_store, project).overall.pairwise
    assert result.value == 0.5 and result.se is not None
    # One context in two agrees: sqrt(0.25 / 20) over contexts, sqrt(0.25 / 80) were generations independent.
    assert result.se == pytest.approx((0.25 / 20) ** 0.5, rel=0.1)
    (two,) = agreement(fresh_store, project).cohen
    assert two.agreed.se == pytest.approx((0.25 / 20) ** 0.5, rel=0.1)
    turned = agreement(fresh_store, project).two(two.b, two.a)
    assert turned is not None and turned.kappa.value == two.kappa.value and turned.kappa.low == two.kappa.low


def test_agreement_without_labels_is_undefined(fresh_store: Store) -> None:
    project = judged_project(fresh_store, all_written(1)[:3])
    for way in WAYS:
        report = agreement(fresh_store, project, resampling=FAST, way=way)
        assert report.overall.alpha.value is None and report.cells == ()
    assert labels_of_generations(fresh_store, project).empty
    assert all(figure.pooled.value is None for figure in mark_agreement(fresh_store, project))
