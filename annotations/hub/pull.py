"""A data set of the hub as one file that the import reads: CSV and JSON as they are, Parquet as JSON lines.

Which files belong to a part and a split says the header of README.md (`configs`), else their names, as the `datasets`
library has it. No script of a data set is ever run. Of an Argilla project the types of its questions come along.
"""

import json
import math
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from evenhand.annotations.files.other_tools.argilla_read import QUESTIONS
from evenhand.annotations.hub.client import checked_repo, hub, hub_errors
from evenhand.core.errors import N_, BadFile, NotFound, Refused
from evenhand.core.files.csv_out import json_line
from evenhand.core.files.excel import refuse_bomb
from evenhand.core.files.sandbox import LARGEST_BYTES, NO_YAML, read_yaml, reads_in_children, run_bounded

if TYPE_CHECKING:
    from huggingface_hub import HfApi

README = "README.md"
SETTINGS = ".argilla/settings.json"
ENDINGS = (".parquet", ".jsonl", ".json", ".csv", ".tsv", ".txt", ".xlsx", ".zip")
SPLITS = ("train", "training", "validation", "valid", "val", "dev", "test", "testing", "eval")
MOST_BYTES = 2_000_000_000
BATCH = 1_000
LISTED = 10


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a data set: revision (branch, tag, commit), part (configuration), split, or files by name or pattern."""

    repo: str
    revision: str | None = None
    part: str | None = None
    split: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Pulled:
    """One file for the import, named after data set and commit, and the files of the hub that are in it."""

    path: Path
    commit: str
    files: tuple[str, ...]


def pull(wanted: Wanted, folder: Path, *, most_bytes: int = MOST_BYTES) -> Pulled:
    """Fetch the wanted files and write one file into *folder*.

    Raises NotFound for a data set, part, split or file that is not there, NotAllowed if it asks for consent, Refused
    if it is larger than *most_bytes*, BadFile if it holds no table.
    """
    from huggingface_hub import RepoFile

    repo = checked_repo(wanted.repo)
    with hub_errors(repo), tempfile.TemporaryDirectory(prefix="evenhand-hub-") as temporary:
        api = hub()
        info = api.dataset_info(repo, revision=wanted.revision, timeout=30)
        commit = str(info.sha)
        tree = api.list_repo_tree(repo, repo_type="dataset", revision=commit, recursive=True)
        sizes = {entry.path: entry.size for entry in tree if isinstance(entry, RepoFile)}
        fetch = _Fetch(api, repo, commit, Path(temporary))
        chosen = _chosen(wanted, sizes, fetch)
        size = sum(sizes[name] for name in chosen)
        if size > most_bytes:
            message = N_("These files are {size} MB, more than {most} MB. Choose one configuration, split or file.")
            raise Refused(message, size=size // 1_000_000, most=most_bytes // 1_000_000)
        local = {name: fetch(name) for name in chosen}
        types = _question_types(fetch(SETTINGS)) if SETTINGS in sizes else {}
        path = _one_file(local, folder, f"{repo.replace('/', '--')}@{commit[:7]}", types)
    return Pulled(path, commit, tuple(chosen))


@dataclass(frozen=True, slots=True)
class _Fetch:
    """Downloads one file of a commit into a folder that goes away."""

    api: "HfApi"
    repo: str
    commit: str
    folder: Path

    def __call__(self, name: str) -> Path:
        return Path(
            self.api.hf_hub_download(self.repo, name, repo_type="dataset", revision=self.commit, local_dir=self.folder)
        )


def _chosen(wanted: Wanted, sizes: Mapping[str, int], fetch: _Fetch) -> list[str]:
    """Return the files of the wanted part and split, sorted."""
    if wanted.file:
        names = sorted(name for name in sizes if fnmatch(name, wanted.file))
        return names or _nothing(wanted, sizes)
    configs = _configs(fetch(README)) if README in sizes else []
    if configs:
        patterns = _patterns(wanted, configs)
        patterns += [pattern.replace("**/", "") for pattern in patterns]  # `**/` also stands for no folder
        names = sorted(name for name in sizes if any(fnmatch(name, pattern) for pattern in patterns))
        return names or _nothing(wanted, sizes)
    if wanted.part:
        within = {name: size for name, size in sizes.items() if wanted.part in PurePosixPath(name).parts}
        sizes = within or _nothing(wanted, sizes)
    return _by_name(wanted, sizes)


def _nothing(wanted: Wanted, sizes: Mapping[str, int]) -> Any:
    tables = [name for name in sorted(sizes) if name.endswith(ENDINGS) and not name.startswith(".")]
    message = N_("{repo} has no such configuration, split or file. Files: {files}.")
    raise NotFound(message, repo=wanted.repo, files=", ".join(tables[:LISTED]) or "—")


def _configs(readme: Path) -> list[dict[str, Any]]:
    """Return the `configs` of the header of a card; [] for a card without them. Raises BadFile for a header that cannot
    be read: which files the card names is not known then.
    """
    header = read_yaml(text, README) if (text := _header(readme)) else None
    configs = header.get("configs") if isinstance(header, dict) else None
    some = configs if isinstance(configs, list) else []
    return [entry for entry in some if isinstance(entry, dict) and entry.get("data_files")]


def _header(readme: Path) -> str:
    """Return the lines between the two rules with which a card begins; "" for a card without them."""
    with readme.open("rb") as file:
        start = file.read(LARGEST_BYTES + 1)
    first, *lines = start.decode("utf-8-sig", "replace").splitlines() or [""]
    if first.rstrip() != "---":
        return ""
    end = next((number for number, line in enumerate(lines) if line.startswith("---")), None)
    if end is None and len(start) > LARGEST_BYTES:
        raise BadFile(NO_YAML, file=README, why=f"more than {LARGEST_BYTES // 1000} kB")
    return "\n".join(lines[:end]) if end is not None else ""


def _patterns(wanted: Wanted, configs: Sequence[Mapping[str, Any]]) -> list[str]:
    default = next(
        (entry for entry in configs if entry.get("default") or entry.get("config_name") == "default"), configs[0]
    )
    config = default if wanted.part is None else next((c for c in configs if c.get("config_name") == wanted.part), None)
    if config is None:
        names = ", ".join(name for entry in configs if isinstance(name := entry.get("config_name"), str))
        message = N_("{repo} has no configuration {part}. Configurations: {names}.")
        raise NotFound(message, repo=wanted.repo, part=wanted.part, names=names)
    given = config["data_files"]
    if isinstance(given, str) or (isinstance(given, list) and all(isinstance(entry, str) for entry in given)):
        return [given] if isinstance(given, str) else list(given)
    rows = [entry for entry in given if isinstance(entry, dict)] if isinstance(given, list) else []
    # Only text is a name: printing a list that a stranger made can take as long as its maker wants.
    splits = {name: row.get("path") for row in rows if isinstance(name := row.get("split", "train"), str)}
    split = wanted.split or ("train" if "train" in splits else next(iter(splits), ""))
    if split not in splits:
        message = N_("{repo} has no split {split}. Splits: {names}.")
        raise NotFound(message, repo=wanted.repo, split=split, names=", ".join(splits))
    path = splits[split]
    return [text for text in (path if isinstance(path, list) else [path]) if isinstance(text, str)]


def _by_name(wanted: Wanted, sizes: Mapping[str, int]) -> list[str]:
    """Return the files whose names contain the split, train first (a data set without header); else the only table."""
    tables = [
        size for size in sorted(sizes) if size.endswith(ENDINGS) and not size.startswith(".") and "/." not in size
    ]
    by_split: dict[str, list[str]] = {}
    for name in tables:
        words = re.split(r"[^a-z]+", name.lower())
        if split := next((text for text in SPLITS if text in words), None):
            by_split.setdefault(split, []).append(name)
    if wanted.split:
        return by_split.get(wanted.split) or _nothing(wanted, sizes)
    if by_split:
        return by_split.get("train") or next(iter(by_split.values()))
    if len(tables) > 1:
        message = N_("{repo} contains several tables. Choose one: {files}.")
        raise Refused(message, repo=wanted.repo, files=", ".join(tables[:LISTED]))
    return tables or _nothing(wanted, sizes)


def _question_types(settings: Path) -> dict[str, str]:
    """Return the type of each question by its name, from the settings of an Argilla project."""
    try:
        questions = json.loads(settings.read_text(encoding="utf-8")).get("questions")
        return {str(question["name"]): str(question["settings"]["type"]) for question in questions}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def _one_file(local: Mapping[str, Path], folder: Path, name: str, types: Mapping[str, str]) -> Path:
    if all(path.suffix == ".parquet" for path in local.values()):
        out = folder / f"{name}.jsonl"
        for path in local.values():
            _add_json_lines(path, types, out)
        return out
    if len(local) == 1:
        ((_, path),) = local.items()
        return Path(shutil.move(path, folder / f"{name}{path.suffix}"))
    out = folder / f"{name}.zip"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside, path in local.items():
            if path.suffix == ".parquet":
                lines = path.with_suffix(".parquet.jsonl")
                _add_json_lines(path, types, lines)
                archive.write(lines, str(PurePosixPath(inside).with_suffix(".jsonl")))
                lines.unlink()
            else:
                archive.write(path, inside)
    return out


def _add_json_lines(path: Path, types: Mapping[str, str], out: Path) -> None:
    """Append the rows of a Parquet file to *out*; a server reads them in another process. Raises BadFile."""
    if reads_in_children():
        run_bounded(_write_json_lines, path, types, out, file=path.name)
    else:
        _write_json_lines(path, types, out)


def _write_json_lines(path: Path, types: Mapping[str, str], out: Path) -> None:
    packed, written = path.stat().st_size, 0
    with out.open("ab") as file:
        for row in _parquet_rows(path, types):
            line = json_line(row).encode()
            written += len(line)
            refuse_bomb(path.name, written, packed)  # a column that repeats one value is stored once
            file.write(line)


def _parquet_rows(path: Path, types: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file; numbers of a ClassLabel as its names, values outside JSON as text."""
    import pyarrow
    import pyarrow.parquet

    more = {QUESTIONS: dict(types)} if types else {}
    try:
        file = pyarrow.parquet.ParquetFile(path, pre_buffer=False)
        names = _class_names(file.schema_arrow.metadata)
        for batch in file.iter_batches(BATCH, use_threads=False):  # a limit of memory counts what threads reserve
            for row in batch.to_pylist():
                for column, known in names.items():
                    value = row.get(column)
                    if isinstance(value, int) and 0 <= value < len(known):
                        row[column] = known[value]
                yield {key: _json_value(value) for key, value in row.items()} | more
    except (pyarrow.ArrowException, OSError) as error:
        raise BadFile(N_("{file} is not a readable Parquet file."), file=path.name) from error


def _class_names(metadata: Mapping[bytes, bytes] | None) -> dict[str, list[str]]:
    try:
        features = json.loads((metadata or {})[b"huggingface"])["info"]["features"]
        return {
            name: [str(n) for n in feature["names"]]
            for name, feature in features.items()
            if feature.get("_type") == "ClassLabel"
        }
    except (KeyError, ValueError, TypeError, AttributeError):
        return {}


def _json_value(value: Any) -> Any:
    """Return *value* as JSON has it: no number for NaN and infinities, nothing for bytes, text for dates."""
    if isinstance(value, dict):
        return {str(key): _json_value(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return None if isinstance(value, bytes) else str(value)
