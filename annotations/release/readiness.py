"""The checklist of a release: what is missing, and what to know before making one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.annotations.adjudication.decisions import case_counts
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import is_importing
from evenhand.annotations.items.check_derived import stale_in_words
from evenhand.annotations.items.wanted_labels import RECOUNTING, open_recount
from evenhand.annotations.papers.blocks import one_line
from evenhand.annotations.pilot.pilots import open_pilot
from evenhand.annotations.projects.consent import sharing
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project, ProjectCounts
from evenhand.core.errors import N_, Refused
from evenhand.core.statistics.units import FEWEST_FILES

State = Literal["done", "missing", "note"]  # missing: prevents a release; note: information
VERSION = re.compile(r"\w[\w.+-]{0,39}")
LONGEST_CREATOR = 200  # characters
FEW, RELIABLE = 300, 0.8  # items; alpha
QUICK = 3_000  # items whose gold labels are decided again in a tenth of a second, while a page waits
# By the code of what speaks against a release.
NEEDS_REASON = {
    "cases": N_(
        "{number} cases are still open. Explain why the data set is released anyway; the reason goes into the data"
        " sheet."
    ),
    "interval": N_(
        "The interval of Krippendorff's alpha, {low} to {high}, is too wide to be informative. Explain why the"
        " data set is released anyway; the reason goes into the data sheet."
    ),
    "no_interval": N_(
        "Krippendorff's alpha, {value}, has no interval on these labels. Explain why the data set is released"
        " anyway; the reason goes into the data sheet."
    ),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One point of the checklist: a sentence with {named} values."""

    code: str
    state: State
    message: str
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message.format(**self.values) if self.values else self.message


def readiness(store: Store, project: Project, *, whole: bool = False) -> list[Check]:
    """Return all points, missing ones first; a release can be made if none is missing.

    `whole`: gold labels are decided again in a large project too (30 microseconds an item), as before each release.
    """
    project_counts = counts(store, project)
    stale = stale_in_words(store, project) if whole or project_counts.items <= QUICK else None
    checks = [
        _needed("licence", project.licence, N_("The licence is stated."),
                N_("State the licence under which the data set is released.")),
        _needed("source", project.source_statement, N_("The source of the texts is stated."),
                N_("State where the texts come from and on what basis they may be redistributed.")),
        _kept_items(project_counts.accepted, project_counts.items),
        *_running(store, project),
        *([Check("gold", "missing", stale.message, stale.values)] if stale else ()),
        *_consent(store, project),
        *(_undecided(store, project, project_counts) if project_counts.items else ()),
        *_quotas(project_counts.cells),
    ]  # fmt: skip
    if project.kind == "generations" and not text_may_leave(project):
        text = N_("The texts of this project can only be exported encrypted: files with text need a password.")
        checks.append(Check("text", "note", text))
    order: dict[State, int] = {"missing": 0, "note": 1, "done": 2}
    return sorted(checks, key=lambda check: order[check.state])


def refuse_unready(store: Store, project: Project, *, whole: bool = False) -> None:
    """Raise Refused with the first point that is missing; `whole` as in `readiness`."""
    for check in readiness(store, project, whole=whole):
        if check.state == "missing":
            raise Refused(check.message, **check.values)


def to_explain(store: Store, project: Project) -> list[Check]:
    """Return why a release needs a written reason: open cases, or uninformative agreement. [] if it needs none.

    Agreement is uninformative if Krippendorff's alpha has no 95% interval, or one that holds both 0 (chance) and 0.8
    (from which he calls data reliable; Content Analysis, 2004, 11.4.2). Alpha is not computed for more than FEW items,
    because a page waits for it; the data sheet of every release holds the agreement.
    """
    checks = []
    if number := case_counts(store, project)["open"]:
        checks.append(Check("cases", "note", N_("Cases not yet settled: {number}."), {"number": f"{number:,}"}))
    labelled = sum(items for labels, items in counts(store, project).by_labels.items() if labels > 1)
    if 0 < labelled <= FEW:
        from evenhand.annotations.agreement.measures import agreement

        alpha = agreement(store, project).overall.alpha
        # Too few articles, which no labelling can change: the data sheet says so.
        few = project.kind == "sentences" and 0 < alpha.clusters < FEWEST_FILES
        if alpha.value is not None and alpha.low is None and not few:
            text = N_("Krippendorff's alpha, {value}, has no 95% interval on these labels.")
            checks.append(Check("no_interval", "note", text, {"value": _two(alpha.value)}))
        elif alpha.low is not None and alpha.high is not None and alpha.low <= 0 and alpha.high >= RELIABLE:
            text = N_("The interval of Krippendorff's alpha, {low} to {high}, includes both chance and good agreement.")
            ends = {"low": _two(alpha.low), "high": _two(alpha.high)}
            checks.append(Check("interval", "note", text, ends))
    return checks


def checked_reason(store: Store, project: Project, reason: str) -> str:
    """Return the *reason* for a release that needs one, "" for one that needs none. Raises Refused if it is missing."""
    checks = to_explain(store, project)
    if checks and not reason.strip():
        raise Refused(NEEDS_REASON[checks[0].code], **checks[0].values)
    return reason.strip() if checks else ""


def checked_version(version: str) -> str:
    """Return *version* without blanks around it.

    Raises Refused unless it is a plain name for a folder, as 1.0 or beta_2.
    """
    bare = version.strip()
    if not VERSION.fullmatch(bare) or bare.endswith("."):
        message = N_(
            "{version} is not a valid version: use up to 40 letters, digits, dots, hyphens or underscores, as in 1.0."
        )
        raise Refused(message, version=repr(version[:60]))
    return bare


def checked_creators(names: Sequence[str]) -> list[str]:
    """Return the names of who is cited on one line each, without empty ones. Raises Refused if one is too long."""
    bare = [one_line(name) for name in names if name.strip()]
    if longest := next((name for name in bare if len(name) > LONGEST_CREATOR), None):
        raise Refused(N_("{name} exceeds {most} characters."), name=longest[:60], most=LONGEST_CREATOR)
    return bare


def _needed(code: str, value: str, given: str, missing: str) -> Check:
    return Check(code, "done", given) if value.strip() else Check(code, "missing", missing)


def _kept_items(number: int, items: int) -> Check:
    if number:
        return Check("kept", "done", N_("Accepted items: {number}."), {"number": f"{number:,}"})
    if items:
        return Check("kept", "missing", N_("No items are accepted yet, so there is nothing to release."))
    # "Every item is decided" would be true of an empty project, but misleading.
    text = N_("The project has no items, so there is nothing to release. Import a file and have it labelled.")
    return Check("items", "missing", text)


def _running(store: Store, project: Project) -> list[Check]:
    checks = []
    if is_importing(store, project):
        text = N_("A file is being imported into this project. Wait for the import to finish before releasing.")
        checks.append(Check("import", "missing", text))
    if open_recount(store, project):
        checks.append(Check("settling", "missing", RECOUNTING))
    if pilot := open_pilot(store, project):
        text = N_("Pilot {number} is open. Close it first: its labels were made to find the criteria.")
        checks.append(Check("pilot", "missing", text, {"number": pilot.number}))
    return checks


def _consent(store: Store, project: Project) -> list[Check]:
    entries = sharing(store, project)
    if not entries["released"]["people"] + entries["left_out"]["people"]:
        return []
    if not entries["left_out"]["people"]:
        return [Check("consent", "done", N_("All annotators consent to the release of individual labels."))]
    text = N_(
        "Excluded from the tables of individual labels because consent is missing: {labels} labels; annotators:"
        " {people}. Annotators answer on My record; record written consent under Projects, People."
    )
    values = {key: f"{number:,}" for key, number in entries["left_out"].items()}
    return [Check("consent", "note", text, values)]


def _undecided(store: Store, project: Project, project_counts: ProjectCounts) -> list[Check]:
    checks = [Check("open", "done", N_("Every item is decided."))]
    if project_counts.pending:
        text = N_("{pending} of {items} items are not decided yet; this release excludes them.")
        checks = [
            Check(
                "open", "note", text, {"pending": f"{project_counts.pending:,}", "items": f"{project_counts.items:,}"}
            )
        ]
    number = case_counts(store, project)["open"]
    if not number:
        return [*checks, Check("cases", "done", N_("No disagreements are waiting for adjudication."))]
    text = N_("Disagreements not yet adjudicated: {number}.")
    return [*checks, Check("cases", "note", text, {"number": f"{number:,}"})]


def _quotas(cells: Any) -> list[Check]:
    asked = [cell for cell in cells if cell.quota is not None]
    if not asked:
        return []
    short = [cell for cell in asked if cell.accepted < cell.quota]
    if not short:
        return [Check("quotas", "done", N_("Every quota is met."))]
    text = N_("{cells} of {all} quotas are not met; {items} accepted items are missing.")
    missing = sum(cell.quota - cell.accepted for cell in short)
    return [Check("quotas", "note", text, {"cells": len(short), "all": len(asked), "items": f"{missing:,}"})]


def _two(value: float) -> str:
    """Return a number with two decimals, with the minus sign of the pages."""
    return f"{value:.2f}".replace("-", "−")
