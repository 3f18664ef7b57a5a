"""An uploaded file: a table, or an archive of tables that may be encrypted."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from evenhand.annotations.files.detect import Columns
from evenhand.annotations.files.generations import of_folder
from evenhand.annotations.files.import_items import Examined, Preview, examine, preview
from evenhand.core.errors import N_, BadFile
from evenhand.core.files.archives import TABLES, Member, is_archive, unpacked
from evenhand.core.files.readers import open_source, rows

TEXTS = (".txt", ".md")  # texts beside the tables of an archive: a data sheet, a licence


@contextmanager
def tables_in(path: Path | str, *, password: str | None = None, name: str | None = None) -> Iterator[list[Member]]:
    """The tables of *path*: the file itself, those of a folder, or those of a ZIP, unpacked while the block runs.

    Raises NeedsPassword if the archive is encrypted, BadFile if it is damaged or holds no table.
    """
    if Path(path).is_dir():
        yield _in_folder(Path(path))
        return
    if not is_archive(path):
        yield [Member(Path(path), name or Path(path).name)]
        return
    with unpacked(path, password, name) as members:
        tables = [one for one in members if one.path.suffix not in TEXTS]
        if not tables:
            message = N_("{file} contains no table. Add CSV, TSV, JSON Lines or Excel files.")
            raise BadFile(message, file=name or Path(path).name)
        yield tables


def _in_folder(folder: Path) -> list[Member]:
    """The tables of a folder, such as a release, by name and without hidden files."""
    found = [
        Member(one, one.relative_to(folder).as_posix())
        for one in sorted(folder.rglob("*"))
        if one.is_file() and one.suffix.lower() in TABLES and one.suffix.lower() not in TEXTS
        and not any(part.startswith(".") for part in one.relative_to(folder).parts)
    ]  # fmt: skip
    if not found:
        message = N_("{file} contains no table. Add CSV, TSV, JSON Lines or Excel files.")
        raise BadFile(message, file=folder.name)
    return found


def examine_tables(
    members: list[Member], *, format: str = "auto", column: str | None = None, wished: Columns | None = None
) -> list[Examined]:
    """`examine` for every table. Of several tables, one that lacks a wished column uses the guess."""
    found = [
        examine(
            one.path, format=format, column=column, name=one.name, wished=fitting_columns(one, wished, len(members))
        )
        for one in members
    ]
    return without_second_copies(found)


def without_second_copies(files: list[Examined]) -> list[Examined]:
    """*files*, those marked that repeat the rows of others.

    The archives of the published samples hold every row twice: by pronoun set, in a folder of each model, and again in
    tables of a model with all sets. The first are read, unless their folders do not name the model.
    """
    samples = [one for one in files if _is_sample(one)]
    single = [one for one in samples if "model" not in _named(one)]
    collated = [one for one in samples if "model" in _named(one)]
    if not single or not collated:
        return files
    first, second = (single, collated) if all(of_folder(one.source.name) for one in single) else (collated, single)
    known = sum(map(_generations_of, first), Counter[tuple[str, str]]())
    copies = {one.source.path for one in second if _generations_of(one) <= known}
    return [replace(one, repeats=one.source.path in copies) for one in files]


def _named(one: Examined) -> Mapping[str, str]:
    return {} if one.layout.columns is None else one.layout.columns.named


def _is_sample(one: Examined) -> bool:
    return {"template", "generation"} <= _named(one).keys()


def _generations_of(one: Examined) -> Counter[tuple[str, str]]:
    """How often each text stands in the table, with its template."""
    named = _named(one)
    return Counter(
        (str(row.values.get(named["template"])), str(row.values.get(named["generation"]))) for row in rows(one.source)
    )


def preview_tables(
    members: list[Member],
    *,
    format: str = "auto",
    column: str | None = None,
    wished: Columns | None = None,
    limit: int = 10,
) -> Preview:
    """The first rows of the first table."""
    first = members[0]
    return preview(
        first.path,
        format=format,
        column=column,
        name=first.name,
        wished=fitting_columns(first, wished, len(members)),
        limit=limit,
    )


def fitting_columns(member: Member, wished: Columns | None, tables: int) -> Columns | None:
    """*wished* without columns that this table lacks; of a single table all, so that a typing error is reported."""
    if wished is None or tables == 1:
        return wished
    columns = {*open_source(member.path, member.name).columns, ""}
    return Columns({key: column for key, column in wished.named.items() if column in columns}, wished.fixed)
