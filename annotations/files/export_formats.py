"""What an export holds, and whether its text may leave in plain."""

from dataclasses import dataclass
from typing import Literal, get_args

from evenhand.annotations.text_policy import text_may_leave
from evenhand.annotations.types import Project
from evenhand.core.errors import N_, BadFile, Refused

ExportFormat = Literal[
    "slguset", "jsonl", "labels", "labels-wide", "labels-jsonl", "soft-labels", "disaggregated",
    "disaggregated-training", "published", "label-studio", "doccano", "package", "datasheet", "datasheet-tex",
]  # fmt: skip
EXPORT_FORMATS: tuple[ExportFormat, ...] = get_args(ExportFormat)
ENDINGS: dict[str, tuple[ExportFormat, ...]] = {
    ".csv": ("slguset", "labels", "labels-wide", "soft-labels", "disaggregated", "disaggregated-training"),
    ".jsonl": ("jsonl", "labels-jsonl"),
    ".json": ("label-studio",),
    ".zip": ("published", "doccano", "package"),
    ".md": ("datasheet",),
    ".tex": ("datasheet-tex",),
}
ENDING: dict[ExportFormat, str] = {format: ending for ending, formats in ENDINGS.items() for format in formats}
FRAME: dict[str, int] = {".csv": 1, ".json": 2}  # lines that are not rows: the header, the brackets
HOLD_TEXT = ("slguset", "jsonl", "published", "label-studio", "doccano", "package")  # always with text
ARCHIVES = ENDINGS[".zip"]  # several files
OF_KIND: dict[str, tuple[str, ...]] = {"sentences": ("slguset",), "generations": ("published",)}  # only for this kind


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Options of an export.

    `items`: all, or only accepted ones (as in a release). For labels: `names` writes the annotators' names instead of
    A1, A2, ...; `history` writes every operation, replaced and undone ones too. `locked`: it goes into an encrypted
    archive, so it may hold texts and notes. `language`: of the data sheet. `spreadsheet`: a CSV in which no text runs
    as a formula, instead of the data as they are.
    """

    format: ExportFormat
    items: Literal["all", "accepted"] = "all"
    names: bool = False
    history: bool = False
    locked: bool = False
    language: Literal["zh", "en"] = "en"
    spreadsheet: bool = False

    def with_text(self, project: Project) -> bool:
        """Tell whether the export holds texts, and notes that may quote them."""
        return self.locked or text_may_leave(project)


def export_options(
    format: str,
    *,
    items: str = "all",
    names: bool = False,
    history: bool = False,
    locked: bool = False,
    language: str = "en",
) -> ExportOptions:
    """Return checked options. Raises BadFile for an unknown format or choice of items."""
    if format not in EXPORT_FORMATS or items not in ("all", "accepted"):
        message = N_(
            "There is no export with format {format} and items {items}. Formats: {formats}; items: all or accepted."
        )
        raise BadFile(message, format=format, items=items, formats=", ".join(EXPORT_FORMATS))
    chosen: Literal["all", "accepted"] = "accepted" if items == "accepted" else "all"
    return ExportOptions(format, chosen, names, history, locked, "zh" if language == "zh" else "en")


def formats_of(project: Project) -> tuple[ExportFormat, ...]:
    """Return the export formats for a project of this kind."""
    others = {format_ for kind, formats in OF_KIND.items() if kind != project.kind for format_ in formats}
    return tuple(export_format for export_format in EXPORT_FORMATS if export_format not in others)


def needs_password(project: Project, format: str) -> bool:
    """Tell whether this export holds text that must not be exported unencrypted."""
    return format in HOLD_TEXT and not text_may_leave(project)


def check_export(project: Project, wish: ExportOptions) -> None:
    """Raise Refused if the project has no such export, or if its text would leave in plain."""
    if wish.format not in formats_of(project):
        message = (
            N_("{project} holds generations, but SlguSet is a sentence format. Use jsonl or labels.")
            if wish.format == "slguset"
            else N_(
                "{project} contains sentences; the published samples are generations. Use slguset, jsonl or labels."
            )
        )
        raise Refused(message, project=project.name)
    if needs_password(project, wish.format) and not wish.locked:
        message = N_(
            "The texts of {project} can only be exported encrypted. Give a password (--password on the"
            " command line, or EVENHAND_PASSWORD), or export labels without texts. The project's settings"
            " can allow unencrypted export."
        )
        raise Refused(message, project=project.name)
