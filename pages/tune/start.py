"""Which model the page Tune changes, with which texts, how, what that takes, and the start of the job."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from evenhand.annotations.before_after.runs import TUNE
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.scoring_input import PROJECT
from evenhand.annotations.types import Project
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.models.tuning.settings import BERT_DROPOUT, memory_of
from evenhand.core.swap.word_tables import read_word_pairs
from evenhand.core.tune.settings import Method, Settings
from evenhand.core.tune.texts import Swap
from evenhand.pages.ui.choose import choose, choose_model, choose_project, every_model, switch
from evenhand.pages.ui.numbers import size
from evenhand.pages.ui.runs import RunPage, RunRequest, show_start_form
from evenhand.pages.ui.text import _, language, plain
from evenhand.pages.ui.uploads import choose_upload, folder_source
from evenhand.pages.ui.visitor import errors_shown

TUNES = RunPage("tunes", "tune")
PLACE = "tune-file-0"
ENDINGS = ["txt", "csv", "tsv", "jsonl", "gz"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model and texts; `texts` as the command takes them, `label` as people call them."""

    model: str
    texts: str
    label: str
    project: Project | None = None
    upload: bool = False


def choose_model_and_texts(store: Store) -> Chosen | None:
    """Ask for the model and the texts; None where one is missing."""
    names = [entry.name for entry in every_model()]
    model = choose_model(_("Model"), names, "tune-model", first="demo-zh" if language() == "zh" else "demo-en")
    kinds = {"file": _("A file"), "project": _("A project"), "folder": _("Folder on the server")}
    kind = choose(_("Texts"), kinds, "tune-source")
    if kind == "project":
        project = choose_project(store, kind="sentences")
        if project is None or not model:
            return None
        return Chosen(model, f"{PROJECT}{project.name}", project.name, project)
    if kind == "folder":
        source = folder_source("tune")
        return Chosen(model, source.paths[0], source.name) if source and model else None
    help = _(
        "One text per line, or a table with a text column. The accepted sentences of a project are short;"
        " running text is better."
    )
    path = None
    with errors_shown():
        path = choose_upload(_("Text file"), ENDINGS, key=PLACE, help=help)
    return Chosen(model, str(path), path.name, upload=True) if path and model else None


def choose_how(chosen: Chosen | None) -> Settings | None:
    """Return the method and its numbers. None without a model or texts, or where a table of words cannot be read."""
    methods: dict[Method, str] = {
        "training": _("Continue training"), "sentence-debias": "SentenceDebias", "inlp": "INLP",
    }  # fmt: skip
    helps = _("Training changes the weights; SentenceDebias and INLP project out a direction before the model's head.")
    method = choose(_("Method"), methods, "tune-method", explained=helps)
    swap: Swap = "none"
    if method == "training":
        swaps: dict[Swap, str] = {
            "cda": _("CDA: texts and their counterfactuals"), "cds": _("CDS: one of the two, at random"),
            "swap": _("counterfactuals only"), "none": _("unswapped: the placebo"),
        }  # fmt: skip
        swap = choose(_("Training data"), swaps, "tune-swap", explained=_(
            "The placebo is trained for as many steps on the same texts, unswapped. Only the change beyond"
            " the placebo is an effect of the swap."
        ))  # fmt: skip
    words = None
    with errors_shown():
        words = _words()
    numbers = _numbers() if method == "training" else {}
    if chosen is None or words is None:
        return None
    uid = chosen.project.uid if chosen.project else None
    return Settings(model=chosen.model, texts=chosen.texts, method=method, swap=swap, uid=uid, **words, **numbers)


def _words() -> dict[str, Any]:
    """Return the settings that say which words are swapped. Raises EvenhandError for a table that cannot be read."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        code = choose(
            _("Language of the texts"), {"zh": _("Chinese"), "en": _("English")}, "tune-language", first=language()
        )
    words: dict[str, Any] = {"language": code}
    with right, st.popover(_("Words and names"), icon=":material/tune:", type="tertiary"):
        if code == "zh":
            kinds = {"released": _("the 19 released pairs"), "wide": _("more pairs")}
            words["pairs"] = choose(_("Keyword pairs"), kinds, "tune-pairs")
        for name, key, label in (("own", "words", _("Your own pairs")), ("names", "names", _("Names"))):
            if (path := choose_upload(label, ["tsv", "txt"], key=f"tune--{key}")) is not None:
                run_bounded(read_word_pairs, path, code, file=path.name)
                words[name] = path
        left_out = st.text_input(
            _("Held-out pairs"), key="tune-left-out", placeholder="男孩/女孩",
            help=_(
                "These pairs are not swapped, so that the model can be tested on pairs it was not trained"
                " on."),
        )  # fmt: skip
        words["leave_out"] = tuple(left_out.replace("，", " ").replace(",", " ").split())
    return words


def _numbers() -> dict[str, Any]:
    """Return the settings of training."""
    columns = st.columns(4)
    steps = columns[0].number_input(_("Steps"), 1, 1_000_000, 300, key="tune-steps")
    batch = columns[1].number_input(_("Batch size"), 1, 1024, 16, key="tune-batch")
    rate = columns[2].number_input(
        _("Learning rate"), 1e-7, 1.0, 1e-4, key="tune-rate", format="%.1e",
        help=_("1e-4 to 5e-4 for small models, 1e-5 to 5e-5 for full-size models."),
    )  # fmt: skip
    seed = columns[3].number_input(_("Seed"), 0, 2**31, 0, key="tune-seed")
    with st.popover(_("More"), icon=":material/tune:", type="tertiary"):
        length = st.number_input(_("Maximum tokens per text"), 8, 4096, 128, key="tune-length")
        lora = st.number_input(_("LoRA rank (0 = all weights)"), 0, 256, 0, key="tune-lora")
        every = st.number_input(_("Evaluation interval (steps)"), 1, 100_000, 50, key="tune-every")
        patience = st.number_input(_("Early-stopping patience (0 = off)"), 0, 100, 3, key="tune-patience")
        drop = switch(
            _("Dropout {hidden} and {attention}").format(hidden=BERT_DROPOUT[0], attention=BERT_DROPOUT[1]),
            key="tune-dropout", box=True, explained=_("As published for BERT (Webster et al. 2020)."),
        )  # fmt: skip
    return {
        "steps": int(steps), "batch": int(batch), "length": int(length), "rate": float(rate), "seed": int(seed),
        "lora": int(lora), "every": int(every), "patience": int(patience), "dropout": BERT_DROPOUT if drop else None,
    }  # fmt: skip


def show_start(store: Store, chosen: Chosen | None, settings: Settings | None) -> None:
    """Show the name of the run, the memory it will take, and the button."""
    request = None
    if chosen is None:
        st.caption(_("Choose a model and texts."))
    elif settings is not None:
        _show_memory(settings)
        title = _("Tune {model} with {texts}").format(model=chosen.model, texts=chosen.label)
        texts = [Path(chosen.texts)] if chosen.upload else []
        uploads = [path for path in (settings.own, settings.names, *texts) if path is not None]
        request = RunRequest(
            title, TUNE, settings, uploads=uploads, place=PLACE if chosen.upload else "", project=chosen.project
        )
    show_start_form(store, TUNES, f"{chosen.model.rsplit('/', 1)[-1]}" if chosen else "tune", request)


def _show_memory(settings: Settings) -> None:
    if settings.method != "training":
        return
    memory = memory_of(settings.model, settings.tuning)
    if memory is None:
        st.caption(_("The memory needed can be estimated once the model is on this machine."))
        return
    text = _("Memory needed: about {needed}, of which activations {activations}; {available} free.")
    values = {"needed": memory.total, "activations": memory.activations, "available": memory.available}
    said = plain(text.format(**{name: size(number) for name, number in values.items()}))
    (st.warning if memory.total > memory.available else st.caption)(said)
