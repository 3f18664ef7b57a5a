"""Templates with a slot become contexts to go on from: the built-in set and the published ones (SPEC 4.4)."""

from collections.abc import Iterator, Sequence

from core.errors import Refused
from core.generation.contexts import Context
from core.misgendering.instances import instances
from core.misgendering.slots import SETTINGS, Setting
from core.misgendering.template_files import Source


def contexts_of(
    source: Source, *, passes: int = 1, seed: int = 42, settings: Sequence[Setting] = SETTINGS, only: Sequence[str] = ()
) -> Iterator[Context]:
    """The contexts of a source: every instance before its slot (pre) and as a whole with the right form (post).

    *passes*: how many people fill each template, drawn by *seed*, the same for every pronoun set; *only*: keep these
    sets. Texts of TANGO are contexts as they are. Raises Refused where nothing is left.
    """
    if not source.prompts:
        found = instances(source, passes=passes, seed=seed, only=only)
        for setting in settings:
            for one in found:
                text = one.context(setting)
                yield Context(text, one.name, one.pronouns, one.dataset, setting, f"{one.dataset}:{one.template}")
        return
    kept = [one for one in source.prompts if not only or any(name in only for name in one.pronouns)]
    if not kept:
        raise Refused("No instance is left: there is no template, nobody is named, or no set is chosen.")
    for prompt in kept:
        kind = {"antecedent": prompt.kind} if prompt.kind else {}
        yield Context(prompt.text, prompt.name, prompt.pronouns, source.dataset, "", f"tango:{prompt.id}", kind)
