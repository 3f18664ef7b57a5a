"""The script of every page: its language and that of stored text on it, what `static/page.js` does, Streamlit's own
words in that language.

Streamlit's front end is in English only. `WORDS` are the strings of its files (of the version that is pinned) which can
come up in this app; `static/words.js` puts them into Chinese, and back.
"""

import json
from functools import cache
from pathlib import Path

from evenhand.annotations.desk import frontend
from evenhand.core.errors import N_
from evenhand.core.language import LANGUAGE_COOKIE, LANGUAGE_COOKIE_S, translate

STATIC = Path(__file__).parent / "static"
RAIL = N_("Navigation")  # what a screen reader calls the navigation
WORDS = (
    N_("Press Enter to apply"),
    N_("Press Ctrl+Enter to apply"),
    N_("Press ⌘+Enter to apply"),
    N_("Press Enter to submit form"),
    N_("Press Ctrl+Enter to submit form"),
    N_("Press ⌘+Enter to submit form"),
    N_("Choose an option"),
    N_("Choose options"),
    N_("Choose or add an option"),
    N_("Choose or add options"),
    N_("Add an option"),
    N_("Add options"),
    N_("No options to select"),
    N_("No results"),
    N_("No options"),
    N_("Select all"),
    N_("Select {n} matches"),
    N_("Add: {option}"),
    N_("Remove {option}"),
    N_("Clear all"),
    N_("Clear value"),
    N_("Clear entry"),
    N_("Help for {label}"),
    N_("Show password"),
    N_("Hide password"),
    N_("Selected values"),
    N_("Show suggestions"),
    N_("Selectbox options"),
    N_("Multiselect options"),
    N_("Open"),
    N_("Close"),
    N_("Search"),
    N_("Fullscreen"),
    N_("Close fullscreen"),
    N_("Show data"),
    N_("Show chart"),
    N_("Download as PNG"),
    N_("Download as CSV"),
    N_("Copy Vega-Lite spec"),
    N_("Copied!"),
    N_("Copy version to clipboard"),
    N_("Copied"),
    N_("Copy to clipboard"),
    N_("Show/hide columns"),
    N_("Add row"),
    N_("Delete row(s)"),
    N_("Clear selection"),
    N_("Sort ascending"),
    N_("Sort descending"),
    N_("Pin column"),
    N_("Unpin column"),
    N_("Hide column"),
    N_("Copy column name"),
    N_("Statistics"),
    N_("Format"),
    N_("Automatic"),
    N_("Localized"),
    N_("Plain"),
    N_("Compact"),
    N_("Percent"),
    N_("Scientific"),
    N_("Accounting"),
    N_("Next Result"),
    N_("Previous Result"),
    N_("Close Search"),
    N_("Main menu"),
    N_("Sidebar"),
    N_("Collapse sidebar"),
    N_("Expand sidebar"),
    N_("Navigate to home page"),
    N_("Logo"),
    N_("Link to heading"),
    N_("Skip to main content"),
    N_("Print"),
    N_("Rerun"),
    N_("Get help"),
    N_("Record a screencast"),
    N_("Record screen"),
    N_("Stop recording"),
    N_("Theme"),
    N_("System"),
    N_("Light"),
    N_("Dark"),
    N_("About"),
    N_("Running..."),
    N_("Stop"),
    N_("Increment"),
    N_("Decrement"),
    N_("Previous page"),
    N_("Next page"),
    N_("Page {n}"),
    N_("Scroll tabs left"),
    N_("Scroll tabs right"),
    N_("Delete {file}"),
    N_("{kind} files are not allowed."),
    N_("View less"),
    N_("Page not found"),
    N_("Upload"),
    N_("file upload"),
    N_("The page that you have requested does not seem to exist. Running the app's main page."),
    N_("Connecting"),
    N_("Connecting to Streamlit server"),
    N_("Unable to connect to Streamlit server"),
    N_("Connection error"),
    N_("Connection timed out."),
    N_("Streamlit server is not responding. Are you connected to the internet?"),
    N_("You can only select up to {n} option. Remove an option first."),
    N_("You can only select up to {n} options. Remove an option first."),
    N_("{n} options available."),
    N_("{n} option available."),
)


@cache
def page_script(code: str, *, chosen: bool = False) -> str:
    """Return the script of every page: its language, and what `static/page.js` adds to Streamlit.

    *code*: zh-CN or en; *chosen*: the visitor chose that language, so the browser keeps it for later visits and for the
    forms of the server.
    """
    rail = json.dumps(translate(RAIL, "zh" if code == "zh-CN" else "en"), ensure_ascii=False)
    named = f'document.documentElement.lang = "{code}";document.documentElement.dataset.rail = {rail};'
    if chosen:
        cookie = f"{LANGUAGE_COOKIE}={code[:2]}; path=/; max-age={LANGUAGE_COOKIE_S}; samesite=lax"
        named += f"document.cookie = {json.dumps(cookie)};"
    page = (STATIC / "page.js").read_text(encoding="utf-8")
    return named + page + _languages() + (_words() if code == "zh-CN" else "")


def page_scripts() -> list[str]:
    """Return every script that a run of a page can have; no other is executed (`content_policy`)."""
    return [page_script(code, chosen=chosen) for code in ("zh-CN", "en") for chosen in (False, True)]


def _languages() -> str:
    files = (frontend.FOLDER / "languages.js", STATIC / "languages_of_text.js")
    return f"{{\n{''.join(file.read_text(encoding='utf-8') for file in files)}}}\n"


def _words() -> str:
    pairs = [(word, translate(word, "zh")) for word in WORDS]
    script = (STATIC / "words.js").read_text(encoding="utf-8")
    return f"{{\nconst WORDS = {json.dumps(pairs, ensure_ascii=False)};\n{script}}}\n"
