"""Audits of extremes: a project for blind labelling made of a drawn sample, and the leaks that its labels show.

Stratum, model and Bias_c of a sentence are in the item's `extra` under one key that no desk receives (see
`messages.SOURCE_COLUMNS`). An audit is recognised by the file name of its batch.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.annotations.agreement.measures import AgreementReport, agreement
from evenhand.annotations.audit.follow_up import fill_project, guideline_text, reasons
from evenhand.annotations.database.store import Store
from evenhand.annotations.items.batch import NewItem
from evenhand.annotations.projects.projects import create_project, project_by_uid
from evenhand.annotations.types import Choice, Project
from evenhand.core.audit.leak_rates import (
    Compared,
    Judged,
    Rule,
    WithAndWithout,
    compare_labels,
    compare_sentences,
    is_leak,
    with_and_without,
)
from evenhand.core.audit.sample import AuditItem, AuditSample, Order, Stratum, candidate_of
from evenhand.core.errors import N_, NotFound, Refused
from evenhand.core.types import Side

if TYPE_CHECKING:
    import pandas as pd

FILE = "audit.jsonl"  # what the desk shows as the source of every sentence of an audit
KEY = "audit"  # in `extra`: everything that an annotator must not know
NO_LEAK = Choice("accept", "j", "无泄露", "No leak")
LEAK = Choice("reject", "k", "有泄露", "Leak")

AUDITS = """
SELECT DISTINCT project.uid FROM published_batch AS batch JOIN project ON project.id = batch.project
WHERE batch.file = ? AND project.kind = 'sentences' ORDER BY project.id DESC
"""
ITEMS = """
SELECT item.id, item.text, item.extra, item.wanted, cell.pair, cell.side
FROM item JOIN published_batch AS batch ON batch.id = item.batch JOIN cell ON cell.id = item.cell
WHERE batch.project = ? AND batch.file = ? ORDER BY item.id
"""
LABELS = """
SELECT item, choice, reasons FROM blind_label WHERE project = ? AND choice IN ('accept', 'reject') ORDER BY item, id
"""


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """A sentence of an audit with its blind labels. `leaks` of `labels` say that it leaks, for `reasons`."""

    sentence: str
    row: str
    pair: str
    side: Side
    stratum: Stratum
    toward: Side
    bias_log10: float
    wanted: int
    labels: int
    leaks: int
    reasons: tuple[str, ...]

    @property
    def settled(self) -> bool:
        """True if the sentence has all its labels."""
        return self.labels >= self.wanted


@dataclass(frozen=True, slots=True)
class Audit:
    """The sample drawn for a project, and its progress."""

    project: Project
    run: str
    model: str
    signature: str
    by: Order
    seed: int
    sentences: tuple[LabelledSentence, ...]

    @property
    def settled(self) -> tuple[LabelledSentence, ...]:
        """The sentences that have all their labels. Only these count."""
        return tuple(sentence for sentence in self.sentences if sentence.settled)

    @property
    def labels(self) -> int:
        """The number of blind labels."""
        return sum(sentence.labels for sentence in self.sentences)

    @property
    def labels_wanted(self) -> int:
        """The number of labels that the audit needs in all."""
        return sum(sentence.wanted for sentence in self.sentences)

    @property
    def finished(self) -> bool:
        """True if every sentence has all its labels."""
        return len(self.settled) == len(self.sentences)


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The result of an audit, over the sentences that have all their labels.

    `shares`: by "unanimous", "any" (counting sentences) and "label" (counting labels), each for both ends together
    and each end. `reasons`: code -> (labels among extremes, among controls). `measures`: by rule, then "run" (all
    finite sentences of the run, where its scores were given), "extreme", "control".
    """

    audit: Audit
    shares: Mapping[str, tuple[Compared, ...]]
    reasons: Mapping[str, tuple[int, int]]
    measures: Mapping[Rule, Mapping[str, WithAndWithout]]
    agreement: AgreementReport

    def leaking(self, rule: Rule) -> list[LabelledSentence]:
        """Return the sentences that leak by *rule*, the largest |Bias_c| first."""
        judged_sentences = [
            judged_sentence
            for judged_sentence in self.audit.settled
            if is_leak(judged_sentence.leaks, judged_sentence.labels, rule)
        ]
        return sorted(judged_sentences, key=lambda one: -abs(one.bias_log10))


def create_audit_project(
    store: Store,
    sample: AuditSample,
    name: str,
    annotators: Iterable[str] = (),
    *,
    per_item: int = 3,
    language: str = "zh",
    run: str = "",
) -> Project:
    """Make a project *name* of the sample: keyword masked, random order, no trace of how it was drawn.

    *run*: the name of the score run it was drawn from, so that the result can be compared with it. *language*: of the
    guideline. Raises NotAllowed if the name is taken, Refused for an invalid sample, NotFound if a row does not say
    which word of its sentence is the keyword; then no project exists. If the import fails half-way, the empty project
    is archived under another name.
    """
    rows = [_new_item(item, line, sample, run) for line, item in enumerate(sample.items, 1)]
    project = create_project(
        store,
        name,
        annotators=annotators,
        per_item=per_item,
        guideline_text=guideline_text(language),
        choices=(NO_LEAK, LEAK),
        reasons=reasons(),
        presentation="masked",
        seed=sample.seed,
    )
    fill_project(store, project, FILE, rows)
    return project


def _new_item(item: AuditItem, line: int, sample: AuditSample, run: str) -> NewItem:
    hidden = {
        "run": run,
        "model": sample.model,
        "signature": sample.signature,
        "by": sample.by,
        "seed": sample.seed,
        "row": item.row,
        "stratum": item.stratum,
        "toward": item.toward,
        "bias_log10": item.bias_log10,
    }
    return NewItem(text=item.sentence, candidate=candidate_of(item), file=FILE, line=line, extra={KEY: hidden})


def audits(store: Store) -> list[Audit]:
    """Return every audit of this database, newest first."""
    result = []
    for uid in store.column(AUDITS, (FILE,)):
        try:
            result.append(audit(store, project_by_uid(store, uid)))
        except NotFound:  # a file of one's own that happens to bear this name
            continue
    return result


def audit(store: Store, project: Project) -> Audit:
    """Return the audit *project*: its sample and its progress. Raises NotFound if the project is not an audit."""
    labels: dict[int, list[tuple[str, str]]] = {}
    for item, choice, why in store.db.execute(LABELS, (project.id,)):
        labels.setdefault(item, []).append((choice, why))
    facts: dict[str, Any] = {}
    sentences = []
    for item, text, extra, wanted, pair, side in store.db.execute(ITEMS, (project.id, FILE)):
        hidden = json.loads(extra).get(KEY)
        if not isinstance(hidden, dict) or "stratum" not in hidden:
            continue
        facts = facts or hidden
        sentences.append(_judged_sentence(text, pair, side, wanted, hidden, labels.get(item, [])))
    if not sentences:
        raise NotFound(N_("{project} is not an audit: it was not created from a drawn sample."), project=project.name)
    names = {name: facts[name] for name in ("run", "model", "signature", "by", "seed")}
    return Audit(project, sentences=tuple(sentences), **names)


def _judged_sentence(
    text: str, pair: str, side: Side, wanted: int, hidden: dict[str, Any], labels: list[tuple[str, str]]
) -> LabelledSentence:
    leaks = [why for choice, why in labels if choice == LEAK.code]
    return LabelledSentence(
        sentence=text,
        row=hidden["row"],
        pair=pair,
        side=side,
        stratum=hidden["stratum"],
        toward=hidden["toward"],
        bias_log10=hidden["bias_log10"],
        wanted=wanted,
        labels=len(labels),
        leaks=len(leaks),
        reasons=tuple(code for why in leaks for code in json.loads(why)),
    )


def audit_result(store: Store, project: Project, frame: "pd.DataFrame | None" = None) -> AuditResult:
    """Return the result of the audit *project*.

    *frame*, the scores that the audit was drawn from, adds the effect of leaks on a run. Raises NotFound if the
    project is not an audit, Refused if *frame* holds other scores than those of the audit.
    """
    drawn_audit = audit(store, project)
    settled = drawn_audit.settled
    judged = [
        Judged(judged_sentence.stratum, judged_sentence.toward, judged_sentence.leaks, judged_sentence.labels)
        for judged_sentence in settled
    ]
    run = None if frame is None else _run_values(drawn_audit, frame)
    rules: tuple[Rule, ...] = ("unanimous", "any")
    shares: dict[str, tuple[Compared, ...]] = {rule: compare_sentences(judged, rule) for rule in rules}
    return AuditResult(
        audit=drawn_audit,
        shares=shares | {"label": compare_labels(judged)},
        reasons=_reasons(settled),
        measures={rule: _measures(settled, rule, run) for rule in rules},
        agreement=agreement(store, project),
    )


def _reasons(settled: Iterable[LabelledSentence]) -> dict[str, tuple[int, int]]:
    counts = Counter((judged_sentence.stratum, code) for judged_sentence in settled for code in judged_sentence.reasons)
    codes = dict.fromkeys([reason.code for reason in reasons()] + [code for _, code in counts])
    return {code: (counts["extreme", code], counts["control", code]) for code in codes}


def _measures(
    settled: Iterable[LabelledSentence], rule: Rule, run: dict[str, float] | None
) -> dict[str, WithAndWithout]:
    settled = list(settled)
    leaks = {
        judged_sentence.sentence
        for judged_sentence in settled
        if is_leak(judged_sentence.leaks, judged_sentence.labels, rule)
    }
    parts = {} if run is None else {"run": with_and_without(run, leaks)}
    for stratum in ("extreme", "control"):
        own = {
            judged_sentence.sentence: judged_sentence.bias_log10
            for judged_sentence in settled
            if judged_sentence.stratum == stratum
        }
        parts[stratum] = with_and_without(own, leaks)
    return parts


def _run_values(drawn_audit: Audit, frame: "pd.DataFrame") -> dict[str, float]:
    """Return Bias_c by sentence of the run from which an audit was drawn, after a check against the stored values."""
    rows = frame[(frame["model"] == drawn_audit.model) & frame["bias_log10"].abs().lt(math.inf)]
    # A text can occur twice, each time for another word: its first row with a side counts, as in a draw.
    rows = rows.iloc[(~rows["side"].isin(["male", "female"])).to_numpy().argsort(kind="stable")]
    rows = rows.drop_duplicates("sentence")
    values = {str(text): float(value) for text, value in zip(rows["sentence"], rows["bias_log10"], strict=True)}
    other = [
        sentence
        for sentence in drawn_audit.sentences
        if abs(values.get(sentence.sentence, float("nan")) - sentence.bias_log10) <= 1e-6
    ]
    if len(other) < len(drawn_audit.sentences):
        message = N_(
            "{project} was not drawn from these scores: {count} of its sentences are missing there"
            " or have another value."
        )
        raise Refused(message, project=drawn_audit.project.name, count=len(drawn_audit.sentences) - len(other))
    return values
