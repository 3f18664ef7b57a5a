"""Studies: their settings, signed address, the versions of their consent, the questions of their test and its tries.

The address holds the public id of the study, signed, so that visitors cannot invent or try out addresses.
"""

import base64
import dataclasses
import hashlib
import hmac
import math
import secrets
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from sqlite3 import IntegrityError
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from evenhand.annotations.database.events import record
from evenhand.annotations.database.hash_chain import record_study
from evenhand.annotations.database.store import Store, insert, update_rows
from evenhand.annotations.projects.annotators import checked_name
from evenhand.annotations.projects.consent import USES, Use
from evenhand.annotations.projects.projects import project_by_uid
from evenhand.annotations.study.default_texts import ADULT, CONSENT, WARNING, Facts, fill_in, places
from evenhand.annotations.types import Item, Project
from evenhand.core.errors import N_, NotFound, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.language import Language

Service = Literal["link", "prolific", "mturk"]
SERVICES: tuple[Service, ...] = get_args(Service)
Outcome = Literal["finished", "screened_out", "withdrew"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
NO_SUCH = N_("There is no study named {name}.")
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # none that look like another
LONGEST_TEXT, LONGEST_CODE, LONGEST_LINE = 20_000, 60, 200
MOST_QUESTIONS = 30
LIMITS = {
    "items": (1, 5_000), "places": (1, 100_000), "minutes": (5, 24 * 60), "pause": (1, 600), "questions": (0, 20),
    "pass_mark": (0, 20), "keep_days": (0, 3_650),
}  # fmt: skip
FACTS = {"minimum_age": (1, 120), "kept_years": (0, 100)}  # stated in the consent form only


def _code() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(8))


@dataclass(frozen=True, slots=True)
class Settings:
    """What the lead decides about a study; the names are those of the columns."""

    contact: str
    service: Service = "link"
    items: int = 40
    places: int = 30
    reward: float = 0.0
    currency: str = "EUR"
    floor: float = 0.0
    minutes: int = 60
    pause: int | None = 20
    cover: bool = True
    questions: int = 0
    pass_mark: int = 0
    keep_days: int = 30
    warning_en: str = WARNING["en"]
    warning_zh: str = WARNING["zh"]
    code_finished: str = field(default_factory=_code)
    code_screened_out: str = field(default_factory=_code)
    code_withdrew: str = field(default_factory=_code)


@dataclass(frozen=True, slots=True)
class Study:
    """A study of a project (public id). `closed`: the time since when it admits no new participants, or None."""

    id: int
    uid: str
    project: str
    name: str
    settings: Settings
    created: str
    closed: str | None

    @property
    def service(self) -> Service:
        """The service that sends the participants."""
        return self.settings.service

    def warning(self, language: Language) -> str:
        """Return the warning before the first text."""
        return self.settings.warning_zh if language == "zh" else self.settings.warning_en

    def code(self, outcome: Outcome) -> str:
        """Return the completion code of an outcome."""
        codes = {name: getattr(self.settings, f"code_{name}") for name in OUTCOMES}
        return str(codes[outcome])


@dataclass(frozen=True, slots=True)
class Consent:
    """One version of the consent form."""

    id: int
    version: int
    en: str
    zh: str
    created: str
    uses: tuple[Use, ...] = ()  # of labels one by one, about each of which the form asks

    def text(self, language: Language) -> str:
        """Return the text that a person reads."""
        return self.zh if language == "zh" else self.en

    def hash(self, language: Language) -> str:
        """Return SHA-256 of that text."""
        return hashlib.sha256(self.text(language).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Question:
    """One question: a text with its keyword (half-open code points) and the answer, which is never sent."""

    id: int
    text: str
    context: str
    start: int | None
    stop: int | None
    answer: str

    @property
    def parts(self) -> tuple[str, str, str]:
        """The text before the keyword, the keyword, and after it."""
        if self.start is None or self.stop is None:
            return self.text, "", ""
        return self.text[: self.start], self.text[self.start : self.stop], self.text[self.stop :]


_FIELDS = tuple(one.name for one in dataclasses.fields(Settings))
_QUERY = (
    f"SELECT study.id, study.uid, project.uid AS project, study.name, study.created, closed, {', '.join(_FIELDS)}"
    " FROM study JOIN project ON project.id = study.project"
)


def _as_study(cover: int, **columns: Any) -> Study:
    settings = Settings(cover=bool(cover), **{name: columns.pop(name) for name in _FIELDS if name != "cover"})
    return Study(settings=settings, **columns)


def studies(store: Store, project: Project) -> list[Study]:
    """Return the studies of a project, oldest first."""
    return store.rows(_as_study, f"{_QUERY} WHERE project.id = ? ORDER BY study.id", (project.id,))


def every_study(store: Store) -> list[Study]:
    """Return the studies of all projects, oldest first."""
    return store.rows(_as_study, f"{_QUERY} ORDER BY study.id")


def study_named(store: Store, name: str) -> Study:
    """Return the study of that name. Raises NotFound."""
    return _study_where(store, "study.name", name.strip())


def study_of_uid(store: Store, uid: str) -> Study:
    """Return the study with that public id. Raises NotFound."""
    return _study_where(store, "study.uid", uid)


def _study_where(store: Store, column: str, value: str) -> Study:
    return store.required_row(_as_study, f"{_QUERY} WHERE {column} = ?", (value,), NotFound(NO_SUCH, name=value))


def create_study(
    store: Store,
    project: Project,
    name: str,
    settings: Settings,
    *,
    questions: Sequence[tuple[Item, str]] = (),
    consent: dict[Language, str] | None = None,
    uses: Collection[Use] = (),
    minimum_age: int = ADULT,
    kept_years: int = 0,
    author: str = "",
) -> Study:
    """Make a study; *questions*: items with their answers for the test, *consent*: its text in both languages.

    *uses*: of labels one by one, about which the form asks; participants may decline them. *minimum_age*, *kept_years*
    (`Facts`) and the settings are filled into the places of the consent.

    Raises Refused for a name that is taken, a setting out of its limits, or fewer questions than one try asks.
    """
    bare, uid = checked_name(name), uuid.uuid4().hex
    _check(settings, len(questions))
    for name, value in (("minimum_age", minimum_age), ("kept_years", kept_years)):
        _check_number(name, value, *FACTS[name])
    facts = Facts(
        settings.contact, settings.items, settings.reward, settings.currency,
        None if settings.service == "link" else settings.keep_days, minimum_age, kept_years,
    )  # fmt: skip
    texts = {language: fill_in(text, language, facts) for language, text in (consent or CONSENT).items()}
    values = {text: getattr(settings, text) for text in _FIELDS}
    row = {"uid": uid, "project": project.id, "name": bare, "created": timestamp(), **values}
    with store.write() as db:
        try:
            made = insert(db, "study", {**row, "cover": int(settings.cover)})
        except IntegrityError as error:
            raise Refused(N_("There is already a study named {name}."), name=bare) from error
        for item, answer in questions:
            insert(db, "study_question", {
                "study": made, "text": item.text, "context": item.context or "", "answer": answer,
                "start": item.word and item.word[0], "stop": item.word and item.word[1],
            })  # fmt: skip
        record_study(db, uid)
        _insert_consent(store, made, texts, uses)
        logged = {one: value for one, value in values.items() if not one.startswith(("code_", "warning_"))}
        logged |= {"minimum_age": minimum_age, "kept_years": kept_years}
        record(store, project, "study_made", author=author, study=bare, **logged)
    return study_of_uid(store, uid)


def change_consent(
    store: Store, study: Study, texts: dict[Language, str], uses: Collection[Use] | None = None, *, author: str = ""
) -> Consent:
    """Store the next version of the consent, to which later participants agree; an unchanged form makes none.

    *uses*: about which it asks; None: unchanged.
    """
    with store.write():
        before = consent(store, study)
        asked = before.uses if uses is None else tuple(use for use in USES if use in uses)
        if (before.en, before.zh, before.uses) == (texts["en"].strip(), texts["zh"].strip(), asked):
            return before
        _insert_consent(store, study.id, texts, asked)
        made = consent(store, study)
        project = project_by_uid(store, study.project)
        record(store, project, "study_consent", author=author, study=study.name, version=made.version)
    return made


def consent(store: Store, study: Study) -> Consent:
    """Return the newest version of the consent."""
    query = "SELECT id, version, en, zh, created FROM study_consent WHERE study = ? ORDER BY version DESC LIMIT 1"
    (newest,) = store.rows(Consent, query, (study.id,))
    column = store.column("SELECT use FROM study_use WHERE consent = ?", (newest.id,))
    return dataclasses.replace(newest, uses=tuple(use for use in USES if use in column))


def questions(store: Store, study: Study) -> list[Question]:
    """Return the questions of a study, in the order in which they were chosen."""
    query = "SELECT id, text, context, start, stop, answer FROM study_question WHERE study = ? ORDER BY id"
    return store.rows(Question, query, (study.id,))


def set_closed(store: Store, study: Study, closed: bool, *, author: str = "") -> Study:
    """Close a study to new participants, or open it again; participants at work continue."""
    with store.write() as db:
        update_rows(db, "study", {"closed": timestamp() if closed else None}, id=study.id)
        action = "study_closed" if closed else "study_reopened"
        record(store, project_by_uid(store, study.project), action, author=author, study=study.name)
    return study_of_uid(store, study.uid)


def _insert_consent(store: Store, study: int, texts: dict[Language, str], uses: Collection[Use]) -> None:
    for text in texts.values():
        if not text.strip() or len(text) > LONGEST_TEXT:
            raise Refused(N_("The consent form needs 1 to {most} characters in each language."), most=LONGEST_TEXT)
        if missing := places(text):
            raise Refused(N_("The consent form still has unfilled placeholders: {places}."), places=", ".join(missing))
    version = 1 + store.count("study_consent WHERE study = ?", (study,))
    made = insert(store.db, "study_consent", {
        "study": study, "version": version, "en": texts["en"].strip(), "zh": texts["zh"].strip(),
        "created": timestamp(),
    })  # fmt: skip
    for use in (use for use in USES if use in uses):
        insert(store.db, "study_use", {"consent": made, "use": use})


def _check(settings: Settings, questions: int) -> None:
    if settings.service not in SERVICES:
        raise Refused(
            N_("The recruitment service must be one of {services}, not {value}."),
            services=", ".join(SERVICES),
            value=settings.service,
        )
    for name, (least, most) in LIMITS.items():
        value = getattr(settings, name)
        if name == "pause" and value is None:
            continue
        _check_number(name, value, least, most)
    if not settings.contact.strip():
        raise Refused(N_("A study needs a contact; the consent form states it."))
    for amount in (settings.reward, settings.floor):
        if not math.isfinite(amount) or amount < 0:
            raise Refused(N_("Pay must be a number, 0 or more."))
    lines = ("contact", "currency", "code_finished", "code_screened_out", "code_withdrew")
    for name in lines:
        value = getattr(settings, name).strip()
        if not value or len(value) > (LONGEST_CODE if name.startswith("code") else LONGEST_LINE) or "\n" in value:
            raise Refused(N_("{field} of a study must be one non-empty line."), field=name)
    if max(len(settings.warning_en), len(settings.warning_zh)) > LONGEST_TEXT:
        raise Refused(N_("The content warning has at most {most} characters."), most=LONGEST_TEXT)
    if settings.pass_mark > settings.questions:
        raise Refused(N_("More correct answers are required than there are questions."))
    if not settings.questions <= questions <= MOST_QUESTIONS:
        message = N_(
            "A test of {number} questions needs at least as many texts with a known answer, and at most {most}."
        )
        raise Refused(message, number=settings.questions, most=MOST_QUESTIONS)


def _check_number(name: str, value: Any, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise Refused(N_("{field} must be a whole number from {least} to {most}."), field=name, least=least, most=most)


NO_STUDY = N_("There is no study here. Check that the whole address was copied.")
# The names under which each service sends who it is, for which task, in which session; and how it fills them in.
PARAMETERS: dict[Service, tuple[str, str, str]] = {
    "link": ("", "", ""),
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "hitId", "assignmentId"),
}
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"  # Mechanical Turk, before a worker has accepted a task


def signed(store: Store, study: Study) -> str:
    """Return the last part of the address of a study."""
    return f"{study.uid}.{_signature(store, study.uid)}"


def study_of_link(store: Store, link: str) -> Study:
    """Return the study that an address names. Raises NotFound if this server has not signed it."""
    uid, _, signature = link.partition(".")
    if not link.isascii() or not hmac.compare_digest(signature, _signature(store, uid)):
        raise NotFound(NO_STUDY)
    return study_of_uid(store, uid)


def path_for(store: Store, study: Study) -> str:
    """Return the path and query that the lead gives to the service, with the placeholders that it fills in."""
    path = f"/study/{signed(store, study)}"
    if study.service == "prolific":  # Prolific fills in names in double braces
        named = {name: f"{{{{%{name}%}}}}" for name in PARAMETERS["prolific"]}
        return f"{path}?{urlencode(named, safe='{}%')}"
    if study.service == "mturk":
        return f"{path}?{urlencode({name: f'${{{name}}}' for name in PARAMETERS['mturk']}, safe='${}')}"
    return path


def _signature(store: Store, uid: str) -> str:
    made = hmac.new(store.secret, b"study|" + uid.encode("utf-8", "replace"), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(made[:18]).decode()


TRIES = 2


def questions_of_try(store: Store, study: Study, person: str, tries: int) -> list[Question]:
    """Return the questions for a person (public id) after *tries* tries, new ones each time if possible."""

    def place(question: Question) -> bytes:
        return hashlib.sha256(f"{person}|{question.id}".encode()).digest()

    number, order = study.settings.questions, sorted(questions(store, study), key=place)
    first = tries * number
    return [order[(first + at) % len(order)] for at in range(number)] if order else []


def right_answers(questions: list[Question], answers: Mapping[str, str]) -> int:
    """Return how many answers (by the id of the question) are the known ones."""
    return sum(answers.get(str(question.id)) == question.answer for question in questions)
