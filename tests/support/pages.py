"""Pages as a visitor opens them, run by AppTest without a server and without a browser."""

import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamlit.components.v2 import manifest_scanner
from streamlit.config import set_option
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest, local_script_runner
from streamlit.testing.v1.element_tree import HeadingBase
from streamlit.util import calc_hash

from evenhand.core.language import Language, translate
from evenhand.pages.catalogue import PAGES
from evenhand.pages.ui import charts
from evenhand.pages.ui.text import plain
from tests.support.projects import new_store

# AppTest reads the metadata of every installed package for each app, which takes longer than a page: once is enough.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


_main = sys.modules["__main__"]


def _joined(runner: local_script_runner.LocalScriptRunner, timeout: float = 3) -> None:
    """Wait for the end of a run. AppTest looks a thousand times a second whether it is there."""
    thread = runner._script_thread
    assert thread is not None
    thread.join(timeout)
    # Streamlit makes the page the main module, and each process that a later test spawns would run it first.
    sys.modules["__main__"] = _main
    if not runner.script_stopped():
        runner.request_stop()
        runner.join()
        raise RuntimeError(f"AppTest script run timed out after {timeout}(s)")


local_script_runner.require_widgets_deltas = _joined
# Each run compiles the page again, though no test changes it.
local_script_runner.ScriptCache = cache(local_script_runner.ScriptCache)

_seen: set[str] = set()


def _checked_once(chart: Any) -> dict[str, Any]:
    """Check each kind of chart against the schema of Vega-Lite the first time; pages draw unchecked."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    inner = [*spec.get("layer", ()), *spec.get("hconcat", ()), *spec.get("vconcat", ())]
    kind = str([(part.get("mark"), sorted(part.get("encoding", ()))) for part in [spec, *inner]])
    if kind not in _seen:
        _seen.add(kind)
        chart.to_dict(validate=True)
    return spec


charts.vega_lite = _checked_once

MAIN = Path(__file__).resolve().parents[2] / "pages" / "main.py"
LANGUAGES: tuple[Language, ...] = ("en", "zh")
# The folder of a page -> its title.
TITLES = {page.folder: page.title for page in PAGES}
HOME = "How language models treat gender"  # the heading of Home says what the app is for


def addresses() -> dict[str, str]:
    """Return the address of each page by its folder; the home page has an empty one."""
    return {page.folder: page.address for page in PAGES}


def open_page(
    page: str,
    /,
    lang: str = "en",
    *,
    state: Mapping[str, Any] | None = None,
    **parameters: str | list[str],
) -> AppTest:
    """Return the page whose folder is *page*, opened in one run by its address with *parameters*.

    *state* is the session state before. The page has its title and raises no exception; it may show errors.
    An unknown language gives English.
    """
    app = open_address(page, lang, state=state, **parameters)
    assert_title(app, page, "zh" if lang == "zh" else "en")
    return app


def open_address(
    page: str,
    /,
    lang: str = "en",
    *,
    state: Mapping[str, Any] | None = None,
    **parameters: str | list[str],
) -> AppTest:
    """Open the address of *page* and return the page shown: another one where the visitor may not open this one."""
    set_option("client.showErrorDetails", "full")  # an exception contains where it was raised
    database = Path(os.environ["EVENHAND_DB"])
    if not database.exists():
        new_store(database).close()
    app = AppTest.from_file(str(MAIN), default_timeout=300)
    # AppTest.switch_page takes a file and finds a page with an address of its own only after a run of another page.
    app._page_hash = calc_hash(addresses()[page]) if addresses()[page] else ""
    app.query_params["lang"] = lang
    for name, value in parameters.items():
        app.query_params[name] = value
    for name, value in (state or {}).items():
        app.session_state[name] = value
    return app.run()


def assert_title(app: AppTest, page: str, language: Language = "en") -> None:
    """Check that the opened page is this one, that no exception ended it, and that no heading skips a level.

    The page of one project has the project's name as its title.
    """
    titles = [heading.value for heading in without_exception(app).title]
    project = app.query_params.get("project")
    own = plain(project if isinstance(project, str) else project[0]) if page == "projects" and project else ""
    assert titles in ([translate(HOME if page == "home" else TITLES[page], language)], [own]), titles
    levels = [int(element.tag[1:]) for element in app.main if isinstance(element, HeadingBase)]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels)), levels


def without_exception(app: AppTest) -> AppTest:
    """Return *app* after a check that no exception ended it; it may show errors."""
    assert not app.exception, [error.value for error in app.exception]
    return app


def without_errors(app: AppTest) -> AppTest:
    """Return *app* after a check that it shows neither an exception nor an error."""
    without_exception(app)
    assert not app.error, [error.value for error in app.error]
    return app


def open_section(app: AppTest, section: str) -> AppTest:
    """Return the page at another of its sections, which are named by a row of buttons below its head."""
    return without_exception(app.segmented_control(key="section").set_value(section).run())


def in_language(app: AppTest, language: Language) -> AppTest:
    """Return the page in another language, switched as by the switch in the sidebar."""
    return app.segmented_control(key="language").set_value(language).run()


ENTRY = re.compile(r"Entry ([\w.]+) of docs/quantities")
SMALL_TILE = re.compile(r'<div title="[^"]*Entry ([\w.]+) of docs/quantities[^"]*"><div class="name">.*?</div>'
                        r'<div class="value">(.*?)</div>')  # fmt: skip


def quantities_of(app: AppTest) -> dict[str, str]:
    """Return the numbers of tiles whose help sign names an entry of docs/quantities.md, by id."""
    named = ((ENTRY.search(re.sub(r"[\\\u2060]", "", metric.proto.help)), metric.value) for metric in app.metric)
    found = {entry[1]: value for entry, value in named if entry}
    return found | dict(SMALL_TILE.findall(re.sub(r"[\\\u2060]", "", html_of(app))))


def forest_of(app: AppTest) -> dict[str, str]:
    """Return what the forest plot of a page writes after the name of each measure."""
    sent = [each.data.data for element in app.get("vega_lite_chart") for each in element.proto.datasets]
    tables = [convert_arrow_bytes_to_pandas_df(data) for data in sent]
    return {row["name"]: row["written"] for table in tables if "written" in table for row in table.to_dict("records")}


CELL = re.compile(r'<td[^>]*data-label="([^"]*)"[^>]*>(.*?)</td>')
TAG = re.compile("<[^>]+>")


def records_of(app: AppTest) -> list[dict[str, str]]:
    """Return the rows of the tables of a page: heading -> text of the cell."""
    rows = [CELL.findall(row) for row in re.findall("<tr>.*?</tr>", html_of(app), re.DOTALL)]
    return [{unescape(name): unescape(TAG.sub("", cell)) for name, cell in row} for row in rows if row]


def html_of(app: AppTest) -> str:
    """Return the HTML that the page wrote, without the frame's own script."""
    bodies = (str(element.proto.body) for element in app.get("html"))
    return "\n".join(body for body in bodies if not body.startswith("<script>document.documentElement"))


def captions_of(app: AppTest) -> str:
    """Return all captions without the backslashes of Markdown."""
    return "\n".join(caption.value.replace("\\", "") for caption in app.caption)


def words_of(app: AppTest) -> str:
    """Return what a visitor reads, numbers with their help and tables too, without the scripts of the frame."""
    kinds = ("caption", "markdown", "info", "success", "warning", "error", "text")
    parts = [str(element.value) for kind in kinds for element in app.get(kind)]
    parts += [body for element in app.get("html") if "<script" not in (body := str(element.proto.body))]
    parts += [f"{metric.label} {metric.value} {metric.help}" for metric in app.metric]
    return "\n".join([*parts, *(table.value.to_csv() for table in app.dataframe)])


def text_of(app: AppTest) -> str:
    """Return the texts other than headings and inputs, as they were sent: with the backslashes of Markdown."""
    kinds = ("caption", "markdown", "html", "info", "success", "warning", "error", "text", "code")
    return "\n".join(str(element.value) for kind in kinds for element in app.get(kind))
