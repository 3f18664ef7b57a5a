"""A run of a judge: it labels the items of a project that it has not labelled, and continues after an interruption.

Labels are stored within half a second. So a killed run loses only the requests in progress, which the next run sends
again; stored labels are never requested again.

Examples of a prompt may be drawn from known answers, balanced by choice. Labels of these items do not measure the
judge, because the prompt shows their answers: they are left out of every comparison with people and of every rate. The
forecast of cost and time comes from earlier labels of the judge or of the same model, else from the length of texts.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.scheme import FIRST
from evenhand.annotations.guideline.versions import mirrored, place_on_left
from evenhand.annotations.items.batch import items
from evenhand.annotations.judges import judge_backends
from evenhand.annotations.judges.judges import (
    LABELLED,
    Judge,
    Kind,
    Spec,
    add_judge,
    choices_of,
    choose_margin,
    judge,
    labelled_items,
    last_round,
    mean_cost,
    store_failure,
    store_labels,
)
from evenhand.annotations.judges.judges import judges as all_judges
from evenhand.annotations.types import Guideline, Item, Project
from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.judges.backends import ServerSettings
from evenhand.core.judges.prompts import (
    LETTERS,
    SYSTEM,
    JudgedText,
    JudgeLabel,
    Prompt,
    Way,
    default_template,
    tokens_of,
)
from evenhand.core.servers.client import Pace
from evenhand.core.types import Scorer

_KNOWN = """
SELECT item.uid, coalesce(item.context, ''), item.text, coalesce(item.second, ''), item.known
FROM published_item AS item
WHERE item.project = ? AND item.known IS NOT NULL ORDER BY item.uid
"""
NONE = N_("No item of {project} has a known answer among the choices of this guideline, so no examples can be drawn.")
NO_PLACE = N_("Examples need the placeholder {place} in the prompt.")


@dataclass(frozen=True, slots=True)
class KnownExamples:
    """Examples as the prompt shows them. `items`: public ids of the drawn items."""

    text: str
    items: tuple[str, ...]
    seed: int

    def noted(self, spec: Spec) -> Spec:
        """Return *spec* with the items and the draw in its settings and its signature."""
        settings = spec.settings | {"example_items": list(self.items), "example_seed": self.seed}
        return replace(spec, settings=settings, signature=f"{spec.signature}|known:{len(self.items)},seed{self.seed}")


def known_examples(
    store: Store, project: Project, version: Guideline, number: int, seed: int, way: Way, template: str
) -> KnownExamples:
    """Draw *number* items with known answers, of each choice as many as there are of the others, as far as they go.

    The same items for the same seed and known answers. Raises Refused if none can be drawn, or if the prompt has
    no place for them.
    """
    if "{examples}" not in template:
        raise Refused(NO_PLACE, place="{examples}")
    codes = [choice.code for choice in version.choices]
    drawn = random.Random(seed)  # noqa: S311 - a sample, nothing secret
    by_choice: dict[str, list[tuple[str, str, str, str]]] = {code: [] for code in codes}
    for uid, context, text, second, known in store.db.execute(_KNOWN, (project.id,)):
        if known in by_choice:
            by_choice[known].append((uid, context, text, second))
    turns = [(code, drawn.sample(items, len(items))) for code, items in by_choice.items()]
    most = max((len(items) for _code, items in turns), default=0)
    order = [(code, items[turn]) for turn in range(most) for code, items in turns if turn < len(items)]
    chosen = order[:number]
    if not chosen:
        raise Refused(NONE, project=project.name)
    text = "\n\n".join(
        _written(code, context, text, second, way, codes) for code, (_uid, context, text, second) in chosen
    )
    return KnownExamples(text, tuple(uid for _code, (uid, *_) in chosen), seed)


def _written(code: str, context: str, text: str, second: str, way: Way, codes: Sequence[str]) -> str:
    """Return an example as text; the texts of a comparison and its choice keep the order of the item."""
    if way == "letter":
        both = f"{context}\n\nThe first text: {text}\n\nThe second text: {second}" if second else f"{context}{text}"
        return f"{both}\nAnswer: {LETTERS[codes.index(code)]}"
    before = f"<context>{context}</context>\n" if context else ""
    shown = f"<first>{text}</first>\n<second>{second}</second>" if second else f"<text>{text}</text>"
    return f'An example:\n{before}{shown}\nIts choice: "{code}"'


JUDGES = "judges"  # in place of an annotator, where an order is drawn
HELD, HELD_S = 50, 0.5  # labels that wait to be stored, and for how long
NOTHING = N_("None of the {total} texts could be labelled. Last error: {why}")
Watch = Callable[[int, int], object]  # done, of all


@dataclass(frozen=True, slots=True)
class Request:
    """Which judge, and how hard it may be asked; see `core.judges.backends.ServerSettings`, `core.servers.client.Pace`.

    `rule`: the first-pronoun rule; else `model`, with `server` behind that address. `template`, `system`: None: the
    built-in ones. `known`: so many known answers are drawn by `known_seed` as further examples. `version`: of the
    guideline, None: the newest. `limit`: only so many items, drawn by chance, the same ones each time. `eps`: recorded
    before the first label.
    """

    rule: bool = False
    model: str = ""
    server: str = ""
    name: str = ""
    template: str | None = None
    system: str | None = None
    examples: str = ""
    known: int = 0
    known_seed: int = 42
    way: Way | None = None
    version: int | None = None
    settings: ServerSettings = field(default_factory=ServerSettings)
    pace: Pace = field(default_factory=Pace)
    with_key: bool = True
    limit: int | None = None
    eps: float | None = None


@dataclass(slots=True)
class JudgeReport:
    """What a run did. `before`: labels that were there; `labelled`: new ones; `failed`: texts without a label."""

    judge: Judge
    total: int = 0
    before: int = 0
    labelled: int = 0
    failed: int = 0
    seconds: float = 0.0
    tokens_in: int = 0
    tokens_out: int = 0
    round: int = 0
    last: EvenhandError | None = None
    json_names: ClassVar = {"judge": None, "judge_name": "judge", "total": "items", "last": None}
    also_in_json: ClassVar = ("judge_name", "signature", "last_failure")

    @property
    def judge_name(self) -> str:
        """The name of the judge."""
        return self.judge.name

    @property
    def signature(self) -> str:
        """The signature of the settings that made the labels."""
        return self.judge.spec.signature

    @property
    def last_failure(self) -> str | None:
        """The reason why the last failed text has no label; None if none failed."""
        return str(self.last) if self.last else None


def start_template(project: Project, version: Guideline, *, short: bool) -> str:
    """Return the prompt with which a judge of this version begins."""
    return default_template(project.kind, short=short, own=version.scheme is not None, pairs=version.compares)


def examples_of(
    store: Store, project: Project, version: Guideline, request: Request, template: str
) -> tuple[str, KnownExamples | None]:
    """Return the examples of a prompt: those given, then known answers, if some are to be drawn."""
    if not request.known:
        return request.examples, None
    way = request.way or "json" if request.server else "letter"
    drawn = known_examples(store, project, version, request.known, request.known_seed, way, template)
    return "\n\n".join(text for text in (request.examples.strip(), drawn.text) if text), drawn


def spec_of(store: Store, project: Project, request: Request) -> tuple[Spec, Scorer | None]:
    """Return the record of the requested judge, and its model if that is on this machine."""
    version = choices_of(store, project, request.version)
    if request.rule:
        return judge_backends.rule_spec(project, version), None
    if not request.model.strip():
        raise Refused(N_("Name a model, or choose the rule."))
    said, drawn = _parts_of_prompt(store, project, version, request)
    scorer: Scorer | None = None
    if not request.server:
        if request.way == "json":
            raise Refused(N_("A model on this machine answers with the letter of a choice."))
        scorer = judge_backends.open_model(request.model, store.path)
        spec = judge_backends.model_spec(project, version, request.model, *said, scorer)
    else:
        way = request.way or "json"
        spec = judge_backends.server_spec(project, version, request.server, request.model, *said, way, request.settings)
    return (spec if drawn is None else drawn.noted(spec)), scorer


def _parts_of_prompt(
    store: Store, project: Project, version: Guideline, request: Request
) -> tuple[tuple[str, str, str], KnownExamples | None]:
    """Return template, system prompt and examples, and the draw of these."""
    local = not request.server
    template = start_template(project, version, short=local) if request.template is None else request.template
    system = ("" if local else SYSTEM) if request.system is None else request.system
    examples, drawn = examples_of(store, project, version, request, template)
    return (template, system, examples), drawn


def run_judge(
    store: Store, project: Project, request: Request, *, watch: Watch | None = None, author: str = ""
) -> JudgeReport:
    """Label all items, or as many as requested. Raises Refused if none could be labelled, ModelUnavailable."""
    spec, scorer = spec_of(store, project, request)
    margin = add_judge(store, project, request.name, spec, author=author)
    if request.eps is not None:
        margin = choose_margin(store, project, margin, request.eps, author=author)
    labeller = judge_backends.labeller_of(
        store, project, margin.name, margin.spec, request.pace, with_key=request.with_key, scorer=scorer
    )
    texts = texts_of(store, project, request.limit)
    return _Work(store, project, margin, labeller).done(texts, 0, watch, author)


def ask_again(
    store: Store,
    project: Project,
    name: str,
    number: int,
    *,
    pace: Pace | None = None,
    with_key: bool = True,
    watch: Watch | None = None,
    author: str = "",
) -> JudgeReport:
    """Ask the same judge a second time about *number* items that it has labelled, drawn at random, to measure drift.

    The new labels are of a further round and replace nothing. Raises Refused for a judge that is a file.
    """
    stored_judge = judge(store, project, name)
    last = last_round(store, stored_judge)
    there = labelled_items(store, stored_judge)
    if not there:
        raise Refused(N_("{name} has labelled nothing yet."), name=name)
    drawn = set(random.Random(last + 1).sample(sorted(there), min(number, len(there))))  # noqa: S311 - a sample
    labeller = judge_backends.labeller_of(
        store, project, stored_judge.name, stored_judge.spec, pace or Pace(), with_key=with_key
    )
    texts = [text for text in texts_of(store, project) if text.item in drawn]
    return _Work(store, project, stored_judge, labeller).done(texts, last + 1, watch, author)


def texts_of(store: Store, project: Project, limit: int | None = None) -> list[JudgedText]:
    """Return the published items as a judge gets them.

    *limit*: only so many, drawn at random with the project's seed.
    """
    judged_texts = [text_of(project, item) for item in items(store, project)]
    if limit is None or limit >= len(judged_texts):
        return judged_texts
    drawn = set(random.Random(project.seed).sample(range(len(judged_texts)), limit))  # noqa: S311 - a sample, no secret
    return [text for place, text in enumerate(judged_texts) if place in drawn]


def text_of(project: Project, item: Item) -> JudgedText:
    """Return an item as a judge gets it.

    The order of the texts of a comparison is drawn by item, the same for all judges.
    """
    shown = JudgedText(item.id, item.text, item.context or "", item.keyword or "", item.counterpart or "", item.extra)
    if item.second is None:
        return shown
    first = place_on_left(project.seed, item.uid, JUDGES)
    texts = (item.text, item.second) if first == FIRST else (item.second, item.text)
    return replace(shown, text=texts[0], second=texts[1], first=first)


def _as_stored(label: JudgeLabel, first: str | None) -> JudgeLabel:
    """Return a label in the order of texts of the item; *first*: which of its texts the prompt showed first."""
    if first is None:
        return label
    shares = label.shares and {str(mirrored(code, first)): share for code, share in label.shares.items()}
    return replace(label, choice=str(mirrored(label.choice, first)), shares=shares, first=first)


class _Work:
    """One start of a judge."""

    def __init__(self, store: Store, project: Project, stored_judge: Judge, labeller: Any) -> None:
        self.store, self.project, self.labeller = store, project, labeller
        self.report = JudgeReport(stored_judge)
        self._held: list[JudgeLabel] = []
        self._stored = time.monotonic()

    def done(self, texts: list[JudgedText], number: int, watch: Watch | None, author: str) -> JudgeReport:
        report, stored_judge = self.report, self.report.judge
        there = labelled_items(self.store, stored_judge, number)
        waiting = [text for text in texts if text.item not in there]
        report.total, report.before, report.round = len(texts), len(texts) - len(waiting), number
        began, firsts = time.monotonic(), {text.item: text.first for text in waiting}

        def say() -> None:
            if watch is not None:
                watch(report.before + report.labelled + len(self._held) + report.failed, report.total)

        def keep(label: JudgeLabel) -> None:
            self._held.append(replace(_as_stored(label, firsts[label.item]), round=number))
            report.tokens_in += label.tokens_in or 0
            report.tokens_out += label.tokens_out or 0
            if len(self._held) >= HELD or time.monotonic() - self._stored > HELD_S:
                self._flush()
            say()

        def fail(item: int, why: EvenhandError) -> None:
            store_failure(self.store, stored_judge, item, why, number)
            report.failed, report.last = report.failed + 1, why
            say()

        say()
        try:
            self.labeller.label(waiting, keep, fail)
        finally:
            self._flush()
            report.seconds = round(time.monotonic() - began, 3)
            self._note(author)
        if waiting and not report.labelled:
            raise Refused(NOTHING, total=len(waiting), why=str(report.last or "-"))
        report.judge = judge(self.store, self.project, stored_judge.name)
        return report

    def _flush(self) -> None:
        self.report.labelled += store_labels(self.store, self.report.judge, self._held)
        self._held, self._stored = [], time.monotonic()

    def _note(self, author: str) -> None:
        """Record that *author* let this judge label; a run without a label is not recorded."""
        if self.report.labelled:
            done = self.report
            with self.store.write():
                record(
                    self.store, self.project, LABELLED, author=author, judge=done.judge.name, labels=done.labelled,
                    round=done.round,
                )  # fmt: skip


ANSWER = 60  # tokens of an answer in JSON, before one was seen
SAMPLED = 200  # texts whose length is looked at


@dataclass(frozen=True, slots=True)
class Forecast:
    """Of one run: `texts` that wait, `requests`, tokens sent and answered, `seconds`, `cost` in the unit of the prices.

    `measured`: on how many labels of the same model the numbers rest; 0: on the length of the texts alone, and then
    `seconds` is None. `cost` is None without prices.
    """

    texts: int
    requests: int
    tokens_in: int
    tokens_out: int
    seconds: float | None
    cost: float | None
    measured: int
    also_in_json: ClassVar = ("seconds_reason", "cost_reason")

    @property
    def seconds_reason(self) -> str | None:
        """The reason why the time is unknown; None if it is known."""
        return "This model has labelled nothing here, so its speed is unknown." if self.seconds is None else None

    @property
    def cost_reason(self) -> str | None:
        """The reason why the cost is unknown; None if it is known."""
        return "No prices were given, or the judge costs nothing." if self.cost is None else None


def forecast(
    store: Store,
    project: Project,
    request: Request,
    *,
    price_in: float | None = None,
    price_out: float | None = None,
) -> Forecast:
    """Return the time and cost of *request*, without a model or server; prices are per million tokens, in and out."""
    texts = texts_of(store, project, request.limit)
    waiting = _waiting(store, project, request, texts)
    if request.rule:
        return Forecast(len(waiting), 0, 0, 0, 0.0, None, 0)
    kind: Kind = "server" if request.server else "model"
    spec = Spec(kind, 0, "", model=request.model, address=request.server.rstrip("/"))
    sent, answered, seconds, measured = mean_cost(store, project, spec)
    letters = kind == "model" or request.way == "letter"
    each = 1 if not letters and request.settings.samples == 1 else request.settings.samples if not letters else 2
    requests = len(waiting) * (each if project.kind == "generations" or not letters else 1)
    if sent is None:
        sent, answered = _by_length(store, project, request, waiting)
    tokens_in, tokens_out = round(sent * len(waiting)), round((answered or 0.0) * len(waiting))
    time = seconds * len(waiting) / (request.pace.at_once if kind == "server" else 1) if seconds is not None else None
    if time is not None and request.pace.per_minute and kind == "server":
        time = max(time, requests * 60 / request.pace.per_minute)
    cost = None
    if kind == "server" and price_in is not None and price_out is not None:
        cost = (tokens_in * price_in + tokens_out * price_out) / 1e6
    return Forecast(len(waiting), requests, tokens_in, tokens_out, time, cost, int(measured))


def _waiting(store: Store, project: Project, request: Request, texts: list[JudgedText]) -> list[JudgedText]:
    """Return the texts that the judge has not labelled; of a model on this machine only the name is known."""
    there: set[int] = set()
    for stored_judge in all_judges(store, project):
        if (stored_judge.spec.kind == "rule" and request.rule) or _is_same(store, project, request, stored_judge.spec):
            there = labelled_items(store, stored_judge)
    return [text for text in texts if text.item not in there]


def _is_same(store: Store, project: Project, request: Request, spec: Spec) -> bool:
    if request.rule or spec.model != request.model or spec.address != request.server.rstrip("/"):
        return False
    prompt = prompt_for(store, project, request)
    if spec.settings.get("prompt_sha256") != judge_backends.prompt_digest(prompt):
        return False
    how = request.settings
    return not request.server or all(
        spec.settings.get(key) == getattr(how, key) for key in ("samples", "temperature", "top_p", "tokens", "seed")
    )


def prompt_for(store: Store, project: Project, request: Request) -> Prompt:
    """Return the prompt of a requested judge: a model here or on a server. Raises Refused for any other."""
    version = choices_of(store, project, request.version)
    (template, system, examples), _drawn = _parts_of_prompt(store, project, version, request)
    settings = {"way": request.way or "json" if request.server else "letter", "examples": examples}
    return judge_backends.prompt_with(project, version, template, system, settings)


def _by_length(store: Store, project: Project, request: Request, texts: list[JudgedText]) -> tuple[float, float]:
    some = texts[:SAMPLED]
    if not some:
        return 0.0, 0.0
    prompt, samples = prompt_for(store, project, request), request.settings.samples
    asked = tokens_of([prompt.system + prompt.for_text(text) for text in some]) / len(some)
    if prompt.way == "letter":
        return asked, 1.0
    return asked * samples, float(ANSWER * samples)
