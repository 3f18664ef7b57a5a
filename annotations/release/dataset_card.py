"""The card of a release: README.md as the Hugging Face hub reads it, and the rows that its `datasets` library loads."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.annotations.files.label_tables import item_facts as generation_facts
from evenhand.annotations.labels.blind_labels import name_of_labels
from evenhand.annotations.papers.blocks import one_line, rendered
from evenhand.annotations.papers.paper import paper_blocks
from evenhand.annotations.release.changes import TEMPLATES
from evenhand.annotations.text_policy import CANARY, CANARY_KEY, needs_canary
from evenhand.annotations.types import Item, Project
from evenhand.core.language import LANGUAGES

Columns = Sequence[tuple[str, str]]  # names with their types in Arrow
DATA = "data/train.jsonl"
HARD_CASES = "hard_cases.jsonl"
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
# Licences with a name on the hub; any other is "other" with the project's text.
LICENCES = {
    "cc by 4.0": "cc-by-4.0", "cc by sa 4.0": "cc-by-sa-4.0", "cc by nc 4.0": "cc-by-nc-4.0",
    "cc by nc sa 4.0": "cc-by-nc-sa-4.0", "cc by nd 4.0": "cc-by-nd-4.0", "cc by nc nd 4.0": "cc-by-nc-nd-4.0",
    "cc0": "cc0-1.0", "cc0 1.0": "cc0-1.0", "mit": "mit", "apache 2.0": "apache-2.0", "odc by": "odc-by",
    "odbl": "odbl", "gpl 3.0": "gpl-3.0",
}  # fmt: skip


CONFIG = "- config_name: {name}\n  data_files:\n  - split: train\n    path: {path}"


def licence_id(licence: str) -> str | None:
    """Return the hub's name of a licence, or None: "CC BY 4.0" -> "cc-by-4.0"."""
    words = licence.casefold().replace("-", " ").replace("_", " ").split()
    return LICENCES.get(" ".join(words))


def data_row(project: Project, item: Item) -> dict[str, Any]:
    """Return an accepted item as a row; every row has the same keys and types, as `datasets` requires."""
    if item.word is not None:
        word, stem = item.word, item.stem or (0, 0)
        return {
            "id": item.uid, "text": item.text, "pair": item.pair, "side": item.side, "keyword": item.keyword,
            "counterpart": item.counterpart, "start": word[0], "end": word[1], "stem_start": stem[0],
            "stem_end": stem[1],
        }  # fmt: skip
    known = {key: "" if value is None else str(value) for key, value in generation_facts(item).items()}
    row: dict[str, Any] = {"id": item.uid, "context": item.context or "", "completion": item.text}
    row |= ({} if item.second is None else {"second": item.second}) | {"label": item.gold} | known
    return row | ({CANARY_KEY: CANARY} if needs_canary(project) else {})


def card(facts: Mapping[str, Any], files: Mapping[str, str], features: tuple[Columns, str], *, locked: bool) -> str:
    """Return README.md: the header for the hub, then the card in English and Chinese. *files*: name -> description.

    *features*: the columns of the kept items, and those of the hard cases as YAML; "" without hard cases, because the
    library refuses a file without rows. *locked*: texts are exported encrypted only, so the library cannot load the
    kept items.
    """
    parts = _parts(features, locked)
    # How the `datasets` library loads the parts, from the folder or under the set's name on the hub.
    calls = [f'load_dataset(".", "{name}")' if name != "default" else 'load_dataset(".")' for name, *_ in parts]
    text = "\n".join(["from datasets import load_dataset", "", *calls]) if calls else ""
    named = {"labels_name": name_of_labels(facts["provenance"])}
    values = {**facts, **named, "files": sorted(files.items()), "locked": locked, "text": text}
    papers = [
        rendered(paper_blocks(TEMPLATES, "dataset_card", language, values), "md", language)
        for language in sorted(LANGUAGES)
    ]
    return card_header(facts, features, locked=locked) + "\n" + "\n".join(papers)


def _parts(features: tuple[Columns, str], locked: bool) -> list[tuple[str, str, str]]:
    """Return name, file and columns of each part that the library can load."""
    result = [
        ("default", DATA, "" if locked else "".join(_plain(name, kind) for name, kind in features[0]).rstrip()),
        ("hard_cases", HARD_CASES, features[1].rstrip()),
    ]
    return [part for part in result if part[2]]


def card_header(facts: Mapping[str, Any], features: tuple[Columns, str], *, locked: bool) -> str:
    """Return the header that the hub reads, as YAML between lines of dashes; arguments as of `card`."""
    asked, kept, parts = facts["project"], facts["quantities"]["items.kept"]["value"], _parts(features, locked)
    known = licence_id(asked["licence"])
    header = [f"license: {known or 'other'}"]
    if known is None:
        header += [f"license_name: {_quoted(asked['licence'][:80])}"]
    header += [
        f"pretty_name: {_quoted(asked['name'])}",
        f"language:\n- {asked['language']}",
        f"task_categories:\n- {'fill-mask' if asked['kind'] == 'sentences' else 'text-classification'}",
        f"size_categories:\n- {_size(kept)}",
        f"annotations_creators:\n- {'crowdsourced' if facts['annotators']['studies'] else 'other'}",
        "source_datasets:\n- original",
        "tags:\n- gender-bias\n- croissant",
    ]
    if parts:
        header += [
            "configs:\n"
            + "\n".join(CONFIG.format(name=name, path=path) for name, path, _ in parts).replace(
                "config_name: default\n", "config_name: default\n  default: true\n"
            ),
            "dataset_info:\n" + "\n".join(f"- config_name: {name}\n  features:\n{told}" for name, _, told in parts),
        ]
    return "---\n" + "\n".join(header) + "\n---\n"


def _quoted(text: str) -> str:
    """Return *text* quoted for YAML, without characters that YAML reads as line ends or does not allow."""
    return json.dumps(re.sub("[\x7f-\x9f\ufffe\uffff]", "", one_line(text)), ensure_ascii=False)


def _size(number: int) -> str:
    return next((name for most, name in SIZES if number < most), "1M<n<10M")


TEXTS = ("id", "text", "pair", "side", "keyword", "counterpart")
NUMBERS = ("start", "end", "stem_start", "stem_end")
GENERATION = ("id", "context", "completion", "label", "model", "dataset", "pronouns", "setting", "index")


def data_columns(project: Project, *, pairs: bool) -> Columns:
    """Return the columns of the kept items, each with its type in Arrow; *pairs*: an item is a comparison of texts."""
    if project.kind == "sentences":
        return [*((name, "string") for name in TEXTS), *((name, "int64") for name in NUMBERS)]
    second = ("second",) if pairs else ()
    return [(name, "string") for name in (*GENERATION[:3], *second, *GENERATION[3:], *_canary(project, True))]


def hard_case_features(project: Project, *, with_text: bool) -> str:
    """Return the columns of the hard cases, the labels and the adjudication nested."""
    names = ["item", "pair"] + (["side", "keyword"] if project.kind == "sentences" else [])
    if with_text:
        names += ["text"] if project.kind == "sentences" else ["context", "text"]
    note = _plain("note", "string", 4) if with_text else ""
    why = _plain("why", "string", 4) if with_text else ""
    spans = "    - name: spans\n      list:\n" + "".join(
        _plain(name, kind, 6) for name, kind in (("start", "int64"), ("end", "int64"), ("kind", "string"))
    )
    reasons, flag = "    - name: reasons\n      list: string\n", _plain("extraneous", "bool", 4)
    label = f"{_plain('annotator', 'string', 4)}{_plain('choice', 'string', 4)}{reasons}{flag}{spans}{note}"
    label += _plain("form_shown", "string", 4) + _plain("guideline", "int64", 4)
    act = f"{_plain('action', 'string', 4)}{_plain('choice', 'string', 4)}{reasons}{flag}{why}"
    act += _plain("adjudicator", "string", 4) + _plain("created", "string", 4)
    return (
        "".join(_plain(name, "string") for name in (*names, "status", "gold", "why_here"))
        + f"  - name: labels\n    list:\n{label}{_plain('left_out', 'int64')}  - name: settlement\n    struct:\n{act}"
        + "".join(_plain(name, "string") for name in _canary(project, with_text))
    )


def _canary(project: Project, with_text: bool) -> tuple[str, ...]:
    return (CANARY_KEY,) if with_text and needs_canary(project) else ()


def _plain(name: str, kind: str, indent: int = 2) -> str:
    space = " " * indent
    return f"{space}- name: {name}\n{space}  dtype: {kind}\n"
