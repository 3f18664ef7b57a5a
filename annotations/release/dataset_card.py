"""The card of a release: README.md as the Hugging Face hub reads it, and the rows that its `datasets` library loads."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from annotations.database.store import Store
from annotations.files.label_tables import item_facts as generation_facts
from annotations.items.batch import items
from annotations.papers.blocks import one_line
from annotations.papers.markdown import markdown_text
from annotations.text_policy import CANARY, CANARY_KEY, needs_canary
from annotations.types import Item, Project

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


def licence_id(licence: str) -> str | None:
    """The hub's name of a licence, or None: "CC BY 4.0" -> "cc-by-4.0"."""
    words = licence.casefold().replace("-", " ").replace("_", " ").split()
    return LICENCES.get(" ".join(words))


def data_rows(store: Store, project: Project) -> Iterator[dict[str, Any]]:
    """The kept items, every row with the same keys and types, as `datasets` wants it."""
    for item in items(store, project, accepted_only=True):
        yield _sentence(item) if item.word is not None else _generation(project, item)


def _sentence(item: Item) -> dict[str, Any]:
    word, stem = item.word or (0, 0), item.stem or (0, 0)
    return {
        "id": item.uid, "text": item.text, "pair": item.pair, "side": item.side, "keyword": item.keyword,
        "counterpart": item.counterpart, "start": word[0], "end": word[1], "stem_start": stem[0], "stem_end": stem[1],
    }  # fmt: skip


def _generation(project: Project, item: Item) -> dict[str, Any]:
    known = {key: "" if value is None else str(value) for key, value in generation_facts(item).items()}
    row = {"id": item.uid, "context": item.context or "", "completion": item.text, "label": item.gold} | known
    return row | ({CANARY_KEY: CANARY} if needs_canary(project) else {})


def card(facts: Mapping[str, Any], files: Mapping[str, str], features: tuple[str, str]) -> str:
    """README.md: the header for the hub, then the list of files. *files*: name -> description.

    *features*: the columns of the kept items and of the hard cases, as YAML; "" without hard cases, because the library
    refuses a file without rows.
    """
    asked, release, kept = facts["project"], facts["release"], facts["total"]["kept"]
    known = licence_id(asked["licence"])
    parts = [("default", DATA, features[0].rstrip()), ("hard_cases", HARD_CASES, features[1].rstrip())]
    parts = [part for part in parts if part[2]]
    header = [f"license: {known or 'other'}"]
    if known is None:
        header += [f"license_name: {_quoted(asked['licence'][:80])}"]
    header += [
        f"pretty_name: {_quoted(asked['name'])}",
        f"language:\n- {asked['language']}",
        f"task_categories:\n- {'fill-mask' if asked['kind'] == 'sentences' else 'text-classification'}",
        f"size_categories:\n- {_size(kept)}",
        "configs:\n" + "\n".join(_config(name, path) for name, path, _ in parts),
        "dataset_info:\n" + "\n".join(f"- config_name: {name}\n  features:\n{told}" for name, _, told in parts),
    ]
    body = [
        f"# {markdown_text(asked['name'])} {markdown_text(release['version'])}",
        markdown_text(asked["source_statement"]),
        f"Licence: {markdown_text(asked['licence'])}. Kept items: {kept:,}. Labels: {facts['labels']['standing']:,}.",
        origin_of_labels(facts["provenance"]),
        f"Contents (SHA-256): `{release['hash']}`",
        f"> {markdown_text(CANARY)}",
        "| File | What it holds |\n| --- | --- |\n"
        + "\n".join(f"| `{name}` | {markdown_text(what)} |" for name, what in sorted(files.items())),
        "```python\nfrom datasets import load_dataset\n\nload_dataset(\".\")  # in this folder\n"
        "load_dataset(\".\", \"hard_cases\")\n```",
    ]  # fmt: skip
    return "---\n" + "\n".join(header) + "\n---\n\n" + "\n\n".join(one for one in body if one) + "\n"


def origin_of_labels(provenance: Mapping[str, Any]) -> str:
    """Where the labels come from, in shares; each part only where there are such labels."""
    number = f"Of {provenance['labels']:,} labels"
    parts = [f"{number}, {one['labels']:,} were {how}." for how, one in (
        ("made at desks of Evenhand", provenance["here"]),
        ("imported", provenance["imported"]),
    ) if one["labels"]]  # fmt: skip
    if provenance["unknown"]["labels"]:
        parts.append(f"{number}, {provenance['unknown']['labels']:,} are of unknown origin.")
    for one in provenance["imported"]["files"]:
        program, file = (markdown_text(one[key]) for key in ("program", "file"))
        digest = f", SHA-256 `{one['sha256']}`" if one["sha256"] else ""
        parts.append(
            f"Imported from {program or 'a program that is not recorded'}: {one['labels']:,} ({file}{digest})."
        )
    return " ".join(parts)


def _config(name: str, path: str) -> str:
    default = "  default: true\n" if name == "default" else ""
    return f"- config_name: {name}\n{default}  data_files:\n  - split: train\n    path: {path}"


def _quoted(text: str) -> str:
    """*text* quoted for YAML, without characters that YAML reads as line ends or does not allow."""
    return json.dumps(re.sub("[\x7f-\x9f\ufffe\uffff]", "", one_line(text)), ensure_ascii=False)


def _size(number: int) -> str:
    return next((name for most, name in SIZES if number < most), "1M<n<10M")


TEXTS = ("id", "text", "pair", "side", "keyword", "counterpart")
NUMBERS = ("start", "end", "stem_start", "stem_end")
GENERATION = ("id", "context", "completion", "label", "model", "dataset", "pronouns", "setting", "index")


def data_features(project: Project) -> str:
    """The columns of the kept items, for the header of the card."""
    if project.kind == "sentences":
        return "".join([*(_plain(name, "string") for name in TEXTS), *(_plain(name, "int64") for name in NUMBERS)])
    return "".join(_plain(name, "string") for name in (*GENERATION, *_canary(project, True)))


def hard_case_features(project: Project, *, with_text: bool) -> str:
    """The columns of the hard cases, the labels and the adjudication nested."""
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
        + f"  - name: labels\n    list:\n{label}  - name: settlement\n    struct:\n{act}"
        + "".join(_plain(name, "string") for name in _canary(project, with_text))
    )


def _canary(project: Project, with_text: bool) -> tuple[str, ...]:
    return (CANARY_KEY,) if with_text and needs_canary(project) else ()


def _plain(name: str, kind: str, indent: int = 2) -> str:
    space = " " * indent
    return f"{space}- name: {name}\n{space}  dtype: {kind}\n"
