"""Add a page to the site for the `evenhand` module and each package of `evenhand.core`: a hook of mkdocs.yml."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
API = "api"


def modules() -> dict[str, list[str]]:
    """Return the dotted modules of each capability of `evenhand.core`, packages first, and the package itself."""
    result = {"evenhand": ["evenhand.verbs"]}
    for file in sorted((ROOT / "core").rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        if parts != ("core", "__init__") and parts[1] != "data":
            result.setdefault(parts[1], []).append(".".join(("evenhand", *parts)).removesuffix(".__init__"))
    return result


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add `api/WORD.md` for each capability: its modules, one after the other."""
    for word, names in modules().items():
        title = word if word == "evenhand" else f"evenhand.core.{word}"
        text = f"# {title}\n\n" + "\n\n".join(
            (f"## {name}\n\n" if name != title else "") + f"::: {name}" for name in names
        )
        files.append(File.generated(config, f"{API}/{word}.md", content=text + "\n"))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Name files of the repository outside docs/, which the site does not hold, without a link."""
    return re.sub(r"\[[^]]*\]\(\.\./([^)]*)\)", r"`\1`", markdown)


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """The API as the last section."""
    pages = [page for file in files.documentation_pages() if file.src_uri.startswith(f"{API}/") and (page := file.page)]
    for page in pages:
        page.parent = None
    section = Section("Python API", sorted(pages, key=_title))
    for page in pages:
        page.parent = section
    nav.items.append(section)
    return nav


def _title(page: Page) -> str:
    return page.file.name
