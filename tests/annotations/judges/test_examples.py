"""Examples drawn from known answers: balanced, by their seed, and left out where the judge is compared."""

from collections import Counter
from pathlib import Path

import pytest

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges.against_people import judge_labels
from evenhand.annotations.judges.judge_backends import prompt_digest
from evenhand.annotations.judges.judges import judge
from evenhand.annotations.judges.run import Request, known_examples, prompt_for, run_judge
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.types import Project
from evenhand.core.errors import Refused
from evenhand.core.servers.client import Pace
from tests.support.chat_server import chat_server
from tests.support.comparisons import compared_project
from tests.support.judged_generations import all_written, judged_project

ANSWERS = ("correct",) * 5 + ("misgendering",) * 2 + ("no_pronoun",) * 3
FULL = "{guideline}{choices}{examples}{text}"


@pytest.fixture
def project(fresh_store: Store) -> Project:
    made = judged_project(fresh_store, all_written(1))
    for item, answer in zip(list(items(fresh_store, made)), ANSWERS, strict=False):
        set_known(fresh_store, made, item.uid, answer)
    return made


def test_examples_are_balanced_over_choices(fresh_store: Store, project: Project) -> None:
    known = {item.uid: answer for item, answer in zip(list(items(fresh_store, project)), ANSWERS, strict=False)}
    version = guideline(fresh_store, project)
    for number, wanted in ((3, [1, 1, 1]), (6, [2, 2, 2]), (9, [4, 3, 2]), (50, [5, 3, 2])):
        drawn = known_examples(fresh_store, project, version, number, 1, "json", FULL)
        counted = Counter(known[uid] for uid in drawn.items)
        assert sorted(counted.values(), reverse=True) == wanted
        assert all(drawn.text.count(f'Its choice: "{code}"') == times for code, times in counted.items())
    draws = {known_examples(fresh_store, project, version, 3, seed, "json", FULL).items for seed in range(8)}
    assert len(draws) > 1
    assert (
        known_examples(fresh_store, project, version, 3, 1, "json", FULL).items
        == known_examples(fresh_store, project, version, 3, 1, "json", FULL).items
    )
    letters = known_examples(fresh_store, project, version, 3, 1, "letter", FULL).text
    assert {line for line in letters.splitlines() if line.startswith("Answer: ")} == {
        "Answer: A",
        "Answer: B",
        "Answer: C",
    }


def test_examples_without_placeholder_or_answers_are_refused(fresh_store: Store, project: Project) -> None:
    version = guideline(fresh_store, project)
    with pytest.raises(Refused, match="placeholder"):
        known_examples(fresh_store, project, version, 3, 1, "json", "{text}")
    bare = judged_project(fresh_store, all_written(1)[:2], name="bare")
    with pytest.raises(Refused, match="no examples can be drawn"):
        known_examples(fresh_store, bare, guideline(fresh_store, bare), 3, 1, "json", FULL)


def test_example_items_are_left_out_of_the_comparison(fresh_store: Store, project: Project) -> None:
    with chat_server(lambda _body: '{"choice": "correct", "extraneous": false}') as server:

        def request(**more: int) -> Request:
            return Request(model="planted", server=server.address, pace=Pace(at_once=6, pause_s=0.001), **more)  # type: ignore[arg-type]

        plain = run_judge(fresh_store, project, request()).judge
        shown = run_judge(fresh_store, project, request(known=6, known_seed=3)).judge
        other = run_judge(fresh_store, project, request(known=6, known_seed=4)).judge
    assert len({plain.uid, shown.uid, other.uid}) == 3
    uids = shown.spec.settings["example_items"]
    assert len(uids) == 6 and shown.spec.signature.endswith("|known:6,seed3")
    texts = {item.uid: item.text for item in items(fresh_store, project)}
    prompt = prompt_for(fresh_store, project, request(known=6, known_seed=3))
    assert all(texts[uid] in prompt.before_text() for uid in uids)
    assert shown.spec.settings["prompt_sha256"] == prompt_digest(prompt)
    every = set(judge_labels(fresh_store, judge(fresh_store, project, plain.name))["item"])
    assert every - set(judge_labels(fresh_store, judge(fresh_store, project, shown.name))["item"]) == set(uids)


def test_an_example_of_a_comparison_has_both_texts(fresh_store: Store, tmp_path: Path) -> None:
    pairs, _ = compared_project(fresh_store, tmp_path, 1)
    (item,) = items(fresh_store, pairs)
    set_known(fresh_store, pairs, item.uid, "second")
    version = guideline(fresh_store, pairs)
    full = known_examples(fresh_store, pairs, version, 1, 1, "json", FULL).text
    assert full.endswith('<first>Answer 1 one.</first>\n<second>Answer 1 two.</second>\nIts choice: "second"')
    short = known_examples(fresh_store, pairs, version, 1, 1, "letter", FULL).text
    assert short.endswith("The first text: Answer 1 one.\n\nThe second text: Answer 1 two.\nAnswer: B")
