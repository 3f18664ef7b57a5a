"""What a desk asks for: each a function of one checked request to its reply."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.desk.frontend import desk_news, item_news, newer_guideline, record_changes_read
from evenhand.annotations.desk.messages import (
    MOST_HISTORY,
    SyncRequest,
    answers_out,
    choice_as_shown,
    decision_out,
    id_in,
    items_out,
    number_in,
    progress_out,
    search_in,
    sync_in,
)
from evenhand.annotations.desk.session import DeskSession, InvitedDesk
from evenhand.annotations.guideline.drafts import own_tags
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.labels.operations import remaining_skips, reveal
from evenhand.annotations.labels.operations import store_operations as store_operations
from evenhand.annotations.labels.own import (
    CoveredLabels,
    covered_labels,
    covers_words,
    own_conflicts,
    own_decisions,
    progress_at_desk,
    standing_decision,
)
from evenhand.annotations.projects.annotators import desk_state
from evenhand.annotations.queue import leases
from evenhand.annotations.types import Answer, Decision, Guideline, Item
from evenhand.core.errors import NotFound
from evenhand.core.language import Language, translate

Reply = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DeskRequest:
    """One checked request: the database, the session, the body, the language of the answer.

    `invited`: the limits of a desk that came by the link of a study.
    """

    store: Store
    at: DeskSession
    database: str
    body: dict[str, Any]
    language: Language
    invited: InvitedDesk | None = None


def sync(call: DeskRequest) -> Reply:
    """Store operations, then hand out items: parse, store, decide gold, claim, reply.

    In: `ops`, `have`, `want`, `hello` (past decisions wanted; 0: none), `version` (of the known guideline).
    Out, among others: `next`, a newer guideline, which is to be read before the next label.
    """
    store, project, annotator = call.store, call.at.project, call.at.annotator
    share = None if call.invited is None else call.invited.items
    versions = guidelines(store, project)
    sync_request = sync_in(
        call.body, call.database, call.at, compares=project.kind == "generations" and versions[-1].compares
    )
    stored: list[Answer] = []
    if sync_request.ops:
        stored = store_operations(store, project, annotator, sync_request.readable, asked=share, versions=versions)
    want = sync_request.want
    if want > 0 and share is not None:  # no more than this person was asked to judge
        labelled = progress_at_desk(store, project, annotator, share).labelled
        want = min(want, max(0, share - labelled - len(sync_request.have)))
    items: list[Item] = []
    replaced: dict[str, str] = {}
    if want > 0:
        items = leases.claim(store, project, annotator, have=sync_request.have, want=want)
        replaced = leases.bases(store, annotator, items)
    elif not sync_request.ops:
        leases.heartbeat(store, project, annotator)
    reply = _reply(call, sync_request, versions, stored, items, replaced)
    if want > 0 and not items:
        reply["skipped"] = leases.count_for_others(store, project, annotator)
    if share is not None and (sync_request.hello or sync_request.ops):
        reply["skips_left"] = remaining_skips(store, project, annotator, share)
    return reply


def _reply(
    call: DeskRequest, sync_request: SyncRequest, versions: Sequence[Guideline], stored: Sequence[Answer],
    items: Sequence[Item], replaced: dict[str, str],
) -> Reply:  # fmt: skip
    """Return the reply to a sync: answers, items with the operations that they replace, progress, and news."""
    store, project, annotator, invited = call.store, call.at.project, call.at.annotator, call.invited
    progress = progress_at_desk(store, project, annotator, None if invited is None else invited.items)
    covered = covers_words(project)
    now, newest = desk_state(store, project, annotator), versions[-1].version
    news = item_news(store, call.at, items, versions if now.back else (), call.language)
    reply: Reply = {
        "guideline": newest,
        "next": newer_guideline(project, versions, sync_request.version, call.language)
        if sync_request.version < newest
        else None,
        "left": not now.active,
        **desk_news(store, project, annotator, now, versions),
        "answers": answers_out(sync_request.ops, stored, call.language),
        "progress": progress_out(progress, project.kind),
        "items": items_out(call.at, items, replaced, news, covered=covered, veil=invited is not None and invited.cover),
    }
    if sync_request.hello:
        reply["history"] = _own_decisions(call, sync_request.hello)
        reply["tags"] = own_tags(store, project, annotator) if reply["pilot"] else []
    if sync_request.hello or sync_request.ops:
        reply["conflicts"] = [_conflict(call, decision) for decision in own_conflicts(store, project, annotator)]
    return reply


def heartbeat(call: DeskRequest) -> Reply:
    """Renew the leases of an open desk. Out: whether this annotator has `left`, the newest version of the guideline."""
    leases.heartbeat(call.store, call.at.project, call.at.annotator)
    now = desk_state(call.store, call.at.project, call.at.annotator)
    return {"left": not now.active, "guideline": guidelines(call.store, call.at.project)[-1].version}


def history(call: DeskRequest) -> Reply:
    """Return own past decisions, newest first. Fields: `limit`, `search`."""
    limit = max(1, min(number_in(call.body, "limit", 10), MOST_HISTORY))
    return {"history": _own_decisions(call, limit, search_in(call.body))}


def item(call: DeskRequest) -> Reply:
    """Return one item with the annotator's own decision. Field: `item`."""
    covered = covered_labels(call.store, call.at.project, call.at.annotator)
    uid = id_in(call.body, "item")
    decision = standing_decision(call.store, call.at.project, call.at.annotator, uid, covered)
    return {"decision": _decision(call, decision, covered)}


def opinion(call: DeskRequest) -> Reply:
    """Return the scores of the project's model for a labelled item, and record that they were shown. Field: `item`."""
    from evenhand.annotations.desk.opinion import opinion_of  # imported here: a desk without opinions never needs it

    decision = standing_decision(call.store, call.at.project, call.at.annotator, id_in(call.body, "item"))
    told = opinion_of(call.at.project, decision.item)
    told["reason"] = told["reason"] and translate(told["reason"], call.language)
    # Recorded before it is sent, and only if the label is still valid.
    reveal(call.store, call.at.project, call.at.annotator, decision.item.uid)
    return told


def read_changes(call: DeskRequest) -> Reply:
    """Record that the annotator has read what changed up to a version of the guideline. In: `version`."""
    store, project, annotator = call.store, call.at.project, call.at.annotator
    versions = guidelines(store, project)
    record_changes_read(store, project, annotator, versions, number_in(call.body, "version"))
    return desk_news(store, project, annotator, desk_state(store, project, annotator), versions)


def _own_decisions(call: DeskRequest, limit: int, search: str = "") -> list[Reply]:
    at, covered = call.at, covered_labels(call.store, call.at.project, call.at.annotator)
    decisions = own_decisions(call.store, at.project, at.annotator, limit=limit, search=search, covered=covered)
    return [_decision(call, decision, covered) for decision in decisions]


def _decision(call: DeskRequest, decision: Decision, covered: CoveredLabels | None) -> Reply:
    return decision_out(call.at, decision, ago=None if covered is None else covered.ago(decision.op_id))


def _conflict(call: DeskRequest, decision: Decision) -> Reply:
    """Return a superseded decision with the choice that is valid now, or None in its place."""
    try:
        valid = standing_decision(call.store, call.at.project, call.at.annotator, decision.item.uid).choice
    except NotFound:
        valid = None
    return {**decision_out(call.at, decision), "stands": choice_as_shown(call.at, decision.item, valid)}
