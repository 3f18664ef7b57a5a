"""Import of sentences and their labels from rows that are in memory, as of a notebook."""

import uuid
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.import_labels import LabelImport, store_labels
from evenhand.annotations.files.other_tools.choice_names import Names, annotator_name, choice_and_reasons
from evenhand.annotations.files.read_labels import LabelRow
from evenhand.annotations.files.sentences import checked_text, only_keyword
from evenhand.annotations.guideline.versions import guideline
from evenhand.annotations.items.batch import Batch, NewItem, item_hash, uid_of_hash
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, BadLine

NAME = "rows"  # where a person would see the name of a file


@dataclass(slots=True)
class RowImport:
    """What an import of rows did. `left_out`: sentences that are no items, by the number of their row from 1."""

    labels: LabelImport
    left_out: list[BadLine] = field(default_factory=list)


def import_rows(
    store: Store, project: Project, sentences: Sequence[tuple[Hashable, Any]], labels: Iterable[Mapping[str, Any]]
) -> RowImport:
    """Import *sentences*, each with the key that labels name it by, and *labels* into a project of sentences.

    Of several sentences with one key the first has its labels. A label has `item`, `annotator` and `choice` (a code, or
    a word that means one), if wanted `reason` and `note`.
    Labels of sentences that are no items are left out. Raises BadFile where a label names no sentence.
    """
    rows = list(labels)
    keys = {key for key, _ in sentences}
    strange = list(dict.fromkeys(row["item"] for row in rows if row["item"] not in keys))
    if strange:
        message = N_("Labels name items that are not among the sentences: {items}.")
        raise BadFile(message, items=", ".join(map(str, strange[:5])))
    report = RowImport(LabelImport())
    new: list[tuple[Hashable, NewItem]] = []
    for number, (key, sentence) in enumerate(sentences, 1):
        try:
            text = checked_text(sentence)
            new.append((key, NewItem(text=text, candidate=only_keyword(text), file=NAME, line=number)))
        except BadLine as error:
            report.left_out.append(error.at(NAME, number))
    with Batch.begin(store, project, NAME) as batch:
        batch.add(item for _, item in new)
        batch.publish() if new else batch.discard()
    first = dict(reversed(new))
    report.labels = store_labels(store, project, NAME, _label_rows(store, project, first, rows))
    return report


def _label_rows(
    store: Store, project: Project, new: Mapping[Hashable, NewItem], rows: Iterable[Mapping[str, Any]]
) -> Iterator[LabelRow | BadLine]:
    ids = {key: str(uid_of_hash(store, project, item_hash(item))) for key, item in new.items()}
    newest, names = guideline(store, project), Names()
    for line, row in enumerate(rows, 1):
        if row["item"] not in ids:
            continue
        given = [str(row[key]) for key in ("choice", "reason") if isinstance(row.get(key), str) and row[key]]
        try:
            choice, reasons = choice_and_reasons(given, newest, names, line)
        except BadLine as error:
            yield error.at(NAME, line)
            continue
        note, who = row.get("note"), annotator_name(str(row["annotator"]), names)
        yield LabelRow(
            line=line, item=ids[row["item"]], annotator=who, op_id=uuid.uuid4().hex, choice=choice, reasons=reasons,
            note=note if isinstance(note, str) else "",
        )  # fmt: skip
