"""Which model the page Tune changes, with which texts, how, what that takes, and the start of the job."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.project_texts import PROJECT
from evenhand.annotations.types import Project
from evenhand.core.errors import EvenhandError
from evenhand.core.files.bounded import run_bounded
from evenhand.core.models.tuning.settings import BERT_DROPOUT, Tuning
from evenhand.core.swap.word_tables import read_word_pairs
from evenhand.core.tune.estimate import memory_of
from evenhand.pages.ui.choose import choose, choose_model, choose_project, every_model, switch
from evenhand.pages.ui.corpus import folder_source
from evenhand.pages.ui.head import show_error
from evenhand.pages.ui.language import _, language
from evenhand.pages.ui.numbers import size
from evenhand.pages.ui.runs import CommandRequest, RunPage, show_start_form
from evenhand.pages.ui.text import plain
from evenhand.pages.ui.uploads import choose_upload

TUNES = RunPage("tunes", "tune")
PLACE = "tune-file-0"
ENDINGS = ["txt", "csv", "tsv", "jsonl", "gz"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model and texts; `argument` as the command takes them, `label` as people call them."""

    model: str
    argument: str
    label: str
    project: Project | None = None
    upload: bool = False


@dataclass(frozen=True, slots=True)
class How:
    """The options of the command, files that go with the job, and the numbers of training (None: no training)."""

    options: tuple[str, ...]
    uploads: tuple[Path, ...]
    tuning: Tuning | None


def choose_model_and_texts(store: Store) -> Chosen | None:
    """The choice of the model and of the texts; None where one is missing."""
    names = [entry.name for entry in every_model()]
    model = choose_model(_("Model"), names, "tune-model", first="demo-zh" if language() == "zh" else "demo-en")
    kinds = {"file": _("A file"), "project": _("A project"), "folder": _("Folder on the server")}
    kind = choose(_("Texts"), kinds, "tune-source")
    if kind == "project":
        found = choose_project(store, kind="sentences")
        if found is None or not model:
            return None
        return Chosen(model, f"{PROJECT}{found.name}", found.name, found)
    if kind == "folder":
        source = folder_source("tune")
        return Chosen(model, source.paths[0], source.name) if source and model else None
    help = _(
        "One text per line, or a table with a text column. The accepted sentences of a project are short;"
        " running text is better."
    )
    try:
        path = choose_upload(_("Text file"), ENDINGS, key=PLACE, help=help)
    except EvenhandError as error:
        show_error(error)
        return None
    return Chosen(model, str(path), path.name, upload=True) if path and model else None


def choose_how(chosen: Chosen | None) -> How | None:
    """The method and its numbers. None where a table of words cannot be read."""
    methods = {"training": _("Continue training"), "sentence-debias": "SentenceDebias", "inlp": "INLP"}
    helps = _("Training changes the weights; SentenceDebias and INLP project out a direction before the model's head.")
    method = choose(_("Method"), methods, "tune-method", explained=helps)
    swaps = {
        "cda": _("CDA: texts and their counterfactuals"), "cds": _("CDS: one of the two, at random"),
        "swap": _("counterfactuals only"), "none": _("unswapped: the placebo"),
    }  # fmt: skip
    options = ["--method", method]
    if method == "training":
        swap = choose(_("What is trained on"), swaps, "tune-swap", explained=_(
            "The placebo takes as many steps on the same texts, unswapped: only what exceeds it is an effect of the"
                " swap."
        ))  # fmt: skip
        options += ["--swap", swap]
    try:
        words, uploads = _words()
    except EvenhandError as error:
        show_error(error)
        return None
    options += words
    if method != "training":
        return How(tuple(options), uploads, None)
    tuning = _numbers()
    for name in ("steps", "batch", "length", "rate", "seed", "every", "patience", "lora"):
        options += [f"--{name}", f"{getattr(tuning, name):g}"]
    if tuning.dropout is not None:
        options += ["--dropout", *(f"{share:g}" for share in tuning.dropout)]
    return How(tuple(options), uploads, tuning)


def _words() -> tuple[list[str], tuple[Path, ...]]:
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        code = choose(
            _("Language of the texts"), {"zh": _("Chinese"), "en": _("English")}, "tune-language", first=language()
        )
    options, uploads = ["--language", code], []
    with right, st.popover(_("Words and names"), icon=":material/tune:", type="tertiary"):
        if code == "zh":
            kinds = {"released": _("the 19 released pairs"), "wide": _("more pairs")}
            options += ["--pairs", choose(_("Keyword pairs"), kinds, "tune-pairs")]
        for option, label in (("--words", _("Your own pairs")), ("--names", _("Names"))):
            if (path := choose_upload(label, ["tsv", "txt"], key=f"tune{option}")) is not None:
                run_bounded(read_word_pairs, path, code, file=path.name)
                options += [option, str(path)]
                uploads.append(path)
        left_out = st.text_input(
            _("Pairs left out"), key="tune-left-out", placeholder="男孩/女孩",
            help=_("These are not swapped, so that the model can be tested on pairs that it was not trained on."),
        )  # fmt: skip
        for pair in left_out.replace("，", " ").replace(",", " ").split():
            options += ["--leave-out", pair]
    return options, tuple(uploads)


def _numbers() -> Tuning:
    columns = st.columns(4)
    steps = columns[0].number_input(_("Steps"), 1, 1_000_000, 300, key="tune-steps")
    batch = columns[1].number_input(_("Texts per step"), 1, 1024, 16, key="tune-batch")
    rate = columns[2].number_input(
        _("Learning rate"), 1e-7, 1.0, 1e-4, key="tune-rate", format="%.1e",
        help=_("1e-4 to 5e-4 for small models, 1e-5 to 5e-5 for full-size models."),
    )  # fmt: skip
    seed = columns[3].number_input(_("Seed"), 0, 2**31, 0, key="tune-seed")
    with st.popover(_("More"), icon=":material/tune:", type="tertiary"):
        length = st.number_input(_("Maximum tokens per text"), 8, 4096, 128, key="tune-length")
        lora = st.number_input(_("Rank of LoRA adapters (0: all weights)"), 0, 256, 0, key="tune-lora")
        every = st.number_input(_("Steps between checks on held-out text"), 1, 100_000, 50, key="tune-every")
        patience = st.number_input(
            _("Stop after this many checks without progress (0: never)"), 0, 100, 3, key="tune-patience"
        )
        drop = switch(
            _("Dropout {hidden} and {attention}").format(hidden=BERT_DROPOUT[0], attention=BERT_DROPOUT[1]),
            key="tune-dropout", box=True, explained=_("As published for BERT (Webster et al. 2020)."),
        )  # fmt: skip
    return Tuning(
        int(steps), int(batch), int(length), float(rate), seed=int(seed), lora=int(lora), every=int(every),
        patience=int(patience), dropout=BERT_DROPOUT if drop else None,
    )  # fmt: skip


def show_start(store: Store, chosen: Chosen | None, how: How | None) -> None:
    """The name of the run, the memory it will take, and the button."""
    request = None
    if chosen is None:
        st.caption(_("Choose a model and texts."))
    elif how is not None:
        _show_memory(chosen.model, how)
        title = _("Tune {model} with {texts}").format(model=chosen.model, texts=chosen.label)
        rest = ["--project-uid", chosen.project.uid] if chosen.project else []
        uploads = (*how.uploads, *([Path(chosen.argument)] if chosen.upload else []))
        request = CommandRequest(
            title, (), how.options, rest=[*rest, "--", chosen.model, chosen.argument], uploads=uploads,
            place=PLACE if chosen.upload else "", project=chosen.project,
        )  # fmt: skip
    show_start_form(store, TUNES, f"{chosen.model.rsplit('/', 1)[-1]}" if chosen else "tune", request)


def _show_memory(model: str, how: How) -> None:
    if how.tuning is None:
        return
    memory = memory_of(model, how.tuning)
    if memory is None:
        st.caption(_("The memory needed is known once the model is on this machine."))
        return
    text = _("Memory needed: about {needed}, of which activations {activations}; {available} free.")
    values = {"needed": memory.total, "activations": memory.activations, "available": memory.available}
    said = plain(text.format(**{name: size(number) for name, number in values.items()}))
    if memory.total > memory.available:
        st.warning(said)
    else:
        st.caption(said)
