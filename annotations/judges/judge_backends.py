"""From the record of a judge to its labeller: the rule, a model on this machine, or a server."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import OWN_SCHEME, guideline
from evenhand.annotations.judges.judges import Spec
from evenhand.annotations.types import Guideline, Project
from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.guidelines import Option
from evenhand.core.human_vs_rule.apply_rule import apply_rule, pronouns_of
from evenhand.core.judges import backends
from evenhand.core.judges.backends import ServerJudge, ServerSettings
from evenhand.core.judges.prompts import Fail, JudgedText, JudgeLabel, Keep, Labeller, Prompt, Way
from evenhand.core.models import open_scorer
from evenhand.core.models.catalogue import locate
from evenhand.core.scoring.cache import CachedScorer, cache_path
from evenhand.core.servers.addresses import key_from_environment, place_of
from evenhand.core.servers.client import Pace
from evenhand.core.swap.word_tables import word_table
from evenhand.core.text.pronouns import forms, set_named
from evenhand.core.types import Scorer

RULE_VERSION = 1  # of the method: raise it when a label may change
UNKNOWN = N_("The item does not state the person's pronouns, so the rule cannot judge it.")
NO_LABELLER = N_("{name} comes from a file. To add labels, import another file under the same name.")


class RuleJudge:
    """The first-pronoun rule as a judge: correct, misgendering with the pronoun marked, or no pronoun at all."""

    def label(self, texts: Sequence[JudgedText], keep: Keep, fail: Fail) -> None:
        """See `Labeller`. The rule does not assess extraneous gendered language."""
        for text in texts:
            try:
                verdict = apply_rule({"text": text.text, **text.values})
            except EvenhandError as error:
                fail(text.item, error)
                continue
            if verdict.correct is None:
                fail(text.item, Refused(UNKNOWN))
            elif verdict.correct:
                keep(JudgeLabel(text.item, "no_pronoun" if verdict.pronoun is None else "correct"))
            else:
                keep(JudgeLabel(text.item, "misgendering", spans=((verdict.start or 0, verdict.end or 0, "pronoun"),)))


def may_bear(text: JudgedText, kind: str) -> list[str]:
    """Return the words of an English text that may bear a mark of this kind: pronouns that are not the person's own, if
    those are known; words that have a counterpart of the other gender.
    """
    words = dict.fromkeys(re.findall(r"\w+", text.text.lower()))
    if kind == "extraneous":
        return [word for word in words if word in _gendered_words()]
    try:
        own = {form for name in pronouns_of(text.values) for form in set_named(name).forms}
    except EvenhandError:
        own = set()
    return [word for word in words if own and word in forms("own") and word not in own]


@cache
def _gendered_words() -> frozenset[str]:
    return frozenset(word_table("en").counterparts)


def rule_spec(project: Project, version: Guideline) -> Spec:
    """Return the record of the rule. Raises Refused for a project of sentences or with a scheme of its own."""
    if project.kind != "generations":
        raise Refused(N_("{project} holds sentences; the rule judges generations."), project=project.name)
    if version.scheme is not None:
        raise Refused(OWN_SCHEME, project=project.name)
    return Spec("rule", version.version, f"judge-rule|first-pronoun|guideline={version.version}|v{RULE_VERSION}")


def prompt_with(project: Project, version: Guideline, template: str, system: str, settings: dict[str, Any]) -> Prompt:
    """Return a prompt of this version of the guideline; *settings* hold `way` and `examples`."""
    way: Way = settings.get("way", "json")
    options = tuple(Option(choice.code, choice.key, choice.zh, choice.en) for choice in version.choices)
    flag = project.kind == "generations" and version.scheme is None
    return Prompt(template, version.text, options, system, str(settings.get("examples", "")), way, flag)


def prompt_digest(prompt: Prompt) -> str:
    """Return SHA-256 of the whole prompt except the text, 64 hexadecimal digits."""
    return hashlib.sha256(f"{prompt.system}\0{prompt.before_text()}".encode()).hexdigest()


def model_spec(
    project: Project, version: Guideline, model: str, template: str, system: str, examples: str, scorer: Scorer
) -> Spec:
    """Return the record of a model on this machine, which *scorer* asks."""
    settings = {"way": "letter", "examples": examples}
    prompt = prompt_with(project, version, template, system, settings)
    settings |= {"prompt_sha256": prompt_digest(prompt), "weights": str(getattr(scorer, "cache_key", scorer.signature))}
    signature = (
        f"judge-model|{scorer.signature}|prompt:{prompt_digest(prompt)[:12]}|guideline={version.version}"
        f"|letters|v{backends.CAUSAL_VERSION}"
    )
    return Spec("model", version.version, signature, model, "", system, template, settings)


def server_spec(
    project: Project,
    version: Guideline,
    address: str,
    model: str,
    template: str,
    system: str,
    examples: str,
    way: Way,
    how: ServerSettings,
) -> Spec:
    """Return the record of a model behind a server, which does not report its weights."""
    settings: dict[str, Any] = {"way": way, "examples": examples, **asdict(how)}
    prompt = prompt_with(project, version, template, system, settings)
    settings["prompt_sha256"] = prompt_digest(prompt)
    decoding = f"t{how.temperature:g},p{how.top_p:g},n{how.samples},max{how.tokens},seed{how.seed},{how.constraint}"
    signature = (
        f"judge-server|{model}|{place_of(address)}|prompt:{prompt_digest(prompt)[:12]}|guideline={version.version}"
        f"|{'log-probabilities' if way == 'letter' else decoding}|v{backends.VERSION}"
    )
    return Spec("server", version.version, signature, model, address.rstrip("/"), system, template, settings)


def open_model(model: str, database: Path) -> CachedScorer:
    """Load a model that judges into this process; its answers are cached in a file next to *database*.

    Raises ModelUnavailable, and Refused for a model that cannot continue a text.
    """
    locate(model)
    return CachedScorer(open_scorer(model, precision="fp32", method="pair-sum"), cache_path(database))


def labeller_of(
    store: Store, project: Project, name: str, spec: Spec, pace: Pace, *, with_key: bool, scorer: Scorer | None = None
) -> Labeller:
    """Return the labeller that *spec* describes. *scorer*: of a loaded model. Raises Refused for a file."""
    if spec.kind == "rule":
        return RuleJudge()
    if spec.kind == "file":
        raise Refused(NO_LABELLER, name=name)
    version = guideline(store, project, spec.guideline)
    prompt = prompt_with(project, version, spec.prompt, spec.system, spec.settings)
    if spec.kind == "model":
        return backends.CausalJudge(scorer or open_model(spec.model, store.path), prompt, may_bear)
    how = ServerSettings(**{key: spec.settings[key] for key in ServerSettings.__dataclass_fields__})
    key = key_from_environment() if with_key else None
    return ServerJudge(spec.address, spec.model, prompt, how, pace, key=key)
