"""What a judge will cost and take: from what it, or the same model, has taken so far, else from the length of texts."""

from dataclasses import dataclass
from typing import ClassVar

from evenhand.annotations.database.store import Store
from evenhand.annotations.judges import labellers
from evenhand.annotations.judges.judges import Kind, Spec, choices_of, labelled_items, mean_cost
from evenhand.annotations.judges.judges import judges as all_judges
from evenhand.annotations.judges.run import Request, examples_of, start_template, texts_of
from evenhand.annotations.types import Project
from evenhand.core.judges.prompts import SYSTEM, JudgedText, Prompt, tokens_of

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
        """Why the time is not known."""
        return "This model has labelled nothing here, so its speed is unknown." if self.seconds is None else None

    @property
    def cost_reason(self) -> str | None:
        """Why there is no cost."""
        return "No prices were given, or the judge costs nothing." if self.cost is None else None


def forecast(
    store: Store,
    project: Project,
    request: Request,
    *,
    price_in: float | None = None,
    price_out: float | None = None,
) -> Forecast:
    """What *request* will take; prices are for a million tokens, sent and answered. Loads no model, asks no server."""
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
    """The texts that the judge has not labelled; of a model on this machine only the name is known."""
    there: set[int] = set()
    for one in all_judges(store, project):
        if (one.spec.kind == "rule" and request.rule) or _is_same(store, project, request, one.spec):
            there = labelled_items(store, one)
    return [text for text in texts if text.item not in there]


def _is_same(store: Store, project: Project, request: Request, spec: Spec) -> bool:
    if request.rule or spec.model != request.model or spec.address != request.server.rstrip("/"):
        return False
    prompt = prompt_for(store, project, request)
    if spec.settings.get("prompt_sha256") != labellers.prompt_digest(prompt):
        return False
    how = request.settings
    return not request.server or all(
        spec.settings.get(key) == getattr(how, key) for key in ("samples", "temperature", "top_p", "tokens", "seed")
    )


def prompt_for(store: Store, project: Project, request: Request) -> Prompt:
    """The prompt of a judge that is asked for: a model here or on a server. Raises Refused for one that is none."""
    local = not request.server
    version = choices_of(store, project, request.version)
    template = start_template(project, version, short=local) if request.template is None else request.template
    system = ("" if local else SYSTEM) if request.system is None else request.system
    examples, _drawn = examples_of(store, project, version, request, template)
    settings = {"way": "letter" if local else request.way or "json", "examples": examples}
    return labellers.prompt_with(project, version, template, system, settings)


def _by_length(store: Store, project: Project, request: Request, texts: list[JudgedText]) -> tuple[float, float]:
    some = texts[:SAMPLED]
    if not some:
        return 0.0, 0.0
    prompt, samples = prompt_for(store, project, request), request.settings.samples
    asked = tokens_of([prompt.system + prompt.for_text(text) for text in some]) / len(some)
    if prompt.way == "letter":
        return asked, 1.0
    return asked * samples, float(ANSWER * samples)
