"""One HTML file with what models say of chosen sentences: it works from a folder, fetches nothing and asks no model.

Its one script shows the sentences as slides (presenter.py); the policy of the page names it by its hash.

Source of the numbers: `core.sentence_bias` (docs/methods.md#bias-of-a-sentence), asked once when the page is made.
Direction: positive leans to the male word and lies to the right. Both languages are in the file; every text in it is
escaped.
"""

import base64
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from evenhand.core.charts.palette import css_variables
from evenhand.core.demo_page.presenter import as_script, boot, script, show_data, slide, style, swap_in
from evenhand.core.errors import N_, BadFile, EvenhandError, Refused
from evenhand.core.language import LANGUAGES, Language, explain, significant, translate
from evenhand.core.resources import table
from evenhand.core.sentence_bias.bias import odds
from evenhand.core.sentence_bias.compare_words import pushes
from evenhand.core.sentence_bias.model_answer import ModelAnswer, read
from evenhand.core.sentence_bias.slot import find_slot
from evenhand.core.types import Scorer
from evenhand.core.version import VERSION

TEMPLATES = Path(__file__).parent / "templates"
MODELS = {"zh": ("demo-zh", "random-zh"), "en": ("demo-en",)}  # built in; of each language
FURTHEST = 3.0  # log10 at which the number line ends; a stronger lean is drawn at its end
SHOWN = 6  # of the likeliest tokens
MOST = 200  # sentences, so that the file stays small enough to be sent


@dataclass(frozen=True, slots=True)
class Chosen:
    """A sentence of the page. `options`: the two words that compete for [MASK], male first; None: its keyword says."""

    language: str
    text: str
    options: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one model to one sentence: its reading, the push of each word, or the reason for neither.

    `swapped`: the reading of the sentence with another word, for the slides.
    """

    model: str
    reading: ModelAnswer | None
    pushes: tuple[tuple[str, float | None], ...] = ()
    reason: EvenhandError | None = None
    swapped: ModelAnswer | None = None


def chosen_sentences(rows: Sequence[Mapping[str, str]] | None = None) -> tuple[Chosen, ...]:
    """Return the sentences of a table with `language`, `text` and `options`; of the built-in one without *rows*.

    Raises BadFile for a row that cannot be asked, with its number.
    """
    result = []
    for number, row in enumerate(table("demo_page") if rows is None else rows, 1):
        words = (row.get("options") or "").split()
        if len(words) not in (0, 2) or not row.get("text", "").strip():
            message = N_("Row {row}: a sentence needs a text, and two options or none.")
            raise BadFile(message, row=number)
        one = Chosen(row.get("language") or "zh", row["text"].strip(), (words[0], words[1]) if words else None)
        try:
            find_slot(one.text, one.options)
        except Refused as error:
            raise BadFile(N_("Row {row}: {why}"), row=number, why=str(error)) from error
        result.append(one)
    if not 0 < len(result) <= MOST:
        raise BadFile(N_("The page takes 1 to {most} sentences; {found} were given."), most=MOST, found=len(result))
    return tuple(result)


def answers_of(one: Chosen, scorers: Mapping[str, Scorer]) -> tuple[Answer, ...]:
    """Return the answer of each model; the answer of a model that fails holds the error, and the others continue."""
    answers: list[Answer] = []
    for model, scorer in scorers.items():
        try:
            reading = read(one.text, scorer, options=one.options)
            told = tuple((push.word, push.change) for push in pushes(reading.slot, scorer))
            swap = None if answers else swap_in(reading.slot)  # slides show the first model
            swapped = read(swap.text, scorer, options=one.options, known_prior=reading.prior) if swap else None
            answers.append(Answer(model, reading, told, swapped=swapped))
        except EvenhandError as error:
            answers.append(Answer(model, None, (), error))
    return tuple(answers)


def page_html(
    answered: Sequence[tuple[Chosen, Sequence[Answer]]], *, language: Language = "en", made: datetime | None = None
) -> str:
    """Return the page as text; *language*: the one in which it opens."""
    day = (made or datetime.now(UTC)).date().isoformat()
    sentences = [{"chosen": one, "answers": [_numbers(answer) for answer in answers]} for one, answers in answered]
    code = _code(answered)
    colours = f":root{{color-scheme:light dark;{css_variables(dark=True)}}}"
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            sentences=sentences,
            colours=colours,
            day=day,
            version=VERSION,
            furthest=FURTHEST,
            languages=sorted(LANGUAGES),
            language=language,
            opened=next((n for n, (one, _) in enumerate(answered) if one.language == language), 0),
            show_style=style(),
            script=code,
            script_hash=base64.b64encode(hashlib.sha256(code.encode()).digest()).decode(),
        )
    )


def _code(answered: Sequence[tuple[Chosen, Sequence[Answer]]]) -> str:
    """Return the script of the page: the slides of each first answer, in the language that the reader chooses."""
    slides = [
        slide(answers[0].reading, answers[0].model, swap=swap_in(answers[0].reading.slot), swapped=answers[0].swapped)
        for _, answers in answered
        if answers and answers[0].reading is not None
    ]
    return f"{script()}\nconst data = {as_script(show_data(slides, 'en'))};\n{boot()}"


@cache
def _environment() -> Environment:
    made = Environment(loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, autoescape=True, trim_blocks=True)
    made.filters["said"] = _both
    return made


def _both(message: str, language: Language, **values: Any) -> str:
    text = translate(message, language)
    return text.format(**values) if values else text


def _numbers(answer: Answer) -> dict[str, Any]:
    """Return the numbers of an answer as the template places them."""
    if answer.reading is None:
        return {
            "model": answer.model,
            "reason": {language: explain(answer.reason, language) for language in LANGUAGES} if answer.reason else {},
        }
    reading, slot = answer.reading, answer.reading.slot
    value = reading.bias_log10
    message, values = odds(value)
    mass = reading.pair_mass
    return {
        "model": answer.model,
        "reason": None,
        "before": slot.text[: slot.word[0]],
        "after": slot.text[slot.word[1] :],
        "male": slot.male,
        "female": slot.female,
        "side": "none" if value is None or value == 0 else "male" if value > 0 else "female",
        "place": None if value is None else 50 + 50 * max(-FURTHEST, min(FURTHEST, value)) / FURTHEST,
        "value": "—" if value is None else "∞" if math.isinf(value) else f"{value:+.2f}".replace("-", "−"),
        "odds": {language: _both(message, language, **values) for language in LANGUAGES},
        "p_male": _percent(reading.p_male),
        "p_female": _percent(reading.p_female),
        "others": _percent(None if mass is None else 1 - mass),
        "small": reading.small_mass,
        "pushes": [(word, _side(change), _signed(change)) for word, change in answer.pushes],
        "fillers": [[(filler.word, _percent(filler.probability)) for filler in row[:SHOWN]] for row in reading.fillers],
        "signature": reading.signature,
    }


def _percent(value: float | None) -> str:
    """Return a share as a percentage with two significant digits; a dash where undefined."""
    return "—" if value is None else f"{value:.1%}" if value >= 0.001 else f"{significant(value * 100, 1)}%"


def _signed(value: float | None) -> str:
    return "—" if value is None else f"{value:+.2f}".replace("-", "−")


def _side(value: float | None) -> Literal["male", "female", "none"]:
    """Return the side towards which a word pushes; "none" below a tenth, which is too small to see."""
    return "none" if value is None or abs(value) < 0.1 else "male" if value > 0 else "female"


TEXTS = (
    N_("Which word does a language model prefer?"),
    N_(
        "Each sentence has a slot where a male and a female word fit equally well. A language model"
        " was run once to compute the probability of each word. No model runs now: the numbers are"
        " stored in this file."
    ),
    N_("female word"),
    N_("male word"),
    N_("other words"),
    N_("The two words together get less than 1% of the probability: interpret the ratio with caution."),
    N_("Influence of each word: Bias_c with the word minus Bias_c with the word masked (log10)"),
    N_("Top predictions of the model"),
    N_(
        "log10 P(male word) − log10 P(female word); right of 0 leans towards the male word, left of 0 towards"
        " the female word"
    ),
    N_(
        "A smaller bias is not necessarily better: a model that knows nothing leans to neither side."
        " Small built-in models are for trying out the app, not for findings."
    ),
    N_("Made with Evenhand {version} on {day}."),
    N_("Present"),
)  # fmt: skip
