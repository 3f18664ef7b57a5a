"""A data sheet of a project from what the database knows, as Markdown or LaTeX, in Chinese or English."""

from collections.abc import Iterable

from annotations.database.store import Store, at_one_moment
from annotations.papers.blocks import Block
from annotations.papers.datasheet_facts import read_known
from annotations.papers.datasheet_words import sheet_blocks
from annotations.papers.markdown import Form, rendered
from annotations.types import Project
from core.language import Language


@at_one_moment
def datasheet(store: Store, project: Project, language: Language, form: Form = "md") -> str:
    """The data sheet as one file. It holds no text of an item and no annotator's name."""
    return rendered(datasheets(store, project, (language,))[language], form, language)


@at_one_moment
def datasheets(store: Store, project: Project, languages: Iterable[Language]) -> dict[Language, list[Block]]:
    """The data sheet in several languages, as blocks that become either form; the database is read once."""
    known = read_known(store, project)
    return {language: sheet_blocks(known, language) for language in languages}
