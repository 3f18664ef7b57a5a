"""Who writes on the page Generate, how, what that will take, and the start of the job."""

from functools import partial
from typing import Any

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.core.errors import N_, Notice
from evenhand.core.generation.run import GENERATE
from evenhand.core.generation.server import Server
from evenhand.core.generation.settings import Settings
from evenhand.core.language import Count
from evenhand.core.models.sampling import DECAY, GENDER_PREFIX
from evenhand.core.runs.loop import check_models
from evenhand.core.runs.records import TEXTS, Run
from evenhand.core.worker.client import known_models
from evenhand.pages.generation.contexts import PLACE, Chosen
from evenhand.pages.ui.choose import choose, choose_model, choose_server, switch
from evenhand.pages.ui.numbers import duration
from evenhand.pages.ui.runs import RunPage, RunRequest, show_start_form
from evenhand.pages.ui.text import _, paragraph

GENERATIONS = RunPage("generations", "generate", form_key="generate-{part}", ending=TEXTS)
FIRST_MODEL = "demo-en-causal"


def choose_writer(chosen: Chosen | None) -> Settings | None:
    """The choice of a model or server, and a small menu of how; None without contexts."""
    names = {"here": _("A model on this machine"), "server": _("A server")}
    where = choose(_("Model source"), names, "where")
    wide, middle, narrow = st.columns([5, 2, 1], vertical_alignment="bottom")
    with wide:
        model = _server() if where == "server" else {"model": _model()}
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


def _model() -> str:
    names = [entry.name for entry in known_models("causal")]
    return choose_model(_("Model"), names, "generate-model", first=FIRST_MODEL)


def _server() -> dict[str, Any]:
    """The settings that name a model on a server; without an address there is nothing to ask."""
    address, trusted = choose_server(_("Address of an OpenAI-compatible server"), "server")
    model = st.text_input(_("Name of the model on the server"), key="server-model")
    ways = {"completions": _("continues the text"), "chat": _("answers in a chat")}
    way = st.radio(_("Mode of the model"), list(ways), format_func=ways.__getitem__, key="way", horizontal=True)
    standard = switch(
        _("Only options of OpenAI's own API"),
        key="standard",
        box=True,
        explained=_("Without top-k and without a fixed length."),
    )
    limit = st.number_input(
        _("Maximum requests per minute"), 1, 100_000, None, key="per-minute", placeholder=_("no limit")
    )
    return {
        "model": model.strip() if address else "", "server": address, "chat": way == "chat", "standard": standard,
        "per_minute": float(limit) if limit else None, "no_key": not trusted,
    }  # fmt: skip


def _method() -> dict[str, Any]:
    """Sampling, as published unless the visitor changes it."""
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


def _self_debias() -> dict[str, Any]:
    """Self-debias with its published settings, unless the visitor changes them."""
    if not switch(
        _("Self-debias"), key="self-debias", box=True,
        explained=_("Lowers the probability of tokens that the text below makes more likely (Schick et al. 2021)."),
    ):  # fmt: skip
        return {}
    text = st.text_area(_("Text that asks for the unwanted content"), GENDER_PREFIX.strip(), key="self-debias-text")
    decay = st.number_input(_("Decay (λ)"), 0.1, 1000.0, DECAY, 10.0, key="self-debias-decay")
    return {"debias": f"{text.strip()}\n", "decay": float(decay)} if text.strip() else {}


def show_start(store: Store, chosen: Chosen | None, settings: Settings | None) -> None:
    """The name of the run, what it will take, and the button."""
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
    work = forecast(store, len(chosen.found.contexts), settings) if settings.model else _("Name a model first.")
    show_start_form(store, GENERATIONS, f"{settings.model} {chosen.label}", request, work=work)


def forecast(store: Store, contexts: int, settings: Settings) -> str:
    """How many texts that is, and how long it took before with this model; nothing is promised without a measure."""
    texts = contexts * settings.each
    text = _("{texts} {texts:text|texts} of {tokens} tokens.").format(texts=Count(texts), tokens=settings.tokens)
    rates = (_rate(run) for run in GENERATIONS.finished(store) if run.models == (settings.model,))
    rate = next((found for found in rates if found), None)
    if rate is None:
        return paragraph((text, _("The duration is known a few seconds after the start.")))
    time = duration(texts * settings.tokens / rate)
    return paragraph((text, _("At the speed of the last run, about {time}.").format(time=time)))


def _rate(run: Run) -> float | None:
    rate = run.record.get("rate")
    return float(rate) if isinstance(rate, int | float) and rate > 0 else None
