"""The desk's HTML, CSS and JavaScript, joined at load, and its start data.

A component's inline JavaScript cannot import its neighbours, so the files are
joined in the order of SCRIPTS into one module.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.announcements import desk_news, desk_state, option_name
from evenhand.annotations.desk.messages import choices_at_the_desk
from evenhand.annotations.desk.session import sign_in_of
from evenhand.annotations.desk.strings import OTHER_WORDS, WORDS
from evenhand.annotations.desk.tokens import issue
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.types import Annotator, Choice, Guideline, Project, Question
from evenhand.core.errors import N_
from evenhand.core.guidelines import in_language
from evenhand.core.language import Language, translate

SCRIPTS = (
    "preferences", "outbox", "server", "queue", "clock", "text", "marks", "panels", "news", "notices", "status", "side",
    "veil", "tags", "typed", "view", "keys", "outage", "scheme", "generations_keys", "generations_view", "desk",
    "generations", "main",
)  # fmt: skip
REASON_KEYS = N_("Reasons to reject and their keys")
STYLES = ("base", "card", "tags", "side", "generations")
_FOLDER = Path(__file__).resolve().parent / "static"


@cache
def script() -> str:
    """The desk's JavaScript, one ES module."""
    return "\n".join((_FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)


@cache
def style() -> str:
    """The desk's CSS."""
    return "\n".join((_FOLDER / f"{name}.css").read_text(encoding="utf-8") for name in STYLES)


@cache
def frame() -> str:
    """The desk's HTML; the script fills it in."""
    return (_FOLDER / "desk.html").read_text(encoding="utf-8")


def start_data(store: Store, project: Project, annotator: Annotator, *, language: Language, api: str) -> dict[str, Any]:
    """The start data of a desk: annotator, project, guideline, token, all texts in *language*; `api`: where to post."""
    versions = guidelines(store, project)
    said = OTHER_WORDS if project.kind == "generations" else {}
    return {
        "api": api,
        "token": issue(
            store.secret,
            database=store.uid,
            project=project.uid,
            annotator=annotator.uid,
            version=sign_in_of(store, annotator.uid).version,
        ),
        "database": store.uid,
        "project": {
            "uid": project.uid,
            "name": project.name,
            "kind": project.kind,
            "language": project.language,
            "presentation": project.presentation,
            "opinion": project.opinion_model,
            "checked": project.checked,
            "blur": project.blur,
            "pause": project.pause_minutes,
        },
        "annotator": {"uid": annotator.uid, "name": annotator.name},
        **_in_view(project, versions[-1], language),
        **desk_news(store, project, annotator, desk_state(store, project, annotator), versions),
        "language": language,
        "words": {word: translate(said.get(word, word), language) for word in WORDS},
    }


def newer_guideline(
    project: Project, versions: Sequence[Guideline], version: int, language: Language
) -> dict[str, Any] | None:
    """What a desk that shows *version* has to show before the next label: the newest guideline, and what changed.

    None where *version* is the newest, or 0 (a desk that does not say).
    """
    if not 0 < version < versions[-1].version:
        return None
    newer = [{"version": known.version, "changes": known.changes} for known in versions if known.version > version]
    return {**_in_view(project, versions[-1], language), "changes": newer}


def _in_view(project: Project, shown: Guideline, language: Language) -> dict[str, Any]:
    about = dict(shown.scheme.about) if shown.scheme else {}

    def listed(options: Sequence[Choice]) -> list[dict[str, str]]:
        return [_option(each, language, about.get(each.code, "")) for each in options]

    scheme = shown.scheme and {
        "spans": listed(shown.scheme.spans),
        "needs": dict(shown.scheme.needs),
        "points": listed(shown.scheme.points),
        "compares": shown.scheme.compares,
        "questions": [_question(each, language, about.get(each.code, "")) for each in shown.scheme.questions],
    }
    text = blocks(in_language(shown.text, language))
    keys = _key_blocks(shown, language) if project.kind == "sentences" else []
    return {
        "guideline": {"version": shown.version, "blocks": [*text, *keys]},
        "choices": listed(choices_at_the_desk(shown)),
        "reasons": listed(shown.reasons),
        "scheme": scheme,
    }


def _question(question: Question, language: Language, about: str) -> dict[str, Any]:
    named = Choice(question.code, question.key, question.zh, question.en)
    first, second = ("zh", "en") if language == "zh" else ("en", "zh")
    ends = {end: getattr(question, f"{end}_{first}") or getattr(question, f"{end}_{second}") for end in ("low", "high")}
    return _option(named, language, about) | {
        "points": [int(point.code.rpartition(":")[2]) for point in question.points],
        "ends": ends,
        "required": question.required,
    }


def _key_blocks(shown: Guideline, language: Language) -> list[dict[str, Any]]:
    """Every reason with its key, below the guideline: numbers in its text are its author's."""
    items = [[(each.key.upper() or "–", True), (f"  {option_name(each, language)}", False)] for each in shown.reasons]
    head = {"kind": "head", "runs": [(translate(REASON_KEYS, language), False)]}
    return [head, {"kind": "list", "ordered": False, "start": 1, "items": items}] if items else []


def _option(choice: Choice, language: Language, about: str) -> dict[str, str]:
    return {"code": choice.code, "key": choice.key, "label": option_name(choice, language)} | (
        {"about": about} if about else {}
    )


def blocks(markdown: str) -> list[dict[str, Any]]:
    """Markdown as headings, paragraphs and flat lists of plain and strong text, for the desk to render.

    HTML, links, pictures and tables stay plain text, so a guideline can load nothing into an annotator's browser.
    """
    reader = MarkdownIt("zero").enable(["heading", "list", "emphasis", "newline", "escape"])
    found: list[dict[str, Any]] = []
    tokens = reader.parse(markdown)
    place, depth = "p", 0
    for token in tokens:
        if token.type in ("ordered_list_open", "bullet_list_open"):
            depth += 1
            if depth == 1:
                start = int(token.attrs.get("start", 1))
                ordered = token.type == "ordered_list_open"
                found.append({"kind": "list", "ordered": ordered, "start": start, "items": []})
        elif token.type in ("ordered_list_close", "bullet_list_close"):
            depth -= 1
        elif token.type == "heading_open":
            place = "head"
        elif token.type == "heading_close":
            place = "p"
        elif token.type == "inline" and depth:
            found[-1]["items"].append(_runs(token))
        elif token.type == "inline":
            found.append({"kind": place, "runs": _runs(token)})
    return found


def _runs(token: Token) -> list[tuple[str, bool]]:
    runs: list[tuple[str, bool]] = []
    strong = 0
    for child in token.children or []:
        strong += child.nesting if child.type in ("strong_open", "strong_close") else 0
        text = " " if child.type in ("softbreak", "hardbreak") else child.content
        if text:
            runs.append((text, strong > 0))
    return runs
