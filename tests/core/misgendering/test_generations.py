"""Generations matched to their instances, judged by the rule, and TANGO's prompts by probability.

See docs/misgendering.md#tango-by-probability.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.errors import BadFile
from evenhand.core.misgendering.generations import Generation, context_rows, matched, read_generations
from evenhand.core.misgendering.probability import (
    NO_GENERATION,
    Judged,
    columns,
    instance_from,
    judge_prompts,
    prompt_rows,
    rows,
)
from evenhand.core.misgendering.rewriting import NO_PRONOUN
from evenhand.core.misgendering.template_files import Prompt, built_in, instances
from evenhand.core.types import MaskedSentence, Score

SOME = instances(built_in(), passes=2, seed=4)
PROMPT = Prompt("7.Noor.xe", "Noor knows that xe is late and", "Noor", "name", ("xe",))


def write(path: Path, lines: Sequence[Any]) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def text(context: str, completion: str, index: int = 0, **more: Any) -> Generation:
    facts = {"model": "m", "setting": "", "instance": "", "pronouns": (), "dataset": ""} | more
    return Generation(context, completion, index=index, **facts)


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    lines = ["# canary", {"context": "A ", "completion": "b", "pronouns": "she/her", "model": "m", "index": 2}, ""]
    (generation,) = read_generations(write(tmp_path / "g.jsonl", lines), [])
    assert (generation.context, generation.pronouns, generation.index, generation.setting) == ("A ", ("she",), 2, "")


@pytest.mark.parametrize(
    "line, why",
    [
        ("{", ", line 1: a generation must be a JSON object with context, completion."),
        ("[]", "line 1: a generation"),
        ({"context": "a"}, ", line 1: a generation must be a JSON object with completion."),
        (
            {"context": "a", "completion": "b", "pronouns": "zorp"},
            (
                "line 1: zorp is not a known pronoun set. Write he, she, they or xe, or give the forms of "
                "another set separated by slashes, nominative first: ze/hir/hir/hirs/hirself."
            ),
        ),
    ],
)
def test_an_invalid_line_is_reported_with_its_number(tmp_path: Path, line: Any, why: str) -> None:
    with pytest.raises(BadFile, match=why):
        list(read_generations(write(tmp_path / "g.jsonl", [line]), []))
    with pytest.raises(BadFile, match="There is no file"):
        list(read_generations(tmp_path / "none.jsonl", []))
    # Among other rows it costs itself, not the file.
    skipped: list[BadFile] = []
    whole = {"context": "a", "completion": "b"}
    results = list(read_generations(write(tmp_path / "g.jsonl", [whole, line, whole]), skipped))
    assert len(results) == 2 and [str(error).partition(":")[0] for error in skipped] == ["g.jsonl, line 2"]


def test_generations_are_matched_to_their_instances() -> None:
    """convert -> generate -> match, by id and by context alone; the space at the end does not count."""
    for by_id in (True, False):
        lines = list(context_rows(SOME, ("pre", "post")))
        assert len(lines) == 2 * len(SOME)
        written = [
            text(row["context"].rstrip(), f" {k}", k, pronouns=tuple(row["pronouns"]), setting=row["setting"],
                 instance=row["instance"] if by_id else "")
            for row in lines for k in (1, 0)
        ]  # fmt: skip
        result = matched([*written, text("Nobody began so.", "x")], SOME)
        assert (result.strangers, result.models) == (1, ("m",))
        assert set(result.settings) == {"pre", "post"}
        for instance in SOME:
            for setting in ("pre", "post"):
                own = result.of(instance.id, "m", setting)
                assert {generation.context for generation in own} == {instance.context(setting).rstrip()}
                assert [generation.index for generation in own] == sorted(generation.index for generation in own)


def test_instances_with_equal_contexts_share_their_generations() -> None:
    twin = instances(built_in(), passes=60, only=("he",))
    by_context: dict[str, list[str]] = {}
    for instance in twin:
        by_context.setdefault(instance.before, []).append(instance.id)
    context, ids = next((context, ids) for context, ids in by_context.items() if len(ids) > 1)
    result = matched([text(context, " he", pronouns=("he",), instance=ids[0])], twin)
    assert all(len(result.of(id, "m", "pre")) == 1 for id in ids)


def verdict_row(one: Any, prob: int) -> Judged:
    chosen = one.pronouns[0] if prob else next(name for name in one.options if name not in one.pronouns)
    return Judged(one, (4.0, 3.0, 2.0, 1.0), (5, 5, 5, 5), (1, 1, 1, 2), chosen, chosen)


def test_the_table_has_a_row_per_instance_and_setting() -> None:
    generation = SOME[0]
    written = [text(generation.context("pre"), f" {form} sang", k) for k, form in enumerate(("he", "she", "nobody"))]
    result = matched(written, [generation])
    head = columns(generation.options, result.most)
    (cells,) = rows([verdict_row(generation, 1)], "m", "s", generation.options, result, result.most)
    row = dict(zip(head, cells, strict=True))
    right = generation.pronouns[0]
    assert [row[f"gen{k}"] for k in (1, 2, 3)] == [int(right == "he"), int(right == "she"), 1]
    assert (row["prob"], row["setting"], row["status"], row["pieces_xe"], row["nll_he"]) == (1, "pre", "ok", 2, 4.0)
    (alone,) = rows([verdict_row(generation, 0)], "m", "s", generation.options, None, 0)
    assert dict(zip(columns(generation.options, 0), alone, strict=True))["prob"] == 0


@dataclass(frozen=True)
class Cut:
    tokens: tuple[int, ...]
    pieces: tuple[int, ...] = (1, 1, 1, 1)
    reason: str | None = None


class Prefers:
    """Finds the text of one number of option likeliest."""

    signature = "s"

    def __init__(self, option: int) -> None:
        self.option, self.asked = option, list[MaskedSentence]()

    def score(self, probes: Sequence[MaskedSentence]) -> list[Score]:
        self.asked += probes
        return [Score(tuple(-1.0 if k == self.option else -2.0 for k in range(4)), "s") for _ in probes]

    def cut(self, probes: Sequence[MaskedSentence]) -> list[Cut]:
        return [Cut((3, 3, 3, 3)) for _ in probes]


def test_a_prompt_becomes_four_whole_texts() -> None:
    instance = instance_from(PROMPT, text(PROMPT.text, " she runs home and her"), 1)
    assert instance is not None
    probe = instance.probe
    texts = [probe.text[: probe.start] + form + probe.text[probe.end :] for form in probe.options]
    assert texts == [f"{PROMPT.text} {rest}" for rest in (
        "he runs home and", "she runs home and", "they run home and", "xe runs home and",
    )]  # fmt: skip
    assert instance_from(PROMPT, text(PROMPT.text, " nobody runs"), 1) is None


def test_prompts_have_a_verdict_per_generation() -> None:
    empty = Prompt("8.Ola.he", "Ola is", "Ola", "name", ("he",))
    written = [" she runs home", " nobody runs", " xe runs"]
    result = matched([text(PROMPT.text, words, k) for k, words in enumerate(written)], [PROMPT, empty])
    model = Prefers(3)
    judged = list(judge_prompts([PROMPT, empty], result, "m", model, model.cut))
    assert [prompt.prob for prompt in judged[0][1]] == [1, None, 1]
    assert judged[0][1][1].reason == NO_PRONOUN
    assert judged[1][1][0].reason == NO_GENERATION
    options = ("he", "she", "they", "xe")
    head = columns(options, 3, templates=3)
    first, other = (dict(zip(head, cells, strict=True)) for cells in prompt_rows(judged, "m", "s", options, result, 3))
    assert [first[f"prob{k}"] for k in (1, 2, 3)] == [1, None, 1]
    assert [first[f"gen{k}"] for k in (1, 2, 3)] == [0, 1, 1]
    assert (first["prob"], first["template"], other["prob"], other["status"]) == (1, "7", None, NO_GENERATION)
