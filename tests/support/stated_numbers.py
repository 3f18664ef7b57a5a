"""Every number that pages, commands and documents state about a project, by the id of its quantity; and a recount.

The recount reads exported files only, with formulas of its own.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from evenhand.annotations.database.store import Store
from evenhand.annotations.labels.blind_labels import name_of_labels
from evenhand.annotations.papers.blocks import rendered
from evenhand.annotations.papers.datasheet import datasheet, evidence
from evenhand.annotations.quantities.catalogue import QUANTITIES
from evenhand.annotations.quantities.quantity import FORMS
from evenhand.annotations.release.dataset_card import card
from evenhand.annotations.release.facts import gather
from evenhand.annotations.release.files import method, method_facts
from evenhand.annotations.types import Project
from evenhand.commands.main import cli
from evenhand.core.language import LANGUAGES, Language, translate
from evenhand.core.statistics import Estimate
from tests.support.pages import open_page

PAGES = {"sentences": ("agreement", "progress", "quality"), "generations": ("agreement", "progress", "human_vs_rule")}
COMMANDS = {
    "sentences": ("agreement", "progress", "quality"),
    "generations": ("agreement", "progress", "quality", "human-vs-rule"),
}
ENTRY = re.compile(r"Entry ([\w.]+) of docs/quantities")
# Keys that were released before ids: path in the JSON of a command -> id.
KEYS = {
    "agreement": {"percent": "full", "pairwise_percent": "pairwise", "fleiss_kappa": "fleiss",
                  "krippendorff_alpha": "alpha", "gwet_ac1": "ac1"},
    "human-vs-rule": {"misgendering": "misgendering_rate.people", "agreement": "agreement_with_rule",
                      "kappa": "kappa_with_rule", "no_pronoun": "no_pronoun_rate.people",
                      "rule_misgendering": "misgendering_rate.rule"},
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


def of_pages(project: Project) -> Iterator[Statement]:
    """Yield the numbers on tiles of the pages whose help sign names an entry."""
    for folder in PAGES[project.kind]:
        page = open_page(folder, project=project.name)
        assert not page.exception, page.exception
        for metric in page.metric:
            found = ENTRY.search(re.sub(r"[\\\u2060]", "", metric.proto.help))
            if found and metric.value != "—":
                yield Statement(f"page {folder}", found[1], metric.value)
    if project.kind == "sentences":
        home = open_page("home")
        bodies = " ".join(block.proto.body for block in home.get("html"))
        found_numbers = re.findall(r'data-quantity="([\w.]+)">([\d,]+)<', bodies)
        assert len(found_numbers) == 4, bodies
        for id_, number in found_numbers:
            yield Statement("page home", id_, number)


def of_commands(project: Project) -> Iterator[Statement]:
    """Yield the numbers of commands, by id and by the keys that were there before."""
    for name in COMMANDS[project.kind]:
        done = CliRunner().invoke(cli, [name, project.name, "--json"], catch_exceptions=False)
        data = json.loads(done.stdout)
        for id_, found in data["quantities"].items():
            yield Statement(name, id_, value=found["value"])
        scope = "share" if data.get("on") == "share" else "labelled"
        for key, short in KEYS.get(name, {}).items():
            id_ = f"agreement.{short}.{scope}" if name == "agreement" else f"generations.{short}"
            yield Statement(f"{name} {key}", id_, value=data[key]["value"])


def documents(store: Store, project: Project) -> dict[tuple[str, Language], str]:
    """Return data sheet, method section and card, as a release would write them, without escapes."""
    facts = gather(store, project)
    facts["release"] = {"version": "1.0", "hash": "0", "created": "", "notes": "", "previous": None}
    made: dict[tuple[str, Language], str] = {}
    for language in LANGUAGES:
        made["method", language] = rendered(method(facts, "", language), "md", language)
        made["datasheet", language] = datasheet(store, project, language)
        made["card", language] = card(method_facts(facts, "", language), {}, ("", ""), locked=False)
    return {key: text.replace("\\", "") for key, text in made.items()}


SENTENCES = {
    "en": {
        r"Items reviewed: ([\d,]+); items kept: ([\d,]+)\.": ("items.reviewed", "items.kept"),
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


def of_documents(store: Store, project: Project) -> Iterator[Statement]:
    """Yield the numbers of tables and sentences of the documents."""
    labels = name_of_labels(evidence(store, project))
    for (name, language), text in documents(store, project).items():
        place = f"{name}.{language}"
        named = {one.named(say_in(language), labels): id_ for id_, one in QUANTITIES.items()}
        titled = {translate(one.name, language): id_ for id_, one in QUANTITIES.items() if id_.startswith("items.")}
        for line in text.splitlines():
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if line.startswith("| ") and cells[0] in named:
                yield Statement(place, named[cells[0]], cells[1])
            elif line.startswith("| ") and name == "datasheet" and len(cells) == 2 and cells[0] in titled:
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
    unit = QUANTITIES[statement.id].unit
    written = statement.text.split(" [")[0].split(" (")[0].split("（")[0].strip()
    if truth.value is None:
        return written == "—"
    if statement.place.startswith("page"):
        return written == f"{truth.value:{FORMS[unit]}}".replace("-", "−")
    form = ".3f" if unit in ("share", "coefficient") else FORMS[unit]
    return written == f"{truth.value:{form}}"


# --- a recount from exported files


def exported(project: Project, folder: Path, kind: str) -> Path:
    path = folder / f"{kind}.{'jsonl' if kind == 'jsonl' else 'csv'}"
    CliRunner().invoke(cli, ["export", project.name, str(path), "--format", kind], catch_exceptions=False)
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def recount(project: Project, folder: Path) -> dict[str, float | None]:
    """Count and measure again from three exports: items, valid labels, and the shares of blind labels by item."""
    folder.mkdir(exist_ok=True)
    items = [json.loads(line) for line in exported(project, folder, "jsonl").read_text(encoding="utf-8").splitlines()]
    items = [item for item in items if "item" in item]
    labels = rows_of(exported(project, folder, "labels"))
    blind = [counts_of(row) for row in rows_of(exported(project, folder, "soft-labels"))]
    accepted = {item["item"] for item in items if item["status"] in ("accepted", "has_gold")}
    pending = sum(item["status"] not in ("accepted", "rejected", "has_gold") for item in items)
    several = [counts for _, counts in blind if sum(counts.values()) > 1]
    kept = [counts for uid, counts in blind if uid in accepted and sum(counts.values()) > 1]
    return {
        "items.imported": len(items),
        "items.labelled": len(blind),
        "items.kept": len(accepted),
        "items.undecided": pending,
        "items.gold": len(items) - pending,
        "labels.valid": len(labels),
        "annotators.labelled": len({row["annotator"] for row in labels}),
        "agreement.items.labelled": len(blind),
        "agreement.labels.labelled": sum(sum(counts.values()) for _, counts in blind),
        "agreement.full.labelled": full(several),
        "agreement.full.released": full(kept),
        "agreement.pairwise.labelled": pairwise(several),
        "agreement.alpha.labelled": alpha(several),
    }


def counts_of(row: Mapping[str, str]) -> tuple[str, Counter[str]]:
    number = int(row["labels"])
    shares = {key.removeprefix("share_"): float(value or 0) for key, value in row.items() if key.startswith("share_")}
    shares.pop("extraneous", None)  # a flag, not a choice
    return row["item"], Counter({key: round(number * share) for key, share in shares.items() if share})


def full(items: list[Counter[str]]) -> float | None:
    return sum(len(counts) == 1 for counts in items) / len(items) if items else None


def pairwise(items: list[Counter[str]]) -> float | None:
    """Return the mean over items of the share of their pairs of labels that are equal."""
    pairs = [[a == b for a, b in combinations(counts.elements(), 2)] for counts in items]
    return sum(sum(own) / len(own) for own in pairs) / len(pairs) if pairs else None


def alpha(items: list[Counter[str]]) -> float | None:
    """Krippendorff's alpha, nominal, from the coincidences of values in ordered pairs within items."""
    coincidences: Counter[tuple[str, str]] = Counter()
    for counts in items:
        values = list(counts.elements())
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                if i != j:
                    coincidences[a, b] += 1 / (len(values) - 1)  # type: ignore[assignment]
    margin: Counter[str] = Counter()
    for (a, _), number in coincidences.items():
        margin[a] += number
    n = sum(margin.values())
    expected = sum(margin[a] * margin[b] for a in margin for b in margin if a != b)
    if not expected:
        return None
    observed = sum(number for (a, b), number in coincidences.items() if a != b)
    return 1 - (n - 1) * observed / expected
