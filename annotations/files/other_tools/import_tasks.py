"""Import of texts with labels in words: tasks of another labelling program, and rows in memory, as of a notebook.

Texts become items, annotations become labels of their annotators. Names of choices become codes: guessed by name, or
mapped by a person.
"""

import json
import uuid
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.detect import Layout, bare_name
from evenhand.annotations.files.import_items import (
    Examined,
    ImportReport,
    Progress,
    import_examined,
    read_row,
    sentence_of,
    task_of,
)
from evenhand.annotations.files.import_labels import LabelImport, store_labels
from evenhand.annotations.files.label_files import FORMS, PLACES, LabelRow, label_of
from evenhand.annotations.files.other_tools.tasks import PROGRAMS, TaskLabel, moment_of, seconds_of, strings
from evenhand.annotations.files.other_tools.write import safe_name
from evenhand.annotations.files.sentences import checked_text, only_keyword
from evenhand.annotations.guideline.versions import guideline, guidelines
from evenhand.annotations.items.batch import Batch, NewItem, item_hash, uid_of_hash
from evenhand.annotations.labels.checks import mark_kinds
from evenhand.annotations.quality.known_answers import set_known
from evenhand.annotations.types import Guideline, Mark, Project
from evenhand.core.errors import N_, BadFile, BadLine
from evenhand.core.files.readers import Row, Source, file_sha256, rows
from evenhand.core.text.sentences import control_character, text_hash

NOBODY = "annotator"
# Lower case, letters and digits only. For projects of sentences; the choices of generations have their own names.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "accept": (
        *("accept", "accepted", "keep", "kept", "yes", "y", "ok", "okay", "good", "valid", "positive", "pass", "true"),
        *(
            "use",
            "usable",
            "suitable",
            "保留",
            "接受",
            "采纳",
            "采用",
            "是",
            "通过",
            "可用",
            "合格",
            "有效",
            "适合",
            "好",
        ),
    ),
    "reject": (
        *("reject", "rejected", "drop", "dropped", "discard", "no", "n", "bad", "invalid", "negative", "fail", "false"),
        *("remove", "unusable", "unsuitable", "拒绝", "不接受", "删除", "剔除", "舍弃", "丢弃", "否", "不通过"),
        *("不可用", "不合格", "无效", "不适合", "不保留", "差"),
    ),
}


@dataclass(frozen=True, slots=True)
class Names:
    """A mapping of the names in a file.

    `choices`: name -> code of a choice or reason, "" to ignore the name; a missing name is guessed. `people`: name of
    an annotator in the file -> name here; the key "" is for annotations without an annotator.
    """

    choices: Mapping[str, str] = field(default_factory=dict)
    people: Mapping[str, str] = field(default_factory=dict)


def guess_choice(name: str, guideline: Guideline) -> str | None:
    """Return the code of the choice or reason of *guideline* that *name* means, or None.

    Codes and labels of the guideline come first (choices before reasons), then words for accept and reject.
    """
    wanted = bare_name(name)
    for options in (guideline.choices, guideline.beside):
        for option in options:
            if name == option.code or (wanted and wanted in map(bare_name, (option.code, option.zh, option.en))):
                return option.code
    codes = {option.code for option in guideline.choices}
    return next((code for code, words in SYNONYMS.items() if code in codes and wanted in words), None)


def choice_and_reasons(
    given: Sequence[str], guideline: Guideline, names: Names, line: int
) -> tuple[str, tuple[str, ...]]:
    """Return the choice and the reasons that the names *given* mean; a name may be mapped to "", which says nothing.

    Raises BadLine for an unknown name, or unless there is exactly one choice.
    """
    codes = {name: names.choices[name] if name in names.choices else guess_choice(name, guideline) for name in given}
    offered, beside = ({option.code for option in options} for options in (guideline.choices, guideline.beside))
    unknown = [name for name, code in codes.items() if code != "" and code not in offered | beside]
    if unknown:
        message = N_(
            "The meaning of {choice} in this project is unknown: specify it (on the command line: --map {example})."
        )
        example = f"{unknown[0][:40]}={guideline.choices[0].code}"
        raise BadLine("", line, "unknown_choice", message, choice=", ".join(unknown)[:80], example=example)
    known = dict.fromkeys(code for code in codes.values() if code)
    choices = [code for code in known if code in offered]
    if len(choices) != 1:
        message = N_("An annotation needs exactly one choice; this one has {count} ({found}).")
        raise BadLine("", line, "label", message, count=len(choices), found=", ".join(choices) or "—")
    return choices[0], tuple(code for code in known if code not in offered)


def annotator_name(who: str, names: Names) -> str:
    """Return the name here of an annotator of a file; a number alone becomes "user 3"."""
    if who in names.people:
        return names.people[who].strip() or NOBODY
    return NOBODY if not who else f"user {who}" if who.isdecimal() else who


LOOKED_AT = 2_000  # tasks that are read to list the names of a file
# File names that name no annotator.
TOGETHER = ("all", "unlabelled", "unknown", "export", "project", "labels", "annotations")
LONGEST_ID = 100


@dataclass(slots=True)
class TaskSurvey:
    """Names in the first tasks of a file; `whole`: these were all its tasks.

    `names`: choices and how often; `people`: annotators as the file names them ("" for none).
    """

    tasks: int = 0
    names: Counter[str] = field(default_factory=Counter)
    people: Counter[str] = field(default_factory=Counter)
    truths: int = 0
    whole: bool = True


@dataclass(slots=True)
class TaskImport:
    """The report of an import: items, labels, and what was only counted: `left` by the names of LEFT."""

    items: ImportReport
    labels: LabelImport = field(default_factory=LabelImport)
    left: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of `import --json`."""
        numbers = ("rows", "imported", "duplicates", "beside", "rejected")
        labels: dict[str, Any] = {key: getattr(self.labels, key) for key in numbers}
        labels["errors"] = self.labels.errors_json()
        return self.items.as_json() | {"labels": labels} | {key: self.left[key] for key in LEFT}


LEFT = ("skipped", "empty", "drafts", "predictions", "ground_truth", "without_item", "other")


def survey_tasks(files: Sequence[Examined]) -> TaskSurvey:
    """Return the names in the first 2,000 tasks."""
    task_survey = TaskSurvey(whole=sum(file.rows for file in files) <= LOOKED_AT)
    for file in files:
        for row in islice(rows(file.source), max(0, LOOKED_AT - task_survey.tasks)):
            task_survey.tasks += 1
            for task_label in task_of(file.layout, row).labels if row.problem is None else ():
                if not task_label.skipped:
                    task_survey.names.update(task_label.names)
                    task_survey.people[author_of(task_label, file.source, file.layout)] += 1
                    task_survey.truths += task_label.truth
    return task_survey


def author_of(task_label: TaskLabel, source: Source, layout: Layout) -> str:
    """Return the annotator that the file or its name gives (doccano writes a file for each), or "".

    An unchanged label of this app belongs to its annotator here, not to whom the other program names.
    """
    named = task_label.who
    if not named and layout.format == "doccano":
        stem = PurePosixPath(source.name.split(": ")[-1]).stem
        named = "" if stem.lower() in TOGETHER else stem
    first = str(task_label.made.get("annotator") or "")
    return first if first and (named in ("", safe_name(first)) or is_evenhand_label(task_label)) else named


def is_evenhand_label(task_label: TaskLabel) -> bool:
    """Tell whether an annotation is unchanged since this app wrote it; True if that was not recorded."""
    made = task_label.made
    if not isinstance(made.get("said"), list):
        return True
    spans = made.get("spans")
    # As texts: a file may hold anything in their place, also what no set takes.
    marks = {repr(tuple(span)) for span in spans if isinstance(span, list)} if isinstance(spans, list) else set()
    same = set(task_label.names) == set(strings(made["said"])) and set(map(repr, map(tuple, task_label.marks))) == marks
    return same and strings(task_label.note) == strings(made.get("note")) and task_label.flag == made.get("extraneous")


def import_tasks(
    store: Store,
    project: Project,
    files: Sequence[Examined],
    names: Names,
    *,
    file: str = "",
    known: bool = False,
    progress: Progress | None = None,
) -> TaskImport:
    """Import items, then labels, of files that `examine` has read as Label Studio's or doccano's.

    `known`: ground truth of the file becomes known answers. A repeated import adds nothing. The report
    lists annotations that cannot be used with the number of their task. Raises as `import_examined`.
    """
    name = file or files[0].source.name
    report = TaskImport(import_examined(store, project, files, progress=progress, file=name))
    reading = _TaskReader(store, project, names, report.left)
    for examined in files:
        source = examined.source.name if len(files) > 1 else name
        labels, program = reading.labels(examined.source, examined.layout), PROGRAMS.get(examined.layout.format, "")
        sha256 = file_sha256(examined.source.path)
        report.labels.add(store_labels(store, project, source, labels, program=program, sha256=sha256))
    for uid, choice in reading.truths.items() if known else ():
        set_known(store, project, uid, choice, why=name)
    return report


class _TaskReader:
    """Turns tasks into rows of labels under the newest guideline of a project."""

    def __init__(self, store: Store, project: Project, names: Names, left: Counter[str]) -> None:
        self.store, self.project, self.names, self.left = store, project, names, left
        self.truths: dict[str, str] = {}  # public id of an item -> its ground truth; the last one counts
        self.guideline: Guideline = guideline(store, project)
        self.versions = {stored_guideline.version for stored_guideline in guidelines(store, project)}

    def labels(self, source: Source, layout: Layout) -> Iterator[LabelRow | BadLine]:
        """Yield every annotation of a file that is not empty or skipped, or its problem."""
        for row in rows(source):
            if row.problem is not None:
                continue  # the report on items lists it
            task = task_of(layout, row)
            self.left.update(drafts=task.drafts, predictions=task.predictions)
            if not task.labels:
                continue
            uid = self._item(source, layout, row)
            for task_label in task.labels:
                self.left["other"] += task_label.other
                if uid is None or task_label.skipped or not task_label.names:
                    self.left["skipped" if task_label.skipped else "without_item" if uid is None else "empty"] += 1
                    continue
                self.left["ground_truth"] += task_label.truth
                try:
                    label = self._label(task_label, uid, row.line, author_of(task_label, source, layout))
                    if task_label.truth and label.choice:
                        self.truths[label.item] = label.choice
                    yield label
                except BadLine as error:
                    yield error.at(source.name, row.line)

    def _item(self, source: Source, layout: Layout, row: Row) -> str | None:
        """Return the public id of the new or existing item of the task."""
        try:
            identity = item_hash(read_row(source, layout, row).item)
        except BadLine:
            # The mark that tells which keyword is meant may be in the file of another annotator only.
            text = sentence_of(layout, row)
            if self.project.kind != "sentences" or not text.strip():
                return None
            identity = text_hash(text)
        return uid_of_hash(self.store, self.project, identity)

    def _label(self, task_label: TaskLabel, uid: str, line: int, named: str) -> LabelRow:
        who, made = annotator_name(named, self.names), task_label.made if is_evenhand_label(task_label) else {}
        given = strings(made.get("said")) or task_label.names  # doccano sorts names
        choice, reasons = choice_and_reasons(given, self.guideline, self.names, line)
        version, revision = made.get("guideline"), made.get("revision")
        # Marks of sentences only tell which keyword is meant.
        kinds = mark_kinds(self.guideline) if self.project.kind == "generations" else ()
        # Whether this annotator had seen an opinion here holds for a label changed in the other program too.
        own = annotator_name(str(task_label.made.get("annotator") or ""), self.names) == who
        return LabelRow(
            line=line,
            item=uid,
            annotator=who,
            op_id=self._operation(task_label, made, uid, who, [choice, *reasons]),
            choice=choice,
            reasons=reasons,
            extraneous=task_label.flag,
            spans=tuple(Mark(*mark) for mark in task_label.marks if mark[2] in kinds),
            note=str(made.get("note", task_label.note)),
            seconds=seconds_of(made.get("seconds", task_label.seconds)),
            guideline=version if isinstance(version, int) and version in self.versions else None,
            after_reveal=own and task_label.made.get("after_reveal") is True,
            form_shown=FORMS.get(str(made.get("form_shown") or "")),
            desk=str(made.get("desk") or ""),
            revision=revision if isinstance(revision, int) else 0,
            created=moment_of(made.get("created")) or task_label.created,
            left=PLACES.get(str(made.get("left"))),
        )

    def _operation(self, task_label: TaskLabel, made: Mapping[str, Any], uid: str, who: str, codes: list[str]) -> str:
        """Return the id of the operation: its own if the label is unchanged from this app, else one of its content."""
        own = made.get("op_id")
        if isinstance(own, str) and 0 < len(own) <= LONGEST_ID and not control_character(own):
            known = label_of(self.store, own)
            if known is None:
                return own
            if (known.uid, known.name, [known.choice, *json.loads(known.reasons)]) == (uid, who, codes):
                return own
        parts = [uid, who, task_label.key, task_label.created, *codes]
        return uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(parts)).hex


NAME = "rows"  # where a person would see the name of a file


@dataclass(slots=True)
class RowImport:
    """The result of an import of rows. `left_out`: sentences that are not items, by the number of their row from 1."""

    labels: LabelImport
    left_out: list[BadLine] = field(default_factory=list)


def import_rows(
    store: Store, project: Project, sentences: Sequence[tuple[Hashable, Any]], labels: Iterable[Mapping[str, Any]]
) -> RowImport:
    """Import *sentences* and *labels* into a project of sentences; each sentence comes with its key.

    A label has `item` (the key of its sentence), `annotator` and `choice` (a code, or a word that means one), and may
    have `reason` and `note`. If several sentences have one key, the first gets the labels. Labels of sentences that do
    not become items are left out. Raises BadFile if a label names no sentence.
    """
    rows = list(labels)
    keys = {key for key, _ in sentences}
    strange = list(dict.fromkeys(row["item"] for row in rows if row["item"] not in keys))
    if strange:
        message = N_("Labels refer to items that are not among the sentences: {items}.")
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
