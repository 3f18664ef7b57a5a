"""The data sheet of a project: what the database knows, as Markdown or LaTeX, in Chinese or English.

Facts that only people know (why, under which licence, who may be harmed) are marked as to be filled in. The sentences
are in templates/LANGUAGE/datasheet.md.jinja.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from evenhand.annotations.agreement.measures import AgreementReport, agreement
from evenhand.annotations.audit.follow_up import follow_up_facts
from evenhand.annotations.database.chain import Head, head
from evenhand.annotations.database.store import Store, at_one_moment
from evenhand.annotations.guideline.versions import guideline, guidelines
from evenhand.annotations.items.batch import items as stored_items
from evenhand.annotations.labels.blind_labels import POPULATIONS, Population, full_agreement, name_of_labels
from evenhand.annotations.papers.blocks import Block, Form, rendered
from evenhand.annotations.papers.evidence import LabelTotals, evidence, label_totals
from evenhand.annotations.papers.paper import paper_blocks
from evenhand.annotations.progress.cells import funnel, funnel_steps, mining, total
from evenhand.annotations.projects.annotators import annotators
from evenhand.annotations.projects.projects import counts
from evenhand.annotations.text_policy import CANARY, needs_canary, text_may_leave
from evenhand.annotations.types import Guideline, Item, Project, ProjectCounts
from evenhand.core.guidelines import recognise
from evenhand.core.language import Language
from evenhand.core.statistics import Estimate
from evenhand.core.typed_json import fields_of
from evenhand.core.version import VERSION

TEMPLATES = Path(__file__).parent / "templates"
MOST_ROWS = 200  # of the table of cells


@at_one_moment
def datasheet(store: Store, project: Project, language: Language, form: Form = "md") -> str:
    """The data sheet as one file. It holds no text of an item and no annotator's name."""
    return rendered(datasheets(store, project, (language,))[language], form, language)


@at_one_moment
def datasheets(
    store: Store,
    project: Project,
    languages: Iterable[Language],
    *,
    released: bool = False,
    reason: str = "",
    checks: Sequence[Any] = (),
    known: "Known | None" = None,
) -> dict[Language, list[Block]]:
    """The data sheet in several languages, as blocks; the database is read once.

    *released*: of a release, whose heads of the log stand beside it; then it says where the log was. *reason*: why the
    set is released although something speaks against it; "" where nothing does. *checks*: what does, as messages with
    values. *known*: the facts, if they were read.
    """
    known = known or read_known(store, project)
    if not released:
        known = replace(known, log=None)
    return {
        language: paper_blocks(TEMPLATES, "datasheet", language, _facts(known, language, reason, checks))
        for language in languages
    }


@dataclass(slots=True)
class Held:
    """Counts over the items, taken one by one: a list of 100,000 with their labels would need a gigabyte.

    `cells`: (pair, side) of sentences, (model, data set, pronouns, setting) of generations -> items.
    """

    items: int = 0
    files: set[str] = field(default_factory=set)
    cells: Counter[tuple[str, ...]] = field(default_factory=Counter)
    contexts: set[str | None] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Known:
    """The facts of the data sheet, read once for all languages and formats.

    `held`, `kept`: counts over all items and over the kept ones. `way`, `cells`, `found`: `mining`, `funnel` and its
    `total`; `guideline`: the newest of `versions`; `joined`: annotators, also former ones; `agreement`: None if fewer
    than two have labelled; `full_agreement`: of reviewed and of kept items; `provenance`: how the labels were made;
    `log`: its last entry, None where the sheet is of no release.
    """

    project: Project
    held: Held
    kept: Held
    label_totals: LabelTotals
    way: dict[str, Any]
    cells: list[dict[str, Any]]
    found: dict[str, Any]
    guideline: Guideline
    versions: int
    joined: int
    counts: ProjectCounts
    agreement: AgreementReport | None
    full_agreement: dict[Population, Estimate]
    provenance: dict[str, Any]
    follow_ups: list[dict[str, Any]]
    log: Head | None


def read_known(store: Store, project: Project) -> Known:
    """Read the facts of the data sheet of *project*."""
    totals, cells = label_totals(store, project), funnel(store, project)
    held, kept = _held(store, project)
    report = agreement(store, project) if len(totals.people) > 1 else None
    # Of further populations; none where labels decided which items are reviewed.
    populations: tuple[Population, ...] = ("reviewed", "kept")
    whole = report is not None and report.on != "share" and not report.stopped
    return Known(
        project=project,
        held=held,
        kept=kept,
        label_totals=totals,
        way=mining(store, project),
        cells=cells,
        found=total(store, project, cells),
        guideline=guideline(store, project),
        versions=len(guidelines(store, project)),
        joined=len(annotators(store, project, active=False)),
        counts=counts(store, project),
        agreement=report,
        full_agreement={one: full_agreement(store, project, one) for one in populations if whole},
        provenance=evidence(store, project),
        follow_ups=follow_up_facts(store, project),
        log=head(store.db),
    )


def _held(store: Store, project: Project) -> tuple[Held, Held]:
    """Return counts over all items, and over the kept ones."""
    held, kept, sentences = Held(), Held(), project.kind == "sentences"
    for item in stored_items(store, project):
        for counted in (held, kept) if item.status == "accepted" else (held,):
            counted.items += 1
            counted.files.add(item.file)
            counted.cells[(item.pair, str(item.side)) if sentences else _origin(item)] += 1
            if not sentences:
                counted.contexts.add(item.context)
    return held, kept


def _origin(item: Item) -> tuple[str, ...]:
    sets = item.extra.get("pronouns")
    pronouns = ", ".join(map(str, sets)) if isinstance(sets, list) else ""
    model, dataset, setting = (str(item.extra.get(key, "")) for key in ("model", "dataset", "setting"))
    return model, dataset, pronouns, setting


def _facts(known: Known, language: Language, reason: str = "", checks: Sequence[Any] = ()) -> dict[str, Any]:
    """The variables of the template: what is known, and what follows from it."""
    project, reasons = known.project, known.guideline.beside
    return fields_of(known) | {
        "app": VERSION,
        "project": asdict(project),
        "release_reason": reason,
        "release_checks": checks,
        "sentences": project.kind == "sentences",
        "kept_cells": sorted(known.kept.cells.items()),
        "labels": known.label_totals,
        "cells": sorted(known.held.cells.items()),
        "most_rows": MOST_ROWS,
        "steps": list(funnel_steps(project, known.way, known.found)),
        "rate": known.found["rate"],
        "reviewed": known.found["reviewed"],
        "compared": known.found["compared"],
        "signatures": list(dict.fromkeys(run["signature"] for run in known.way["runs"])),
        "built_in": recognise(known.guideline.text),
        "reasons": {one.code: (one.zh if language == "zh" else one.en) or one.code for one in reasons},
        "populations": POPULATIONS,
        "labels_name": name_of_labels(known.provenance),
        "locked": project.kind == "generations" and not text_may_leave(project),
        "canary": CANARY if needs_canary(project) else None,
    }
