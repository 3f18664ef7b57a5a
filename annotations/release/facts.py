"""The facts for the papers of a release: one dict of numbers and words from the database.

Shares lie between 0 and 1 with 95% intervals; an undefined value is None, and `<key>_reason` says why.
Seconds are the time on an item, as the desk measured it.
"""

from collections import Counter
from pathlib import PurePosixPath
from typing import Any

from evenhand.annotations.agreement.measures import AgreementReport
from evenhand.annotations.audit.follow_up import METHOD
from evenhand.annotations.database.events import HERE_ONLY, events
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.provenance import items_of_files
from evenhand.annotations.labels.totals import LabelTotals
from evenhand.annotations.papers.datasheet import Known, read_known
from evenhand.annotations.projects.annotators import coded_file, pseudonyms
from evenhand.annotations.projects.preregistration import sheet_facts
from evenhand.annotations.projects.projects import annotators, guidelines
from evenhand.annotations.quality.retest_agreement import RetestReport
from evenhand.annotations.quantities.labels import NO_TIME
from evenhand.annotations.quantities.pilots import PilotNumbers, pilot_estimates
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.quantities.texts import text_estimates
from evenhand.annotations.release.annotator_card import annotator_facts
from evenhand.annotations.text_policy import CANARY, needs_canary
from evenhand.annotations.types import Project
from evenhand.core.describe.as_json import as_json
from evenhand.core.guidelines import recognise
from evenhand.core.resources import table
from evenhand.core.statistics.estimate import Estimate
from evenhand.core.typed_json import Writers, to_json
from evenhand.core.version import VERSION

MOST_FILES = 200
MESSAGES: Writers = {Estimate: lambda estimate: estimate.to_json(reasons="messages")}


COVERAGE_OF = ("all agree", "two agree", "Fleiss' kappa", "Krippendorff's alpha", "Gwet's AC1")  # printed in papers


def coverage_cited() -> dict[str, dict[str, float]]:
    """Return the simulated coverage in percent of the printed intervals, for single items and items in clusters.

    `least` and `most` are pooled over all settings, of the measure with the lowest and the highest coverage; `lowest`
    is that of the worst setting of any measure. The table is written together with docs/coverage.md.
    """
    result: dict[str, dict[str, float]] = {}
    for design in ("items", "clusters"):
        rows = [row for row in table("coverage") if row["design"] == design and row["interval"] in COVERAGE_OF]
        pooled = [float(row["pooled"]) for row in rows]
        lowest = min(float(row["lowest"]) for row in rows)
        result[design] = {"least": min(pooled), "most": max(pooled), "lowest": lowest}
    return result


def gather(store: Store, project: Project, known: Known | None = None) -> dict[str, Any]:
    """Gather the facts for data sheet, method section and card of a project; *known*: those already read."""
    known = known or read_known(store, project)
    snapshot = known.snapshot
    labels = snapshot.label_totals
    texts = snapshot.texts("accepted")
    values = {
        "app": VERSION,
        "project": _settings(project),
        "guidelines": _guidelines(store, project, labels),
        "sources": _sources(store, project),
        "mining": known.way,
        "quantities": quantities_json(known.quantities | text_estimates(texts), messages=True),
        "funnel": snapshot.cells,
        "total": snapshot.total,
        "labels": {"standing": known.quantities["labels.valid"].value, **_labels(labels)},
        "provenance": known.provenance,
        "preregistration": sheet_facts(store, project),
        "follow_ups": [sample | {"method": METHOD} for sample in known.follow_ups],
        "people": _people(store, project, labels),
        "annotators": annotator_facts(store, project),
        "pilots": [_pilot(pilot) for pilot in snapshot.pilots.values()],
        "agreement": agreement_facts(snapshot.agreement),
        "coverage": coverage_cited(),
        "retests": _retests(snapshot.retests),
        "hidden_gold": snapshot.answers,
        "adjudication": snapshot.adjudication,
        "events": Counter(event.action for event in events(store, project) if event.action not in HERE_ONLY),
        "sent_back": sum(event.data.get("labels", 0) for event in events(store, project, action="sent_back")),
        "statistics": as_json(texts),
        "canary": CANARY,
        "canary_in_texts": needs_canary(project),  # else only in the card
    }
    facts: dict[str, Any] = to_json(values, MESSAGES)
    return facts


def _settings(project: Project) -> dict[str, Any]:
    names = (
        *("name", "kind", "language", "per_item", "gold", "presentation", "seed", "rescue", "doubled", "plan", "share"),
        *("retest", "retest_hours", "licence", "source_statement", "created"),
    )
    return {name: getattr(project, name) for name in names}


def _guidelines(store: Store, project: Project, labels: LabelTotals) -> list[dict[str, Any]]:
    return [
        {
            "version": guideline.version,
            "created": guideline.created,
            "changes": guideline.changes,
            "built_in": recognise(guideline.text) or "",
            "labels": labels.versions[guideline.version],
            "choices": [[choice.code, choice.zh, choice.en] for choice in guideline.choices],
            "reasons": [[reason.code, reason.zh, reason.en] for reason in guideline.reasons],
        }
        for guideline in guidelines(store, project)
    ]


def _sources(store: Store, project: Project) -> dict[str, Any]:
    rows = items_of_files(store, project)
    # Folders of a user's machine are not published.
    codes = pseudonyms(store, project)
    named = [
        [coded_file(PurePosixPath(str(file).replace("\\", "/")).name, codes), number]
        for file, number, *_ in rows[:MOST_FILES]
    ]
    mined, flagged = sum(row[2] for row in rows), sum(row[3] for row in rows)
    return {"files": len(rows), "largest": named, "mined": mined, "flagged": flagged}


def _labels(labels: LabelTotals) -> dict[str, Any]:
    timed = len(labels.seconds)
    hours, median = labels.hours, labels.median_seconds
    result: dict[str, Any] = {
        "by_choice": dict(labels.choices),
        "first_day": labels.first[:10],
        "last_day": labels.last[:10],
        "timed": timed,
        "hours": None if hours is None else round(hours, 3),
        "median_seconds": None if median is None else round(median, 2),
        "breaks": labels.breaks,
    }
    return result if timed else result | {"hours_reason": NO_TIME.message, "median_seconds_reason": NO_TIME.message}


def _people(store: Store, project: Project, labels: LabelTotals) -> dict[str, Any]:
    everybody, active = annotators(store, project, active=False), annotators(store, project)
    codes = pseudonyms(store, project)
    each: list[dict[str, Any]] = [
        {"code": codes[annotator.name], "labels": number, "hours": round(spent / 3600, 2)}
        for annotator in everybody
        if annotator.id in labels.people
        for number, spent in (labels.people[annotator.id],)
    ]
    each.sort(key=lambda one: (len(one["code"]), one["code"]))
    return {"joined": len(everybody), "active": len(active), "labelled": len(labels.people), "each": each}


def _pilot(numbers: PilotNumbers) -> dict[str, Any]:
    """Return the facts of a pilot: `unanimous` is the share of fully labelled sentences that every label accepts,
    `agreement` the full agreement of the `compared` items on the labels made while it was open.
    """
    figures, pilot = numbers.figures, numbers.figures.pilot
    return {"number": pilot.number, "drawn": pilot.items, "items": figures.items,
            "people": pilot.people, "begun": pilot.begun, "closed": pilot.closed, "labelled": numbers.labelled,
            "unanimous": numbers.accepted, "compared": figures.compared, "agreement": figures.unanimous,
            "tags": numbers.tags, "distinct_tags": numbers.distinct_tags,
            "quantities": quantities_json(pilot_estimates(numbers), messages=True)}  # fmt: skip


def agreement_facts(report: AgreementReport) -> dict[str, Any]:
    """Return agreement before filtering, on the blind labels of all items that have any (or of the random share)."""
    facts: dict[str, Any] = to_json(
        {
            **to_json(report.overall, MESSAGES),
            "on": report.on,
            "ended_at_reject": report.ended,
            "imported_ended_at_reject": report.imported_ended,
            "signature": report.signature,
            "by_version": [{"version": version, **to_json(found, MESSAGES)} for version, found in report.by_version],
            "by_pair": [{"pair": name, **to_json(found, MESSAGES)} for name, found in report.by_pair],
            "two": [
                {"items": two_annotators.items, "agreed": two_annotators.agreed, "kappa": two_annotators.kappa}
                for two_annotators in report.cohen
            ],
        },
        MESSAGES,
    )
    return facts


def _retests(report: RetestReport) -> dict[str, Any]:
    """Return retest agreement of all annotators together, not of single ones."""
    together = report.together
    return {
        "items": together.compared,
        "people": sum(annotator.compared > 0 for annotator in report.annotators),
        "same": together.agreed,
        "kappa": together.kappa,
        "days": together.days,
        "other_guideline": together.other_guideline,
        "seen": together.seen,
        "signature": report.signature,
    }
