"""Schemes of one's own for generations: choices, flags, kinds of spans and questions, checked, and as a file.

The built-in scheme (four labels, a flag for extraneous gendered language, two kinds of spans, tags) is the default and
has no file. Of an own scheme the flags are the reasons of the guideline: stored, exported and compared as these. So are
the points of its scales (`annotations.types.Question`); its text is the note of a label.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from evenhand.annotations.types import Choice, Guideline, Question, Scheme
from evenhand.core.errors import N_, BadFile, Refused
from evenhand.core.files.sandbox import yaml_value
from evenhand.core.guidelines import preference

RESERVED = ("accept", "reject", "skip")  # mean something else at the desk and in the rule for gold
KEYS = "MNXUHW"  # that the desk uses itself; see annotations/desk/static/generations_keys.js
FIRST: Final = "first"  # of the two texts of a comparison, as its item has them
SECOND: Final = "second"
TIE: Final = "tie"
CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
KEY = re.compile(r"[A-Za-z0-9]?")
LONGEST_NAME, LONGEST_ABOUT = 80, 400
MOST_CHOICES, MOST_FLAGS, MOST_SPANS, MOST_QUESTIONS = 20, 20, 12, 12
MOST_POINTS, LARGEST_POINT = 11, 100  # of a scale
LARGEST_BYTES = 200_000
_FIELDS = {"code", "key", "zh", "en", "about", "needs"}
_PARTS = ("choices", "flags", "spans")
_COMPARISON = "comparison"  # in a file, true: its items are comparisons
_ENDS = ("low_zh", "low_en", "high_zh", "high_en")
_OF_QUESTION = {"code", "key", "zh", "en", "about", "scale", "text", "required", *_ENDS}

_MARKDOWN, _ESCAPED = re.compile(r"([\\`*_\[\]<>#~|])"), r"\\\1"
TOO_LARGE = N_("{file} is too large for a scheme; the limit is 200 kB.")
NO_SCHEME = N_("{file} is not a scheme: {why}")


@dataclass(frozen=True, slots=True)
class OwnScheme:
    """A scheme before it is stored with a version of the guideline."""

    choices: tuple[Choice, ...]
    flags: tuple[Choice, ...]
    more: Scheme


START = OwnScheme(  # to begin with in a form
    (Choice("yes", "1", "是", "Yes"), Choice("no", "2", "否", "No"), Choice("unclear", "3", "看不出", "Unclear")),
    (),
    Scheme(),
)


def own_scheme(guideline: Guideline) -> OwnScheme | None:
    """Return the scheme of a version; None if it has the built-in one."""
    if guideline.scheme is None:
        return None
    return OwnScheme(guideline.choices, guideline.reasons, guideline.scheme)


def check_scheme(choices: Sequence[Choice], flags: Sequence[Choice], more: Scheme) -> None:
    """Raise Refused, with one sentence, unless labels can be made with such a scheme."""
    if not 2 <= len(choices) <= MOST_CHOICES:
        raise Refused(N_("A scheme has 2 to {most} choices, not {count}."), most=MOST_CHOICES, count=len(choices))
    if len(flags) > MOST_FLAGS or len(more.spans) > MOST_SPANS:
        message = N_("A scheme has at most {flags} flags and {spans} kinds of spans.")
        raise Refused(message, flags=MOST_FLAGS, spans=MOST_SPANS)
    seen: set[str] = set()
    keys: dict[str, str] = {}
    options: list[Choice | Question] = [*choices, *flags, *more.spans, *more.questions]
    for option in options:
        _check_option(option)
        if option.code in seen:
            raise Refused(N_("The code {code} occurs twice in this scheme."), code=option.code)
        seen.add(option.code)
        key = option.key.upper()
        if key and key in keys:
            message = N_("{code} and {other} have the same key {key}.")
            raise Refused(message, code=option.code, other=keys[key], key=key)
        keys[key] = option.code
    _check_beside(choices, flags, more, seen)
    _check_questions(more.questions)
    if more.compares:
        _check_comparison(choices, more)


def _check_comparison(choices: Sequence[Choice], more: Scheme) -> None:
    codes = {choice.code for choice in choices}
    if not {FIRST, SECOND} <= codes <= {FIRST, SECOND, TIE}:
        raise Refused(N_("The choices of a comparison are first, second and, if wanted, tie."))
    if more.spans:
        raise Refused(N_("A comparison has two texts, so its scheme cannot have spans."))


def _check_questions(questions: Sequence[Question]) -> None:
    if len(questions) > MOST_QUESTIONS:
        raise Refused(N_("A scheme has at most {most} questions."), most=MOST_QUESTIONS)
    texts = [question for question in questions if question.low is None or question.high is None]
    if len(texts) > 1:
        raise Refused(N_("A scheme can ask for at most one text, which is stored as the note of the label."))
    if texts and texts[0].key:
        raise Refused(N_("The text question {code} cannot have a key: the desk opens it with N."), code=texts[0].code)
    for question in questions:
        low, high = (question.low, question.high) if question not in texts else (0, 1)
        if low is None or high is None or not 0 <= low < high <= LARGEST_POINT or high - low >= MOST_POINTS:
            message = N_("The scale of {code} must start at a whole number, 0 or more, and have 2 to {most} points.")
            raise Refused(message, code=question.code, most=MOST_POINTS)
        if high > 10 and question.key:
            raise Refused(
                N_("The scale of {code} exceeds 10, so it cannot have a key: annotators click it."), code=question.code
            )
        if any(len(getattr(question, end)) > LONGEST_NAME or _is_odd(getattr(question, end)) for end in _ENDS):
            raise Refused(
                N_("The names of the ends of {code} exceed {most} characters."), code=question.code, most=LONGEST_NAME
            )


def _check_option(one: Choice | Question) -> None:
    if not CODE.fullmatch(one.code):
        message = N_("{code} is not a valid code: use 1 to 40 letters, digits, _ and - without accents.")
        raise Refused(message, code=repr(one.code[:50]))
    if one.code.lower() in RESERVED:
        raise Refused(N_("{code} is a reserved code; choose another one."), code=one.code)
    if not KEY.fullmatch(one.key) or one.key.upper() in tuple(KEYS):
        message = N_("The key {key} of {code} cannot be used: a key is a letter or digit, and the desk uses {taken}.")
        raise Refused(message, key=repr(one.key[:10]), code=one.code, taken=", ".join(KEYS))
    names = (one.zh, one.en)
    if not any(name.strip() for name in names) or any(len(name) > LONGEST_NAME or _is_odd(name) for name in names):
        message = N_("{code} needs a name in Chinese or English, of one line and at most {most} characters.")
        raise Refused(message, code=one.code, most=LONGEST_NAME)


def _is_odd(text: str) -> bool:
    return not text.isprintable()


def _check_beside(choices: Sequence[Choice], flags: Sequence[Choice], more: Scheme, seen: set[str]) -> None:
    kinds = {span.code for span in more.spans}
    bearers = {choice.code for choice in (*choices, *flags)}
    for code, kind in more.needs:
        if code not in bearers or kind not in kinds:
            message = N_("{code} needs a span of the kind {kind}, which this scheme does not have.")
            raise Refused(message, code=code, kind=kind)
    if len(dict(more.needs)) < len(more.needs):
        raise Refused(N_("A choice or flag can require at most one kind of span."))
    for code, text in more.about:
        if code not in seen or len(text) > LONGEST_ABOUT or _is_odd(text):
            message = N_("The description of {code} must be one line of at most {most} characters.")
            raise Refused(message, code=code, most=LONGEST_ABOUT)


def more_in(stored: Mapping[str, Any]) -> Scheme:
    """Return a scheme from the output of `more_out`."""
    return Scheme(
        tuple(Choice(**entry) for entry in stored["spans"]),
        tuple((str(code), str(kind)) for code, kind in stored["needs"].items()),
        tuple((str(code), str(text)) for code, text in stored["about"].items()),
        tuple(Question(**entry) for entry in stored.get("questions", ())),
        bool(stored.get("compares", False)),
    )


def more_out(more: Scheme) -> dict[str, Any]:
    """Return what is stored with a version in addition to choices and reasons, as JSON data."""
    spans = [{"code": span.code, "key": span.key, "zh": span.zh, "en": span.en} for span in more.spans]
    questions = [asdict(question) for question in more.questions]
    result = {"spans": spans, "needs": dict(more.needs), "about": dict(more.about), "questions": questions}
    return result | ({"compares": True} if more.compares else {})


def as_data(scheme: OwnScheme) -> dict[str, Any]:
    """Return a scheme as it is written to a file.

    Choices, flags, spans and questions are lists of objects without empty fields. A scheme of comparisons has
    `comparison` true.
    """
    needs, about = dict(scheme.more.needs), dict(scheme.more.about)

    def row(one: Choice) -> dict[str, str]:
        cells = {"code": one.code, "key": one.key, "zh": one.zh, "en": one.en}
        cells |= {"about": about.get(one.code, ""), "needs": needs.get(one.code, "")}
        return {name: value for name, value in cells.items() if value}

    def question_row(one: Question) -> dict[str, Any]:
        cells = {"code": one.code, "key": one.key, "zh": one.zh, "en": one.en, "about": about.get(one.code, "")}
        cells |= {end: getattr(one, end) for end in _ENDS}
        kind: dict[str, Any] = {"scale": [one.low, one.high]} if one.points else {"text": True}
        kind |= {"required": True} if one.required else {}
        return {name: value for name, value in cells.items() if value} | kind

    parts = zip(_PARTS, (scheme.choices, scheme.flags, scheme.more.spans), strict=True)
    questions = [question_row(question) for question in scheme.more.questions]
    return (
        {name: [row(option) for option in options] for name, options in parts}
        | ({"questions": questions} if questions else {})
        | ({_COMPARISON: True} if scheme.more.compares else {})
    )


def from_data(data: Any, file: str) -> OwnScheme:
    """Return a scheme from an object of a file. Raises BadFile for another shape, Refused as `check_scheme`."""
    if not isinstance(data, dict) or not data.get("choices"):
        raise BadFile(NO_SCHEME, file=file, why="choices")
    if unknown := sorted(map(str, data.keys() - {*_PARTS, "questions", _COMPARISON})):
        raise BadFile(NO_SCHEME, file=file, why=", ".join(unknown)[:80])
    if not isinstance(data.get(_COMPARISON, False), bool):
        raise BadFile(NO_SCHEME, file=file, why=_COMPARISON)
    rows = {part: [_row(entry, part, file) for entry in _listed(data.get(part), part, file)] for part in _PARTS}
    choices, flags, spans = (tuple(_option(entry) for entry in rows[part]) for part in _PARTS)
    asked = _listed(data.get("questions"), "questions", file)
    questions = tuple(_question(entry, file) for entry in asked)
    told = [
        {"code": question.code, "about": str(row.get("about") or "")}
        for question, row in zip(questions, asked, strict=True)
    ]
    every = [*rows["choices"], *rows["flags"], *rows["spans"], *told]
    more = Scheme(
        spans,
        tuple((entry["code"], entry["needs"]) for entry in every if entry.get("needs")),
        tuple((entry["code"], entry["about"]) for entry in every if entry.get("about")),
        questions,
        bool(data.get(_COMPARISON, False)),
    )
    check_scheme(choices, flags, more)
    return OwnScheme(choices, flags, more)


def _listed(value: Any, part: str, file: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadFile(NO_SCHEME, file=file, why=part)
    return value


def _row(value: Any, part: str, file: str) -> dict[str, str]:
    """Return the cells of one option as words; a number is a key or a name that was written without quotation marks."""
    if not isinstance(value, dict) or not value.keys() <= _FIELDS or "code" not in value:
        raise BadFile(NO_SCHEME, file=file, why=f"{part}: {str(value)[:80]}")
    if not all(isinstance(entry, str | int) and not isinstance(entry, bool) for entry in value.values()):
        raise BadFile(NO_SCHEME, file=file, why=f"{part}: {str(value)[:80]}")
    return {str(name): str(entry).strip() for name, entry in value.items()}


def _question(value: Any, file: str) -> Question:
    """Return a question: `scale` is a list of its two ends, `text` is true for one that asks for a text."""
    wrong = BadFile(NO_SCHEME, file=file, why=f"questions: {str(value)[:80]}")
    if not isinstance(value, dict) or not value.keys() <= _OF_QUESTION:
        raise wrong
    scale, text, required = value.get("scale"), value.get("text", False), value.get("required", False)
    if not isinstance(text, bool) or not isinstance(required, bool) or (scale is None) != text:
        raise wrong
    ends: list[Any] = [None, None] if scale is None else scale
    if not isinstance(ends, list) or len(ends) != 2 or any(type(end) is not int for end in ends if scale is not None):
        raise wrong
    bare = {name: cell for name, cell in value.items() if name not in ("scale", "text", "required")}
    words = _row({name: cell for name, cell in bare.items() if name in _FIELDS}, "questions", file)
    values = {end: bare.get(end, "") for end in _ENDS}
    if not all(isinstance(entry, str) for entry in values.values()):
        raise wrong
    named = {name: words.get(name, "") for name in ("code", "key", "zh", "en")}
    return Question(
        **named, low=ends[0], high=ends[1], **{end: word.strip() for end, word in values.items()}, required=required
    )


def _option(row: Mapping[str, str]) -> Choice:
    return Choice(*(row.get(name, "") for name in ("code", "key", "zh", "en")))


def scheme_text(scheme: OwnScheme, language: str) -> str:
    """Return a text for the guideline that lists the options of the scheme, until a person writes a better one."""
    text = preference(language).strip() if scheme.more.compares else ""
    chinese, about = language == "zh", dict(scheme.more.about)
    heads = ("选项", "标记", "片段", "问题") if chinese else ("Choices", "Flags", "Spans", "Questions")

    def line(one: Choice | Question) -> str:
        name = (one.zh or one.en) if chinese else (one.en or one.zh)
        said = f"**{_MARKDOWN.sub(_ESCAPED, name)}**"
        return f"- {said}: {_MARKDOWN.sub(_ESCAPED, about[one.code])}" if about.get(one.code) else f"- {said}"

    options: tuple[Sequence[Choice | Question], ...] = (
        () if text else scheme.choices, scheme.flags, scheme.more.spans, scheme.more.questions,
    )  # fmt: skip
    parts = zip(heads, options, strict=True)
    said = ["\n".join([f"### {head}", "", *map(line, found)]) for head, found in parts if found]
    return "\n\n".join([text, *said] if text else said)


def data_of_bytes(data: bytes, file: str) -> Any:
    """Return the data of a JSON, TOML or YAML file; its name tells the format. Raises BadFile if it is unreadable."""
    try:
        return _read_as(Path(file).suffix.lower(), data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and errors of JSON and TOML are ValueErrors
        raise BadFile(NO_SCHEME, file=file, why=str(error)[:200]) from error


def _read_as(suffix: str, text: str) -> Any:
    if suffix == ".json":
        return json.loads(text)
    if suffix == ".toml":
        return tomllib.loads(text)
    return yaml_value(text, most=LARGEST_BYTES)
