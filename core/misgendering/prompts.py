"""TANGO's prompts by probability: a generation becomes a template, and that a text per pronoun set (SPEC 4.4)."""

from collections.abc import Iterator, Sequence

from core.errors import N_
from core.misgendering.generations import Generation, Matched
from core.misgendering.probability import Cutter, Judged, Progress, TextScorer, judge
from core.misgendering.rewriting import NO_PRONOUN, rewritten
from core.misgendering.slots import Instance
from core.misgendering.template_files import Prompt
from core.text.pronouns import set_named, sets

NO_GENERATION = N_("There is no generation of this prompt, so there is no template.")


def instance_from(prompt: Prompt, generation: Generation, number: int) -> Instance | None:
    """The texts that compete: the prompt and its continuation written for each set; None where it has no pronoun.

    The whole text has no space around it, as published; `forms` are here the rest of the text from the first place
    where the sets differ or the continuation begins.
    """
    extra = [set_named(name, "tango") for name in prompt.pronouns if name not in sets("tango")]
    found = rewritten(generation.completion, "tango", extra)
    if found is None:
        return None
    options = tuple(dict.fromkeys((*sets("tango"), *prompt.pronouns)))
    tails = tuple(found.filled(set_named(name, "tango")).rstrip() for name in options)
    before = generation.context.lstrip()
    template = prompt.id.partition(".")[0]
    id = f"{prompt.id}#{number}"
    return Instance(id, "tango", template, prompt.name, prompt.pronouns, found.case, before, "", options, tails)


def judge_prompts(
    prompts: Sequence[Prompt],
    matched: Matched,
    model: str,
    scorer: TextScorer,
    cut: Cutter,
    *,
    progress: Progress | None = None,
) -> Iterator[tuple[Prompt, list[Judged]]]:
    """Per prompt the verdict of each of its generations, in order; undefined without a pronoun, or without any."""
    texts = [
        (number, instance_from(prompt, one, k))
        for number, prompt in enumerate(prompts)
        for k, one in enumerate(matched.of(prompt.id, model, ""), 1)
    ]
    judged = judge([one for _, one in texts if one is not None], scorer, cut, progress=progress)
    found: list[list[Judged]] = [[] for _ in prompts]
    for number, one in texts:
        found[number].append(next(judged) if one is not None else _without_slot(prompts[number], NO_PRONOUN))
    for prompt, some in zip(prompts, found, strict=True):
        yield prompt, some or [_without_slot(prompt, NO_GENERATION)]


def _without_slot(prompt: Prompt, reason: str) -> Judged:
    empty = Instance(prompt.id, "tango", "", prompt.name, prompt.pronouns, "", "", "", (), ())
    return Judged(empty, reason=reason)
