"""Models as judges: a chat model behind a server that speaks the OpenAI protocol, or a causal model here.

Ways to answer: a JSON object (the server is asked to keep to a schema, and what cannot be read is asked for once more),
one or several samples; or the log-probabilities of the letters of the choices.

A causal model judges by the probability that it gives to the letter of each choice after the prompt.

So its answers are constrained by construction, and need no reading. Words are marked the same way: where it calls a
text misgendering, it is asked of each pronoun that is not the person's own, and where it finds extraneous gendered
language, of each gendered word (`MayBear`), one question a word.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import httpx

from evenhand.core.errors import N_, Refused
from evenhand.core.judges.prompts import (
    AGAIN,
    FLAG,
    LETTERS,
    MARKS,
    Answer,
    Fail,
    JudgedText,
    JudgeLabel,
    Keep,
    Prompt,
    Unreadable,
    apart,
    most_said,
    places_of,
    read_answer,
    shares_of,
)
from evenhand.core.servers.addresses import check_address
from evenhand.core.servers.client import Asker, Pace, Unfinished
from evenhand.core.types import JsonObject, MaskedSentence, Score, Scorer

Constraint = Literal["schema", "object", "none"]
TOP = 20  # likeliest tokens that a server tells of at most
VERSION = 1  # of the method: raise it when a label may change


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The decoding settings of a server. `samples`: answers to each text; `constraint`: the form of an answer as sent
    to the server; `tokens`: at most, of an answer; `seed`: of the first sample, later samples count up from it."""

    samples: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    tokens: int = 300
    seed: int = 42
    constraint: Constraint = "schema"

    def __post_init__(self) -> None:
        if self.samples < 1 or self.tokens < 1:
            raise Refused(N_("Samples and tokens must be at least 1."))


@dataclass(slots=True)
class _Used:
    """The tokens and time that the requests for one text took."""

    answered: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    began: float = field(default_factory=time.monotonic)

    def add(self, data: JsonObject) -> None:
        usage = data.get("usage") or {}
        for name, key in (("tokens_in", "prompt_tokens"), ("tokens_out", "completion_tokens")):
            if isinstance(usage.get(key), int):
                setattr(self, name, (getattr(self, name) or 0) + usage[key])
        parts = (data.get("model"), data.get("system_fingerprint"))
        self.answered = " ".join(str(part) for part in parts if part)[:200]


class ServerJudge:
    """A judge behind a server; obeys `core.judges.prompts.Labeller`."""

    def __init__(
        self,
        address: str,
        model: str,
        prompt: Prompt,
        settings: ServerSettings | None = None,
        pace: Pace | None = None,
        *,
        key: str | None = None,
    ) -> None:
        """Prepare to ask a server. Raises Refused for an address that may not be asked, or a model without a name."""
        check_address(address)
        if not model.strip():
            raise Refused(N_("Enter the name of the model on the server."))
        self.model, self.prompt, self.settings = model, prompt, settings or ServerSettings()
        self._asker = Asker(address.rstrip("/") + "/chat/completions", pace or Pace(), key)

    def label(self, texts: Sequence[JudgedText], keep: Keep, fail: Fail) -> None:
        """See `Labeller`; labels come in the order in which the server finishes them."""

        async def work(client: httpx.AsyncClient, text: JudgedText) -> None:
            try:
                keep(await self._label(client, text))
            except (Unfinished, Unreadable) as error:
                fail(text.item, error)

        if texts:
            self._asker.work_off(texts, work)

    async def _label(self, client: httpx.AsyncClient, text: JudgedText) -> JudgeLabel:
        used = _Used()
        if self.prompt.way == "letter":
            answer, shares = await self._by_letters(client, text, used)
        else:
            seeds = [self.settings.seed + number for number in range(self.settings.samples)]
            answers = [await self._by_words(client, text, seed, used) for seed in seeds]
            answer, shares = most_said(answers) if len(answers) > 1 else (answers[0], {})
        return JudgeLabel(
            text.item, answer.choice, answer.extraneous, answer.spans, shares or None, self.settings.samples,
            used.answered, used.tokens_in, used.tokens_out, time.monotonic() - used.began,
        )  # fmt: skip

    async def _by_words(self, client: httpx.AsyncClient, text: JudgedText, seed: int, used: _Used) -> Answer:
        """Return one sample; if it cannot be read, ask once more and name the mistake."""
        messages = self.prompt.messages(text)
        body = self._body(messages, seed) | self._constraint()

        def written(data: JsonObject) -> str:
            content = str(data["choices"][0]["message"]["content"] or "")
            used.add(data)
            return content

        first = await self._asker.ask(client, body, written)
        try:
            return read_answer(first, self.prompt, text.text)
        except Unreadable as error:
            more = AGAIN.format(why=error.why, format=self.prompt.format)
            repair = [{"role": "assistant", "content": first[:2000]}, {"role": "user", "content": more}]
            again = await self._asker.ask(client, body | {"messages": [*messages, *repair]}, written)
            return read_answer(again, self.prompt, text.text)

    async def _by_letters(
        self, client: httpx.AsyncClient, text: JudgedText, used: _Used
    ) -> tuple[Answer, dict[str, float]]:
        """Return the log-probabilities of the letters; those of the flag by a separate question."""
        shares = await self._letters(client, self.prompt.messages(text), self.prompt.codes, used)
        choice = max(shares, key=shares.__getitem__)
        if not self.prompt.flag:
            return Answer(choice, None), shares
        question = [{"role": "user", "content": self.prompt.for_text(text, FLAG)}]
        flag = await self._letters(client, question, ("no", "yes"), used)
        return Answer(choice, flag["yes"] > flag["no"]), shares

    async def _letters(
        self, client: httpx.AsyncClient, messages: list[dict[str, str]], codes: Sequence[str], used: _Used
    ) -> dict[str, float]:
        def read(data: JsonObject) -> dict[str, float]:
            place = data["choices"][0]["logprobs"]["content"][0]
            found: dict[str, float] = {}
            for entry in place["top_logprobs"]:  # " A" and "A" are two tokens and one letter; the more likely counts
                letter = str(entry["token"]).strip().strip(".()")
                found[letter] = max(found.get(letter, float("-inf")), float(entry["logprob"]))
            used.add(data)
            return found

        body = self._body(messages, self.settings.seed) | {"max_tokens": 1, "logprobs": True, "top_logprobs": TOP}
        return shares_of(await self._asker.ask(client, body, read), codes)

    def _body(self, messages: list[dict[str, str]], seed: int) -> JsonObject:
        how = self.settings
        return {
            "model": self.model, "messages": messages, "max_tokens": how.tokens, "temperature": how.temperature,
            "top_p": how.top_p, "seed": seed,
        }  # fmt: skip

    def _constraint(self) -> JsonObject:
        if self.settings.constraint == "schema":
            shape = {"name": "label", "strict": True, "schema": self.prompt.schema()}
            return {"response_format": {"type": "json_schema", "json_schema": shape}}
        return {"response_format": {"type": "json_object"}} if self.settings.constraint == "object" else {}


AT_ONCE = 32  # texts that are asked together
CAUSAL_VERSION = 2  # of the method: raise it when a label may change
MayBear = Callable[[JudgedText, str], Iterable[str]]  # a text and a kind of mark -> words of it that may bear the mark
NO_ANSWER = N_("The model has no probability for the choices after this text: {why}")


class CausalJudge:
    """A judge that asks a scorer of whole sentences; obeys `core.judges.prompts.Labeller`."""

    def __init__(self, scorer: Scorer, prompt: Prompt, may_bear: MayBear | None = None) -> None:
        """Prepare to ask *scorer*, a causal model.

        *may_bear* None: no word is marked. Raises Refused where *prompt* does not ask for letters.
        """
        if prompt.way != "letter":
            raise Refused(N_("A model on this machine answers with the letter of a choice."))
        self.scorer, self.prompt, self.may_bear = scorer, prompt, may_bear

    def label(self, texts: Sequence[JudgedText], keep: Keep, fail: Fail) -> None:
        """See `Labeller`."""
        for place in range(0, len(texts), AT_ONCE):
            some = texts[place : place + AT_ONCE]
            began = time.monotonic()
            choices = self.scorer.score([_probe(self._whole_prompt(text), len(self.prompt.codes)) for text in some])
            flags: Sequence[Score | None] = [None] * len(some)
            if self.prompt.flag:
                flags = self.scorer.score([_probe(self.prompt.for_text(text, FLAG), 2) for text in some])
            judge_labels: list[JudgeLabel | None] = []
            for text, choice, flag in zip(some, choices, flags, strict=True):
                try:
                    judge_labels.append(self._label(text, choice, flag))
                except Refused as error:
                    judge_labels.append(None)
                    fail(text.item, error)
            marks = self._marks(
                [
                    (text, judge_label)
                    for text, judge_label in zip(some, judge_labels, strict=True)
                    if judge_label is not None
                ]
            )
            each = (time.monotonic() - began) / len(some)
            for judge_label in judge_labels:
                if judge_label is not None:
                    keep(replace(judge_label, spans=apart(marks.get(judge_label.item, ())), seconds=each))

    def _marks(self, judged: Sequence[tuple[JudgedText, JudgeLabel]]) -> dict[int, list[tuple[int, int, str]]]:
        """Return the marks by item: every place of a word for which "yes" is more likely than "no"."""
        if self.may_bear is None or not self.prompt.flag:
            return {}
        asked = [
            (text, kind, word)
            for text, one in judged
            for kind, wanted in (("pronoun", one.choice == "misgendering"), ("extraneous", one.extraneous))
            if wanted
            for word in self.may_bear(text, kind)
        ]
        questions = [self.prompt.for_text(text, MARKS[kind].replace("{word}", word)) for text, kind, word in asked]
        marks: dict[int, list[tuple[int, int, str]]] = {}
        for (text, kind, word), score in zip(
            asked, self.scorer.score([_probe(question, 2) for question in questions]), strict=True
        ):
            no, yes = (*score.logprobs, None, None)[:2]
            if no is not None and yes is not None and yes > no:
                marks.setdefault(text.item, []).extend((*place, kind) for place in places_of(word, text.text))
        return marks

    def _whole_prompt(self, text: JudgedText) -> str:
        system = f"{self.prompt.system.strip()}\n\n" if self.prompt.system.strip() else ""
        return system + self.prompt.for_text(text)

    def _label(self, text: JudgedText, score: Score, flag: Score | None) -> JudgeLabel:
        shares = _shares(score, self.prompt.codes)
        values = _shares(flag, ("no", "yes")) if flag is not None else None
        choice = max(shares, key=shares.__getitem__)
        extraneous = None if values is None else values["yes"] > values["no"]
        return JudgeLabel(text.item, choice, extraneous, shares=shares, answered=score.signature)


def _probe(prompt: str, choices: int) -> MaskedSentence:
    # A space comes before the letter, as such models write: "Answer: A".
    text = prompt.rstrip() + " "
    return MaskedSentence(f"{text}A", len(text), len(text) + 1, tuple(LETTERS[:choices]))


def _shares(score: Score, codes: Sequence[str]) -> dict[str, float]:
    known = {letter: value for letter, value in zip(LETTERS, score.logprobs, strict=False) if value is not None}
    if len(known) < len(codes):
        raise Refused(NO_ANSWER, why=score.reason or "-")
    return shares_of(known, codes)
