"""Labels to publish: the shares of each choice by item, and one row a label of those who consented.

Both hold blind labels only: the last one of each annotator before any opinion was shown. Neither holds texts, notes,
times or names.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from evenhand.annotations.database.store import Store
from evenhand.annotations.files.label_tables import cell_text
from evenhand.annotations.guideline.versions import guidelines
from evenhand.annotations.labels.read import each_label_row
from evenhand.annotations.projects.consent import Use, consenting
from evenhand.annotations.projects.pseudonyms import pseudonyms
from evenhand.annotations.types import Project
from evenhand.core.files.csv_out import data_line

ONE_BY_ONE = ("item", "annotator", "choice", "reasons", "extraneous", "spans", "guideline", "form_shown")
USE_OF: dict[str, Use] = {"disaggregated": "disaggregated", "disaggregated-training": "training"}  # by format


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Labels and annotators whose labels a disaggregated file does not hold, since they have not consented."""

    labels: int
    annotators: int


def soft_label_lines(store: Store, project: Project) -> Iterator[str]:
    """CSV, one row an item with a blind label: how many labels, and the share of each choice among them, 0 to 1.

    Of generations also the share flagged for extraneous gendered language, empty where no label could be flagged.
    """
    codes = _codes(store, project)
    flagged = project.kind == "generations"
    more = ("share_extraneous",) if flagged else ()
    yield data_line(("item", "labels", *(f"share_{code}" for code in codes), *more))
    for item, rows in groupby(_blind(store, project), key=lambda row: row["item"]):
        said = list(rows)
        shares = [_share(row["choice"] == code for row in said) for code in codes]
        flags = [row["extraneous"] for row in said if row["extraneous"] is not None]
        yield data_line((item, len(said), *shares, *([_share(flags)] if flagged else [])))


def disaggregated_lines(store: Store, project: Project, use: Use) -> Iterator[str]:
    """CSV, one row a blind label of an annotator who consented to *use*, under the code of every file."""
    may, names = consenting(store, project, use), pseudonyms(store, project)
    yield data_line(ONE_BY_ONE)
    for row in _blind(store, project):
        if row["annotator"] in may:
            cells = row | {"annotator": names[row["annotator"]]}
            yield data_line([cell_text(key, cells[key]) for key in ONE_BY_ONE])


def left_out(store: Store, project: Project, use: Use) -> LeftOut:
    """What `disaggregated_lines` leaves out."""
    may = consenting(store, project, use)
    without = [row["annotator"] for row in _blind(store, project) if row["annotator"] not in may]
    return LeftOut(len(without), len(set(without)))


def publishable_row_count(store: Store, project: Project, format: str) -> int:
    """How many rows the file has, without its header."""
    use = USE_OF.get(format)
    lines = soft_label_lines(store, project) if use is None else disaggregated_lines(store, project, use)
    return sum(1 for _ in lines) - 1


def _blind(store: Store, project: Project) -> Iterator[dict[str, Any]]:
    """By item and annotator."""
    return each_label_row(store, project, which="blind")


def _codes(store: Store, project: Project) -> list[str]:
    """The choices of every version of the guideline, the newest first, then what else was chosen."""
    versions = sorted(guidelines(store, project), key=lambda one: -one.version)
    offered = dict.fromkeys(choice.code for one in versions for choice in one.choices)
    return list(offered | dict.fromkeys(sorted({row["choice"] for row in _blind(store, project)} - offered.keys())))


def _share(said: Iterable[bool]) -> str:
    answers = list(said)
    return f"{sum(answers) / len(answers):.6g}" if answers else ""
