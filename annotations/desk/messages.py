"""Messages between desk and server: values to JSON, and untrusted JSON to values.

Of a comparison the desk is sent the two texts in the order that is drawn for this annotator and item, and says `first`
for the left one. Which text the item has first it never learns: in a file the first one is often always of the same
model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from evenhand.annotations.desk.session import DeskSession
from evenhand.annotations.guideline.scheme import FIRST, SECOND, TIE
from evenhand.annotations.guideline.versions import Place, mirrored, place_on_left
from evenhand.annotations.labels.checks import parse_marks
from evenhand.annotations.labels.own import without_word
from evenhand.annotations.types import Answer, Choice, Decision, Guideline, Item, Kind, Operation, OwnProgress
from evenhand.core.errors import N_, EvenhandError, Refused
from evenhand.core.language import Language, explain, translate
from evenhand.core.text.pronouns import NO_PRONOUNS, PRONOUN_DATASETS, set_named

MOST_OPERATIONS = 100  # in one request
MOST_ITEMS = 60  # handed out at once
MOST_HAVE = 400
MOST_HISTORY = 500
LONGEST_ID = 100
LONGEST_SEARCH = 200
# Columns of an imported file that the desk shows below the sentence. Others could hold an opinion.
SOURCE_COLUMNS = ("source", "来源", "出处", "name", "title", "标题", "date", "日期")

SOURCE_KEYS = ("file", *SOURCE_COLUMNS)  # what is shown if such a column is an object
# Choices by the place of the texts, in that order, with what is between them in between.
AT_THE_DESK = {FIRST: N_("Left is better"), TIE: None, SECOND: N_("Right is better")}

Json = dict[str, Any]


def person_out(item: Item) -> dict[str, Any]:
    """Return name (or "") and pronoun sets, each with its distinct forms.

    These are the only columns of a generation that a desk receives. The data set decides the spelling of a set, and is
    not sent.
    """
    dataset = item.extra.get("dataset")
    named = item.extra.get("pronouns") or []
    listed = named if isinstance(named, list) else [named]
    sets = [_pronoun_set_out(str(entry), dataset if dataset in PRONOUN_DATASETS else "own") for entry in listed]
    name = item.extra.get("name")
    return {"name": name.strip() if isinstance(name, str) else "", "sets": sets}


def _pronoun_set_out(name: str, dataset: str) -> dict[str, Any]:
    try:
        forms = [form for form in set_named(name, dataset).forms if form]
    except EvenhandError:  # an unknown set in a file: shown as written
        forms = [name]
    return {"none": name == NO_PRONOUNS.name, "forms": list(dict.fromkeys(forms))}


def item_out(item: Item, base: str | None = None, kind: Kind = "sentences", *, covered: bool = False) -> Json:
    """Return an item as the desk shows it; `base`: the operation that a new label replaces. Spans are in code points.

    *covered*: leave out its word and side; `words` are both words, which the desk shows on demand.

    Of a generation: the text, its context and the person meant. Model, setting, data set, file and stratum are not
    sent: annotators judge the text alone. Of a comparison, `text` is on the left and `second` on the right.
    """
    if kind == "generations":
        texts = {"text": item.text} | ({} if item.second is None else {"second": item.second})
        return {"id": item.uid, **texts, "context": item.context or "", **person_out(item), "base": base}
    told = [text for name in SOURCE_COLUMNS if (text := _source_text(item.extra.get(name)))]
    words = {"covered": True, "words": _both_words(item)} if covered else {}
    shown = without_word(item) if covered else item
    return {
        "id": item.uid,
        "text": shown.text,
        "word": shown.word,
        "pair": item.pair,
        "side": shown.side,
        "counterpart": shown.counterpart,
        **words,
        "source": " ".join(told) or item.file,
        "base": base,
    }


def _both_words(item: Item) -> list[str] | None:
    """Return both words, the male one first; without a known side, in the order of their characters."""
    if item.word is None or not item.counterpart:
        return None
    words = [item.text[slice(*item.word)], item.counterpart]
    return sorted(words) if not item.side else words[::-1] if item.side == "female" else words


def _source_text(value: Any) -> str:
    """Return the source of a sentence in words, or ""."""
    if isinstance(value, dict):
        named = (_source_field(key, value.get(key)) for key in SOURCE_KEYS if not isinstance(value.get(key), dict))
        return " ".join(text for text in named if text)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return str(value).strip()


def _source_field(key: str, value: Any) -> str:
    """Return the name of a file without its folder on the server, any other value unchanged."""
    return _source_text(value).rsplit("/", 1)[-1] if key == "file" else _source_text(value)


class ItemNews(TypedDict):
    """What is new about an item.

    `veil`: cover it until it is opened, because it was flagged (sentences of a project that blurs). `earlier`: for
    relabelling, `choice`, `reasons` and `version` of the annotator's label under an older version, in its words.
    """

    veil: bool
    earlier: Json | None


def items_out(
    at: DeskSession,
    items: Sequence[Item],
    bases: Mapping[str, str],
    news: Mapping[str, ItemNews],
    *,
    covered: bool,
    veil: bool,
) -> list[Json]:
    """Return items as the desk shows them, with the operation that a new label of each replaces and its news.

    *covered*: without their words; *veil*: the whole text is covered until it is opened, regardless of its news.
    """
    kind, cover = at.project.kind, {"veil": True} if veil else {}
    return [
        {**item_out(as_shown(at, item), bases.get(item.uid), kind, covered=covered), **news[item.uid], **cover}
        for item in items
    ]


def decision_out(at: DeskSession, decision: Decision, *, ago: int | None = None) -> Json:
    """Return one own decision with its item; *ago*: the number of newer labels, if that number limits its undo."""
    return {
        "item": item_out(as_shown(at, decision.item), kind=at.project.kind, covered=decision.covered),
        **({} if ago is None else {"ago": ago}),
        "choice": choice_as_shown(at, decision.item, decision.choice),
        "reasons": decision.reasons,
        "tags": decision.tags,
        "note": decision.note,
        "extraneous": decision.extraneous,
        "spans": decision.spans,
        "op": decision.op_id,
        "created": decision.created,
    }


def progress_out(progress: OwnProgress, kind: Kind = "sentences") -> Json:
    """Return the annotator's counts.

    `pace` is labels per hour, null with too few labels. Cells of generations are left out, because they name models.
    """
    cells = [
        {"pair": c.pair, "side": c.side, "labelled": c.labelled, "accepted": c.accepted, "quota": c.quota}
        for c in progress.cells
        if kind == "sentences"
    ]
    return {"labelled": progress.labelled, "total": progress.total, "pace": progress.pace, "cells": cells}


@dataclass(frozen=True, slots=True)
class RefusedOperation:
    """An operation that cannot be read; `op_id`: what it calls itself, which may be anything."""

    op_id: Any
    reason: Refused


@dataclass(frozen=True, slots=True)
class SyncRequest:
    """A desk's request to sync: operations to store, up to `want` items in addition to its own, past decisions.

    `version`: of the guideline that the desk knows; 0: the desk does not send it.
    """

    ops: Sequence[Operation | RefusedOperation]
    have: Sequence[str]
    want: int
    hello: int
    version: int

    @property
    def readable(self) -> list[Operation]:
        """The operations that can be read."""
        return [operation for operation in self.ops if isinstance(operation, Operation)]


def sync_in(body: Json, database: str, at: DeskSession, *, compares: bool) -> SyncRequest:
    """Return the request of a sync; *compares*: the items are comparisons. Raises Refused if it is invalid.

    An invalid operation does not make the whole request invalid.
    """
    sent, have = list_in(body, "ops", MOST_OPERATIONS), list_in(body, "have", MOST_HAVE)
    want, hello = min(number_in(body, "want"), MOST_ITEMS), min(number_in(body, "hello"), MOST_HISTORY)
    known, version = [uid for uid in have if isinstance(uid, str)], number_in(body, "version")
    return SyncRequest([_read_operation(raw, database, at, compares) for raw in sent], known, want, hello, version)


def _read_operation(raw: Any, database: str, at: DeskSession, compares: bool) -> Operation | RefusedOperation:
    try:
        operation = operation_in(raw, database, at)
    except Refused as error:
        return RefusedOperation(raw.get("op") if isinstance(raw, dict) else None, error)
    if not compares:
        return operation
    left = _left(at, operation.item)
    return replace(operation, choice=mirrored(operation.choice, left), left=left)


def answers_out(
    ops: Sequence[Operation | RefusedOperation], stored: Sequence[Answer], language: Language
) -> list[Json]:
    """Return one answer per operation, in order; *stored*: the answers to the valid ones."""
    answers = iter(stored)
    return [
        {"op": op.op_id, "result": "refused", "reason": explain(op.reason, language)}
        if isinstance(op, RefusedOperation)
        else _answer_out(next(answers), language)
        for op in ops
    ]


def _answer_out(answer: Answer, language: Language) -> Json:
    if answer.stored:
        return {"op": answer.op_id, "result": "acked", "conflict": answer.conflict, "latest": answer.latest}
    reason = explain(Refused(answer.reason, **answer.values), language)
    return {"op": answer.op_id, "result": "refused", "reason": reason, "latest": answer.latest}


def _left(at: DeskSession, uid: str) -> Place:
    return place_on_left(at.project.seed, uid, at.annotator.uid)


def as_shown(at: DeskSession, item: Item) -> Item:
    """Return an item with its left text as the first; an item with a single text unchanged."""
    if item.second is None or _left(at, item.uid) == FIRST:
        return item
    return replace(item, text=item.second, second=item.text)


def choice_as_shown(at: DeskSession, item: Item, choice: str | None) -> str | None:
    """Return a stored choice of left and right as `first` or `second`."""
    return choice if item.second is None else mirrored(choice, _left(at, item.uid))


def choices_at_the_desk(shown: Guideline) -> Sequence[Choice]:
    """Return the choices of a version in its order and with its names; of comparisons by the place of the texts."""
    if not shown.compares:
        return shown.choices
    by_code = {choice.code: choice for choice in shown.choices}
    return [
        by_code[code] if name is None else replace(by_code[code], zh=translate(name, "zh"), en=name)
        for code, name in AT_THE_DESK.items()
        if code in by_code
    ]


def operation_in(raw: Any, database: str, at: DeskSession) -> Operation:
    """Return an operation as a desk sends it. Raises Refused if it is invalid or belongs elsewhere."""
    if not isinstance(raw, dict):
        raise Refused(N_("This is not a valid operation."))
    # Every operation names its database, project and annotator, so that an outbox never reaches others.
    if raw.get("database") != database:
        raise Refused(N_("This decision belongs to another database."))
    if raw.get("project") != at.project.uid or raw.get("annotator") != at.annotator.uid:
        raise Refused(N_("This decision belongs to another project or annotator."))
    choice, note, form, reasons = raw.get("choice"), raw.get("note", ""), raw.get("form"), raw.get("reasons", [])
    revision, version, extraneous = raw.get("revision"), raw.get("guideline"), raw.get("extraneous")
    tags = raw.get("tags", [])
    right = (
        (choice is None or isinstance(choice, str))
        and isinstance(note, str)
        and form in ("original", "masked")
        and _is_whole(revision)
        and (version is None or _is_whole(version))
        and isinstance(reasons, list)
        and all(isinstance(reason, str) for reason in reasons)
        and (extraneous is None or isinstance(extraneous, bool))
        and isinstance(tags, list)
        and all(isinstance(tag, str) for tag in tags)
    )
    if not right:
        raise Refused(N_("This operation does not have the expected format."))
    base = None if raw.get("base") is None else id_in(raw, "base")
    return Operation(
        op_id=id_in(raw, "op"), item=id_in(raw, "item"), choice=choice, desk=id_in(raw, "desk"),
        revision=raw["revision"], base=base, reasons=tuple(reasons), note=note, seconds=_seconds_in(raw),
        form_shown="masked" if form == "masked" else "original", extraneous=extraneous,
        spans=parse_marks(raw.get("spans", [])), tags=tuple(tags), guideline=version,
    )  # fmt: skip


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _seconds_in(raw: Json) -> float | None:
    value = raw.get("seconds")
    if value is None:
        return None
    try:
        if isinstance(value, bool):
            raise TypeError("a truth value is no time")
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise Refused(N_("The time spent on a sentence must be a number of seconds, 0 or more.")) from error


def id_in(body: Json, name: str) -> str:
    """Return a public id: 1 to 100 printable ASCII characters. Raises Refused."""
    value = body.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_ID or not value.isascii() or not value.isprintable():
        raise Refused(N_("{name} must be an id."), name=name)
    return value


def list_in(body: Json, name: str, most: int) -> list[Any]:
    """Return a list of at most *most* members; empty if missing. Raises Refused."""
    value = body.get(name, [])
    if not isinstance(value, list) or len(value) > most:
        raise Refused(N_("{name} must be a list of at most {most}."), name=name, most=most)
    return value


def number_in(body: Json, name: str, default: int = 0) -> int:
    """Return a whole number, 0 or more. Raises Refused."""
    value = body.get(name, default)
    if not _is_whole(value) or value < 0:
        raise Refused(N_("{name} must be a whole number, 0 or more."), name=name)
    return int(value)


def search_in(body: Json) -> str:
    """Return a search text; "" if missing. Raises Refused if it is too long or not a text."""
    value = body.get("search", "")
    try:
        if not isinstance(value, str) or len(value) > LONGEST_SEARCH:
            raise ValueError("no search")
        value.encode("utf-8")  # a lone surrogate cannot be searched for
    except ValueError as error:
        raise Refused(N_("The search text exceeds {most} characters."), most=LONGEST_SEARCH) from error
    return value
