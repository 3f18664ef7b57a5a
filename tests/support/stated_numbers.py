"""Every number that pages, commands and documents state about a project, by the id of its quantity.

The number of a row has the id of its quantity and the key of the row: `two.kappa:Ada / Bo`.
"""

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from click.testing import CliRunner
from pyarrow import ipc

import evenhand
from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.blind_labels import name_of_labels
from evenhand.annotations.papers.blocks import rendered
from evenhand.annotations.papers.datasheet import datasheet, evidence
from evenhand.annotations.papers.paper import paper_blocks
from evenhand.annotations.quantities.catalogue import ENTRIES, QUANTITIES
from evenhand.annotations.quantities.changes import change_estimates
from evenhand.annotations.quantities.quantity import FORMS, written
from evenhand.annotations.release.changes import TEMPLATES, changes, release_estimates
from evenhand.annotations.release.dataset_card import card
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.files import method, method_facts
from evenhand.annotations.release.stored_releases import release_file, releases
from evenhand.annotations.types import Project
from evenhand.commands.main import cli
from evenhand.core.language import LANGUAGES, Language, share_text, translate
from evenhand.core.statistics import Estimate
from tests.support.pages import ENTRY, open_page, text_of
from tests.support.recount import Package

EVERYWHERE = ("agreement", "progress", "quality", "describe", "plan", "pilot", "release")
PAGES = {"sentences": EVERYWHERE, "generations": (*EVERYWHERE, "human_vs_rule")}
COMMANDS = {kind: (*(name.replace("_", "-") for name in pages), "sample") for kind, pages in PAGES.items()}
ARGUMENTS = {"pilot": ["pilot", "show"], "sample": ["sampling", "show"], "release": ["release", "--list"]}
# Keys that were released before ids: path in the JSON of a command -> id.
KEYS = {
    "agreement": {
        "percent": "full",
        "pairwise_percent": "pairwise",
        "fleiss_kappa": "fleiss",
        "krippendorff_alpha": "alpha",
        "gwet_ac1": "ac1",
    },
    "human-vs-rule": {
        "misgendering": "misgendering_rate.people",
        "agreement": "agreement_with_rule",
        "kappa": "kappa_with_rule",
        "no_pronoun": "no_pronoun_rate.people",
        "rule_misgendering": "misgendering_rate.rule",
    },
    "describe": {
        "sentences": "number",
        "characters.total": "characters",
        "characters.distinct": "distinct_characters",
        "length.min": "shortest",
        "length.median": "median_length",
        "length.mean": "mean_length",
        "length.max": "longest",
        "duplicates.exact.surplus": "copies",
        "male": "male",
        "female": "female",
    },
}
# Lists in the JSON of a command, of rows: list -> (keys that make the key of the row, key of the number -> id).
LISTS = {
    ("agreement", "by_pair"): (("pair",), {
        "percent": "pairs.full", "pairwise_percent": "pairs.pairwise", "fleiss_kappa": "pairs.fleiss",
        "krippendorff_alpha": "pairs.alpha", "gwet_ac1": "pairs.ac1"}),
    ("agreement", "cohen_kappa"): (("a", "b"), {
        "value": "two.kappa", "n": "two.items", "percent": "two.agreed", "largest_kappa": "two.largest"}),
    ("progress", "annotators"): (("name",), {
        "labels": "annotator.labels", "accepted": "annotator.accepted", "differs_from_most": "annotator.differs"}),
    ("progress", "cells"): (("pair", "side"), {
        "mined": "cells.imported", "reviewed": "cells.reviewed", "compared": "cells.compared"}),
    ("sample", "samples"): (("number",), {"frame": "sample.frame", "labelled": "sample.labelled"}),
    ("pilot", "pilots"): (("number",), {
        "drawn": "pilot.drawn", "items": "pilot.items", "labelled": "pilot.labelled", "compared": "pilot.compared",
        "all_agree": "pilot.full_agreement"}),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A number as some place prints it: *text* as printed, or *value* as JSON."""

    place: str
    id: str
    text: str = ""
    value: Any = None


def say_in(language: Language) -> Any:
    return lambda text: translate(text, language)


def of_pages(project: Project, *, released: bool) -> Iterator[Statement]:
    """Yield the numbers on tiles of the pages whose help sign names an entry, and those in marked cells of tables."""
    for folder in PAGES[project.kind]:
        view = {"view": "vocabulary"} if folder == "describe" else {}
        page = open_page(folder, project=project.name, **view)
        assert not page.exception, page.exception
        found = [(id_[1], metric.value) for metric in page.metric if (id_ := ENTRY.search(
            re.sub(r"[\\\u2060]", "", metric.proto.help)))]  # fmt: skip
        bodies = " ".join(block.proto.body for block in page.get("html"))
        found += re.findall(r'data-quantity="([\w.]+)">(?:<b>)?(—|[\d.,%−]+)', bodies)
        if folder == "pilot":
            over = [box.key.removeprefix("pilot-") for box in page.get("container") if (box.key or "").startswith("p")]
            numbers = re.findall(r"\*\*Pilot (\d+):", " ".join(one.value for one in page.markdown)) or over
            found = [(f"{id_}:{number}", value) for (id_, value), number in zip(found, numbers, strict=True)]
        found += [(row["id"], row["written"]) for row in rows_of_charts(page) if "written" in row]
        found += said_first(folder, bodies, [id_ for id_, _number in found])
        if folder == "plan":
            number = re.search(r"Sample (\d+) is open", " ".join(one.value for one in page.markdown))
            found = [(f"{id_}:{number[1]}" if number and id_.startswith("sample.") else id_, value)
                     for id_, value in found]  # fmt: skip
        if folder == "release":
            found = found[:4] if released else []  # the newest is first; it was made of what is stored now
        for id_, number in found:
            if id_ != "remaining.hours" and (number != "—" or folder in ("plan", "release")):
                yield Statement(f"page {folder}", id_, number)
    if project.kind == "sentences":
        home = open_page("home")
        bodies = " ".join(block.proto.body for block in home.get("html"))
        found_numbers = re.findall(r'data-quantity="([\w.]+)">([\d,]+)<', bodies)
        assert len(found_numbers) == 4, bodies
        for id_, number in found_numbers:
            yield Statement("page home", id_, number)


# The numbers in the sentence that is the result of a page; {} is the part of an id that its other numbers have.
FIRST = {
    "agreement": (r"chose the same on (\S+) of [\d,]+ items(?:; Krippendorff's alpha (\S+)\.)?",
                  ("agreement.full.{}", "agreement.alpha.{}")),
    "human_vs_rule": (r"agree on (\S+)\. Misgendering: (\S+) by humans, (\S+) by the rule",
                      ("generations.agreement_with_rule", "generations.misgendering_rate.people",
                       "generations.misgendering_rate.rule")),
    "describe": (r"([\d,]+) texts with a median length of (\S+) characters and ([\d,]+) different",
                 ("texts.number.{}", "texts.median_length.{}", "texts.distinct_characters.{}")),
}  # fmt: skip


def said_first(folder: str, bodies: str, ids: list[str]) -> list[tuple[str, str]]:
    """Return the numbers in the first sentence of a page, with their ids."""
    pattern, names = FIRST.get(folder, ("(?!)", ()))
    said = re.search(pattern, html.unescape(" ".join(re.findall(r'<p class="says">(.*?)</p>', bodies))))
    last = ids[0].rpartition(".")[2] if ids else ""
    return [(name.format(last), number) for name, number in zip(names, said.groups() if said else (), strict=False)
            if number]  # fmt: skip


def rows_of_charts(page: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of the charts of a page that have the id of a quantity."""
    for chart in page.get("vega_lite_chart"):
        for data in chart.proto.datasets:
            yield from (
                row for row in ipc.open_stream(data.data.data).read_all().to_pylist() if row.get("id") in ENTRIES
            )


def of_commands(project: Project, *, released: bool) -> Iterator[Statement]:
    """Yield the numbers of commands, by id and by the keys that were there before."""
    for name in COMMANDS[project.kind]:
        arguments = ARGUMENTS.get(name, [name])
        done = CliRunner().invoke(cli, [*arguments, project.name, "--json"], catch_exceptions=False)
        data = json.loads(done.stdout)
        if name == "release":
            for one in data["releases"][-1:] if released else []:
                yield from of_json("release --list", one["facts"]["quantities"])
            continue
        if name == "pilot":
            for number, quantities in data["quantities"].items():
                yield from of_json("pilot show", quantities, f":{number}")
        elif name != "sample":
            yield from of_json(name, data["quantities"])
        yield from of_lists(name, data, project.kind)
        scope = "share" if data.get("on") == "share" else "labelled"
        kinds = {"agreement": "agreement.{}." + scope, "describe": f"texts.{{}}.{data.get('items')}"}
        for key, short in KEYS.get(name, {}).items():
            if name == "describe" and project.kind == "generations" and key in ("male", "female"):
                continue
            yield Statement(f"{name} {key}", kinds.get(name, "generations.{}").format(short), value=value_at(data, key))


def of_json(place: str, quantities: dict[str, Any], row: str = "") -> Iterator[Statement]:
    for id_, found in quantities.items():
        if not id_.startswith("changes."):
            yield Statement(place, id_ + row, value=found["value"])


def value_at(data: Any, path: str) -> Any:
    for key in path.split("."):
        data = data[key]
    return data["value"] if isinstance(data, dict) else data


def of_lists(name: str, data: dict[str, Any], kind: str) -> Iterator[Statement]:
    decided = {"unanimous": "accepted_by_all", "kept": "kept"}
    if kind == "generations":
        decided = {"unanimous": "same_choice", "kept": "gold"}
    for (command, key), (names, ids) in LISTS.items():
        for row in data[key] if command == name else ():
            own = (" / " if "a" in names else "/").join(str(row[part]) for part in names if row[part] != "")
            more = {field: f"cells.{id_}" for field, id_ in decided.items()} if key == "cells" else {}
            for field, id_ in (ids | more).items():
                if not (key == "cells" and not row["mined"]):
                    yield Statement(f"{name} {key}", f"{id_}:{own}", value=value_at(row, field))


def of_notebook(texts: list[str]) -> Iterator[Statement]:
    """Yield the numbers of `evenhand.describe` for the texts of the accepted items."""
    if any(text.strip() for text in texts):
        frame = evenhand.describe(texts)
        for key, short in KEYS["describe"].items():
            if key in frame.index and key not in ("male", "female"):
                yield Statement(f"evenhand.describe {key}", f"texts.{short}.accepted", value=frame.loc[key, "value"])


MEASURES_OF_NOTEBOOK = {"full agreement": "full", "pairwise agreement": "pairwise", "Fleiss' kappa": "fleiss",
                        "Krippendorff's alpha": "alpha", "Gwet's AC1": "ac1"}  # fmt: skip


def of_notebook_agreement(package: Package) -> Iterator[Statement]:
    """Yield the numbers of `evenhand.agreement` for the exported blind labels."""
    rows = [{"item": item, "annotator": who, "choice": row["choice"]}
            for (item, who), row in package.blind().items() if item in package.uids]  # fmt: skip
    if rows:
        frame = evenhand.agreement(pd.DataFrame(rows), categories=sorted(package.choices), resamples=20)
        for name, short in MEASURES_OF_NOTEBOOK.items():
            value = frame.loc[name, "value"]
            yield Statement(
                "evenhand.agreement", f"agreement.{short}.labelled", value=None if value != value else value
            )


def of_latex(project: Project, folder: Path) -> Iterator[Statement]:
    """Yield the numbers of the LaTeX tables of `describe`."""
    path = folder / "described.tex"
    done = CliRunner().invoke(cli, ["describe", project.name, "--latex", str(path), "--json"], catch_exceptions=False)
    items, text = json.loads(done.stdout)["items"], path.read_text(encoding="utf-8")
    ids = {"Sentences": "number", "Generations": "number", "Characters": "characters",
           "Distinct characters": "distinct_characters", "Duplicate texts": "copies"}  # fmt: skip
    found = [(ids[name], number) for name, number in re.findall(r"^([A-Z][a-z ]+) & ([\d,]+) \\\\$", text, re.M)]
    lengths = re.search(r"^Length .*& ([\d.,]+) / ([\d.,]+) / ([\d.,]+) / ([\d.,]+) ", text, re.M)
    found += zip(
        ("shortest", "median_length", "mean_length", "longest"), lengths.groups() if lengths else (), strict=False
    )
    sides = re.search(r"^Sum & ([\d,]+) & ([\d,]+) &", text, re.M)
    found += zip(("male", "female"), sides.groups() if sides else (), strict=False)
    for field, number in found:
        yield Statement("describe --latex", f"texts.{field}.{items}", number)


def documents(store: Store, project: Project) -> dict[tuple[str, Language], str]:
    """Return data sheet, method section and card, as a release would write them, without escapes."""
    facts = gather(store, project)
    facts["release"] = {"version": "1.0", "hash": "0", "created": "", "notes": "", "previous": None}
    planned = {**facts, "sheets": [SHEET], "labels_name": name_of_labels(facts["provenance"])}
    made: dict[tuple[str, Language], str] = {}
    for language in LANGUAGES:
        blocks = method(facts, "", language)
        made["method", language] = rendered(blocks, "md", language)
        made["method.tex", language] = as_markdown(rendered(blocks, "tex", language))
        made["datasheet.tex", language] = as_markdown(datasheet(store, project, language, "tex"))
        preregistered = paper_blocks(TEMPLATES, "preregistration", language, planned)
        made["preregistration", language] = rendered(preregistered, "md", language)
        made["datasheet", language] = datasheet(store, project, language)
        made["card", language] = card(method_facts(facts, "", language), {}, ("", ""), locked=False)
    return {key: text.replace("\\", "") for key, text in made.items()}


SHEET = {
    "written": "2026-01-01", "labels": 0, "elsewhere": 0, "sha256": "0", "seal": "0",
    "sections": dict.fromkeys(("hypotheses", "measures", "margins", "stopping"), "None."),
}  # fmt: skip


def as_markdown(latex: str) -> str:
    """Return the rows of the tables of a LaTeX document as rows of Markdown."""
    for written_so, sign in ((r"\textemdash{}", "—"), ("{[}", "["), ("{]}", "]")):
        latex = latex.replace(written_so, sign)
    rows = re.findall(r"^(.*) & (.*?) ?\\\\", latex, re.M)
    return "".join(f"| {' | '.join((first + ' & ' + last).split(' & '))} |\n" for first, last in rows)


SENTENCES = {
    "en": {
        r"Items reviewed: ([\d,]+); items accepted: ([\d,]+)\.": ("items.reviewed", "items.kept"),
        r"Before filtering, the project had ([\d,]+) ": ("items.imported",),
        r"\n([\d,]+) valid labels; ([\d,]+) items have a gold label, ([\d,]+) are undecided": (
            "labels.valid", "items.gold", "items.undecided"),
        r"Of ([\d,]+) reviewed items, ([\d,]+) were accepted by every annotator who labelled them: ([\d.—]+)": (
            "items.reviewed", "items.accepted_by_all", "items.accepted_share"),
        r"Annotators: ([\d,]+) recorded, ([\d,]+) with valid labels, ([\d,]+) active": (
            "annotators.recorded", "annotators.labelled", "annotators.active"),
        r"Pairs of labels compared: ([\d,]+) .*?same choice both times is ([\d.—]+)": (
            "retest.pairs", "retest.agreement"),
        r"Items with a known answer: ([\d,]+)\. .*?part in the answer: ([\d,]+);": ("known.items", "known.labels"),
        r"labels differ: ([\d,]+)\. Of these, decided by an adjudicator: ([\d,]+); labels confirmed: ([\d,]+)": (
            "items.differing", "adjudication.decided", "adjudication.confirmed"),
    },
    "zh": {
        r"已标注 ([\d,]+) 条，(?:保留|接受) ([\d,]+) 条。": ("items.reviewed", "items.kept"),
        r"有效标注 ([\d,]+) 个；([\d,]+) 个条目有最终标签，([\d,]+) 个未定": (
            "labels.valid", "items.gold", "items.undecided"),
    },
}  # fmt: skip


def of_changes(store: Store, project: Project) -> Iterator[str]:
    """Yield where the changes of the last release differ: on its page, in its facts, in its files."""
    found = releases(store, project)
    before, last = (found[-2] if len(found) > 1 else None), found[-1]
    truth = {} if before is None else change_estimates(changes(store, before, last))
    facts = {id_: one for id_, one in last.facts["quantities"].items() if id_.startswith("changes.")}
    files = {language: release_file(store, last, f"changes.{language}.md").decode() for language in LANGUAGES}
    page = re.sub(r"[\\\u2060]", "", text_of(open_page("release", project=project.name)))
    shown = release_estimates(last)
    for id_, one in truth.items():
        if {facts[id_]["value"], shown[id_].value} != {one.value}:
            yield f"{id_}: {one.value}, {facts[id_]}, {shown[id_]}"
        for language, text in files.items():
            if f"| {translate(ENTRIES[id_].name, language)} | {one.value:,} |" not in text:
                yield f"{id_}: {one.value} is not in changes.{language}.md"
    if before is not None:
        added, removed = (f"{truth[f'changes.items_{way}'].value:,}" for way in ("added", "removed"))
        if f"Since {before.version}: {added} items added, {removed} removed." not in page:
            yield f"{added} added and {removed} removed are not on the page"


FUNNELS = {
    "| Pair | Side | Imported": ["", "", "imported", "reviewed", "accepted_by_all", "accepted_share", "kept"],
    "| Stratum | Imported": ["", "imported", "reviewed", "compared", "same_choice", "full_agreement", "kept"],
}


def of_funnel(place: str, columns: list[str], cells: list[str]) -> Iterator[Statement]:
    """Yield the numbers of a pair and side, or of a stratum, in the method section."""
    sides = {"male word": "/male", "female word": "/female"}
    key = cells[0] + (sides[cells[1]] if columns[1] == "" else "")
    for column, number in zip(columns, cells, strict=False):
        if column:
            yield Statement(place, f"cells.{column}:{key}", number)


def of_documents(store: Store, project: Project) -> Iterator[Statement]:
    """Yield the numbers of tables and sentences of the documents."""
    labels = name_of_labels(evidence(store, project))
    for (name, language), text in documents(store, project).items():
        place = f"{name}.{language}"
        named = {one.named(say_in(language), labels): id_ for id_, one in QUANTITIES.items()}
        start = "items." if name.startswith("datasheet") else "texts."
        titled = {
            translate(one.name, language): id_
            for id_, one in QUANTITIES.items()
            if id_.startswith(start) and not id_.endswith(".all")
        }
        columns: list[str] = []
        for line in text.splitlines():
            if not line.startswith("|"):
                columns = []
            for head, found in FUNNELS.items():
                columns = found if line.startswith(head) and name == "method" else columns
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if columns and cells[0] not in ("All", "合计") and not line.startswith(("| ---", *FUNNELS)):
                yield from of_funnel(place, columns, cells)
            elif line.startswith("| ") and cells[0] in named:
                yield Statement(place, named[cells[0]], cells[1])
            elif line.startswith("| ") and len(cells) == 2 and cells[0] in titled:
                yield Statement(place, titled[cells[0]], cells[1])
        for pattern, ids in SENTENCES[language].items():
            for match in re.finditer(pattern, text):
                for id_, number in zip(ids, match.groups(), strict=True):
                    if id_ and number is not None:
                        yield Statement(place, id_, number)


def agrees(statement: Statement, truth: Estimate) -> bool:
    """Return whether a printed number is the estimate, rounded as its place does it."""
    if not statement.text:
        value = truth.value
        return value == statement.value or (
            None not in (value, statement.value) and abs(value - statement.value) < 1e-9
        )
    unit = ENTRIES[statement.id.partition(":")[0]].unit
    given = re.split(r" \[| \(|（", statement.text)[0].strip()
    if truth.value is None:
        return given == "—"
    if unit in ("share", "coefficient") and not statement.place.startswith("page"):
        return given == f"{truth.value:.3f}"
    if unit in ("share", "fine_share"):
        return given == share_text(truth.value)
    if unit in ("coefficient", "points"):
        return given == f"{truth.value:{FORMS[unit]}}".replace("-", "−")
    return given == written(truth.value, unit)
