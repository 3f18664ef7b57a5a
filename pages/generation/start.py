"""What the page Generate goes on from, who writes, how, what that will take, and the start of the job."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import streamlit as st
from markupsafe import Markup

from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, EvenhandError, Notice
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.generation.backends import Server
from evenhand.core.generation.inputs import BUILT_IN, ENDINGS, Context, ContextInput, Filling, open_contexts
from evenhand.core.generation.run import GENERATE, Settings
from evenhand.core.language import Count
from evenhand.core.misgendering.slots import SETTINGS, Setting
from evenhand.core.models import DECAY, GENDER_PREFIX
from evenhand.core.runs.loop import check_models
from evenhand.core.runs.records import TEXTS, Run
from evenhand.core.types import JsonObject
from evenhand.core.worker.client import known_models
from evenhand.pages.ui.choose import ask_trim, choose, choose_model, choose_pronoun_sets, choose_server, switch
from evenhand.pages.ui.numbers import duration
from evenhand.pages.ui.runs import RunPage, RunRequest, show_start_form
from evenhand.pages.ui.tables import below, element, joined, show_html, span
from evenhand.pages.ui.text import _, caption, inform, paragraph, plain
from evenhand.pages.ui.uploads import choose_upload
from evenhand.pages.ui.visitor import show_error

PLACE = "file-0"
SHOWN = 4

CARET = span("", "caret")  # where the model goes on


@dataclass(frozen=True, slots=True)
class Chosen:
    """Where contexts are, how they are filled and called, and what they are; `upload`: they go with the job."""

    place: str
    filling: Filling
    label: str
    found: ContextInput
    upload: bool = False


def choose_contexts() -> Chosen | None:
    """Ask for the contexts; return None and say what to do while there are none."""
    names = {"built-in": _("The built-in set"), "file": _("A file")}
    kind = choose(_("Contexts"), names, "contexts")
    try:
        return _of_file() if kind == "file" else _built_in()
    except EvenhandError as error:
        show_error(error)
        return None


def _built_in() -> Chosen | None:
    caption(
        "Our own short texts that state a person's pronouns. Before the slot: the text up to the"
        " pronoun. After the slot: the whole text with the right pronoun."
    )
    filling = _filling(choose_pronoun_sets("generate-pronouns"))
    if filling is None:
        return None
    return Chosen(BUILT_IN, filling, _("built-in set"), _opened(BUILT_IN, filling))


def _filling(only: Sequence[str]) -> Filling | None:
    names: dict[str, str] = {"pre": _("before the slot"), "post": _("after the slot")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen: list[Setting] = st.pills(
            _("Start of the continuation"), SETTINGS, format_func=names.__getitem__, selection_mode="multi",
            default=list(SETTINGS), key="settings",
        )  # fmt: skip
        passes = st.number_input(
            _("People per template"), 1, 60, 1, key="passes", width=160, help=_("Each person has a different name.")
        )
    trimmed = ask_trim(value=True)
    if not chosen or not only:
        inform("Choose at least one pronoun set and one start of the continuation.")
        return None
    return Filling(
        passes=int(passes), settings=tuple(s for s in SETTINGS if s in chosen), only=tuple(only), trim=trimmed
    )


def _of_file() -> Chosen | None:
    path = choose_upload(
        _("File"),
        ENDINGS,
        key=PLACE,
        help=_(
            "Rows with a column context (optional: name, pronouns, dataset, setting, template); one"
            " context per line; or templates with a slot, as published for MISGENDERED, RUFF and TANGO."
        ),
    )
    if path is None:
        return None
    filling = Filling(trim=ask_trim(value=True))
    return Chosen(str(path), filling, path.name, _opened(str(path), filling), upload=True)


@st.cache_data(max_entries=10, show_spinner=False)
def _opened(place: str, filling: Filling) -> ContextInput:
    """Return the contexts; read again when the file or the choice changes."""
    return run_bounded(open_contexts, place, filling, file=Path(place).name)


def show_first_contexts(chosen: Chosen) -> None:
    """Show how many contexts there are, a few of them, and what could not be used."""
    context_input = chosen.found
    caption(
        "{contexts} contexts. Examples; the model continues at the bar:", contexts=f"{len(context_input.contexts):,}"
    )
    show_html(element("ol", joined(map(_line, _some(context_input.contexts))), "sentences"))
    if context_input.twice:
        caption("{number} duplicates were removed.", number=f"{context_input.twice:,}")
    if context_input.problems:
        first = context_input.problems[0]
        why = _(first.message).format(**first.values) if first.values else _(first.message)
        text = _("{number} rows cannot be used; the first is line {line}: {why}")
        st.warning(plain(text.format(number=f"{len(context_input.problems):,}", line=first.line, why=why)))


def _some(contexts: Sequence[Context]) -> list[Context]:
    """Return a few contexts from all over the file, of as many pronoun sets as it has."""
    step = -(-len(contexts) // SHOWN) or 1
    shown: list[Context] = []
    seen: set[tuple[str, ...]] = set()
    for start in range(0, len(contexts), step):
        part = contexts[start : start + step]
        one = next((context for context in part if context.pronouns not in seen), part[0])
        seen.add(one.pronouns)
        shown.append(one)
    return shown


def described(context: Context | JsonObject) -> str:
    """Return the name and the pronouns of the person in a context; empty if the context gives neither."""
    values = context if isinstance(context, dict) else {"name": context.name, "pronouns": context.pronouns}
    pronouns = values.get("pronouns") or ()
    said = " + ".join(pronouns) if isinstance(pronouns, list | tuple) else str(pronouns)
    return " · ".join(part for part in (str(values.get("name") or ""), said) if part)


def _line(context: Context) -> Markup:
    return element("li", span(joined([below(described(context)), context.text, CARET])))


GENERATIONS = RunPage("generations", "generate", form_key="generate-{part}", ending=TEXTS)
FIRST_MODEL = "demo-en-causal"


def choose_writer(chosen: Chosen | None) -> Settings | None:
    """Ask for a model or server and, in a small menu, for its settings; None without contexts."""
    where = choose(_("Model source"), {"here": _("A model on this machine"), "server": _("A server")}, "where")
    names = [entry.name for entry in known_models("causal")]
    wide, middle, narrow = st.columns([5, 2, 1], vertical_alignment="bottom")
    with wide:
        model = (
            _server()
            if where == "server"
            else {"model": choose_model(_("Model"), names, "generate-model", first=FIRST_MODEL)}
        )
    each = middle.number_input(
        _("Texts per context"), 1, 1000, 1, key="each",
        help=_(
            "Texts of one context are similar: more contexts are more informative than more texts per context."
        ),
    )  # fmt: skip
    with narrow.popover(_("Method"), icon=":material/tune:", type="tertiary"):
        method = _method() | ({} if where == "server" else _self_debias())
    if chosen is None:
        return None
    filling = chosen.filling
    return Settings(
        contexts=chosen.place, each=int(each), passes=filling.passes, settings=tuple(filling.settings),
        only=tuple(filling.only), trim=filling.trim, column=filling.column, **model, **method,
    )  # fmt: skip


def _server() -> JsonObject:
    """Return the settings that name a model on a server; without an address, nothing is asked."""
    address, trusted = choose_server(_("Address of an OpenAI-compatible server"), "server")
    model = st.text_input(_("Name of the model on the server"), key="server-model")
    ways = {"completions": _("text completion"), "chat": _("chat completion")}
    way = st.radio(_("Request type"), list(ways), format_func=ways.__getitem__, key="way", horizontal=True)
    standard = switch(
        _("Standard OpenAI options only"),
        key="standard",
        box=True,
        explained=_("Omits top-k and the fixed length."),
    )
    limit = st.number_input(
        _("Maximum requests per minute"), 1, 100_000, None, key="per-minute", placeholder=_("no limit")
    )
    return {
        "model": model.strip() if address else "", "server": address, "chat": way == "chat", "standard": standard,
        "per_minute": float(limit) if limit else None, "no_key": not trusted,
    }  # fmt: skip


def _method() -> JsonObject:
    """Ask for the settings of sampling and return them; the published ones are preset."""
    tokens = st.number_input(_("New tokens"), 1, 1000, 50, key="tokens")
    top_k = st.number_input(_("Top-k (0 = off)"), 0, 100_000, 50, key="top-k")
    top_p = st.number_input(_("Top-p"), 0.01, 1.0, 0.95, 0.01, key="top-p")
    heat = st.number_input(_("Temperature"), 0.01, 10.0, None, 0.1, key="temperature", placeholder=_("model default"))
    seed = st.number_input(_("Seed"), 0, 2**31, 42, key="seed")
    stop = switch(
        _("Stop at end-of-text"),
        key="stop",
        box=True,
        explained=_("Off in the published setting: all texts have the same length."),
    )
    return {
        "tokens": int(tokens), "top_k": int(top_k), "top_p": float(top_p), "temperature": heat or None,
        "seed": int(seed), "stop": stop,
    }  # fmt: skip


def _self_debias() -> JsonObject:
    """Ask for the settings of self-debias, with the published ones preset; return {} if it is off."""
    if not switch(
        _("Self-debiasing"), key="self-debias", box=True,
        explained=_(
            "Lowers the probability of tokens that the prefix below makes more likely (Schick et al. 2021)."),
    ):  # fmt: skip
        return {}
    text = st.text_area(_("Self-debiasing prefix"), GENDER_PREFIX.strip(), key="self-debias-text")
    decay = st.number_input(_("Decay (λ)"), 0.1, 1000.0, DECAY, 10.0, key="self-debias-decay")
    return {"debias": f"{text.strip()}\n", "decay": float(decay)} if text.strip() else {}


def show_start(store: Store, chosen: Chosen | None, settings: Settings | None) -> None:
    """Show the name of the run, what it will take, and the button."""
    if chosen is None or settings is None:
        return
    request, server = None, settings.server
    if settings.model:
        source = chosen.label if chosen.upload else {"message": N_("built-in set"), "values": {}}
        title = Notice(N_("Generate with {model} from {source}"), {"model": settings.model, "source": source})
        check = (
            partial(Server, server, settings.model) if server else partial(check_models, [settings.model], fetch=False)
        )
        request = RunRequest(title, GENERATE, settings, place=PLACE if chosen.upload else "", check=check)
    work = forecast(store, len(chosen.found.contexts), settings) if settings.model else _("Enter a model name first.")
    show_start_form(store, GENERATIONS, f"{settings.model} {chosen.label}", request, work=work)


def forecast(store: Store, contexts: int, settings: Settings) -> str:
    """Return how many texts will be generated, and how long that took before with this model. Without an earlier run,
    no time is given."""
    texts = contexts * settings.each
    text = _("{texts} {texts:text|texts} of {tokens} tokens.").format(texts=Count(texts), tokens=settings.tokens)
    rates = (_rate(run) for run in GENERATIONS.finished(store) if run.models == (settings.model,))
    rate = next((value for value in rates if value), None)
    if rate is None:
        return paragraph((text, _("The duration can be estimated a few seconds after the start.")))
    time = duration(texts * settings.tokens / rate)
    return paragraph((text, _("At the speed of the last run, about {time}.").format(time=time)))


def _rate(run: Run) -> float | None:
    rate = run.record.get("rate")
    return float(rate) if isinstance(rate, int | float) and rate > 0 else None
