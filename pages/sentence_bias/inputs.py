"""The inputs of the page Try: a sentence, models, two words; kept in the address so that a link reopens the view."""

import re
import time
from urllib.parse import urlencode, urlsplit

import streamlit as st

from core.models import Joint
from core.resources import table
from core.sentence_bias import Unit
from core.worker.client import known_models
from pages.sentence_bias.ask_models import Question
from pages.ui.choose import may_load_models, models_offered, models_to_use
from pages.ui.language import _

VIEWS = ("sentence", "words", "gallery")
FIRST_MODELS = ("demo-zh", "random-zh")  # the second is the reference for the first
ADDRESS = ("text", "model", "options", "joint", "view", "template", "words")  # what a link holds, by key of widget
SEVERAL = ("model",)
MOST_MODELS = 6
JOINTS: tuple[Joint, ...] = ("independent", "sequential", "geometric_mean")
LATE = 5.0  # seconds
BETWEEN = re.compile(r"[\s,，、/;；|]+")


def start_values() -> dict[str, object]:
    """What the widgets hold on a first visit without an address."""
    here = [entry.name for entry in known_models() if entry.builtin and entry.available]
    models = [name for name in FIRST_MODELS if name in here] or here[:1]
    gallery, lists = table("gallery")[0], table("word_lists")[0]
    return {
        "text": gallery["text"],
        "model": models,
        "options": gallery["options"],
        "joint": JOINTS[0],
        "view": VIEWS[0],
        "template": lists["template"],
        "words": lists["words"],
    }


def take_address() -> None:
    """Fill the widgets from the address where it is not what this page wrote itself."""
    start: dict[str, object] = {}
    for key in ADDRESS:
        asked = [value for value in st.query_params.get_all(key) if value]
        if asked and not _own(key, asked):
            st.session_state[key] = _allowed(key, asked)
        elif key not in st.session_state:
            start = start or start_values()
            # Two typed words belong to the sentence they came with, never to the one of a link.
            st.session_state[key] = "" if key == "options" and st.query_params.get("text") else start[key]


def _own(key: str, values: list[str]) -> bool:
    """Whether this page wrote *values*: now, or so lately that the browser may not have heard of the newer ones."""
    now, before, since = st.session_state.get(f"address-{key}", ([], [], 0.0))
    return bool(values == now or (values == before and time.monotonic() - since < LATE))


def _allowed(key: str, asked: list[str]) -> object:
    if key in SEVERAL:
        return list(dict.fromkeys(asked))[:MOST_MODELS]
    choices: tuple[str, ...] = {"view": VIEWS, "joint": JOINTS}.get(key, ())
    return asked[0] if not choices or asked[0] in choices else choices[0]


def write_address() -> None:
    """Put what the widgets hold into the address; only what this view needs."""
    wanted = address()
    for key in ADDRESS:
        values = wanted.get(key, [])
        if values:
            st.query_params[key] = values
        elif key in st.query_params:
            del st.query_params[key]
        now = st.session_state.get(f"address-{key}", ([], [], 0.0))[0]
        if values != now:
            st.session_state[f"address-{key}"] = (values, now, time.monotonic())


def address() -> dict[str, list[str]]:
    """The parts of the address that reopen this view."""
    view = st.session_state.get("view") or VIEWS[0]
    own = {"sentence": ("text", "model", "options"), "words": ("template", "words", "model", "options")}
    wanted: dict[str, list[str]] = {}
    for key in own.get(view, ()):
        value = st.session_state.get(key) or ""
        wanted[key] = list(value) if key in SEVERAL else [str(value)] if value else []
    if st.session_state.get("joint", JOINTS[0]) != JOINTS[0]:
        wanted["joint"] = [st.session_state["joint"]]
    if view != VIEWS[0]:
        wanted["view"] = [view]
    return {key: values for key, values in wanted.items() if values}


def link() -> str:
    """The whole address of this view, to send to somebody."""
    here = urlsplit(st.context.url or "")
    base = f"{here.scheme}://{here.netloc}{here.path}" if here.netloc else "/sentence-bias"
    return f"{base}?{urlencode(address(), doseq=True)}"


def two_words(typed: str) -> tuple[str, str] | None:
    """The two words of the field, None where it is empty; a single word comes with an empty second one."""
    parts = [part for part in BETWEEN.split(typed.strip()) if part]
    if not parts:
        return None
    return parts[0], " ".join(parts[1:])


def ask() -> tuple[str, list[str], Question]:
    """Draw the inputs; returns the view, the models and the question."""
    take_address()
    views = {"sentence": _("One sentence"), "words": _("Compare words"), "gallery": _("Gallery")}
    st.segmented_control(
        _("View"), VIEWS, format_func=views.__getitem__, key="view", required=True, label_visibility="collapsed"
    )
    view = st.session_state["view"]
    if view == "sentence":
        st.text_input(
            _("Sentence"),
            key="text",
            max_chars=600,
            persist_state="session",
            help=_("With one keyword of a pair (他, 女孩, 爸爸 …), or with \\[MASK\\] and two words beside it."),
        )
    elif view == "words":
        st.text_input(
            _("Sentence with a place for the words, written as two underscores"),
            key="template",
            max_chars=600,
            persist_state="session",
        )
        st.text_input(_("Words to compare"), key="words", max_chars=600, persist_state="session")
    if view != "gallery":
        _model_inputs()
    question = Question(
        st.session_state["text"], two_words(st.session_state["options"]), st.session_state.get("joint", JOINTS[0])
    )
    write_address()
    return view, models_to_use(st.session_state["model"]), question


def _model_inputs() -> None:
    names, any_model = models_offered([entry.name for entry in known_models()]), may_load_models()
    if not any_model:  # the address may have named others
        st.session_state["model"] = models_to_use(st.session_state["model"])
    wide, narrow = st.columns([3, 2])
    wide.multiselect(
        _("Models"),
        names + [name for name in st.session_state["model"] if name not in names],
        key="model",
        max_selections=MOST_MODELS,
        accept_new_options=any_model,
        persist_state="session",
        placeholder=_("Choose, or type a name on the Hugging Face hub or a folder"),
    )
    narrow.text_input(
        _("Two words (only if needed)"),
        key="options",
        max_chars=80,
        persist_state="session",
        placeholder="他 她",
        help=_("For \\[MASK\\], or to say which keyword is meant where several stand there; male word first."),
    )


def settings() -> Unit:
    """How the numbers are made, in a small menu: tokens of longer words, and what is hidden in turn."""
    joints = {
        "independent": _("all characters at once (product)"),
        "sequential": _("from left to right (product)"),
        "geometric_mean": _("all at once (geometric mean)"),
    }
    units: dict[Unit, str] = {"word": _("word by word"), "character": _("character by character")}
    with st.popover(_("Method"), icon=":material/tune:", type="tertiary"):
        st.radio(
            _("Words of two characters"), JOINTS, format_func=joints.__getitem__, key="joint", persist_state="session"
        )
        return st.radio(_("Hide, to see what pushes"), list(units), format_func=units.__getitem__, key="unit")
