"""The desk's HTML, CSS and JavaScript, joined at load, its start data, and what is new since: changes of the guideline.

A component's inline JavaScript cannot import its neighbours, so the files are
joined in the order of SCRIPTS into one module.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Literal, Required, TypedDict

from markdown_it import MarkdownIt
from markdown_it.token import Token

from evenhand.annotations.database.events import record
from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.messages import ItemNews, choice_as_shown, choices_at_the_desk
from evenhand.annotations.desk.session import DeskSession, issue
from evenhand.annotations.desk.strings import OTHER_WORDS, WORDS
from evenhand.annotations.guideline.relabelling import earlier_labels, first_version
from evenhand.annotations.guideline.versions import guidelines, mark_read
from evenhand.annotations.pilot.pilots import own_pilot
from evenhand.annotations.projects.annotators import DeskState, desk_state, sign_in_of
from evenhand.annotations.types import Annotator, Choice, Guideline, Item, Project, Question
from evenhand.core.errors import N_, NotFound
from evenhand.core.guidelines import in_language
from evenhand.core.language import Language, translate


def record_changes_read(
    store: Store, project: Project, annotator: Annotator, versions: Sequence[Guideline], version: int
) -> None:
    """Record that an annotator has read what changed up to *version*. Raises NotFound for one not among *versions*.

    Idempotent: only the first confirmation is stored.
    """
    if version not in {known.version for known in versions}:
        raise NotFound(N_("This guideline has no version {version}."), version=version)
    with store.write() as db:
        if mark_read(db, project, annotator.id, version):
            record(store, project, "read_changes", annotator=annotator, version=version)


def desk_news(
    store: Store, project: Project, annotator: Annotator, now: DeskState, versions: Sequence[Guideline]
) -> dict[str, Any]:
    """Return progress in the open pilot (None without one), unread changes of the guideline, and `back` of *now*."""
    pilot = own_pilot(store, project, annotator) if now.pilot else None
    changed = [version for version in versions if version.version > now.told and version.changes]
    if changed:  # news only for an annotator who has labelled under an older version
        first = first_version(store, project, annotator.id)
        changed = [version for version in changed if first is not None and first < version.version]
    return {
        "pilot": None if pilot is None else asdict(pilot),
        "news": [{"version": version.version, "changes": version.changes} for version in changed],
        "back": now.back,
    }


def item_news(
    store: Store, at: DeskSession, items: Sequence[Item], versions: Sequence[Guideline], language: Language
) -> dict[str, ItemNews]:
    """Return display data of items, by public id.

    *versions*: those of the guideline, empty if no item is in relabelling.
    """
    project = at.project
    before = earlier_labels(store, at.annotator.id, items) if items and versions else {}
    by_number = {version.version: version for version in versions}
    covers = project.blur and project.kind == "sentences"  # generations are covered all or none
    news: dict[str, ItemNews] = {}
    for item in items:
        label, earlier = before.get(item.uid), None
        if label is not None:
            version = by_number[label.version]
            options = [*version.options, *choices_at_the_desk(version)]
            names = {option.code: option_name(option, language) for option in options}
            reasons = [*(names.get(code, code) for code in label.reasons), *(f"#{tag}" for tag in label.tags)]
            choice = str(choice_as_shown(at, item, label.choice))
            earlier = {"choice": names.get(choice, choice), "reasons": reasons, "version": label.version}
        news[item.uid] = {"veil": covers and is_flagged(item), "earlier": earlier}
    return news


def option_name(option: Choice, language: Language) -> str:
    """Return the name of a choice or reason; without a name in *language*, the other name or its code."""
    named = (option.zh or option.en) if language == "zh" else (option.en or option.zh)
    return named or option.code


def is_flagged(item: Item) -> bool:
    """Return whether a sentence was flagged before its import: by mining (`flags`) or a column `sensitive`.

    The desk does not receive which flag it was: that would be an opinion on the sentence.
    """
    sensitive = str(item.extra.get("sensitive") or "").strip().lower()
    return bool(item.extra.get("flags")) or sensitive not in ("", "0", "false", "no")


SCRIPTS = (
    "preferences", "outbox", "server", "queue", "clock", "languages", "text", "marks", "panels", "news", "notices",
    "status", "side", "veil", "tags", "typed", "view", "keys", "keymap", "outage", "scheme", "generations_keys",
    "generations_view", "desk", "generations", "main",
)  # fmt: skip
REASON_KEYS = N_("Reasons to reject and their keys")
COVERED = N_("covered word")
STYLES = ("base", "card", "tags", "side", "generations")
FOLDER = Path(__file__).resolve().parent / "static"


@cache
def script() -> str:
    """Return the desk's JavaScript, one ES module."""
    return "\n".join((FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS)


@cache
def style() -> str:
    """Return the desk's CSS."""
    return "\n".join((FOLDER / f"{name}.css").read_text(encoding="utf-8") for name in STYLES)


@cache
def frame() -> str:
    """Return the desk's HTML; the script fills it in."""
    return (FOLDER / "desk.html").read_text(encoding="utf-8")


def start_data(store: Store, project: Project, annotator: Annotator, *, language: Language, api: str) -> dict[str, Any]:
    """Return the start data of a desk: annotator, project, guideline, token, all texts in *language*.

    `api`: the address for requests.
    """
    versions = guidelines(store, project)
    values = OTHER_WORDS if project.kind == "generations" else {}
    return {
        "api": api,
        "token": issue(
            store.secret, database=store.uid, project=project.uid, annotator=annotator.uid,
            version=sign_in_of(store, annotator.uid).version,
        ),
        "database": store.uid,
        "project": {
            "uid": project.uid, "name": project.name, "kind": project.kind, "language": project.language,
            "presentation": project.presentation, "opinion": project.opinion_model, "checked": project.checked,
            "blur": project.blur, "pause": project.pause_minutes,
            "covered": translate(COVERED, "zh" if project.language.lower().startswith("zh") else "en"),
        },
        "annotator": {"uid": annotator.uid, "name": annotator.name},
        **_in_view(project, versions[-1], language),
        **desk_news(store, project, annotator, desk_state(store, project, annotator), versions),
        "language": language,
        "words": {word: translate(values.get(word, word), language) for word in WORDS},
    }  # fmt: skip


def newer_guideline(
    project: Project, versions: Sequence[Guideline], version: int, language: Language
) -> dict[str, Any] | None:
    """Return the newest guideline and its changes, for a desk that shows *version* to show before the next label.

    None if *version* is the newest, or 0 (the desk does not send its version).
    """
    if not 0 < version < versions[-1].version:
        return None
    newer = [{"version": known.version, "changes": known.changes} for known in versions if known.version > version]
    return {**_in_view(project, versions[-1], language), "changes": newer}


def _in_view(project: Project, shown: Guideline, language: Language) -> dict[str, Any]:
    about = dict(shown.scheme.about) if shown.scheme else {}

    def listed(options: Sequence[Choice]) -> list[dict[str, str]]:
        return [_option(option, language, about.get(option.code, "")) for option in options]

    scheme = shown.scheme and {
        "spans": listed(shown.scheme.spans),
        "needs": dict(shown.scheme.needs),
        "points": listed(shown.scheme.points),
        "compares": shown.scheme.compares,
        "questions": [
            _question(question, language, about.get(question.code, "")) for question in shown.scheme.questions
        ],
    }
    text = blocks(in_language(shown.text, language))
    if project.kind == "sentences":
        text = _with_keys(text, shown.reasons, language)
    return {
        "guideline": {"version": shown.version, "blocks": text},
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


class Block(TypedDict, total=False):
    """A heading or a paragraph of a guideline, with its `runs`: texts, each strong or not; or a list, with `items`.

    `keys`: of each item the key of the reason that it explains, or "".
    """

    kind: Required[Literal["head", "p", "list"]]
    runs: list[tuple[str, bool]]
    ordered: bool
    start: int
    items: list[list[tuple[str, bool]]]
    keys: list[str]


def _with_keys(text: Sequence[Block], reasons: Sequence[Choice], language: Language) -> list[Block]:
    """Return the blocks of a guideline with the key of every reason.

    A point of the text that begins with the name of a reason has its key; the other reasons follow in a list, because
    numbers in the text are its author's.
    """
    left = {option_name(reason, language).casefold(): reason for reason in reasons}
    result: list[Block] = []
    for block in text:
        if block["kind"] != "list":
            result.append(block)
            continue
        leads = [runs[0][0].strip(" .:。：").casefold() if runs and runs[0][1] else "" for runs in block["items"]]
        keys = [left.pop(lead).key.upper() if lead in left else "" for lead in leads]
        result.append({**block, "keys": keys} if any(keys) else block)
    if left:
        items: list[list[tuple[str, bool]]] = [[(option_name(reason, language), False)] for reason in left.values()]
        keys = [reason.key.upper() or "–" for reason in left.values()]
        result.append({"kind": "head", "runs": [(translate(REASON_KEYS, language), False)]})
        result.append({"kind": "list", "ordered": False, "start": 1, "items": items, "keys": keys})
    return result


def _option(choice: Choice, language: Language, about: str) -> dict[str, str]:
    return {"code": choice.code, "key": choice.key, "label": option_name(choice, language)} | (
        {"about": about} if about else {}
    )


def blocks(markdown: str) -> list[Block]:
    """Convert Markdown to headings, paragraphs and flat lists of plain and strong text, for the desk to render.

    HTML, links, pictures and tables stay plain text, so a guideline can load nothing into an annotator's browser.
    """
    reader = MarkdownIt("zero").enable(["heading", "list", "emphasis", "newline", "escape"])
    result: list[Block] = []
    place: Literal["head", "p"] = "p"
    depth = 0
    for token in reader.parse(markdown):
        if token.type in ("ordered_list_open", "bullet_list_open"):
            depth += 1
            if depth == 1:
                start = int(token.attrs.get("start", 1))
                ordered = token.type == "ordered_list_open"
                result.append({"kind": "list", "ordered": ordered, "start": start, "items": []})
        elif token.type in ("ordered_list_close", "bullet_list_close"):
            depth -= 1
        elif token.type == "heading_open":
            place = "head"
        elif token.type == "heading_close":
            place = "p"
        elif token.type == "inline" and depth:
            result[-1]["items"].append(_runs(token))
        elif token.type == "inline":
            result.append({"kind": place, "runs": _runs(token)})
    return result


def _runs(token: Token) -> list[tuple[str, bool]]:
    runs: list[tuple[str, bool]] = []
    strong = 0
    for child in token.children or []:
        strong += child.nesting if child.type in ("strong_open", "strong_close") else 0
        text = " " if child.type in ("softbreak", "hardbreak") else child.content
        if text:
            runs.append((text, strong > 0))
    return runs
