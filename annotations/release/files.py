"""The files of a release, composed from one snapshot of the database."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.annotations.database.hash_chain import daily_heads, head
from evenhand.annotations.database.store import Store
from evenhand.annotations.files.export_formats import ExportOptions
from evenhand.annotations.files.generations import published_files
from evenhand.annotations.files.other_tools.write import labelling_config
from evenhand.annotations.files.package.records import author_codes
from evenhand.annotations.guideline.versions import compares, guideline, guidelines
from evenhand.annotations.labels.blind_labels import name_of_labels
from evenhand.annotations.labels.totals import BREAKS_S
from evenhand.annotations.papers.blocks import Block, rendered
from evenhand.annotations.papers.datasheet import Known, datasheets, read_known
from evenhand.annotations.papers.paper import paper_blocks
from evenhand.annotations.projects.annotators import pseudonyms
from evenhand.annotations.projects.consent import consenting
from evenhand.annotations.projects.preregistration import sheets
from evenhand.annotations.quantities.changes import change_estimates
from evenhand.annotations.quantities.quantity import quantities_json
from evenhand.annotations.quantities.texts import MEASURES, text_id
from evenhand.annotations.release.changes import TEMPLATES, described, facts_compared, label_changes
from evenhand.annotations.release.dataset_card import DATA, HARD_CASES, card, data_columns, hard_case_features
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.labelled_files import (
    SPANS,
    SPREADSHEETS,
    KeptSets,
    LabelledFiles,
    Table,
    labelled_files,
    packed_items,
)
from evenhand.annotations.release.metadata import CITATION, CROISSANT, DATA_PACKAGE, ZENODO, metadata_files
from evenhand.annotations.release.parquet import PARQUET, as_parquet
from evenhand.annotations.release.proof.page import proof_page
from evenhand.annotations.release.readiness import to_explain
from evenhand.annotations.release.stored_releases import LOG_HEAD, FrozenFile, Release, freeze, pretty
from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project
from evenhand.core.errors import N_
from evenhand.core.files.timestamps import timestamp
from evenhand.core.language import LANGUAGES, Language

MOST_CELLS = 200
MOST_RUNS = 10  # whose signatures are named
MOST_FILES = 20


FORMAT = "evenhand-release"
SUMS = "SHA256SUMS"
FACTS = "release.json"
PROOF = "proof.html"
# What is in each file, for the card; {names} of files of their own are filled in.
HOLDS = {
    "slguset.csv": N_("accepted sentences, with columns and positions as in the published data set"),
    SPREADSHEETS: N_(
        "for spreadsheet programs: texts that begin with = + - @ get an apostrophe, which offsets do not count; the"
        " tables of the same names hold the unchanged data"
    ),
    "kept.jsonl": N_("accepted items with all recorded information"),
    DATA: N_("accepted items in the layout of the datasets library"),
    "label_studio.json": N_("accepted items with their labels, for import into Label Studio"),
    "label_studio.xml": N_("labelling configuration for label_studio.json"),
    "doccano.jsonl": N_("accepted items with their gold label, for import into doccano"),
    "labels.csv": N_(
        "one row per item and annotator: the valid label and its origin; annotators who consented, as A1, A2, ..."
    ),
    "labels_history.csv": N_("all labels of annotators who consented, including replaced and undone ones"),
    SPANS: N_("marked spans of the labels of labels.csv, as W3C Web Annotations"),
    HARD_CASES: N_("rejected, split and adjudicated items, with the labels of annotators who consented"),
    "datasheet.en.md": N_("data sheet, English"),
    "datasheet.zh.md": N_("data sheet, Chinese"),
    "datasheet.en.tex": N_("data sheet, English, LaTeX"),
    "datasheet.zh.tex": N_("data sheet, Chinese, LaTeX"),
    "method.en.md": N_("method section, English"),
    "method.zh.md": N_("method section, Chinese"),
    "method.en.tex": N_("method section, English, LaTeX"),
    "method.zh.tex": N_("method section, Chinese, LaTeX"),
    "annotator_card.en.md": N_("annotator card: who labelled, how they were recruited, trained and paid, English"),
    "annotator_card.zh.md": N_("annotator card: who labelled, how they were recruited, trained and paid, Chinese"),
    "changes.en.md": N_("changes since the previous release, English"),
    "changes.zh.md": N_("changes since the previous release, Chinese"),
    "changes.json": N_("changes since the previous release, listing every item"),
    "preregistration.en.md": N_("pre-registered plan compared with what was done, English"),
    "preregistration.zh.md": N_("pre-registered plan compared with what was done, Chinese"),
    "preregistration/": N_("original text of each pre-registration; its SHA-256 is in the log"),
    "guideline/": N_("every version of the guideline"),
    "package/": N_(
        "the project, with the labels of annotators who consented: Evenhand rebuilds it from the release folder or its"
        " archive"
    ),
    LOG_HEAD: N_("hashes of the log of the database: at the end of each day, and when the release was made"),
    PROOF: N_("checks the numbers of the release in a browser: open it and choose this folder"),
    PARQUET: N_("the rows of data/train.jsonl as Parquet"),
    CROISSANT: N_("description for dataset search and loaders (Croissant 1.1 with RAI)"),
    DATA_PACKAGE: N_("description as a Frictionless Data Package"),
    CITATION: N_("how to cite the release"),
    ZENODO: N_("metadata of a deposit at Zenodo"),
    FACTS: N_("all numbers in the documentation, and the content hash"),
    SUMS: N_("the SHA-256 of every file"),
}
PUBLISHED = N_("accepted texts in the format of the published samples")
Step = Callable[[str], None]


@dataclass(slots=True)
class DraftRelease:
    """A composed release that is not stored yet."""

    files: list[FrozenFile] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    with_text: list[str] = field(default_factory=list)


class Composer:
    """Composes one release of a project in a snapshot; `step` is called with the name of each file."""

    def __init__(self, store: Store, project: Project, step: Step) -> None:
        self.store, self.project, self.step = store, project, step
        self.people = pseudonyms(store, project)
        self.codes = author_codes(store, project, self.people)
        self.open = text_may_leave(project)
        self.columns = data_columns(project, pairs=compares(store, project))
        self.made = DraftRelease()
        self.hard_cases = 0

    def compose(
        self, version: str, notes: str, reason: str, last: Release | None, creators: Sequence[str] = ()
    ) -> DraftRelease:
        """Compose all files of a release.

        *reason*: why it is made although something is open; *last*: the previous release; *creators*: who is cited,
        those of the previous release if none.
        """
        with labelled_files(self.store, self.project, last) as labelled:
            known = read_known(self.store, self.project)
            facts = gather(self.store, self.project, known)
            self._sets()
            with_labels = labelled(packed_items(self.store, self.project))
        self._take(with_labels)
        facts["release"] = {
            "version": version,
            "hash": with_labels.compared.hash,
            "created": timestamp(),
            "notes": notes,
            "reason": reason,
            "creators": list(creators or ([] if last is None else last.facts["release"].get("creators", []))),
            "previous": None if last is None else last.facts["release"]["version"],
            "previous_hash": None if last is None else last.facts["release"]["hash"],
        }
        self.made.facts = facts
        self._changes(last, with_labels.compared.changes)
        self._papers(known)
        self._planned()
        self._log_head()
        self._add(PROOF, [proof_page()])
        self._metadata()
        self._card()
        return self.made

    def _take(self, files: LabelledFiles) -> None:
        """Add the files with labels: the package before the sets, the other labels after them."""
        for frozen_file in (*files.package, *files.labels):
            self.step(frozen_file.name)
        self.made.files = [*files.package, *self.made.files, *files.labels]
        self.made.with_text += files.with_text
        self.hard_cases = files.hard_cases

    def _add(self, name: str, lines: Iterable[str], *, text: bool = False) -> None:
        self._add_all([freeze(name, lines)], text=text)

    def _add_all(self, files: list[FrozenFile], *, text: bool) -> None:
        for file in files:
            self.step(file.name)
            self.made.files.append(file)
            if text:
                self.made.with_text.append(file.name)

    def _add_table(self, name: str, lines: Iterable[str]) -> None:
        table = Table(name)
        table.add(lines)
        self._add_all(table.done(), text=True)

    def _log_head(self) -> None:
        """Add the heads of the log, by which users of the release can check that nothing older was changed."""
        days = [{"day": log_head.day, "hash": log_head.hash} for log_head in daily_heads(self.store.db)]
        now = head(self.store.db)
        self._add(LOG_HEAD, [pretty({"log_head": {"at": now.at, "hash": now.hash}, "days": days})])

    def _sets(self) -> None:
        """Add the kept items in every layout."""
        store, project = self.store, self.project
        export_options = ExportOptions("jsonl", "accepted", locked=True)
        made = KeptSets(store, project, export_options, consenting(store, project, "release"))
        if project.kind == "sentences":
            self._add_all(made.table.done(), text=True)
        else:
            for name, rows in published_files(store, project, replace(export_options, format="published")).items():
                self._add_table(f"published/{name}", rows)
        data = made.data.done()
        self._add_all([made.items.done(), data, as_parquet(data, self.columns), made.tasks.done()], text=True)
        self._add("label_studio.xml", [labelling_config(project, guideline(store, project))])
        self._add_all([made.doccano.done()], text=True)

    def _papers(self, known: Known) -> None:
        for stored_guideline in guidelines(self.store, self.project):
            self._add(
                f"guideline/v{stored_guideline.version}.md",
                [stored_guideline.text if stored_guideline.text.endswith("\n") else stored_guideline.text + "\n"],
            )
        newest = guideline(self.store, self.project).text
        reason = self.made.facts["release"]["reason"]
        checks = to_explain(self.store, self.project) if reason else []
        sheets = datasheets(
            self.store, self.project, LANGUAGES, released=True, reason=reason, checks=checks, known=known
        )
        for language in LANGUAGES:
            papers = {"datasheet": sheets[language], "method": method(self.made.facts, newest, language)}
            for name, blocks in papers.items():
                self._add(f"{name}.{language}.md", [rendered(blocks, "md", language)])
                self._add(f"{name}.{language}.tex", [rendered(blocks, "tex", language)])
            facts = {**self.made.facts, "labels_name": name_of_labels(self.made.facts["provenance"])}
            blocks = paper_blocks(TEMPLATES, "annotator_card", language, facts)
            self._add(f"annotator_card.{language}.md", [rendered(blocks, "md", language)])

    def _planned(self) -> None:
        """Add the pre-registration sheets, compared with what was done; nothing if the project has none."""
        facts = self.made.facts
        written = sheets(self.store, self.project)
        if not written:
            return
        both = [
            known | {"sections": sheet.sections} for known, sheet in zip(facts["preregistration"], written, strict=True)
        ]
        for language in LANGUAGES:
            blocks = paper_blocks(
                TEMPLATES,
                "preregistration",
                language,
                {**facts, "sheets": both, "labels_name": name_of_labels(facts["provenance"])},
            )
            self._add(f"preregistration.{language}.md", [rendered(blocks, "md", language)])
        for number, sheet in enumerate(written, 1):
            self._add(f"preregistration/{number}.md", [sheet.text])

    def _changes(self, last: Release | None, contents: dict[str, Any]) -> None:
        values = facts_compared(contents, None if last is None else last.facts, self.made.facts)
        standing = self.made.facts["labels"]["standing"]
        values["all_labels"] = None if last is None else label_changes(self.store, self.project, last, standing)
        notes = self.made.facts["release"]["notes"]
        self._add("changes.json", [pretty(values | {"notes": notes})])
        for language in LANGUAGES:
            blocks = described(values, self.made.facts, language)
            self._add(f"changes.{language}.md", [rendered(blocks, "md", language)])
        # The file has the lists of items; the facts for pages have only the numbers.
        self.made.facts["changes"] = summary(values)
        self.made.facts["quantities"] |= quantities_json(change_estimates(values))

    def _metadata(self) -> None:
        """Add the machine-readable descriptions of the files that leave in plain, with the package or without it."""
        locked = set() if self.open else set(self.made.with_text)
        files = [file for file in self.made.files if file.name not in locked and not file.name.startswith("package/")]
        columns = self.columns if self.open else []
        labels_name = name_of_labels(self.made.facts["provenance"])
        self._add_all(
            list(metadata_files(self.made.facts, files, columns, _held(files), labels_name=labels_name)), text=False
        )

    def _card(self) -> None:
        made = self.made
        cases = hard_case_features(self.project, with_text=self.open) if self.hard_cases else ""
        columns = self.columns, cases
        contents = _contents([*(file.name for file in made.files), FACTS, SUMS])
        self._add("README.md", [card(made.facts, contents, columns, locked=not self.open)])
        facts = {"format": FORMAT, "v": 1, "text_in": sorted(made.with_text)} | made.facts
        self._add(FACTS, [pretty(facts)])
        sums = [f"{one.sha256}  {one.name}\n" for one in sorted(made.files, key=lambda one: one.name)]
        self._add(SUMS, sums)
        made.facts |= {"text_in": sorted(made.with_text)}


TEXTS = tuple(text_id(one.field, "accepted") for one in MEASURES if one.field != "of_vocabulary")


def summary(changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes as numbers; `labels_...` of published labels, `all_labels` of all (None: not known)."""
    return {
        "from": changes["from"],
        "kept_added": len(changes["kept"]["added"]),
        "kept_removed": len(changes["kept"]["removed"]),
        "reviewed_added": len(changes["reviewed"]["added"]),
        "reviewed_removed": len(changes["reviewed"]["removed"]),
        "gold_changed": len(changes["gold"]),
        **{f"gold_{key}": number for key, number in changes["gold_states"].items()},
        **{f"labels_{key}": changes["labels"][key] for key in ("added", "changed", "removed")},
        "all_labels": changes.get("all_labels"),
        "guideline": changes["guideline"],
    }


def _contents(names: Iterable[str]) -> dict[str, str]:
    contents = {}
    for name in names:
        known = next((key for key in HOLDS if name == key or (key.endswith("/") and name.startswith(key))), None)
        if known is None:
            contents[name] = PUBLISHED if name.startswith("published/") else ""
        else:
            contents[known] = HOLDS[known]
    return contents


def _held(files: Iterable[FrozenFile]) -> dict[str, str]:
    """Return the contents of each file in words, as far as they are described."""
    described = ((file.name, _contents([file.name])) for file in files)
    return {name: next(iter(contents.values())) for name, contents in described}


def method(facts: Mapping[str, Any], guideline_text: str, language: Language) -> list[Block]:
    """Return the method section as blocks, in Chinese or English; `guideline_text` is that of the newest version."""
    return paper_blocks(TEMPLATES, "method", language, method_facts(facts, guideline_text, language))


def method_facts(facts: Mapping[str, Any], guideline_text: str, language: Language) -> dict[str, Any]:
    """Return the variables of the template of the method section."""
    mining, newest = facts["mining"], facts["guidelines"][-1]
    names = {code: f"{(zh if language == 'zh' else en) or code} ({code})" for code, zh, en in newest["choices"]}
    cells = [
        (pair, side, sides[side]) for pair, sides in mining.get("cells", {}).items() for side in ("male", "female")
    ]
    more = {
        "sentences": facts["project"]["kind"] == "sentences",
        "text_ids": [id_ for id_ in TEXTS if id_ in facts["quantities"]],
        "newest": newest,
        "names": {code: names.get(code, code) for code in facts["adjudication"]["decided"]},
        "mined_cells": cells[:MOST_CELLS],
        "mining_signatures": list(dict.fromkeys(run["signature"] for run in mining["runs"]))[:MOST_RUNS],
        "most_files": MOST_FILES,
        "most_cells": MOST_CELLS,
        "quotas": any(row["quota"] is not None for row in facts["funnel"]),
        "guideline_text": guideline_text,
        "break_seconds": int(BREAKS_S),
        "labels_name": name_of_labels(facts["provenance"]),
    }
    return {**facts, **more}
