"""A file as a person hands it over: a table, or an archive of tables that may be locked; each is examined alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from annotations.files.columns import Columns
from annotations.files.import_items import Examined, Preview, examine, preview
from core.errors import N_, BadFile
from core.files.archives import TABLES, Member, is_archive, unpacked
from core.files.readers import open_source

TEXTS = (".txt", ".md")  # what lies beside the tables of an archive: a data sheet, a licence


@contextmanager
def tables_in(path: Path | str, *, password: str | None = None, name: str | None = None) -> Iterator[list[Member]]:
    """The tables of *path*: itself, what a folder holds, or what a ZIP holds, unpacked for as long as the block lasts.

    Raises NeedsPassword where the archive is locked, BadFile where it is damaged or holds no table.
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
            message = N_("{file} holds no table: put CSV, TSV, JSON lines or Excel files into it.")
            raise BadFile(message, file=name or Path(path).name)
        yield tables


def _in_folder(folder: Path) -> list[Member]:
    """The tables of a folder, such as a release: by their names, those of hidden files left out."""
    found = [
        Member(one, one.relative_to(folder).as_posix())
        for one in sorted(folder.rglob("*"))
        if one.is_file() and one.suffix.lower() in TABLES and one.suffix.lower() not in TEXTS
        and not any(part.startswith(".") for part in one.relative_to(folder).parts)
    ]  # fmt: skip
    if not found:
        message = N_("{file} holds no table: put CSV, TSV, JSON lines or Excel files into it.")
        raise BadFile(message, file=folder.name)
    return found


def examine_tables(
    members: list[Member], *, format: str = "auto", column: str | None = None, wished: Columns | None = None
) -> list[Examined]:
    """`examine` for every table. In several tables, a wished column that one of them lacks is guessed there."""
    return [
        examine(
            one.path, format=format, column=column, name=one.name, wished=fitting_columns(one, wished, len(members))
        )
        for one in members
    ]


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
    """*wished* as far as this table has the columns; of a single table all of it, so that a typing error is told."""
    if wished is None or tables == 1:
        return wished
    columns = {*open_source(member.path, member.name).columns, ""}
    return Columns({key: column for key, column in wished.named.items() if column in columns}, wished.fixed)
