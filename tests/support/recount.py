"""A recount of the numbers of a project from exported files only, with formulas of its own."""

import csv
import hashlib
import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from evenhand.annotations.types import Project
from evenhand.commands.main import cli

Row = dict[str, Any]
Choices = Counter[str]


def exported(project: Project, folder: Path, kind: str) -> Path:
    ending = {"jsonl": "jsonl", "package": "zip"}.get(kind, "csv")
    path = folder / f"{kind}.{ending}"
    CliRunner().invoke(cli, ["export", project.name, str(path), "--format", kind], catch_exceptions=False)
    return path


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def lines_of(text: str) -> list[Row]:
    return [row for row in map(json.loads, text.splitlines()) if "item" in row or "kind" in row]


class Package:
    """The parts of an exported package."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(archive.read("project.json"))
            self.project: Row = about["project"]
            self.choices = {choice["code"] for choice in about["guidelines"][-1]["choices"]}
            self.items = lines_of(archive.read("items.jsonl").decode())
            self.uids = {item["item"] for item in self.items}
            self.labels = lines_of(archive.read("labels.jsonl").decode())
            self.records = lines_of(archive.read("records.jsonl").decode())

    def of(self, kind: str) -> list[Row]:
        return [row for row in self.records if row["kind"] == kind]

    def blind(self) -> dict[tuple[str, str], Row]:
        """Return the blind label of each item and annotator: the last operation before anything was shown."""
        found: dict[tuple[str, str], Row] = {}
        for row in self.labels:
            key = row["item"], row["annotator"]
            if row["superseded"] or row["after_reveal"]:
                continue
            if row["choice"] is None:
                found.pop(key, None)
            else:
                found[key] = row
        by_id = {row["op_id"]: row for row in self.labels}
        for row in self.of("standing"):
            key = row["item"], row["annotator"]
            found.pop(key, None)
            if row["blind"] is not None:
                found[key] = by_id[row["blind"]]
        return found


def exported_package(project: Project, folder: Path) -> Package:
    folder.mkdir(exist_ok=True)
    return Package(exported(project, folder, "package"))


def recount(project: Project, folder: Path) -> dict[str, float | None]:
    """Count and measure again from exported items, valid labels, shares of blind labels by item, and the package."""
    folder.mkdir(exist_ok=True)
    items = lines_of(exported(project, folder, "jsonl").read_text(encoding="utf-8"))
    labels = rows_of(exported(project, folder, "labels"))
    package = exported_package(project, folder)
    blind = dict(counts_of(row) for row in rows_of(exported(project, folder, "soft-labels")))
    accepted = {item["item"] for item in items if item["status"] in ("accepted", "has_gold")}
    pending = sum(item["status"] not in ("accepted", "rejected", "has_gold") for item in items)
    categories = package.choices | {choice for counts in blind.values() for choice in counts}
    kept = {uid: counts for uid, counts in blind.items() if uid in accepted}
    several = [counts for counts in kept.values() if sum(counts.values()) > 1]
    return {
        "items.imported": len(items),
        "items.labelled": len(blind),
        "items.kept": len(accepted),
        "items.undecided": pending,
        "items.gold": len(items) - pending,
        "labels.valid": len(labels),
        "annotators.labelled": len({row["annotator"] for row in labels}),
        "agreement.full.released": full(several),
        **measures(blind, "labelled", categories),
        **of_reviewed(package, blind, categories),
        **of_retests(package),
        **of_known_answers(package),
    }


def measures(blind: Mapping[str, Choices], scope: str, categories: set[str]) -> dict[str, float | None]:
    several = [counts for counts in blind.values() if sum(counts.values()) > 1]
    return {
        f"agreement.items.{scope}": len(blind),
        f"agreement.labels.{scope}": sum(sum(counts.values()) for counts in blind.values()),
        f"agreement.full.{scope}": full(several),
        f"agreement.pairwise.{scope}": pairwise(several),
        f"agreement.alpha.{scope}": alpha(several),
        f"agreement.fleiss.{scope}": fleiss(several),
        f"agreement.ac1.{scope}": ac1(list(blind.values()), len(categories)),
    }


def of_reviewed(package: Package, blind: Mapping[str, Choices], categories: set[str]) -> dict[str, float | None]:
    """Count the items with all the labels that the plan asks for."""
    people = {row["number"]: row["people"] for row in package.of("pilot")}
    special = {row["item"]: row for row in package.of("of_item")}
    texts = {item["item"]: hashlib.sha256(identity(item).encode()).digest()[:16] for item in package.items}
    drawn = in_doubled_sample(package.project, texts)
    reviewed, shared = {}, {}
    for uid, counts in blind.items():
        facts = special.get(uid, {"pilot": None, "known": None})
        share = position(package.project, "shared", texts[uid]) < package.project["share"] * 2**64
        always = share or facts["pilot"] is not None or facts["known"] is not None
        per_item = package.project["per_item"] if drawn is None or uid in drawn else 1
        wanted = max(per_item, people.get(facts["pilot"], 0))
        rejected = package.project["plan"] == "stop" and not always and set(counts) != {"accept"}
        if rejected or sum(counts.values()) >= wanted:
            reviewed[uid] = counts
            shared |= {uid: counts} if share else {}
    several = [counts for counts in reviewed.values() if sum(counts.values()) > 1]
    from_elsewhere = any(row["origin"] != "here" for row in package.labels)
    return {
        "items.reviewed": len(reviewed),
        "items.compared": len(several),
        "items.single": len(reviewed) - len(several),
        "items.accepted_by_all": sum(set(counts) == {"accept"} for counts in reviewed.values()),
        "items.same_choice": sum(len(counts) == 1 for counts in several),
        "agreement.full.reviewed": full(several),
        **({} if from_elsewhere else measures(shared, "share", categories)),
    }


def identity(item: Row) -> str:
    """Return what makes an item another one: its sentence, or of a generation the context and all that wrote it."""
    if "sentence" in item:
        return str(item["sentence"])
    written = [
        item["context"],
        item["completion"],
        *(str(item.get(name, "")) for name in ("model", "setting", "index")),
    ]
    return json.dumps(written, ensure_ascii=False)


def position(project: Row, name: str, identity: bytes) -> int:
    key = f"{project['seed']}|{name}".encode()
    return int.from_bytes(hashlib.blake2b(identity, digest_size=8, key=key).digest(), "big")


def in_doubled_sample(project: Row, texts: Mapping[str, bytes]) -> set[str] | None:
    """Return the items of the sample that several people label; None without one."""
    if project["doubled"] is None:
        return None
    order = sorted(texts, key=lambda uid: (position(project, "doubled", texts[uid]), texts[uid]))
    return set(order[: project["doubled"]])


def of_retests(package: Package) -> dict[str, float | None]:
    """Compare the two labels of an item by one annotator, both blind and under the same guideline."""
    first = {row["op_id"]: row for row in package.labels}
    second: dict[str, list[Row]] = {}
    for row in package.of("retest_label"):
        second.setdefault(row["retest"], []).append(row)
    shown = {(row["item"], row["annotator"]): row["revealed"] for row in package.of("standing") if row["revealed"]}
    pairs: list[tuple[str, str]] = []
    for row in package.of("retest"):
        if row["state"] != "labelled" or row["item"] not in package.uids:
            continue
        until = shown.get((row["item"], row["annotator"]))
        made = [one for one in second[row["uid"]] if not one["superseded"] and not one["skip"]]
        if until is not None:
            made = [one for one in made if one["created"] <= until]
        else:
            made = [one for one in made if one["op_id"] == row["latest"]]
        if made and made[-1]["choice"] is not None and made[-1]["guideline"] == first[row["first"]]["guideline"]:
            pairs.append((first[row["first"]]["choice"], made[-1]["choice"]))
    return {
        "retest.pairs": len(pairs),
        "retest.agreement": sum(a == b for a, b in pairs) / len(pairs) if pairs else None,
        "retest.kappa": cohen(pairs),
    }


def of_known_answers(package: Package) -> dict[str, float | None]:
    """Compare the known answers with the blind labels of those who had not labelled the item when they were set."""
    known = {row["item"]: row["known"] for row in package.of("of_item") if row["known"] and row["item"] in package.uids}
    since = {row["item"]: row["after"] for row in package.of("known")}
    created = {row["op_id"]: row["created"] for row in package.labels}
    right: list[bool] = []
    for (uid, who), row in package.blind().items():
        if uid not in known:
            continue
        earlier = [one for one in package.labels if (one["item"], one["annotator"]) == (uid, who)]
        after = since[uid]
        if after is None or not any(one["created"] <= created[after] for one in earlier):
            right.append(row["choice"] == known[uid])
    return {"known.items": len(known), "known.labels": len(right),
            "known.share": sum(right) / len(right) if right else None}  # fmt: skip


def counts_of(row: Mapping[str, str]) -> tuple[str, Choices]:
    number = int(row["labels"])
    shares = {key.removeprefix("share_"): float(value or 0) for key, value in row.items() if key.startswith("share_")}
    shares.pop("extraneous", None)  # a flag, not a choice
    return row["item"], Counter({key: round(number * share) for key, share in shares.items() if share})


def full(items: list[Choices]) -> float | None:
    return sum(len(counts) == 1 for counts in items) / len(items) if items else None


def same_pairs(counts: Choices) -> float:
    """Return the share of the pairs of labels of one item that are equal."""
    pairs = [a == b for a, b in combinations(counts.elements(), 2)]
    return sum(pairs) / len(pairs)


def pairwise(items: list[Choices]) -> float | None:
    return sum(map(same_pairs, items)) / len(items) if items else None


def chance_corrected(observed: float, expected: float) -> float | None:
    return None if expected >= 1 - 1e-12 else (observed - expected) / (1 - expected)


def fleiss(items: list[Choices]) -> float | None:
    """Fleiss' kappa, of the items with the most common number of labels; the larger of two equally common ones."""
    if not items:
        return None
    sizes = Counter(sum(counts.values()) for counts in items)
    size = max(sizes, key=lambda one: (sizes[one], one))
    chosen = [counts for counts in items if sum(counts.values()) == size]
    total = sum(chosen, Counter())
    expected = sum((number / total.total()) ** 2 for number in total.values())
    return chance_corrected(sum(map(same_pairs, chosen)) / len(chosen), expected)


def ac1(items: list[Choices], categories: int) -> float | None:
    """Gwet's AC1: prevalence over all items with a label, agreement over those with two."""
    several = [counts for counts in items if counts.total() > 1]
    if not several or categories < 2:
        return None
    used = {choice for counts in items for choice in counts}
    shares = [sum(counts[choice] / counts.total() for counts in items) / len(items) for choice in used]
    expected = sum(share * (1 - share) for share in shares) / (categories - 1)
    return chance_corrected(sum(map(same_pairs, several)) / len(several), expected)


def cohen(pairs: list[tuple[str, str]]) -> float | None:
    """Cohen's kappa of pairs of labels."""
    if not pairs:
        return None
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    expected = sum(first[choice] * second[choice] for choice in first) / len(pairs) ** 2
    return chance_corrected(sum(a == b for a, b in pairs) / len(pairs), expected)


def alpha(items: Iterable[Choices]) -> float | None:
    """Krippendorff's alpha, nominal, from the coincidences of values in ordered pairs within items."""
    coincidences: dict[tuple[str, str], float] = {}
    for counts in items:
        values = list(counts.elements())
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                if i != j:
                    coincidences[a, b] = coincidences.get((a, b), 0) + 1 / (len(values) - 1)
    margin: dict[str, float] = {}
    for (a, _), number in coincidences.items():
        margin[a] = margin.get(a, 0) + number
    n = sum(margin.values())
    expected = sum(margin[a] * margin[b] for a in margin for b in margin if a != b)
    if not expected:
        return None
    observed = sum(number for (a, b), number in coincidences.items() if a != b)
    return 1 - (n - 1) * observed / expected
