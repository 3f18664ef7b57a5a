"""Pre-registration sheets: plans written to the log with hash and time before the first label is seen.

A sheet is Markdown with four sections. It is an event, so it is appended and never changed; a later sheet is stored in
addition. The number of labels in the database at that time is written with it.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any

from evenhand.annotations.database.events import events, record
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.read import count_not_made_here, count_operations
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, Refused
from evenhand.core.files.timestamps import timestamp
from evenhand.core.language import Language

ACTION = "preregistered"
LONGEST = 50_000  # characters
# The sections, each with the headings that begin it, and what a form says below them.
SECTIONS: dict[str, tuple[str, ...]] = {
    "hypotheses": ("hypotheses", "hypothesis", "假设"),
    "measures": ("measures", "指标"),
    "margins": ("margins", "界限"),
    "stopping": ("stopping rule", "停止规则"),
}
FORMS: dict[Language, tuple[str, str, str, str]] = {
    "en": (
        "What do you expect, and what would speak against it?",
        "Which measures decide, on which items, with which intervals?",
        "How large must a difference be to matter, and how small to count as none?",
        "When does labelling end: at how many labels, items or days?",
    ),
    "zh": (
        "预期什么？什么结果会与之相悖？",
        "由哪些指标决定？针对哪些条目？用哪种区间？",
        "差异要多大才算重要？多小才算没有差异？",
        "标注何时结束：多少标注、条目或天数？",
    ),
}
HEADING = re.compile(r"^#{1,6}[ \t](.*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet. `sha256`: of its UTF-8 text; `seal`: of its time, a line end and its text; `labels`: held then."""

    text: str
    sha256: str
    seal: str
    written: str
    labels: int
    author: str = ""

    @property
    def sections(self) -> dict[str, str]:
        """The text of each section."""
        return sections_of(self.text)


def form(language: Language) -> str:
    """Return an empty sheet with its four headings and a question below each."""
    place = 1 if language == "zh" else 0
    headings = [names[-1] if place else names[0].capitalize() for names in SECTIONS.values()]
    return "\n".join(f"## {head}\n\n> {asks}\n" for head, asks in zip(headings, FORMS[language], strict=True))


def _title(heading: str) -> str:
    """Return a heading without the number signs that may close it, as `SECTIONS` has it."""
    return heading.strip(" \t").rstrip("#").rstrip(" \t").casefold().rstrip(":：")


def sections_of(text: str) -> dict[str, str]:
    """Return the sections of a sheet by their code, without the questions of the form.

    Raises Refused if one is missing.
    """
    result: dict[str, str] = {}
    marks = list(HEADING.finditer(text))
    for number, mark in enumerate(marks):
        code = next((code for code, names in SECTIONS.items() if _title(mark[1]) in names), None)
        if code is None:
            continue
        level = len(mark[0]) - len(mark[0].lstrip("#"))
        later = (match for match in marks[number + 1 :] if len(match[0]) - len(match[0].lstrip("#")) <= level)
        end = next(later, None)
        body = text[mark.end() : end.start() if end else len(text)]
        asked = {f"> {name}" for both in FORMS.values() for name in both}
        result[code] = "\n".join(line for line in body.strip().splitlines() if line.strip() not in asked).strip()
    if missing := [SECTIONS[code][0] for code in SECTIONS if not result.get(code)]:
        message = N_("The pre-registration has no text under: {missing}. It needs four sections: {sections}.")
        sections = ", ".join(names[0] for names in SECTIONS.values())
        raise Refused(message, missing=", ".join(missing), sections=sections)
    return result


def preregister(store: Store, project: Project, text: str, *, author: str = "", late: bool = False) -> Sheet:
    """Write the sheet *text* into the log of *project*.

    Raises Refused if a section is missing, if the log already has the sheet, or if the project has labels:
    then only *late* writes it, marked with their number.
    """
    text = text.strip() + "\n"
    sections_of(text)
    if len(text) > LONGEST:
        raise Refused(N_("A pre-registration has at most {most} characters."), most=LONGEST)
    digest = hashlib.sha256(text.encode()).hexdigest()
    if any(sheet.sha256 == digest for sheet in sheets(store, project)):
        raise Refused(N_("This pre-registration is already in the log."))
    with store.write():
        labels = count_operations(store, project)
        if labels and not late:
            message = N_(
                "The project already has {labels} labels, so this is not a plan made in advance. It can be"
                " added late, marked with their number."
            )  # fmt: skip
            raise Refused(message, labels=labels)
        written = timestamp()
        seal = hashlib.sha256(f"{written}\n{text}".encode()).hexdigest()
        facts: dict[str, Any] = {"text": text, "sha256": digest, "seal": seal, "written": written, "labels": labels}
        record(store, project, ACTION, author=author, **facts)
    return Sheet(author=author.strip(), **facts)


def sheets(store: Store, project: Project) -> list[Sheet]:
    """Return the sheets of a project, oldest first."""
    names = ("text", "sha256", "seal", "written", "labels")
    result = [event for event in events(store, project, action=ACTION) if all(name in event.data for name in names)]
    return [Sheet(author=event.author, **{name: event.data[name] for name in names}) for event in result]


def sheet_facts(store: Store, project: Project) -> list[dict[str, Any]]:
    """Return the sheets for a release.

    `before`: the sheet is unchanged, the database held no label then, and all current labels were made at a desk here
    afterwards. `elsewhere`: current labels that were made elsewhere, at an unknown time, or before the sheet.
    """
    result = []
    for sheet in sheets(store, project):
        elsewhere = count_not_made_here(store, project, sheet.written)
        whole = hashlib.sha256(sheet.text.encode()).hexdigest() == sheet.sha256
        result.append({
            "sha256": sheet.sha256, "seal": sheet.seal, "written": sheet.written, "labels": sheet.labels,
            "elsewhere": elsewhere, "before": whole and not sheet.labels and not elsewhere, "whole": whole,
        })  # fmt: skip
    return result
