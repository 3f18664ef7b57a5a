"""The inputs of the page Try, kept in the address so that a link reopens the view; and what the models are asked.

Answers come through the worker, remembered per text, model, words and method.
"""

import re
import time
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

import streamlit as st

from evenhand.core.errors import EvenhandError, WorkerDied
from evenhand.core.files.sandbox import run_bounded
from evenhand.core.models import Joint
from evenhand.core.resources import table
from evenhand.core.sentence_bias import compare_words as comparing
from evenhand.core.sentence_bias import model_answer as readings
from evenhand.core.sentence_bias import slot as slots
from evenhand.core.sentence_bias.compare_words import Unit
from evenhand.core.sentence_bias.find_words import language_of
from evenhand.core.sentence_bias.keyword_packs import EXAMPLES, PackWord, words_in
from evenhand.core.sentence_bias.slot import Slot
from evenhand.core.worker import client
from evenhand.core.worker.client import known_models
from evenhand.pages.ui.choose import (
    AUTO,
    ENDINGS,
    choose_language,
    chosen_language,
    every_model,
    first_models,
    language_name,
    may_load_models,
    models_offered,
    models_to_use,
    say_what_a_table_is,
    say_what_does_not_fit,
    say_what_was_read,
)
from evenhand.pages.ui.text import _, caption, language, literal, paragraph, plain
from evenhand.pages.ui.uploads import read_upload
from evenhand.pages.ui.visitor import errors_shown


@dataclass(frozen=True, slots=True)
class Question:
    """A question to every model: the sentence, the two words where they were typed, and how tokens are joined.

    `language`: that of the sentence, None where it is to be recognised; `own`: the visitor's own keywords.
    """

    text: str
    options: tuple[str, str] | None
    joint: Joint
    language: str | None = None
    own: tuple[PackWord, ...] = ()

    def signed(self) -> str:
        """Return a string that tells this question from every other, for keys of widgets."""
        return f"{self.text}\0{self.options}\0{self.joint}\0{self.language}\0{hash(self.own)}"

    def slot(self, text: str | None = None) -> slots.Slot:
        """Return the slot of the sentence, or of another *text* that is asked in the same way. Raises Refused."""
        return slots.find_slot(text or self.text, self.options, language=self.language, own=self.own)


@dataclass(frozen=True, slots=True)
class Answer:
    """One model's answer: a reading, or the error why there is none."""

    model: str
    reading: readings.ModelAnswer | None
    error: EvenhandError | None = None

    @property
    def died(self) -> bool:
        """True if the inference process ended; the next question starts it again."""
        return isinstance(self.error, WorkerDied)


def scorer(model: str, joint: Joint) -> client.RemoteScorer:
    """Return the model in the inference process that all visitors share."""
    return client.RemoteScorer(client.shared(), model, joint=joint)


@st.cache_data(max_entries=200, ttl=3600, show_spinner=False)
def prior_of(model: str, entry: PackWord | None, joint: Joint) -> readings.Prior:
    """Return the lean of a word pair itself in one model."""
    return readings.prior(entry, scorer(model, joint))


@st.cache_data(max_entries=500, ttl=3600, show_spinner=False)
def reading_of(model: str, question: Question) -> readings.ModelAnswer:
    """Return one model's reading of one sentence."""
    lean = prior_of(model, question.slot().entry, question.joint)
    return readings.read(
        question.text, scorer(model, question.joint), options=question.options, known_prior=lean,
        language=question.language, own=question.own,
    )  # fmt: skip


@st.cache_data(max_entries=500, ttl=3600, show_spinner=False)
def pushes_of(model: str, question: Question, unit: comparing.Unit) -> list[comparing.Push]:
    """Return how each word of one sentence pushes one model, to which side and how far."""
    return comparing.pushes(question.slot(), scorer(model, question.joint), unit=unit)


@st.cache_data(max_entries=100, ttl=3600, show_spinner=False)
def compared(model: str, template: str, words: tuple[str, ...], question: Question) -> list[comparing.WordReading]:
    """Return each of *words* in the place of *template*, by one model; of the *question* everything but its
    sentence."""
    return comparing.compare_words(
        template,
        words,
        {model: scorer(model, question.joint)},
        options=question.options,
        language=question.language,
        own=question.own,
    )


def answers(models: list[str], question: Question) -> list[Answer]:
    """Return every model's answer, in order; a model that cannot answer says why and does not stop the others."""
    result = []
    for model in models:
        try:
            result.append(Answer(model, reading_of(model, question)))
        except EvenhandError as error:
            result.append(Answer(model, None, error))
    return result


VIEWS = ("sentence", "words", "gallery")
ADDRESS = ("text", "model", "options", "written", "joint", "view", "template", "words")  # a link's, by key of widget
SEVERAL = ("model",)
MOST_MODELS = 6
JOINTS: tuple[Joint, ...] = ("independent", "sequential", "geometric_mean")
LATE = 5.0  # seconds
CODE = re.compile(r"[a-z]{2,4}")
PLACEHOLDERS = {"zh": "他 她", "en": "he she"}
BETWEEN = re.compile(r"[\s,，、/;；|]+")


def start_values() -> dict[str, object]:
    """Return the values of the widgets on a first visit without an address, in the visitor's language.

    If the address has a sentence, the models fit its language.
    """
    text = st.query_params.get("text") or st.query_params.get("template")
    written = language() if not text else language_of(text)
    here = [entry.name for entry in known_models() if entry.builtin and entry.available]
    gallery, lists = (
        next(row for row in table(name) if row["language"] == language()) for name in ("gallery", "word_lists")
    )
    return {
        "text": gallery["text"],
        "model": first_models(written) or here[:1],
        "options": gallery["options"],
        "written": AUTO,
        "joint": JOINTS[0],
        "view": VIEWS[0],
        "template": lists["template"],
        "words": lists["words"],
    }


def read_as(slot: Slot, models: list[str]) -> None:
    """Show in which language the sentence was read; warn of built-in models that have read another language only."""
    name = language_name(slot.language)
    said = [_("Read as {language}.", language=name)]
    if (other := slot.counterpart_sentence) is not None:
        said.append(_("With the other word: {sentence}", sentence=other))
    literal(paragraph(said), size=14)
    say_what_does_not_fit(models, slot.language, "model")


def _own(key: str, values: list[str]) -> bool:
    """Return whether this page wrote *values*: now, or so recently that the browser may not know the newer ones yet."""
    now, before, since = st.session_state.get(f"address-{key}", ([], [], 0.0))
    return bool(values == now or (values == before and time.monotonic() - since < LATE))


def _allowed(key: str, asked: list[str]) -> object:
    if key in SEVERAL:
        return list(dict.fromkeys(asked))[:MOST_MODELS]
    choices: tuple[str, ...] = {"view": VIEWS, "joint": JOINTS}.get(key, ())
    if key == "written" and not CODE.fullmatch(asked[0]):
        return AUTO
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
    """Return the parts of the address that reopen this view."""
    view = st.session_state.get("view") or VIEWS[0]
    own = {"sentence": ("text", "model", "options"), "words": ("template", "words", "model", "options")}
    written = str(st.session_state.get("written") or AUTO)
    wanted: dict[str, list[str]] = {}
    for key in own.get(view, ()):
        value = st.session_state.get(key) or ""
        wanted[key] = list(value) if key in SEVERAL else [str(value)] if value else []
    if written != AUTO:
        wanted["written"] = [written]
    if st.session_state.get("joint", JOINTS[0]) != JOINTS[0]:
        wanted["joint"] = [st.session_state["joint"]]
    if view != VIEWS[0]:
        wanted["view"] = [view]
    return {key: values for key, values in wanted.items() if values}


def link() -> str:
    """Return the whole address of this view, with the language, for sharing."""
    here = urlsplit(st.context.url or "")
    base = f"{here.scheme}://{here.netloc}{here.path}" if here.netloc else "/sentence-bias"
    return f"{base}?{urlencode({'lang': language()} | address(), doseq=True)}"


def two_words(typed: str) -> tuple[str, str] | None:
    """Return the two words of the field, None where it is empty; a single word comes with an empty second one."""
    parts = [part for part in BETWEEN.split(typed.strip()) if part]
    if not parts:
        return None
    return parts[0], " ".join(parts[1:])


def read_address() -> None:
    """Put what the address says, and what a first visit begins with, into the keys of the widgets."""
    start: dict[str, object] = {}
    for key in ADDRESS:
        values = [value for value in st.query_params.get_all(key) if value]
        if values and not _own(key, values):
            st.session_state[key] = _allowed(key, values)
        elif key not in st.session_state:
            start = start or start_values()
            # Two typed words belong to the sentence they came with, never to the one of a link.
            st.session_state[key] = "" if key == "options" and st.query_params.get("text") else start[key]


def asked_question(own: tuple[PackWord, ...] = ()) -> Question:
    """Return the question that the widgets hold."""
    return Question(
        st.session_state["text"],
        two_words(st.session_state["options"]),
        st.session_state.get("joint", JOINTS[0]),
        chosen_language("written"),
        own,
    )


def ask() -> tuple[str, list[str], Question]:
    """Draw the inputs; returns the view, the models and the question."""
    read_address()
    views = {"sentence": _("One sentence"), "words": _("Compare words"), "gallery": _("Examples")}
    st.segmented_control(
        _("View"), VIEWS, format_func=views.__getitem__, key="view", required=True, label_visibility="collapsed"
    )
    view = st.session_state["view"]
    if view == "sentence":
        text = _("Use one word of a pair ({examples} …), or write [MASK] and enter two words next to it.")
        help = plain(text.format(examples=EXAMPLES[language()]))
        st.text_input(_("Sentence"), key="text", max_chars=600, persist_state="session", help=help)
    elif view == "words":
        label = _("Sentence with two underscores where the words go")
        st.text_input(label, key="template", max_chars=600, persist_state="session")
        st.text_input(_("Words to compare"), key="words", max_chars=600, persist_state="session")
    own: tuple[PackWord, ...] = ()
    if view != "gallery":
        _model_inputs()
        own = _languages()
    question = asked_question(own)
    write_address()
    return view, models_to_use(st.session_state["model"]), question


def _model_inputs() -> None:
    names, any_model = models_offered([entry.name for entry in every_model()]), may_load_models()
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
        placeholder=_("Choose, or type a name on the Hugging Face Hub or a folder"),
    )
    narrow.text_input(
        _("Two words (if needed)"),
        key="options",
        max_chars=80,
        persist_state="session",
        placeholder=PLACEHOLDERS[language()],
        help=_(
            "For \\[MASK\\], or to choose one of several keywords. Two words that do not form a pair"
            " are compared as entered."
        ),
    )


def _languages() -> tuple[PackWord, ...]:
    """Ask for the language of the sentence and a table of own keywords; return the keywords."""
    with st.container(horizontal=True, vertical_alignment="center"):
        place = st.container(width="content")
        with st.popover(_("Your own words"), icon=":material/library_add:", type="tertiary"):
            own = _own_words()
        with place:
            choose_language("written", own)
    return own


def _own_words() -> tuple[PackWord, ...]:
    say_what_a_table_is()
    own: tuple[PackWord, ...] = ()
    with errors_shown():
        if (file := read_upload(_("Table of words"), ENDINGS, key="own-words")) is not None:
            name, content = file
            own = run_bounded(words_in, content, name, chosen_language("written"), file=name)
            say_what_was_read(own, name)
    return own


def settings() -> Unit:
    """Show a small menu of how the numbers are made, and return the unit that is hidden in turn."""
    joints = {
        "independent": _("all characters at once (product)"),
        "sequential": _("from left to right (product)"),
        "geometric_mean": _("all characters at once (geometric mean)"),
    }
    units: dict[Unit, str] = {"word": _("word by word"), "character": _("character by character")}
    with st.popover(_("Method"), icon=":material/tune:", type="tertiary"):
        caption(
            "Solid bar: ratio of the two probabilities. Hollow dot: the same minus the pair baseline"
            " in neutral contexts. Shaded: one word less than twice as likely as the other."
        )
        st.radio(_("Two-character words"), JOINTS, format_func=joints.__getitem__, key="joint", persist_state="session")
        return st.radio(_("Mask each in turn"), list(units), format_func=units.__getitem__, key="unit")
