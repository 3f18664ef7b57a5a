"""The form that starts a judge: which one, its prompt, what it will take."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.items.batch import items
from evenhand.annotations.jobs import jobs
from evenhand.annotations.judges.job_kinds import IMPORT, RUN, ImportSettings, RunSettings
from evenhand.annotations.judges.judges import state_of_judges
from evenhand.annotations.judges.run import Forecast, Request, forecast, prompt_for, start_template, text_of
from evenhand.annotations.projects.steps import state
from evenhand.annotations.types import Guideline, Project
from evenhand.core.errors import N_, EvenhandError, Notice, Refused
from evenhand.core.judges.backends import ServerSettings
from evenhand.core.judges.prompts import SYSTEM, Way
from evenhand.core.language import Count
from evenhand.core.runs.loop import check_models
from evenhand.core.servers.addresses import check_address
from evenhand.core.servers.client import Pace
from evenhand.core.worker.client import known_models
from evenhand.pages.ui.choose import choose, choose_model, choose_server
from evenhand.pages.ui.jobs import start_job
from evenhand.pages.ui.numbers import duration
from evenhand.pages.ui.text import _, paragraph, plain
from evenhand.pages.ui.uploads import choose_upload, empty_place, hand_over
from evenhand.pages.ui.visitor import asks, author, errors_shown, show_error

Source = Literal["rule", "model", "server", "file"]
TITLE = N_("Judge {project} with {judge}")


@dataclass(frozen=True, slots=True)
class FormState:
    """What the form holds. `trusted`: whether the key of the installation may be sent to this server."""

    source: Source
    request: Request
    trusted: bool = False
    file: Path | None = None
    price_in: float | None = None
    price_out: float | None = None


@asks("change_projects")
def show_start(store: Store, project: Project) -> None:
    """Ask which judge to run, and show the button."""
    with st.container(border=True):
        try:
            wish = _wish(project, guideline(store, project))
        except EvenhandError as error:
            show_error(error)
            return
        left = _show_forecast(store, project, wish)
        if wish.source in ("model", "server"):
            _show_as_sent(store, project, wish)
        ready = wish.file is not None if wish.source == "file" else wish.source == "rule" or bool(wish.request.model)
        label = _("Import") if wish.source == "file" else _("Start")
        # In the run itself, not in a callback: what was typed just before the click counts.
        if st.button(
            label, key="judge-start", type="primary", icon=":material/play_arrow:", disabled=not (ready and left)
        ):
            _start(store, project, wish)


def _wish(project: Project, version: Guideline) -> FormState:
    ruled = project.kind == "generations" and version.scheme is None
    names: dict[Source, str] = {"rule": _("The pronoun rule")} if ruled else {}
    names |= {"model": _("A model on this machine"), "server": _("A server"), "file": _("A file")}
    source = choose(_("Type of judge"), names, "judge-source")
    if source == "rule":
        st.caption(_("The first pronoun of each text decides. The rule does not assess extraneous gendered language."))
        return FormState("rule", replace(_shared_wishes(), rule=True))
    if source == "file":
        return _from_file()
    if source == "model":
        model = choose_model(_("Model"), [model_entry.name for model_entry in known_models("causal")], "judge-model",
                             first="demo-en-causal")  # fmt: skip
        st.caption(
            _(
                "The model gives a probability to the letter of each choice. Built-in models show how this"
                " works; they are too small to judge."
            )
        )
        if ruled:
            st.caption(_("If the model reports a wrong pronoun or gendered language, it is asked about each word."))
        values = _prompt(project, version, short=True)
        return FormState("model", replace(_shared_wishes(), model=model, **values))
    return _server(project, version)


def _server(project: Project, version: Guideline) -> FormState:
    address, trusted = choose_server(_("Address of an OpenAI-compatible server"), "judge-server")
    model = st.text_input(_("Name of the model on the server"), key="judge-server-model").strip()
    ways: dict[Way, str] = {"json": _("a JSON object"), "letter": _("the probability of each choice")}
    way = choose(_("Answer format"), ways, "judge-way")
    values = _prompt(project, version, short=False)
    first, second, third, fourth = st.columns(4)
    samples = first.number_input(_("Answers per text"), 1, 50, 1, key="judge-samples", disabled=way == "letter")
    heat = second.number_input(_("Temperature"), 0.0, 2.0, 0.0, 0.1, key="judge-temperature", disabled=way == "letter")
    limit = third.number_input(
        _("Maximum requests per minute"), 1, 100_000, None, key="judge-per-minute", placeholder=_("no limit")
    )
    at_once = fourth.number_input(_("Parallel requests"), 1, 128, 8, key="judge-at-once")
    left, right = st.columns(2)
    price_in = left.number_input(_("Price per million input tokens"), 0.0, None, None, key="judge-price-in")
    price_out = right.number_input(_("Price per million output tokens"), 0.0, None, None, key="judge-price-out")
    request = replace(
        _shared_wishes(), model=model if address else "", server=address, way=way, **values,
        settings=ServerSettings(samples=int(samples), temperature=float(heat)),
        pace=Pace(int(at_once), float(limit) if limit else None), with_key=trusted,
    )  # fmt: skip
    return FormState("server", request, trusted, None, price_in, price_out)


def _prompt(project: Project, version: Guideline, *, short: bool) -> dict[str, Any]:
    """Ask for prompt, system message and examples, and the number and seed of known answers; return them.

    Raises Refused if the prompt lacks the placeholder for the text.
    """
    kind = "short" if short else "full"
    with st.expander(_("Prompt and system message"), icon=":material/edit:"):
        st.caption(
            _(
                "Placeholders in braces are filled with the guideline and choices of the newest version, the"
                " examples, the answer format and the text. A changed prompt makes another judge."
            )
        )
        key = f"judge-prompt-{kind}-{project.kind}" + ("-own" if version.scheme else "")
        st.session_state.setdefault(key, start_template(project, version, short=short))
        template = st.text_area(_("Prompt"), key=key, height=260)
        st.session_state.setdefault(f"judge-system-{kind}", "" if short else SYSTEM)
        system = st.text_area(_("System message"), key=f"judge-system-{kind}", height=100)
        examples = st.text_area(_("Examples (optional)"), key="judge-examples", height=100)
        left, right = st.columns(2)
        known = left.number_input(
            _("Examples from known answers"), 0, 100, 0, key="judge-known",
            help=_(
                "The same number for each choice, inserted at {examples}. The judge's labels of these items are"
                " excluded from comparisons and rates."
            ),
        )  # fmt: skip
        seed = right.number_input(_("Random seed"), 0, None, 42, key="judge-known-seed", disabled=not known)
    if "{text}" not in template:
        raise Refused(N_("The prompt needs the placeholder {place} for the text."), place="{text}")
    drawn = {"known": int(known), "known_seed": int(seed)}
    return {"template": template, "system": system, "examples": examples, **drawn}


def _shared_wishes() -> Request:
    """Ask for what every judge needs: its name, how many items, and its eps."""
    wide, middle, narrow = st.columns([2, 1, 1], vertical_alignment="bottom")
    name = wide.text_input(
        _("Name of the judge"), key="judge-name", max_chars=80, placeholder=_("generated automatically")
    )
    limit = middle.number_input(
        _("Number of items, drawn at random"), 1, None, None, key="judge-limit", placeholder=_("all")
    )
    eps = narrow.number_input(
        _("eps (alternative annotator test)"), 0.0, 1.0, None, 0.05, key="judge-eps", placeholder=_("later"),
        help=_(
            "Margin by which the judge may be worse than an annotator in the alternative annotator test: 0.2"
            " against experts, 0.15 against skilled annotators, 0.1 against crowd workers. It is recorded"
            " before the first label and cannot be changed."
        ),
    )  # fmt: skip
    return Request(name=name.strip(), limit=int(limit) if limit else None, eps=eps)


def _from_file() -> FormState:
    st.caption(_("A row per item with the columns item and label; extraneous, spans and shares are optional."))
    name = st.text_input(_("Name of the judge"), key="judge-name", max_chars=80)
    file = choose_upload(_("The judge's labels"), ["csv", "tsv", "jsonl", "json", "xlsx"], key="judge-file")
    return FormState("file", Request(name=name.strip()), file=file if name.strip() else None)


def _show_forecast(store: Store, project: Project, wish: FormState) -> bool:
    """Show what a run will take; return False if the judge has labelled everything already."""
    if wish.source == "file" or (wish.source != "rule" and not wish.request.model):
        return True
    now = (*state(store), *state_of_judges(store), repr(wish))
    result = _forecast_at(project.uid, now, store, project, wish)
    st.caption(plain(forecast_text(result, wish.source)))
    return bool(result.texts)


@st.cache_data(max_entries=50, show_spinner=False)
def _forecast_at(uid: str, now: tuple[str, ...], _store: Store, _project: Project, _wish: FormState) -> Forecast:
    """Return the forecast of a run; stored, because it reads every text and a page runs at each click."""
    return forecast(_store, _project, _wish.request, price_in=_wish.price_in, price_out=_wish.price_out)


def _show_as_sent(store: Store, project: Project, wish: FormState) -> None:
    """Show what a model is sent for the first text, with all placeholders filled in."""
    first = next(items(store, project), None)
    if first is None:
        return
    with st.expander(_("Prompt as sent (first text)"), icon=":material/visibility:"):
        prompt = prompt_for(store, project, wish.request)
        text = text_of(project, first)
        st.code("\n\n".join(message["content"] for message in prompt.messages(text)), language=None, wrap_lines=True)


def forecast_text(work_forecast: Forecast, source: Source) -> str:
    """Return in words what a run will take. No duration is given without a measurement."""
    if not work_forecast.texts:
        return _("This judge has labelled every text.")
    texts = Count(work_forecast.texts)
    if source == "rule":
        return _("{texts} {texts:text|texts}; this takes seconds.").format(texts=texts)
    parts = [_("{texts} {texts:text|texts}.").format(texts=texts)]
    text = _("About {sent} input and {answered} output tokens in {requests} {requests:request|requests}.")
    parts.append(
        text.format(
            sent=f"{work_forecast.tokens_in:,.0f}",
            answered=f"{work_forecast.tokens_out:,.0f}",
            requests=Count(work_forecast.requests),
        )
        if source == "server"
        else ""
    )
    if work_forecast.cost is not None:
        parts.append(_("At these prices: {cost}.").format(cost=f"{work_forecast.cost:,.2f}"))
    if work_forecast.seconds is None:
        parts.append(_("The duration can be estimated a few seconds after the start."))
    else:
        text = _("At the speed of this model's {labels} {labels:label|labels} so far, about {time}.")
        parts.append(text.format(labels=Count(work_forecast.measured), time=duration(work_forecast.seconds)))
    return paragraph([part for part in parts if part])


@asks("change_projects")
def _start(store: Store, project: Project, wish: FormState) -> None:
    who = {"message": N_("the pronoun rule"), "values": {}} if wish.source == "rule" else None
    title = Notice(TITLE, {"project": project.name, "judge": who or wish.request.name or wish.request.model})
    with errors_shown():
        if wish.file is not None:
            import_settings = ImportSettings(
                project=project.name, file=wish.file, name=wish.request.name, author=author(store)
            )
            start_job(store, IMPORT, import_settings, title, project=project)
            hand_over(wish.file)
            empty_place("judge-file")
        else:
            start_job(store, RUN, _settings(store, project, wish), title, project=project)


def _settings(store: Store, project: Project, wish: FormState) -> RunSettings:
    """Return the settings of the job. Raises EvenhandError where the job would fail."""
    request, how, pace = wish.request, wish.request.settings, wish.request.pace
    shared = RunSettings(
        project=project.name, name=request.name, limit=request.limit, eps=request.eps, author=author(store)
    )
    if wish.source == "rule":
        return replace(shared, rule=True)
    if wish.source == "model":
        check_models([request.model], fetch=False)
    else:
        check_address(request.server)

    def upload(name: str, text: str | None) -> Path | None:
        return jobs.keep_upload(store, f"{name}.txt", text.encode()) if text is not None else None

    return replace(
        shared, model=request.model, server=request.server, prompt=upload("prompt", request.template or None),
        system=upload("system", request.system or ""), examples=upload("examples", request.examples or None),
        known=request.known, known_seed=request.known_seed, log_probabilities=request.way == "letter",
        samples=how.samples, temperature=how.temperature, at_once=pace.at_once, per_minute=pace.per_minute,
        no_key=wish.source == "server" and not wish.trusted,
    )  # fmt: skip
