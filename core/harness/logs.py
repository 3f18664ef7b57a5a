"""Read per-sample logs of lm-evaluation-harness (`samples_*.jsonl`) and Inspect (`.json`, `.eval`).

A sample in which the model wrote a text is a generation: context, completion, model. A sample of a task of `tasks.py`,
in which lm-evaluation-harness compared both sentences of a pair, is a score. Other samples are counted and left out.
"""

import json
import math
import re
import struct
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from evenhand.core.errors import N_, BadFile
from evenhand.core.scoring.rows import ScoredRow, ScoreItem, scored_row
from evenhand.core.types import JsonObject, Score, Signature

METHOD = "lm-eval"  # first part of the signature: whole sentences, as in `core.sentence_bias.bias`
FACTS = ("text", "pair", "side", "keyword", "start", "end")
INSPECT, HEAD_BYTES = re.compile(rb'\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:'), 4_096
ZSTD = 93  # the compression of .eval files by Inspect; Python reads it from 3.14 on
MOST_BYTES = 200_000_000  # of one packed sample
NOT_A_LOG = N_("{file} is not a per-sample log of lm-evaluation-harness or Inspect.")
Kind = Literal["generation", "score"]


@dataclass(frozen=True, slots=True)
class Generation:
    """A text that a model wrote after a context: a row that the import of generations reads.

    `index` counts the texts of one sample from 0.
    """

    context: str
    completion: str
    model: str
    task: str
    sample: str
    index: int


@dataclass(slots=True)
class Log:
    """The content of a log; `left`: the number of samples that are neither generation nor score, by reason."""

    harness: str
    model: str
    generations: list[Generation] = field(default_factory=list)
    scores: list[ScoredRow] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)


def read_log(path: Path, *, model: str = "") -> Log:
    """Read the log in *path*. *model*: the name to use instead of the one in the log; "" for that of the log.

    Raises BadFile for a file that is not such a log.
    """
    if zipfile.is_zipfile(path):
        return _inspect(_packed(path), path, model)
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and isinstance(whole.get("eval"), dict):
        return _inspect(whole, path, model)
    return _lm_eval(text, path, model)


def _lm_eval(text: str, path: Path, model: str) -> Log:
    log = Log("lm-eval", model or _model_beside(path))
    for number, line in enumerate(filter(None, text.split("\n")), 1):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            log.left["not a sample"] += 1
            continue
        if not isinstance(row, dict) or not {"doc", "arguments", "resps"} <= row.keys():
            raise BadFile(NOT_A_LOG, file=path.name)
        _sample(log, row, number, _task_of(path))
    if not (log.generations or log.scores or log.left):
        raise BadFile(NOT_A_LOG, file=path.name)
    return log


def _sample(log: Log, row: Mapping[str, Any], number: int, task: str) -> None:
    asked = (
        [entry for entry in row["arguments"].values() if isinstance(entry, dict)]
        if isinstance(row["arguments"], dict)
        else []
    )
    told = [one for one in row["resps"] if isinstance(one, list)] if isinstance(row["resps"], list) else []
    logs = [_number(one[0][0]) for one in told if one and isinstance(one[0], list) and one[0]]
    if len(logs) == 2 and _is_pair(row["doc"]):
        log.scores.append(_score(row["doc"], logs, number, log.model))
        return
    if logs:
        log.left["other comparisons"] += 1
        return
    texts = [(entry, text) for entry, some in zip(asked, told, strict=False) for text in some if isinstance(text, str)]
    for index, (arguments, text) in enumerate(texts):
        sample = str(row.get("doc_id", number))
        log.generations.append(Generation(str(arguments.get("arg_0", "")), text, log.model, task, sample, index))
    if not texts:
        log.left["no answer"] += 1


def _is_pair(doc: object) -> bool:
    return (
        isinstance(doc, dict)
        and {*FACTS, "counterpart", "choices"} <= doc.keys()
        and doc["side"] in ("male", "female")
        and isinstance(doc["start"], int)
        and isinstance(doc["end"], int)
    )


def _score(doc: Mapping[str, Any], logs: list[float | None], number: int, model: str) -> ScoredRow:
    words = (str(doc["keyword"]), str(doc["counterpart"]))
    start, end = doc["start"], doc["end"]
    item = ScoreItem(
        number, str(doc["text"]), start, end, start, end, str(doc["pair"]), doc["side"], words[0],
        words if doc["side"] == "male" else words[::-1],
    )  # fmt: skip
    signature = str(Signature(METHOD, model, "unknown", "sum", "unknown", 1))
    reason = None if None not in logs else N_("The log has no score for one of the two sentences.")
    return scored_row(item, model, Score(tuple(logs), signature, reason), signature)


def _number(value: object) -> float | None:
    try:
        result = float(str(value))
    except ValueError:
        return None
    return result if math.isfinite(result) else None


def _task_of(path: Path) -> str:
    """Return the task in the file name samples_TASK_2026-01-01T00-00-00.000000.jsonl."""
    return path.stem.removeprefix("samples_").rpartition("_")[0] or path.stem


def _model_beside(path: Path) -> str:
    """Return the model of the results_*.json with the same timestamp, else of another, else the folder's name."""
    moment = path.stem.rpartition("_")[2]
    for results in (path.with_name(f"results_{moment}.json"), *sorted(path.parent.glob("results_*.json"))):
        try:
            name = json.loads(results.read_text(encoding="utf-8"))["model_name"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return PurePosixPath(str(name)).name if str(name).startswith("/") else str(name)
    return path.parent.name


def _inspect(whole: Mapping[str, Any], path: Path, model: str) -> Log:
    told = whole["eval"]
    log = Log("inspect", model or str(told.get("model") or path.stem))
    task = str(told.get("task") or path.stem)
    samples = whole.get("samples")
    for row in samples if isinstance(samples, list) else []:
        try:
            answers = _inspect_sample(row, log.model, task)
        except (AttributeError, TypeError, ValueError, OverflowError):  # a value of another kind than Inspect writes
            log.left["not a sample"] += 1
            continue
        log.generations += answers
        log.left["no answer"] += not answers
    if not (log.generations or +log.left):
        raise BadFile(NOT_A_LOG, file=path.name)
    return log


def _inspect_sample(row: Mapping[str, Any], model: str, task: str) -> list[Generation]:
    """Return the answers of one sample; [] without an answer."""
    output = row.get("output")
    choices = output.get("choices") if isinstance(output, dict) else None
    texts = [_content(choice.get("message", {}).get("content")) for choice in choices or () if isinstance(choice, dict)]
    if row.get("error") or not any(texts):
        return []
    sample = f"{row.get('id')}" + (f"#{row['epoch']}" if row.get("epoch", 1) != 1 else "")
    first = (int(row.get("epoch") or 1) - 1) * len(texts)
    return [Generation(_input_of(row), text, model, task, sample, first + index) for index, text in enumerate(texts)]


def _input_of(row: Mapping[str, Any]) -> str:
    """Return the input of a sample: its text, or the last message of a conversation."""
    given = row.get("input")
    if isinstance(given, list):
        given = _content(given[-1].get("content")) if given and isinstance(given[-1], dict) else ""
    return str(given or "")


def _content(content: object) -> str:
    """Return the text of a message; of several parts, their texts joined."""
    if isinstance(content, list):
        return "".join(
            str(entry.get("text", "")) for entry in content if isinstance(entry, dict) and entry.get("type") == "text"
        )
    return content if isinstance(content, str) else ""


def _packed(path: Path) -> JsonObject:
    """Read an .eval: an archive with the header and a file for each sample."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = {one.filename: one for one in archive.infolist() if one.file_size <= MOST_BYTES}
            header = json.loads(_member(path, archive, infos["header.json"]))
            names = sorted(name for name in infos if name.startswith("samples/") and name.endswith(".json"))
            return {**header, "samples": [json.loads(_member(path, archive, infos[name])) for name in names]}
    except (KeyError, ValueError, OSError, zipfile.BadZipFile, struct.error) as error:
        raise BadFile(NOT_A_LOG, file=path.name) from error


def _member(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.compress_type != ZSTD:
        return archive.read(info)
    import pyarrow

    with path.open("rb") as file:
        file.seek(info.header_offset)
        name, extra = struct.unpack("<26x2H", file.read(30))
        file.seek(name + extra, 1)
        packed = file.read(info.compress_size)
    unpacked: bytes = pyarrow.Codec("zstd").decompress(packed, decompressed_size=info.file_size).to_pybytes()
    return unpacked


def log_files(paths: Iterator[Path] | list[Path]) -> list[Path]:
    """Return the logs among *paths*; for a folder, the logs in it and below."""
    result: list[Path] = []
    for path in paths:
        inside = (
            [*path.rglob("samples_*.jsonl"), *path.rglob("*.eval"), *filter(_is_inspect, path.rglob("*.json"))]
            if path.is_dir()
            else [path]
        )
        result += sorted(inside)
    return list(dict.fromkeys(result))


def _is_inspect(path: Path) -> bool:
    """Return True for a .json log of Inspect, by its first keys."""
    with path.open("rb") as file:
        return INSPECT.match(file.read(HEAD_BYTES)) is not None
